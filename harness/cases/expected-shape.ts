import {
  afterSteps,
  event,
  messageFields,
  params,
  type AfterSteps,
  type CaseEvent,
  type Params,
} from './input-shape.js';
import {
  anything,
  either,
  fields,
  flag,
  later,
  listOf,
  nullable,
  number,
  object,
  oneOf,
  optional,
  recordOf,
  refuse,
  text,
  yes,
  type Fields,
  type Reader,
  type ReadShape,
} from './shape.js';
import {
  errorCodes,
  invariantNames,
  operations,
  profileNames,
  reportCodes,
  statuses,
  type Operation,
} from './words.js';

const errorShape = {
  code: oneOf(...errorCodes),
  id: optional(text),
  ids: optional(listOf(text)),
  index: optional(number),
  position: optional(number),
  type: optional(text),
  version: optional(number),
  required: optional(number),
  limit: optional(number),
  missing: optional(either(text, listOf(text))),
  path: optional(text),
  occurrence: optional(number),
  expected: optional(anything),
  actual: optional(anything),
};
export const error = object(errorShape, 'field of an error');
export type ExpectedError = ReadShape<typeof errorShape>;

const reportShape = {
  code: oneOf(...reportCodes),
  id: optional(text),
  ids: optional(listOf(text)),
  from: optional(text),
  to: optional(text),
  from_index: optional(number),
  to_index: optional(number),
  tool_call_id: optional(text),
  action: optional(text),
  retrievable: optional(flag),
  original_chars_at_least: optional(number),
};
export type ExpectedReport = ReadShape<typeof reportShape>;

/** A whole number, as its digits or as a value of the language. */
const digits: Reader<string> = (value, at) =>
  typeof value === 'bigint' ? String(value) : text(value, at);

/** Bytes, as base64 or as a value of the language. */
const base64: Reader<string> = (value, at) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : text(value, at);

const tests = {
  eq: optional(anything),
  eq_at: optional(text),
  ne_at: optional(text),
  one_of: optional(listOf(anything)),
  match: optional(text),
  not_match: optional(text),
  min: optional(number),
  max: optional(number),
  length: optional(number),
  min_length: optional(number),
  max_length: optional(number),
  type: optional(oneOf('object', 'array', 'string', 'number', 'boolean', 'null')),
  absent: optional(yes),
  contains_text: optional(text),
  not_contains_text: optional(text),
  no_blank_text: optional(yes),
  json_object: optional(yes),
  starts_with_at: optional(text),
  well_formed_unicode: optional(yes),
  same_instant: optional(anything),
  bytes: optional(base64),
};

const plainRoots: readonly string[] = [
  'wire',
  'read',
  'reads',
  'tokens',
  'tokens_total',
  'stored_bytes',
  'builds',
];

/** The root that a pointer of an assert begins with. */
export const rootOf = (pointer: string): string => pointer.split('/')[1] ?? '';

const isRoot = (root: string): boolean =>
  plainRoots.includes(root) ||
  (root.startsWith('wire_') && (profileNames as readonly string[]).includes(root.slice(5)));

const pointer: Reader<string> = (value, at) => {
  const read = text(value, at);
  if (!read.startsWith('/')) return refuse(at, 'is no pointer');
  return isRoot(rootOf(read)) ? read : refuse(at, `unknown root ${rootOf(read)}`);
};

const assertShape = { at: pointer, ...tests };
const bareAssert = object(assertShape, 'test');
export type Assert = ReadShape<typeof assertShape>;

const assertion: Reader<Assert> = (value, at) => {
  const read = bareAssert(value, at);
  for (const other of [read.eq_at, read.ne_at, read.starts_with_at]) {
    if (other !== undefined) pointer(other, at);
  }
  return Object.keys(read).length > 1 ? read : refuse(at, 'tests nothing');
};

const resultShape = {
  status: optional(oneOf(...statuses)),
  position: optional(number),
  positions: optional(listOf(number)),
  version: optional(number),
  writer: optional(text),
  retry: optional(flag),
  error: optional(error),
  history_texts: optional(listOf(text)),
  hits: optional(number),
  any_of: optional(listOf(later(() => resultEntry))),
  value_equals_bigint: optional(digits),
};

export interface ExpectedResult {
  readonly status?: (typeof statuses)[number];
  readonly position?: number;
  readonly positions?: readonly number[];
  readonly version?: number;
  readonly writer?: string;
  readonly retry?: boolean;
  readonly error?: ExpectedError;
  readonly history_texts?: readonly string[];
  readonly hits?: number;
  readonly any_of?: readonly (ExpectedResult | string)[];
  readonly value_equals_bigint?: string;
}

const resultEntry: Reader<ExpectedResult | string> = (value, at) =>
  typeof value === 'string' ? value : object(resultShape, 'field of a result')(value, at);

