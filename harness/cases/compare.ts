import { assertsDifference, lookupIn, rootIn } from './asserts.js';
import { wideningOf } from './alternates.js';
import {
  historyDifference,
  historyRawDifference,
  violationsDifference,
} from './compare-history.js';
import { reportDifference, resultsDifference } from './compare-results.js';
import type { Expected, ExpectedKey } from './expected-shape.js';
import { faultDifference } from './fault.js';
import type { FactKey, FactValues, Run } from './run.js';
import { isFields, type Fields } from './shape.js';
import { firstDifference, sameSet, shown, told } from './values.js';

type Comparer<K extends FactKey> = (
  wanted: NonNullable<Expected[K]>,
  found: FactValues[K],
  expected: Expected,
) => string | undefined;

const equal = (key: string, wanted: unknown, found: unknown): string | undefined => {
  const difference = firstDifference(wanted, found, key);
  if (difference === undefined) return undefined;
  return difference.at === key
    ? told(difference)
    : `${key}: expected ${shown(wanted)}, found ${shown(found)} (at ${difference.at})`;
};

const asSet = (
  key: string,
  wanted: readonly unknown[],
  found: readonly unknown[],
): string | undefined =>
  sameSet(wanted, found) ? undefined : `${key}: expected ${shown(wanted)}, found ${shown(found)}`;

const exactly =
  (key: FactKey) =>
  (wanted: unknown, found: unknown): string | undefined =>
    equal(key, wanted, found);

const outputDifference: Comparer<'output'> = (wanted, found, { alternate }) => {
  if (!isFields(found)) return `output: expected ${shown(wanted)}, found ${shown(found)}`;
  const listed = Object.fromEntries(
    Object.keys(wanted).flatMap((key) => (Object.hasOwn(found, key) ? [[key, found[key]]] : [])),
  );
  const widen = (alternate === undefined ? undefined : wideningOf(alternate)) ?? ((value) => value);
  const difference = firstDifference(widen(wanted), widen(listed), 'output');
  return difference === undefined ? undefined : told(difference);
};

const sameText: Comparer<'output_equals_input'> = (_wanted, { wire, input }) => {
  const [given, sent] = [JSON.stringify(input), JSON.stringify(wire)];
  if (given === sent) return undefined;
  const difference = firstDifference(input, wire, 'output_equals_input');
  return difference === undefined
    ? `output_equals_input: the order of keys differs: ${shown(wire)}`
    : told(difference);
};

