import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { main } from '../../../src/infra/cli/main.js';
import type { Output } from '../../../src/infra/cli/io.js';
import { tempFolder } from '../../support/temp-folder.js';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly stdin?: string | AsyncIterable<Uint8Array>;
  readonly env?: Readonly<Record<string, string>>;
  readonly tty?: boolean;
  readonly columns?: number;
  readonly signal?: AbortSignal;
}

export type Cli = (argv: readonly string[], options?: RunOptions) => Promise<Ran>;

const capture = (options: RunOptions): { readonly output: Output; readonly text: () => string } => {
  let text = '';
  const { tty = false, columns } = options;
  return {
    output: {
      write: (part) => {
        text += part;
      },
      isTTY: tty,
      ...(columns === undefined ? {} : { columns }),
    },
    text: () => text,
  };
};

async function* bytesOf(stdin: RunOptions['stdin']): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  if (typeof stdin === 'string') yield Buffer.from(stdin);
  else if (stdin !== undefined) yield* stdin;
}

/** The command line in this process, as it behaves in this folder. */
export const cliIn =
  (cwd: string): Cli =>
  async (argv, options = {}) => {
    const [stdout, stderr] = [capture(options), capture({})];
    const code = await main({
      argv,
      env: { LANG: 'C', ...options.env },
      cwd,
      stdin: () => bytesOf(options.stdin),
      stdout: stdout.output,
      stderr: stderr.output,
      signal: options.signal ?? new AbortController().signal,
    });
    return { code, out: stdout.text(), err: stderr.text() };
  };

export interface Place {
  readonly folder: string;
  readonly cli: Cli;
  /** Runs a command that must work, and gives its JSON. */
  readonly json: (...argv: readonly string[]) => Promise<unknown>;
  readonly write: (name: string, content: string) => string;
}

/** The value at a path of JSON output; undefined where there is none. */
export const at = (json: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? typeof key === 'number' && key < 0
          ? (value as readonly unknown[]).at(key)
          : (value as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    json,
  );

/** The text at a path of JSON output. */
export const textAt = (json: unknown, ...path: readonly (string | number)[]): string => {
  const value = at(json, ...path);
  if (typeof value !== 'string') throw new Error(`no text at ${path.join('/')}`);
  return value;
};

/** The list at a path of JSON output. */
export const listAt = (
  json: unknown,
  ...path: readonly (string | number)[]
): readonly unknown[] => {
  const value = at(json, ...path);
  if (!Array.isArray(value)) throw new Error(`no list at ${path.join('/')}`);
  return value;
};

/** A new folder with a command line in it. */
export const newPlace = (): Place => {
  const folder = tempFolder('stemma-cli');
  const cli = cliIn(folder);
  return {
    folder,
    cli,
    json: async (...argv) => {
      const { code, out, err } = await cli(['--json', ...argv]);
      if (code !== 0) throw new Error(`stemma ${argv.join(' ')} ended with ${code}: ${err}`);
      return JSON.parse(out) as unknown;
    },
    write: (name, content) => {
      fs.writeFileSync(path.join(folder, name), content);
      return name;
    },
  };
};

/** A folder in which the demo was played. */
export const demoPlace = async (): Promise<Place> => {
  const place = newPlace();
  const { code, err } = await place.cli(['demo']);
  if (code !== 0) throw new Error(err);
  return place;
};

/** Names and digests of every file below a folder. */
export const filesOf = (folder: string): readonly string[] =>
  fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => {
      const digest = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
      return `${path.relative(folder, file)} ${digest}`;
    })
    .sort();
