import * as TE from 'fp-ts/lib/TaskEither.js';
import type { FaultOf } from '../../domain/errors.js';
import { cachedCounter, countCache, type TokenCounter } from '../../domain/tokens.js';

/** Vocabularies of OpenAI models that the optional package `gpt-tokenizer` brings. */
export type GptEncoding = 'o200k_base' | 'cl100k_base';

const MAX_RUN = 256;

// What the tokenizer takes as one piece: letters, white space, or neither letters nor digits. Its
// time is quadratic in the length of a piece.
const LONG_RUNS = /[\p{L}\p{M}]{257,}|\s{257,}|[^\s\p{L}\p{M}\p{N}]{257,}/gu;

const endOfPiece = (text: string, start: number, end: number): number => {
  let at = start;
  for (let points = 0; points < MAX_RUN && at < end; points += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
};

/** The text in pieces none of which holds an unbroken run of more than 256 code points. */
export const cutLongRuns = (text: string): readonly string[] => {
  if (text.length <= MAX_RUN) return [text];
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUNS)) {
    const end = index + run.length;
    for (let at = endOfPiece(text, index, end); at < end; at = endOfPiece(text, at, end)) {
      pieces.push(text.slice(from, at));
      from = at;
    }
  }
  pieces.push(text.slice(from));
  return pieces;
};

// Words such as <|endoftext|> in a conversation are text.
const asText = { disallowedSpecial: new Set<string>() };

/** What is used of a vocabulary. The package's own types need a browser's library to compile. */
interface Vocabulary {
  readonly countTokens: (text: string, options: typeof asText) => number;
}

const modules: Readonly<Record<GptEncoding, string>> = {
  o200k_base: 'gpt-tokenizer/encoding/o200k_base',
  cl100k_base: 'gpt-tokenizer/encoding/cl100k_base',
};

const counterOf = (
  encoding: GptEncoding,
  countTokens: Vocabulary['countTokens'],
): TokenCounter => ({
  name: `gpt-tokenizer ${encoding}`,
  exact: true,
  count: (text) => cutLongRuns(text).reduce((sum, piece) => sum + countTokens(piece, asText), 0),
});

/**
 * Counts like OpenAI's own models do, each text once. The package is loaded on the first call;
 * `NotFound` when it is not installed.
 */
export const gptTokenizer = (
  encoding: GptEncoding = 'o200k_base',
): TE.TaskEither<FaultOf<'NotFound'>, TokenCounter> =>
  TE.tryCatch(
    async () => {
      const loaded = (await import(modules[encoding])) as Vocabulary;
      return cachedCounter(counterOf(encoding, loaded.countTokens), countCache());
    },
    () => ({ _tag: 'NotFound', kind: 'package', ref: 'gpt-tokenizer' }),
  );
