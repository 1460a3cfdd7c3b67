import * as E from 'fp-ts/lib/Either.js';
import { FOREIGN_JSON, scanJson } from '../json-scan.js';
import { cutGraphemes } from '../text.js';

/** How the middle or the end is left out. */
export type ShortenHow = 'head_and_tail' | 'head';

/** Size of a text in whatever unit the limit has: tokens or characters. */
export type Measure = (text: string) => number;

const HEAD_SHARE = 0.6;

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

const WINDOW = 200;

/** The longest beginning of whole graphemes; nothing when the first alone is longer. */
const headGraphemes = (text: string, maxUtf16: number): string => {
  const first = segmenter.segment(text.slice(0, WINDOW)).containing(0)?.segment ?? '';
  return first.length > maxUtf16 ? '' : cutGraphemes(text, maxUtf16);
};

/** The longest end of whole graphemes within `maxUtf16` units. */
const tailGraphemes = (text: string, maxUtf16: number): string => {
  if (maxUtf16 <= 0) return '';
  const start = text.length - maxUtf16;
  if (start <= 0) return text;
  // A boundary is decided by what stands around it: a window is enough, a document is too much.
  const from = Math.max(0, start - WINDOW);
  const around = text.slice(from, start + WINDOW);
  const segment = segmenter.segment(around).containing(start - from);
  if (segment === undefined || segment.index === start - from) return text.slice(start);
  return text.slice(from + segment.index + segment.segment.length);
};

const marker = (count: number): string => `\n[… ${String(count)} characters left out …]\n`;

const cutPlain = (text: string, keep: number, how: ShortenHow): string => {
  const head = headGraphemes(text, how === 'head' ? keep : Math.ceil(keep * HEAD_SHARE));
  const tail = how === 'head' ? '' : tailGraphemes(text, keep - head.length);
  return `${head}${marker(text.length - head.length - tail.length)}${tail}`;
};

// The same without looking for graphemes: good enough to find the size, and much cheaper.
const cutRoughly = (text: string, keep: number, how: ShortenHow): string => {
  const head = how === 'head' ? keep : Math.ceil(keep * HEAD_SHARE);
  const tail = keep - head;
  return `${text.slice(0, head)}${marker(text.length - keep)}${text.slice(text.length - tail)}`;
};

const GRAPHEME_STEP = 16;

// The largest number of kept characters whose cut text fits.
const plainToFit = (text: string, limit: number, measure: Measure, how: ShortenHow): string => {
  let keep = 0;
  let high = Math.min(text.length, Math.max(64, limit * 8));
  while (keep < high) {
    const middle = Math.ceil((keep + high) / 2);
    if (measure(cutRoughly(text, middle, how)) <= limit) keep = middle;
    else high = middle - 1;
  }
  let cut = cutPlain(text, keep, how);
  while (keep > 0 && measure(cut) > limit) {
    keep = Math.max(0, keep - GRAPHEME_STEP);
    cut = cutPlain(text, keep, how);
  }
  return cut;
};

interface JsonLevel {
  readonly chars: number;
  readonly items: number;
}

const levels: readonly JsonLevel[] = [
  { chars: 8192, items: 512 },
  { chars: 2048, items: 128 },
  { chars: 512, items: 32 },
  { chars: 128, items: 8 },
  { chars: 40, items: 4 },
  { chars: 16, items: 2 },
];

const inlineMarker = (count: number, what: string): string =>
  `[… ${String(count)} ${what} left out …]`;

const shrinkString = (text: string, { chars }: JsonLevel, how: ShortenHow): string => {
  if (text.length <= chars + 40) return text;
  const head = headGraphemes(text, how === 'head' ? chars : Math.ceil(chars * HEAD_SHARE));
  const tail = how === 'head' ? '' : tailGraphemes(text, chars - head.length);
  return `${head}${inlineMarker(text.length - head.length - tail.length, 'characters')}${tail}`;
};

const shrinkValue = (value: unknown, level: JsonLevel, how: ShortenHow): unknown => {
  if (typeof value === 'string') return shrinkString(value, level, how);
  if (typeof value !== 'object' || value === null) return value;
  const shrink = (item: unknown): unknown => shrinkValue(item, level, how);
  if (Array.isArray(value)) {
    if (value.length <= level.items + 1) return value.map(shrink);
    const head = how === 'head' ? level.items : Math.ceil(level.items * HEAD_SHARE);
    const tail = level.items - head;
    const left = value.length - level.items;
    return [
      ...value.slice(0, head).map(shrink),
      inlineMarker(left, 'items'),
      ...(tail === 0 ? [] : value.slice(-tail).map(shrink)),
    ];
  }
  const entries = Object.entries(value);
  const kept = entries.slice(0, level.items).map(([key, item]) => [key, shrink(item)] as const);
  const left = entries.length - kept.length;
  return Object.fromEntries(left === 0 ? kept : [...kept, ['…', inlineMarker(left, 'keys')]]);
};

// Parsing and writing would change numbers beyond a double, and very deep documents: those are cut
// as text.
const isSafeJson = (text: string): boolean => {
  const first = text.trimStart().charAt(0);
  if (first !== '{' && first !== '[') return false;
  const scanned = scanJson(text, { ...FOREIGN_JSON, maxKeys: 1_000_000 });
  return E.isRight(scanned) && !scanned.right.unsafeNumbers && !scanned.right.dupKeys;
};

const jsonToFit = (
  text: string,
  limit: number,
  measure: Measure,
  how: ShortenHow,
): string | undefined => {
  if (!isSafeJson(text)) return undefined;
  const value: unknown = JSON.parse(text);
  for (const level of levels) {
    const shorter = JSON.stringify(shrinkValue(value, level, how));
    if (measure(shorter) <= limit) return shorter;
  }
  return undefined;
};

/**
 * The text cut to `limit`, at graphemes, with the cut visible in it. JSON stays valid JSON where
 * its strings and lists can be cut instead; what cannot be made to fit keeps only the mark.
 */
export const shortenText = (
  text: string,
  limit: number,
  measure: Measure,
  how: ShortenHow,
): string =>
  measure(text) <= limit
    ? text
    : (jsonToFit(text, limit, measure, how) ?? plainToFit(text, limit, measure, how));

/** An argument text of at most `maxChars` that is still a JSON object; `{}` when nothing fits. */
export const shortenArguments = (text: string, maxChars: number, how: ShortenHow): string => {
  const size: Measure = (candidate) => candidate.length;
  if (text.length <= maxChars) return text;
  const shorter = text.trimStart().startsWith('{')
    ? jsonToFit(text, maxChars, size, how)
    : undefined;
  if (shorter !== undefined) return shorter;
  for (let keep = maxChars; keep > 0; keep = Math.floor(keep / 2)) {
    const wrapped = JSON.stringify({ left_out: cutPlain(text, keep, how) });
    if (wrapped.length <= maxChars) return wrapped;
  }
  return '{}';
};
