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

type Script = 'space' | 'newline' | 'word' | 'mark' | 'digit' | 'han' | 'kana' | 'slow' | 'other';

const asciiScript = (unit: number): Script => {
  if (unit === 0x20 || unit === 0x09) return 'space';
  if (unit === 0x0a || unit === 0x0d) return 'newline';
  if (unit >= 0x30 && unit <= 0x39) return 'digit';
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a ? 'word' : 'mark';
};

const scriptOf = (unit: number): Script => {
  if (unit < 0x80) return asciiScript(unit);
  if (unit < 0x0250) return 'word';
  if (unit < 0x1100) return 'slow';
  if (unit < 0x2000) return 'other';
  if (unit < 0x2e80) return 'mark';
  if (unit >= 0x3040 && unit <= 0x30ff) return 'kana';
  if (unit >= 0x3400 && unit <= 0x9fff) return 'han';
  if (unit >= 0xac00 && unit <= 0xd7af) return 'kana';
  if (unit >= 0xf900 && unit <= 0xfaff) return 'han';
  return 'other';
};

// Tokens of a run of one script, fitted to o200k on prose, code and JSON; a first letter or space
// is nearly free inside words, ideographs are not.
const runTokens: Readonly<Record<Script, (length: number) => number>> = {
  space: (length) => (length === 1 ? 0 : 1 + Math.floor(length / 64)),
  newline: (length) => 0.5 + length / 8,
  word: (length) => (length <= 6 ? 1 : 1 + (length - 6) / 5),
  mark: (length) => (length === 1 ? 0.9 : 0.6 + length * 0.35),
  digit: (length) => Math.ceil(length / 3),
  han: (length) => length * 0.7,
  kana: (length) => length * 0.7,
  slow: (length) => (length <= 4 ? 1 : 1 + (length - 4) * 0.3),
  other: (length) => length * 0.6,
};

const estimate = (text: string): number => {
  let tokens = 0;
  let start = 0;
  let script: Script | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const next = scriptOf(text.charCodeAt(at));
    if (next === script) continue;
    if (script !== undefined) tokens += runTokens[script](at - start);
    script = next;
    start = at;
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
