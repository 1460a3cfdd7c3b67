import { cutUtf16, repairText } from './text.js';

const POINTER_LENGTH = 120;

const escaped = (segment: string): string =>
  cutUtf16(repairText(segment).text, POINTER_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * The JSON pointer of a place, as faults carry it. Keys belong to whoever wrote the document, so a
 * pointer is cut at 120 characters (with an ellipsis) and is for people, not for lookups.
 */
export const pointerTo = (base: string, segments: readonly (string | number)[]): string => {
  let pointer = base;
  for (const segment of segments) {
    pointer += `/${typeof segment === 'number' ? segment : escaped(segment)}`;
    if (pointer.length > POINTER_LENGTH) return `${cutUtf16(pointer, POINTER_LENGTH - 1)}…`;
  }
  return pointer;
};
