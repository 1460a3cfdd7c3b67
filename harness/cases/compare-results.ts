import type { ExpectedReport, ExpectedResult } from './expected-shape.js';
import type { ReportEntry } from './context-facts.js';
import { faultDifference, type CaseFault } from './fault.js';
import type { ResultFact } from './run.js';
import { isFields, isList } from './shape.js';
import { isEqual, shown } from './values.js';

/** Where a value of this kind stands in what was given, as keys and indexes. */
const placeOfBigint = (value: unknown, wanted: bigint): readonly string[] | undefined => {
  if (value === wanted) return [];
  const entries = isList(value)
    ? value.map((item, index) => [String(index), item] as const)
    : isFields(value)
      ? Object.entries(value)
      : [];
  for (const [key, entry] of entries) {
    const inner = placeOfBigint(entry, wanted);
    if (inner !== undefined) return [key, ...inner];
  }
  return undefined;
};

const follow = (value: unknown, place: readonly string[]): unknown =>
  place.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null
        ? (node as Readonly<Record<string, unknown>>)[key]
        : undefined,
    value,
  );

const asBigint = (value: unknown): bigint | undefined => {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
};

const bigintDifference = (wanted: string, found: ResultFact): string | undefined => {
  const value = BigInt(wanted);
  for (const [index, given] of (found.given ?? []).entries()) {
    const place = placeOfBigint(given, value);
    if (place === undefined) continue;
    const read = follow(found.readBack?.[index], place);
    return asBigint(read) === value ? undefined : `expected ${wanted}, read back ${shown(read)}`;
  }
  return `no value ${wanted} was given`;
};

const errorDifference = (
  expected: ExpectedResult['error'],
  fault: CaseFault | undefined,
): string | undefined => {
  if (expected === undefined) return undefined;
  return fault === undefined
    ? `expected the error ${expected.code}, found none`
    : faultDifference(expected, fault);
};

const fieldsOf = (found: ResultFact): Readonly<Record<string, unknown>> => ({
  status: found.status,
  position: found.positions?.[0],
  positions: found.positions,
  version: found.version,
  writer: found.writer,
  retry: found.retry ?? false,
  history_texts: found.historyTexts,
  hits: found.hits,
});

/** What about one result is not as expected. */
export const resultDifference = (
  expected: ExpectedResult | string,
  found: ResultFact,
): string | undefined => {
  if (typeof expected === 'string') {
    return expected === found.text
      ? undefined
      : `expected the text ${shown(expected)}, found ${shown(found.text ?? found.fault?.fault)}`;
  }
  const { any_of: anyOf, error, value_equals_bigint: bigint, ...plain } = expected;
  const fields = fieldsOf(found);
  for (const [key, wanted] of Object.entries(plain)) {
    if (!isEqual(wanted, fields[key])) {
      const why = found.fault === undefined ? '' : ` (${shown(found.fault.fault)})`;
      return `${key}: expected ${shown(wanted)}, found ${shown(fields[key])}${why}`;
    }
  }
  const wrong =
    errorDifference(error, found.fault) ??
    (bigint === undefined ? undefined : bigintDifference(bigint, found));
  if (wrong !== undefined || anyOf === undefined) return wrong;
  const misses = anyOf.map((one) => resultDifference(one, found));
  return misses.includes(undefined) ? undefined : `none of any_of: ${misses.join('; ')}`;
};

const listDifference = (
  expected: readonly (ExpectedResult | string)[],
  found: readonly ResultFact[],
): string | undefined => {
  if (expected.length !== found.length) {
    return `expected ${String(expected.length)} results, found ${String(found.length)}: ${shown(found.map(({ status }) => status))}`;
  }
  for (const [index, wanted] of expected.entries()) {
    const one = found[index];
    const wrong = one === undefined ? 'is not there' : resultDifference(wanted, one);
    if (wrong !== undefined) return `results/${String(index)}: ${wrong}`;
  }
  return undefined;
};

/** Results in order, or by the id of a message. */
export const resultsDifference = (
  expected:
    readonly (ExpectedResult | string)[] | Readonly<Record<string, ExpectedResult | string>>,
  found: readonly ResultFact[],
): string | undefined => {
  if (isList(expected)) {
    return listDifference(expected, found);
  }
  for (const [id, wanted] of Object.entries(expected)) {
    const one = found.find(({ ids }) => ids.includes(id));
    const wrong = one === undefined ? 'no command has this id' : resultDifference(wanted, one);
    if (wrong !== undefined) return `results/${id}: ${wrong}`;
  }
  return undefined;
};

const idsMatch = (
  { id, ids }: ExpectedReport,
  entry: ReportEntry,
  all: readonly ReportEntry[],
): boolean => {
  if (id !== undefined && !entry.ids.includes(id)) return false;
  if (ids === undefined || isEqual(ids, entry.ids)) return true;
  // One entry for each message says the same as one entry for all of them.
  const together = all.filter(({ code }) => code === entry.code).flatMap((one) => one.ids);
  return isEqual(ids, together);
};

const matches = (
  expected: ExpectedReport,
  entry: ReportEntry,
  all: readonly ReportEntry[],
): boolean => {
  const { code, id: _id, ids: _ids, original_chars_at_least: least, ...plain } = expected;
  if (entry.code !== code || !idsMatch(expected, entry, all)) return false;
  if (
    least !== undefined &&
    !(entry.original_chars !== undefined && entry.original_chars >= least)
  ) {
    return false;
  }
  return Object.entries(plain).every(([key, wanted]) =>
    isEqual(wanted, (entry as unknown as Readonly<Record<string, unknown>>)[key]),
  );
};

/** The first entry that a report lacks. */
export const reportDifference = (
  expected: readonly ExpectedReport[],
  found: readonly ReportEntry[],
): string | undefined => {
  const absent = expected.find((wanted) => !found.some((entry) => matches(wanted, entry, found)));
  return absent === undefined
    ? undefined
    : `report: expected ${shown(absent)}, found ${shown(found)}`;
};
