import { isStemmaError, openStemma, type Stemma } from '../../src/index.js';
import type { ImportReport } from '../../src/domain/import-plan.js';
import { claudeCodeTable } from './claude-code-table.js';
import { openaiChatTable } from './openai-chat-table.js';
import { outlineOf, readView } from './store-view.js';
import { differences, isSame, type Table } from './table.js';
import type { View } from './view.js';

/** A file that the folder names, with what it must yield. */
export interface DataFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly expected: Readonly<Record<string, unknown>>;
}

/** How the checks of a file came out; `why` is the first difference. */
export type Outcome =
  { readonly _tag: 'passed' } | { readonly _tag: 'failed'; readonly why: string };

const tables: Readonly<Record<string, Table>> = {
  'claude-code': claudeCodeTable,
  'openai-chat': openaiChatTable,
};

const passed: Outcome = { _tag: 'passed' };
const failed = (why: string): Outcome => ({ _tag: 'failed', why });

const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

/** Runs with a fresh store that is closed afterwards. */
const withStore = async <A>(use: (stemma: Stemma) => Promise<A>): Promise<A> => {
  const stemma = await openStemma({ store: 'memory:' });
  try {
    return await use(stemma);
  } finally {
    await stemma.close();
  }
};

interface Taken {
  readonly report: ImportReport;
  readonly appended: number;
  readonly salvage: boolean;
}

const hasMalformedLines = ({ expected }: DataFile): boolean => {
  const lines = expected['malformed_lines'];
  return Array.isArray(lines) && lines.length > 0;
};

/**
 * Imports a file as it stands. One that is known to have broken lines must be refused, with nothing
 * written, and is then taken with salvage (B58).
 */
const take = async (stemma: Stemma, file: DataFile): Promise<Taken> => {
  if (!hasMalformedLines(file)) {
    const { report, appended } = await stemma.import(file.bytes);
    return { report, appended, salvage: false };
  }
  const refusal = await stemma.import(file.bytes).then(
    () => 'a file with broken lines was not refused',
    (error: unknown) => (isStemmaError(error) ? undefined : String(error)),
  );
  if (refusal !== undefined) throw new Error(refusal);
  const before = await stemma.conversations();
  if (before.length > 0) throw new Error('a refused import wrote something');
  const { report, appended } = await stemma.import(file.bytes, { salvage: true });
  return { report, appended, salvage: true };
};

const compareExpected = (file: DataFile, report: ImportReport, view: View): Outcome => {
  const table = tables[report.format];
  if (table === undefined) return failed(`no table for the format ${report.format}`);
  const [first] = differences(table, { report, view }, file.expected);
  return first === undefined
    ? passed
    : failed(`${first.key}: expected ${shown(first.expected)}, found ${shown(first.found)}`);
};

const encoder = new TextEncoder();

const exportOf = async (stemma: Stemma): Promise<readonly Uint8Array[]> => {
  const files: Uint8Array[] = [];
  for (const { conversation } of await stemma.conversations()) {
    const lines: string[] = [];
    for await (const line of stemma.export(conversation)) lines.push(line);
    files.push(encoder.encode(`${lines.join('\n')}\n`));
  }
  return files;
};

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A second import is the same command: nothing at all is added. */
const importAgain = async (stemma: Stemma, file: DataFile, salvage: boolean): Promise<Outcome> => {
  const before = await exportOf(stemma);
  const { appended } = await stemma.import(file.bytes, { salvage });
  if (appended !== 0) return failed(`the second import wrote ${String(appended)} events`);
  const after = await exportOf(stemma);
  return isSame(after.map(textOf), before.map(textOf))
    ? passed
    : failed('the second import changed the log');
};

/** What is exported and taken in elsewhere is the same there. */
const exportAndCompare = async (stemma: Stemma, view: View): Promise<Outcome> => {
  const files = await exportOf(stemma);
  return withStore(async (other) => {
    for (const bytes of files) await other.import(bytes);
    const again = await readView(other);
    if (!isSame(outlineOf(again), outlineOf(view))) return failed('the export reads otherwise');
    const second = await exportOf(other);
    const events = (list: readonly Uint8Array[]): readonly string[] =>
      list.map((bytes) => withoutHeader(bytes)).sort();
    return isSame(events(second), events(files)) ? passed : failed('the second export differs');
  });
};

/** Lines behind the header, streams named without their tenant: names are locations. */
const withoutHeader = (bytes: Uint8Array): string =>
  textOf(bytes)
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^(\{"stream":"[a-z]+-)[^.]*\./, '$1'))
    .join('\n');

/** All checks of one file on a store of its own. */
export const checkFile = (file: DataFile): Promise<Outcome> =>
  withStore(async (stemma) => {
    const { report, salvage } = await take(stemma, file);
    const view = await readView(stemma);
    const compared = compareExpected(file, report, view);
    if (compared._tag === 'failed') return compared;
    const again = await importAgain(stemma, file, salvage);
    if (again._tag === 'failed') return again;
    return exportAndCompare(stemma, view);
  });

const outlineAlone = (
  file: DataFile,
): Promise<{ readonly outline: unknown; readonly view: View }> =>
  withStore(async (stemma) => {
    await take(stemma, file);
    const view = await readView(stemma);
    return { outline: outlineOf(view), view };
  });

const itemCount = (view: View): number =>
  new Set(
    view.conversations.flatMap(({ uid, branches }) =>
      branches.flatMap(({ items }) => items.map(({ place }) => `${uid} ${place}`)),
    ),
  ).size;

/**
 * A longer version of a file that was imported before adds the rest and nothing else: the store then
 * gives back what it gives after the longer version alone.
 */
export const checkGrowth = async (shorter: DataFile, longer: DataFile): Promise<Outcome> => {
  const alone = await outlineAlone(longer);
  return withStore(async (stemma) => {
    await take(stemma, shorter);
    await stemma.import(longer.bytes, { salvage: hasMalformedLines(longer) });
    const view = await readView(stemma);
    const [found, expected] = [itemCount(view), itemCount(alone.view)];
    if (found !== expected) {
      return failed(
        `behind ${shorter.name} there are ${String(found)} items, not ${String(expected)}`,
      );
    }
    return isSame(outlineOf(view), alone.outline)
      ? passed
      : failed(`behind ${shorter.name} it reads otherwise than alone`);
  });
};
