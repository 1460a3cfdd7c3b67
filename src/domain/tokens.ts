import { digestOf } from './digest.js';
import type { Message } from './message.js';

/** Counts tokens of texts as a model would. Pure; the same text gives the same number. */
export interface TokenCounter {
  readonly name: string;
  /** Whether counts are the model's own; an estimate says false. */
  readonly exact: boolean;
  readonly count: (text: string) => number;
  /** Tokens of a whole message; absent: the texts and what the profile says about the rest. */
  readonly countMessage?: (message: Message) => number;
}

type Script =
  | 'space'
  | 'newline'
  | 'lower'
  | 'upper'
  | 'mark'
  | 'digit'
  | 'ideograph'
  | 'cyrillic'
  | 'semitic'
  | 'pair'
  | 'other';

const asciiScript = (unit: number): Script => {
  if (unit === 0x20 || unit === 0x09) return 'space';
  if (unit === 0x0a || unit === 0x0d) return 'newline';
  if (unit >= 0x30 && unit <= 0x39) return 'digit';
  if (unit >= 0x61 && unit <= 0x7a) return 'lower';
  return unit >= 0x41 && unit <= 0x5a ? 'upper' : 'mark';
};

const scriptOf = (unit: number): Script => {
  if (unit < 0x80) return asciiScript(unit);
  if (unit < 0x0250) return 'lower';
  if (unit < 0x0590) return 'cyrillic';
  if (unit < 0x1100) return 'semitic';
  if (unit < 0x2000) return 'other';
  if (unit < 0x2e80) return 'mark';
  if (unit < 0xa000) return 'ideograph';
  if (unit >= 0xac00 && unit <= 0xd7af) return 'ideograph';
  if (unit >= 0xd800 && unit <= 0xdfff) return 'pair';
  return unit >= 0xf900 && unit <= 0xfaff ? 'ideograph' : 'other';
};

// Tokens of a run of one script, fitted to o200k on prose of eleven languages, code, JSON and
// base64. A space before a word is part of the word.
const runTokens: Readonly<Record<Script, (length: number) => number>> = {
  space: (length) => (length === 1 ? 0 : 1 + Math.floor(length / 64)),
  newline: (length) => 0.5 + length / 8,
  lower: (length) => (length <= 6 ? 1 : 1 + (length - 6) / 4.5),
  upper: (length) => (length <= 2 ? 0.8 : length / 2.5),
  mark: (length) => 0.55 + length * 0.25,
  digit: (length) => Math.ceil(length / 3),
  ideograph: (length) => length * 0.72,
  cyrillic: (length) => (length <= 4 ? 1 : 1 + (length - 4) * 0.24),
  semitic: (length) => (length <= 2 ? 1 : 1 + (length - 2) * 0.3),
  pair: (length) => length * 0.9,
  other: (length) => length * 0.6,
};

// A capital begins a word: its first letter goes with what follows ("Word", "camelCase").
const estimate = (text: string): number => {
  let tokens = 0;
  let start = 0;
  let script: Script | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const next = scriptOf(text.charCodeAt(at));
    if (next === script) continue;
    if (next === 'lower' && script === 'upper') {
      if (at - start > 1) tokens += runTokens.upper(at - start - 1);
      start = at - 1;
    } else {
      if (script !== undefined) tokens += runTokens[script](at - start);
      start = at;
    }
    script = next;
  }
  if (script !== undefined) tokens += runTokens[script](text.length - start);
  return Math.ceil(tokens);
};

/**
 * The built-in estimate: by script, never by length alone (an ideograph is about 0.7 tokens, four
 * ideographs are not one). Linear, and never given the bytes of images or files.
 */
export const estimator: TokenCounter = { name: 'estimate-1', exact: false, count: estimate };

/** Where counts are kept between builds. */
export interface CountCache {
  readonly get: (key: string) => number | undefined;
  readonly set: (key: string, tokens: number) => void;
}

/** A cache of at most `entries` counts; the oldest goes first. */
export const countCache = (entries = 20_000): CountCache => {
  const counts = new Map<string, number>();
  return {
    get: (key) => counts.get(key),
    set: (key, tokens) => {
      if (counts.size >= entries) {
        const oldest = counts.keys().next();
        if (oldest.done !== true) counts.delete(oldest.value);
      }
      counts.set(key, tokens);
    },
  };
};

// A short text is its own key: a digest would cost more than comparing it.
const SHORT_TEXT = 64;

/** The same counter, asked once per text: later calls are answered from `cache` by content digest. */
export const cachedCounter = (counter: TokenCounter, cache: CountCache): TokenCounter => ({
  ...counter,
  count: (text) => {
    const key = `${counter.name} ${text.length <= SHORT_TEXT ? `=${text}` : digestOf(text)}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const tokens = counter.count(text);
    cache.set(key, tokens);
    return tokens;
  },
});
