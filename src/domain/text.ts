import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from './errors.js';

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
const CONTROL_CHARACTER = /\p{Control}/u;

const REPLACEMENT = '\uFFFD';
const FOREIGN_ID_BYTES = 256;

/** Whether `text` holds no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);

/** A text that can be sent as UTF-8, and how many units were replaced by U+FFFD to get it. */
export interface RepairedText {
  readonly text: string;
  readonly repaired: number;
}

/** Replaces each half of a surrogate pair by U+FFFD (B15). Content in the log is never repaired. */
export const repairText = (text: string): RepairedText => {
  if (isWellFormed(text)) return { text, repaired: 0 };
  let repaired = 0;
  const whole = text.replace(LONE_SURROGATES, () => {
    repaired += 1;
    return REPLACEMENT;
  });
  return { text: whole, repaired };
};

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The longest beginning of at most `max` UTF-16 units that does not end inside a surrogate pair. */
export const cutUtf16 = (text: string, max: number): string => {
  const end = Math.max(0, Math.floor(max));
  if (text.length <= end) return text;
  const splitsPair =
    end > 0 && isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end));
  return text.slice(0, splitsPair ? end - 1 : end);
};

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** The characters of `text` as people count them, one after the other. */
export function* graphemesOf(text: string): Generator<string, void, undefined> {
  for (const { segment } of graphemes.segment(text)) yield segment;
}

/**
 * The longest beginning of whole graphemes within `maxUtf16` units. A first grapheme that is longer
 * than that by itself (thousands of combining marks) is cut between code points.
 */
export const cutGraphemes = (text: string, maxUtf16: number): string => {
  const end = Math.max(0, Math.floor(maxUtf16));
  if (text.length <= end) return text;
  // A boundary depends on what is before it and on one code point after it: never segment a whole
  // document to cut a preview.
  const head = text.slice(0, end + 2);
  let kept = 0;
  for (const { index, segment } of graphemes.segment(head)) {
    if (index + segment.length > end) break;
    kept = index + segment.length;
  }
  return kept === 0 ? cutUtf16(text, end) : text.slice(0, kept);
};

/** Bytes of `text` in UTF-8; half a surrogate pair counts as the three bytes of U+FFFD. */
export const utf8Bytes = (text: string): number => {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
};

/**
 * An id that another system gave (message, call, record). Refused when blank, longer than 256 bytes,
 * ill-formed or with a control character (B16, B18). Everything else is data: no normalisation, no
 * trimming, no meaning in slashes, dots or percent signs (B19).
 */
export const foreignId = (
  path: string,
  value: string,
): E.Either<FaultOf<'InvalidId' | 'IllFormedUnicode'>, string> => {
  if (!isWellFormed(value)) return E.left({ _tag: 'IllFormedUnicode', path });
  if (CONTROL_CHARACTER.test(value)) {
    return E.left({ _tag: 'InvalidId', path, reason: 'control_character' });
  }
  if (value.trim() === '') return E.left({ _tag: 'InvalidId', path, reason: 'blank' });
  if (utf8Bytes(value) > FOREIGN_ID_BYTES) {
    return E.left({ _tag: 'InvalidId', path, reason: 'too_long' });
  }
  return E.right(value);
};

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
};

// RFC 3339 section 5.7: a second 60 exists only at 23:59 UTC on the last day of a month. East of
// Greenwich that minute is on the first day of the next one.
const isLeapMinute = (utcMinute: number, day: number, lastDay: number): boolean =>
  (utcMinute === -1 && day === 1) || (utcMinute === 1439 && day === lastDay);

/** Whether `text` is a timestamp by RFC 3339: a date that exists, a time, and a zone (B52). */
export const isRfc3339 = (text: string): boolean => {
  const parts = RFC_3339.exec(text);
  if (parts === null) return false;
  const numberAt = (group: number): number => Number(parts[group] ?? '0');
  const month = numberAt(2);
  const day = numberAt(3);
  const hour = numberAt(4);
  const minute = numberAt(5);
  const second = numberAt(6);
  const lastDay = daysIn(numberAt(1), month);
  if (month < 1 || month > 12 || day < 1 || day > lastDay) return false;
  if (hour > 23 || minute > 59 || numberAt(8) > 23 || numberAt(9) > 59) return false;
  if (second < 60) return true;
  const offset = (parts[7] === '-' ? -1 : 1) * (numberAt(8) * 60 + numberAt(9));
  return second === 60 && isLeapMinute(hour * 60 + minute - offset, day, lastDay);
};

/** Decoded bytes, without the byte order mark that they began with, if they did. */
export interface DecodedText {
  readonly text: string;
  readonly bom: boolean;
}

// Per first byte: how many bytes follow, and the range of the first of them. This is what tells
// overlong forms, surrogates and code points beyond U+10FFFF from text (Unicode table 3-7).
const continuationOf = (first: number): readonly [count: number, low: number, high: number] => {
  if (first >= 0xc2 && first <= 0xdf) return [1, 0x80, 0xbf];
  if (first === 0xe0) return [2, 0xa0, 0xbf];
  if (first === 0xed) return [2, 0x80, 0x9f];
  if (first >= 0xe1 && first <= 0xef) return [2, 0x80, 0xbf];
  if (first === 0xf0) return [3, 0x90, 0xbf];
  if (first >= 0xf1 && first <= 0xf3) return [3, 0x80, 0xbf];
  if (first === 0xf4) return [3, 0x80, 0x8f];
  return [0, 0, 0];
};

/** Length of the sequence at `start`, or 0 when it is ill-formed or cut off. */
const sequenceLength = (bytes: Uint8Array, start: number): number => {
  const first = bytes[start] ?? 0;
  if (first < 0x80) return 1;
  const [count, low, high] = continuationOf(first);
  const second = bytes[start + 1] ?? 0;
  if (count === 0 || second < low || second > high) return 0;
  for (let step = 2; step <= count; step += 1) {
    const next = bytes[start + step] ?? 0;
    if (next < 0x80 || next > 0xbf) return 0;
  }
  return count + 1;
};

const firstFault = (bytes: Uint8Array): FaultOf<'InvalidUtf8'> | undefined => {
  let line = 1;
  let byte = 0;
  while (byte < bytes.length) {
    const length = sequenceLength(bytes, byte);
    if (length === 0) return { _tag: 'InvalidUtf8', line, byte };
    if (bytes[byte] === 0x0a) line += 1;
    byte += length;
  }
  return undefined;
};

/**
 * Text of UTF-8 bytes. One byte order mark at the start is taken off and reported; others are content
 * (B21). Refuses ill-formed bytes with their line (from 1) and offset (from 0); never replaces them
 * (B20).
 */
export const decodeUtf8 = (bytes: Uint8Array): E.Either<FaultOf<'InvalidUtf8'>, DecodedText> => {
  const fault = firstFault(bytes);
  if (fault !== undefined) return E.left(fault);
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const bom = text.startsWith('\uFEFF');
  return E.right({ text: bom ? text.slice(1) : text, bom });
};
