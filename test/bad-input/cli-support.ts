import { expect } from 'vitest';
import { at, type Place } from '../infra/cli/cli-run.js';

/** Content that no error may tell. */
export const SECRET = 'words nobody may read';

/** Everything that the store holds, by the hashes of its heads. */
export const imageOf = async (place: Place): Promise<unknown> =>
  at(await place.json('verify', '--all'), 'heads');

export interface Refusal {
  readonly code: unknown;
  readonly exit: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a command line refuses with; nothing is stored, and nothing of the content is told. */
export const refusedBy = async (
  place: Place,
  argv: readonly string[],
  stdin?: string,
): Promise<Refusal> => {
  const before = await imageOf(place);
  const ran = await place.cli([...argv, '--json'], stdin === undefined ? {} : { stdin });
  expect(ran.out).toBe('');
  expect(ran.err).not.toContain(SECRET);
  expect(await imageOf(place)).toEqual(before);
  const error = at(JSON.parse(ran.err.slice(ran.err.indexOf('{'))), 'error');
  const data = at(error, 'data') as Refusal['data'];
  const told = { code: at(error, 'code'), exit: ran.code, data };
  expect(at(error, 'exit')).toBe(ran.code);
  // The same without --json: a line for people, the same exit code, nothing of the content.
  const plain = await place.cli(argv, stdin === undefined ? {} : { stdin });
  expect([plain.code, plain.out]).toEqual([ran.code, '']);
  expect(plain.err).toContain(String(told.code));
  expect(plain.err).not.toContain(SECRET);
  return told;
};

/** Rows of a table with the beginning of their text in front, for the titles. */
export const titled = <const Row extends readonly [row: string, text: string, ...rest: unknown[]]>(
  rows: readonly Row[],
): readonly (readonly [title: string, ...Row])[] =>
  rows.map((row) => [`${row[0]} refuses ${JSON.stringify(row[1].slice(0, 60))}`, ...row] as const);
