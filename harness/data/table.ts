import type { ImportReport } from '../../src/domain/import-plan.js';
import type { View } from './view.js';

/** What an import left behind: its report, and what the store gives back. */
export interface Imported {
  readonly report: ImportReport;
  readonly view: View;
}

/** How one expected key is read. */
export interface Row {
  /** The store's projections, the import's report, or the report's names looked up in the store. */
  readonly from: 'store' | 'report' | 'both';
  /** In words, for the reader of the table. */
  readonly how: string;
  readonly value: (imported: Imported) => unknown;
}

/** Rows by expected key. A key that holds several figures has a row for each, after a dot. */
export type Table = Readonly<Record<string, Row>>;

/** An expected value that is not what was found. */
export interface Difference {
  readonly key: string;
  readonly expected: unknown;
  readonly found: unknown;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Equality of JSON values; the order of keys does not count. */
export const isSame = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return Object.is(a, b);
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return (
    left.size === right.size && [...left].every(([key, value]) => isSame(value, right.get(key)))
  );
};

const UNKNOWN = '(the table knows no such key)';

const differencesAt = (
  table: Table,
  imported: Imported,
  key: string,
  expected: unknown,
): readonly Difference[] => {
  const row = Object.hasOwn(table, key) ? table[key] : undefined;
  if (row !== undefined) {
    const found = row.value(imported);
    return isSame(expected, found) ? [] : [{ key, expected, found }];
  }
  const isGroup = Object.keys(table).some((name) => name.startsWith(`${key}.`));
  if (!isGroup || !isRecord(expected)) return [{ key, expected, found: UNKNOWN }];
  return Object.entries(expected).flatMap(([part, value]) =>
    differencesAt(table, imported, `${key}.${part}`, value),
  );
};

/** Expected values that differ; a key without a row differs. */
export const differences = (
  table: Table,
  imported: Imported,
  expected: Readonly<Record<string, unknown>>,
): readonly Difference[] =>
  Object.entries(expected).flatMap(([key, value]) => differencesAt(table, imported, key, value));

/** A row that gives a figure of the report as it is. */
export const reported = (key: string, how: string): Row => ({
  from: 'report',
  how,
  value: ({ report }) => report.source[key],
});

/** A list of names in the report. */
export const namesIn = ({ report }: Imported, key: string): readonly string[] => {
  const value = report.source[key];
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
};
