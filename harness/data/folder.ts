import fs from 'node:fs';
import path from 'node:path';
import { isStemmaError } from '../../src/index.js';
import { detectFormat } from '../../src/infra/importers/detect.js';
import { checkFile, checkGrowth, type DataFile, type Outcome } from './checks.js';
import { isSame } from './table.js';

const EXPECTED = 'expected.json';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Found =
  | { readonly _tag: 'file'; readonly file: DataFile }
  | { readonly _tag: 'failed'; readonly name: string; readonly why: string };

const readFile = (folder: string, name: string, expected: unknown): Found => {
  if (!isRecord(expected))
    return { _tag: 'failed', name, why: 'its expected values are no object' };
  const target = path.resolve(folder, name);
  if (!target.startsWith(path.resolve(folder) + path.sep)) {
    return { _tag: 'failed', name, why: 'it is named outside of the folder' };
  }
  try {
    return { _tag: 'file', file: { name, bytes: fs.readFileSync(target), expected } };
  } catch {
    return { _tag: 'failed', name, why: 'it cannot be read' };
  }
};

const filesOf = (folder: string): readonly Found[] => {
  const expected: unknown = JSON.parse(fs.readFileSync(path.join(folder, EXPECTED), 'utf8'));
  if (!isRecord(expected)) throw new Error(`${EXPECTED} holds no object`);
  return Object.entries(expected).map(([name, values]) => readFile(folder, name, values));
};

const isBeginning = (shorter: Uint8Array, longer: Uint8Array): boolean =>
  shorter.length > 0 &&
  shorter.length < longer.length &&
  isSame(Buffer.compare(shorter, longer.subarray(0, shorter.length)), 0);

const guarded = async (check: () => Promise<Outcome>): Promise<Outcome> => {
  try {
    return await check();
  } catch (error) {
    const why = isStemmaError(error) ? JSON.stringify(error) : String(error);
    return { _tag: 'failed', why };
  }
};

/** A file alone, then behind each shorter version of it that the folder holds. */
const check = async (file: DataFile, files: readonly DataFile[]): Promise<Outcome> => {
  const alone = await guarded(() => checkFile(file));
  if (alone._tag === 'failed') return alone;
  for (const shorter of files.filter(({ bytes }) => isBeginning(bytes, file.bytes))) {
    const grown = await guarded(() => checkGrowth(shorter, file));
    if (grown._tag === 'failed') return grown;
  }
  return alone;
};

/** How many files of a folder came out how. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Checks every file that `expected.json` of a folder names, and says one line for each. A file that
 * no importer recognises is skipped, never guessed at. Throws when the folder has no such list.
 */
export const checkFolder = async (folder: string, say: (line: string) => void): Promise<Tally> => {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const found = filesOf(folder);
  const files = found.flatMap((one) => (one._tag === 'file' ? [one.file] : []));
  for (const one of found) {
    if (one._tag === 'failed') {
      tally.failed += 1;
      say(`${one.name}: FAIL ${one.why}`);
    } else if (detectFormat(one.file.bytes) === undefined) {
      tally.skipped += 1;
      say(`${one.file.name}: skipped, no importer recognises it`);
    } else {
      const outcome = await check(one.file, files);
      tally[outcome._tag] += 1;
      say(`${one.file.name}: ${outcome._tag === 'passed' ? 'ok' : `FAIL ${outcome.why}`}`);
    }
  }
  return tally;
};
