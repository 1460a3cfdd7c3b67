import stringWidth from 'string-width';
import { cutUtf16, graphemesOf } from '../../domain/text.js';

/** Combining marks in a row that are still shown; some scripts need a few, none needs more. */
const MARKS_SHOWN = 8;

const ELLIPSIS = '…';
const JOINER = '\u200d';

// An allow-list by what has a shape of its own: letters, marks, numbers, punctuation, symbols,
// spaces. The rest is suspect, and so is what has such a category and is drawn as nothing (fillers,
// joiners, selectors, tags), and more combining marks than a letter can carry.
const SUSPECT =
  /\p{M}{9,}|[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\n\t]|\p{Default_Ignorable_Code_Point}/gu;
// Format characters that are drawn: Arabic and other signs that enclose the digits after them.
const DRAWN_FORMAT = /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]$/u;
const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;
const COMBINING = /^\p{M}$/u;
const PICTOGRAPH = /^\p{Extended_Pictographic}$/u;
const BEFORE_JOINER = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const EMOJI = /^\p{Emoji}$/u;
const EMOJI_SELECTOR = /^[\ufe0e\ufe0f]$/u;
const HAN = /^\p{Script=Han}$/u;
const HAN_SELECTOR = /^[\u{e0100}-\u{e01ef}]$/u;

/** The visible mark of a code point: `\x1b` below U+0100, `‹U+202E›` above. */
const markOf = (point: string): string => {
  const code = point.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `‹U+${hex.toUpperCase().padStart(4, '0')}›`;
};

const pointBefore = (text: string, offset: number): string =>
  Array.from(text.slice(Math.max(0, offset - 2), offset)).at(-1) ?? '';

const pointAt = (text: string, offset: number): string => {
  const code = text.codePointAt(offset);
  return code === undefined ? '' : String.fromCodePoint(code);
};

// A joiner holds a family of emoji together and a selector picks a glyph, each directly between or
// behind what it acts on. Anywhere else, and in a row, they hide text.
const isPartOfSequence = (point: string, before: string, after: string): boolean => {
  if (point === JOINER) return BEFORE_JOINER.test(before) && PICTOGRAPH.test(after);
  if (EMOJI_SELECTOR.test(point)) return EMOJI.test(before);
  return HAN_SELECTOR.test(point) && HAN.test(before);
};

const renderPoint = (text: string, point: string, offset: number): string => {
  const isHarmless = INVISIBLE.test(point)
    ? isPartOfSequence(point, pointBefore(text, offset), pointAt(text, offset + point.length))
    : COMBINING.test(point) || DRAWN_FORMAT.test(point);
  return isHarmless ? point : markOf(point);
};

const renderRun = (text: string, run: string, start: number): string => {
  let shown = '';
  let offset = start;
  const points = Array.from(run);
  for (const point of points.slice(0, MARKS_SHOWN)) {
    shown += renderPoint(text, point, offset);
    offset += point.length;
  }
  return points.length > MARKS_SHOWN ? `${shown}‹+${points.length - MARKS_SHOWN} marks›` : shown;
};

/**
 * A text as a terminal may print it (S03, B22). Only line feed, tab and what has a visible shape
 * pass; control, bidi, zero-width, tag, private and unassigned characters and half surrogate pairs
 * become visible marks, long runs of combining marks a count. Nothing goes without a trace.
 */
export const safeText = (text: string): string =>
  text.replace(SUSPECT, (run: string, offset: number) => renderRun(text, run, offset));

/** Columns that a text takes on one line, when it is safe to print. */
export const widthOf = (safe: string): number => stringWidth(safe, { countAnsiEscapeCodes: true });

/** The longest beginning of whole graphemes that fits, and an ellipsis when something is cut. */
const cutToWidth = (safe: string, width: number, isCut: boolean): string => {
  if (width < 1) return '';
  let used = 0;
  let whole = '';
  let besideEllipsis = '';
  for (const grapheme of graphemesOf(safe)) {
    used += widthOf(grapheme);
    if (used > width) return besideEllipsis + ELLIPSIS;
    whole += grapheme;
    if (used < width) besideEllipsis = whole;
  }
  return isCut ? besideEllipsis + ELLIPSIS : whole;
};

// A preview of ten megabytes must not look at all of them. White space at the start is passed over,
// then there is room for every column to be a long emoji sequence.
const LOOK_AHEAD_UNITS = 65_536;
const UNITS_PER_COLUMN = 32;

/**
 * A preview on one line of at most `width` columns: white space becomes one space, the rest is safe
 * to print, and an ellipsis says that there is more.
 */
export const oneLine = (text: string, width: number): string => {
  const start = cutUtf16(text, LOOK_AHEAD_UNITS).trimStart();
  const head = cutUtf16(start, (width + 1) * UNITS_PER_COLUMN);
  const isCut = head.length < start.length || text.length > LOOK_AHEAD_UNITS;
  const line = head.replace(/[\t\n\r ]+/g, ' ');
  return cutToWidth(safeText(isCut ? line : line.trimEnd()), width, isCut);
};

/** Which side of a cell is filled up. */
export type Align = 'left' | 'right';

/** A preview of exactly `width` columns, cut or filled with spaces. */
export const padTo = (text: string, width: number, align: Align = 'left'): string => {
  const line = oneLine(text, width);
  const fill = ' '.repeat(Math.max(0, width - widthOf(line)));
  return align === 'left' ? line + fill : fill + line;
};

// Unlike safeText this spares nothing that is invisible: escapes read back as the same text.
const HIDDEN_IN_JSON =
  /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;

const escapeUnits = (point: string): string =>
  Array.from({ length: point.length }, (_, index) => point.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/**
 * JSON that a terminal may print: the same value when read back, with every character that has no
 * visible shape escaped. What JSON has no word for becomes null.
 */
export const safeJson = (value: unknown, indent = 0): string => {
  const json = JSON.stringify(value, undefined, indent) as string | undefined;
  return (json ?? 'null').replace(HIDDEN_IN_JSON, escapeUnits);
};