const rowFields: ReadonlySet<string> = new Set([
  ...messageFields,
  'status',
  'incomplete_tool_calls',
]);

const row: Reader<Fields> = (value, at) => {
  const read = fields(value, at);
  const odd = Object.keys(read).find((key) => !rowFields.has(key));
  return odd === undefined ? read : refuse(at, `unknown field of a history row ${odd}`);
};

const contextResult = object(
  {
    tool_call_id: optional(text),
    synthetic: optional(flag),
    is_error: optional(flag),
    content: optional(anything),
  },
  'field of a context result',
);

const violation = object(
  {
    code: oneOf(...errorCodes),
    index: optional(number),
    ids: optional(listOf(text)),
    role: optional(text),
  },
  'field of a violation',
);

const ids = listOf(text);

const eventsAppended = either(number, listOf(text));

/** A list in order, or an object by message id. */
const listed =
  <T>(item: Reader<T>): Reader<readonly T[] | Readonly<Record<string, T>>> =>
  (value, at) =>
    Array.isArray(value) ? listOf(item)(value, at) : recordOf(item)(value, at);

const plainShape = {
  ok: optional(flag),
  error: optional(error),
  errors: optional(listOf(error)),
  context_ids: optional(ids),
  dropped_ids: optional(ids),
  history_ids: optional(ids),
  history: optional(listed(row)),
  history_raw: optional(recordOf(either(text, listOf(text)))),
  storage_read_ids: optional(ids),
  output: optional(fields),
  output_equals_input: optional(yes),
  context_results: optional(listOf(contextResult)),
  tokens: optional(number),
  asserts: optional(listOf(assertion)),
  report: optional(listOf(object(reportShape, 'field of a report entry'))),
  results: optional(listed(resultEntry)),
  validate_raw: optional(
    object({ ok: flag, violations: optional(listOf(violation)) }, 'field of validate_raw'),
  ),
  debatable: optional(anything),
  alternate: optional(text),
  note: optional(anything),
  invariants: optional(listOf(oneOf(...invariantNames))),
  covers_ids: optional(ids),
  events_appended: optional(eventsAppended),
  max_events_appended: optional(recordOf(number)),
  stream_length: optional(number),
  positions: optional(listOf(number)),
  count: optional(number),
  stored_bytes_changed: optional(flag),
  plan: optional(
    object(
      {
        answered: optional(ids),
        outcome_unknown: optional(ids),
        not_started: optional(ids),
        rerun_allowed: optional(ids),
        needs_decision: optional(ids),
      },
      'field of plan',
    ),
  ),
  build_context: optional(
    object({ ok: optional(flag), error: optional(error) }, 'field of build_context'),
  ),
  executable_tool_calls: optional(ids),
  active_path_ids: optional(ids),
  active_path_after: optional(ids),
  branches: optional(listOf(ids)),
  main_branch_ids: optional(ids),
  new_parent: optional(nullable(text)),
  siblings_of: optional(recordOf(ids)),
  old_path_still_readable: optional(ids),
  roots: optional(number),
  roles: optional(recordOf(text)),
  timestamps: optional(recordOf(nullable(text))),
  ignored_ids: optional(ids),
  reimport: optional(object({ events_appended: eventsAppended }, 'field of reimport')),
  results_text: optional(listOf(nullable(text))),
  read_text: optional(listOf(nullable(text))),
  truncate_results: optional(listOf(text)),
};

type Plain = ReadShape<typeof plainShape>;

/** What a case expects: every key that is there must hold. */
export interface Expected extends Plain {
  readonly any_of?: readonly Expected[];
  readonly never?: readonly Expected[];
  readonly variants?: readonly Variant[];
}

export type ExpectedKey = keyof Expected;

export interface Variant {
  readonly params?: Params;
  readonly operation?: Operation;
  readonly after?: AfterSteps;
  readonly insert_before_finish?: readonly CaseEvent[];
  readonly expected: Expected;
}

const fragments: Reader<readonly Expected[]> = (value, at) => listOf(expected)(value, at);

export const expected: Reader<Expected> = object(
  {
    ...plainShape,
    any_of: optional(fragments),
    never: optional(fragments),
    variants: optional<readonly Variant[]>((value, at) => listOf(variant)(value, at)),
  },
  'expected key',
);

const bareVariant = object(
  {
    params: optional(params),
    operation: optional(oneOf(...operations)),
    after: optional(afterSteps),
    insert_before_finish: optional(listOf(event)),
    expected,
  },
  'field of a variant',
);

const variant: Reader<Variant> = (value, at) => {
  const read = bareVariant(value, at);
  return read.expected.variants === undefined ? read : refuse(at, 'a variant has no variants');
};
