import { gate, type Paint } from './paint.js';
import { safeJson } from './terminal-text.js';
import type { Io } from './io.js';
import type { Words } from './words/words.js';

/** How people want to see a result. */
export interface Look {
  readonly words: Words;
  readonly paint: Paint;
  readonly isColored: boolean;
  /** Columns of the terminal; unlimited where none reads along. */
  readonly width: number;
  readonly format: 'text' | 'json' | 'jsonl';
}

/** What a command found out or did. */
export interface Result {
  /** Names the shape of `data`: `history` is `stemma.history.v1`. */
  readonly name: string;
  /** At least what the text says. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The member of `data` that `--jsonl` gives one line for each of. */
  readonly rows?: string;
  readonly text: () => string;
  /** Exit code of a command that worked and found what it was asked to look for. */
  readonly exit?: number;
  /** Text that is the data itself and goes out as it is; never set for a terminal (S03). */
  readonly exact?: string;
}

export const schemaName = (name: string): string => `stemma.${name}.v1`;

const lines = ({ name, data, rows }: Result): readonly unknown[] => {
  const list = rows === undefined ? undefined : data[rows];
  return Array.isArray(list)
    ? list.map((row: unknown) => ({
        schema: schemaName(`${name}.row`),
        ...(row as Readonly<Record<string, unknown>>),
      }))
    : [{ schema: schemaName(name), ...data }];
};

const textOf = (result: Result, look: Look): string => {
  if (look.format === 'json') {
    return safeJson({ schema: schemaName(result.name), ...result.data }, 2);
  }
  if (look.format === 'jsonl') {
    return lines(result)
      .map((line) => safeJson(line))
      .join('\n');
  }
  return gate(result.text(), look.isColored);
};

/** Writes a result to standard output. */
export const writeResult = ({ stdout }: Io, result: Result, look: Look): void => {
  if (result.exact !== undefined && look.format === 'text') {
    stdout.write(result.exact);
    return;
  }
  const text = textOf(result, look);
  if (text !== '') stdout.write(text.endsWith('\n') ? text : `${text}\n`);
};