const contextResultsDifference: Comparer<'context_results'> = (wanted, found) => {
  if (wanted.length !== found.length) {
    return `context_results: expected ${shown(wanted)}, found ${shown(found)}`;
  }
  for (const [index, row] of wanted.entries()) {
    for (const [key, value] of Object.entries(row as Fields)) {
      const wrong = equal(`context_results/${String(index)}/${key}`, value, found[index]?.[key]);
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
};

/** Type names of older days to those of the catalogue. */
const olderTypes: Readonly<Record<string, string>> = { ContentRedacted: 'MessageRedacted' };

const eventsDifference = (
  key: string,
  wanted: number | readonly string[],
  found: readonly string[],
): string | undefined => {
  if (typeof wanted !== 'number') {
    return equal(
      key,
      wanted.map((type) => olderTypes[type] ?? type),
      found,
    );
  }
  return wanted === found.length
    ? undefined
    : `${key}: expected ${String(wanted)} events, found ${shown(found)}`;
};

const planDifference: Comparer<'plan'> = (wanted, found) => {
  for (const [key, ids] of Object.entries(wanted)) {
    const wrong = asSet(`plan/${key}`, ids, found[key as keyof typeof found]);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
};

const buildDifference: Comparer<'build_context'> = (wanted, found) => {
  if (wanted.ok !== undefined && wanted.ok !== found.ok) {
    const why = found.fault === undefined ? '' : `: ${shown(found.fault.fault)}`;
    return `build_context/ok: expected ${String(wanted.ok)}, found ${String(found.ok)}${why}`;
  }
  if (wanted.error === undefined) return undefined;
  return found.fault === undefined
    ? `build_context: expected the error ${wanted.error.code}, found none`
    : faultDifference(wanted.error, found.fault);
};

const byId =
  (key: 'roles' | 'timestamps' | 'siblings_of') =>
  (wanted: Readonly<Record<string, unknown>>, found: ReadonlyMap<string, unknown>) => {
    for (const [id, value] of Object.entries(wanted)) {
      const wrong = equal(`${key}/${id}`, value, found.get(id));
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };

const instants = (
  wanted: Readonly<Record<string, string | null>>,
  found: FactValues['timestamps'],
): string | undefined => byId('timestamps')(wanted, found);

const comparers: { readonly [K in FactKey]: Comparer<K> } = {
  context_ids: exactly('context_ids'),
  dropped_ids: (wanted, found) => asSet('dropped_ids', wanted, found),
  history_ids: exactly('history_ids'),
  history: historyDifference,
  history_raw: historyRawDifference,
  storage_read_ids: exactly('storage_read_ids'),
  output: outputDifference,
  output_equals_input: sameText,
  context_results: contextResultsDifference,
  tokens: exactly('tokens'),
  results: resultsDifference,
  validate_raw: violationsDifference,
  covers_ids: exactly('covers_ids'),
  events_appended: (wanted, found) => eventsDifference('events_appended', wanted, found),
  stream_length: exactly('stream_length'),
  positions: exactly('positions'),
  count: exactly('count'),
  stored_bytes_changed: exactly('stored_bytes_changed'),
  plan: planDifference,
  build_context: buildDifference,
  executable_tool_calls: (wanted, found) => asSet('executable_tool_calls', wanted, found),
  active_path_ids: exactly('active_path_ids'),
  active_path_after: exactly('active_path_after'),
  branches: (wanted, found) => asSet('branches', wanted, found),
  main_branch_ids: exactly('main_branch_ids'),
  new_parent: exactly('new_parent'),
  siblings_of: byId('siblings_of'),
  old_path_still_readable: exactly('old_path_still_readable'),
  roots: exactly('roots'),
  roles: byId('roles'),
  timestamps: instants,
  ignored_ids: (wanted, found) => asSet('ignored_ids', wanted, found),
  reimport: ({ events_appended: wanted }, found) =>
    eventsDifference('reimport/events_appended', wanted, found),
  results_text: exactly('results_text'),
  read_text: exactly('read_text'),
  truncate_results: exactly('truncate_results'),
};

/** Whether a part of a case holds: nothing, or the first difference; `known` tells if it was compared. */
export interface Finding {
  readonly difference?: string;
  /** False when the operation has no such thing to compare. */
  readonly isComparable: boolean;
}

const fine: Finding = { isComparable: true };
const differs = (difference: string | undefined): Finding =>
  difference === undefined ? fine : { isComparable: true, difference };

const failedWith = ({ fault, failures = [] }: Run): string | undefined => {
  const first = fault ?? failures[0];
  return first === undefined ? undefined : shown(first.fault);
};

type AnyComparer = (wanted: unknown, found: unknown, expected: Expected) => string | undefined;

const compareFact = async (key: FactKey, expected: Expected, run: Run): Promise<Finding> => {
  const find: (() => Promise<unknown>) | undefined = run.facts[key];
  const wanted: unknown = expected[key];
  if (find === undefined) {
    const why = run.fault ?? run.evidence.buildFaults?.[0];
    const failed = why === undefined ? undefined : shown(why.fault);
    return failed === undefined
      ? { isComparable: false, difference: `${key} cannot be compared for ${run.input.operation}` }
      : differs(`${key}: expected ${shown(wanted)}, the operation failed: ${failed}`);
  }
  const comparer = comparers[key] as AnyComparer;
  return differs(comparer(wanted, await find(), expected));
};

/** Keys that speak of commands: a failure of one of them is told there and nowhere else. */
const tellsFailures = (expected: Expected): boolean =>
  expected.results !== undefined ||
  expected.errors !== undefined ||
  (expected.any_of ?? []).some(tellsFailures);

const okDifference = (wanted: boolean, run: Run, whole: Expected): string | undefined => {
  const failed =
    run.fault !== undefined || (!tellsFailures(whole) && (run.failures ?? []).length > 0);
  if (failed === !wanted) return undefined;
  return wanted
    ? `ok: expected true, found ${String(failedWith(run))}`
    : 'ok: expected an error, found none';
};

const errorDifference = (wanted: NonNullable<Expected['error']>, run: Run): string | undefined => {
  const found = run.fault ?? run.failures?.[0];
  return found === undefined
    ? `error: expected ${wanted.code}, found none`
    : faultDifference(wanted, found);
};

const errorsDifference = (
  wanted: NonNullable<Expected['errors']>,
  { failures = [] }: Run,
): string | undefined => {
  if (wanted.length !== failures.length) {
    const found = failures.map(({ fault }) => fault);
    return `errors: expected ${shown(wanted)}, found ${shown(found)}`;
  }
  return wanted
    .map((one, index) => {
      const found = failures[index];
      return found === undefined ? undefined : faultDifference(one, found);
    })
    .find((wrong) => wrong !== undefined);
};

const mostEvents = (
  wanted: Readonly<Record<string, number>>,
  found: readonly string[],
): string | undefined => {
  for (const [type, most] of Object.entries(wanted)) {
    const name = olderTypes[type] ?? type;
    const count = found.filter((one) => one === name).length;
    if (count > most) {
      return `max_events_appended/${type}: expected ${String(most)} at most, found ${String(count)}`;
    }
  }
  return undefined;
};

const prose: ReadonlySet<ExpectedKey> = new Set<ExpectedKey>(['debatable', 'alternate', 'note']);
/** Compared elsewhere: with other runs, or by looking at more than facts. */
const elsewhere: ReadonlySet<ExpectedKey> = new Set<ExpectedKey>(['variants', 'invariants']);

const isFact = (key: string): key is FactKey => Object.hasOwn(comparers, key);

const compareKey = async (
  key: ExpectedKey,
  expected: Expected,
  run: Run,
  whole: Expected,
): Promise<Finding> => {
  if (prose.has(key) || elsewhere.has(key)) return fine;
  if (isFact(key)) return compareFact(key, expected, run);
  const { ok, error, errors, asserts, report } = expected;
  if (ok !== undefined && key === 'ok') return differs(okDifference(ok, run, whole));
  if (error !== undefined && key === 'error') return differs(errorDifference(error, run));
  if (errors !== undefined && key === 'errors') return differs(errorsDifference(errors, run));
  if (asserts !== undefined && key === 'asserts') {
    return differs(await assertsDifference(asserts, lookupIn(run.roots), rootIn(run.roots)));
  }
  if (report !== undefined && key === 'report') {
    if (run.report !== undefined) return differs(reportDifference(report, run.report));
    return differs(`report: expected ${shown(report)}, there is none`);
  }
  const { max_events_appended: most, any_of: anyOf, never } = expected;
  if (most !== undefined && key === 'max_events_appended') {
    const find = run.facts.events_appended;
    return find === undefined
      ? { isComparable: false, difference: 'max_events_appended cannot be compared' }
      : differs(mostEvents(most, await find()));
  }
  if (anyOf !== undefined && key === 'any_of') return anyOfHolds(anyOf, run, whole);
  if (never !== undefined && key === 'never') return neverHolds(never, run);
  return { isComparable: false, difference: `${key} cannot be compared` };
};

const anyOfHolds = async (
  fragments: readonly Expected[],
  run: Run,
  whole: Expected,
): Promise<Finding> => {
  const misses: string[] = [];
  for (const fragment of fragments) {
    const finding = await holds(fragment, run, whole);
    if (finding.difference === undefined) return fine;
    misses.push(finding.difference);
  }
  return differs(`any_of: none holds: ${misses.join('; ')}`);
};

/** Fragments of which none may hold. One that cannot be compared is no proof of anything. */
export const neverHolds = async (fragments: readonly Expected[], run: Run): Promise<Finding> => {
  for (const fragment of fragments) {
    const finding = await holds(fragment, run, fragment);
    if (!finding.isComparable) return finding;
    if (finding.difference === undefined) return differs(`never: this holds: ${shown(fragment)}`);
  }
  return fine;
};

/** Whether a fragment holds wholly: every key that is there, in the order given. */
export const holds = async (fragment: Expected, run: Run, whole: Expected): Promise<Finding> => {
  for (const key of Object.keys(fragment) as ExpectedKey[]) {
    const finding = await compareKey(key, fragment, run, whole);
    if (finding.difference !== undefined) return finding;
  }
  return fine;
};
