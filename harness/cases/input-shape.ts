import {
  anything,
  either,
  fields,
  flag,
  isFields,
  listOf,
  nullable,
  number,
  object,
  oneOf,
  oneOrMore,
  optional,
  recordOf,
  refuse,
  text,
  type Reader,
  type ReadShape,
} from './shape.js';
import { eventTypes, profileNames, storeNames } from './words.js';

const toolCall = object(
  { id: optional(text), name: text, arguments: optional(anything) },
  'field of a tool call',
);

const partShapes = {
  text: object({ type: text, text: anything }, 'field of a text part'),
  image: object(
    {
      type: text,
      media_type: text,
      width: optional(number),
      height: optional(number),
      data: anything,
    },
    'field of an image part',
  ),
  reasoning: object(
    {
      type: text,
      text: anything,
      signature: optional(text),
      provider: optional(text),
      model: optional(text),
    },
    'field of a reasoning part',
  ),
};

const isPartType = (type: unknown): type is keyof typeof partShapes =>
  typeof type === 'string' && Object.hasOwn(partShapes, type);

const part: Reader<Readonly<Record<string, unknown>>> = (value, at) => {
  const { type } = fields(value, at) as { readonly type?: unknown };
  return isPartType(type)
    ? partShapes[type](value, at)
    : refuse(at, `unknown type of part ${String(type)}`);
};

// Anything that JSON cannot carry is handed on: whether it is refused is for the engine to say.
const content: Reader<unknown> = (value, at) =>
  Array.isArray(value) ? listOf(part)(value, at) : value;

const messageShape = {
  id: optional(text),
  role: optional(anything),
  content: optional(content),
  tool_calls: optional(listOf(toolCall)),
  tool_call_id: optional(text),
  is_error: optional(flag),
  reasoning: optional(object({ text: anything, provider: optional(text) }, 'field of reasoning')),
  metadata: optional(anything),
  parent: optional(nullable(text)),
  pinned: optional(flag),
  name: optional(text),
  created_at: optional(anything),
};

export const messageFields: readonly string[] = Object.keys(messageShape);

/** A message of the canonical form. */
export const message = object(messageShape, 'field of a message');
export type CaseMessage = ReadShape<typeof messageShape>;

const batch = oneOrMore(message);
export type Batch = CaseMessage | readonly CaseMessage[];

export const messagesOf = (given: Batch): readonly CaseMessage[] =>
  Array.isArray(given) ? (given as readonly CaseMessage[]) : [given];

const eventShape = {
  type: text,
  version: optional(number),
  position: optional(number),
  compat: optional(oneOf('must', 'skip')),
  data: anything,
};

const anyEvent = object(eventShape, 'field of an event');
export type CaseEvent = ReadShape<typeof eventShape>;

/** A stored event of a case; its type is one of the closed list. */
export const event: Reader<CaseEvent> = (value, at) => {
  const read = anyEvent(value, at);
  return (eventTypes as readonly string[]).includes(read.type)
    ? read
    : refuse(at, `unknown event type ${read.type}`);
};

const commandShape = {
  append: optional(batch),
  command_id: optional(text),
  expected_version: optional(nullable(either(number, oneOf('any')))),
  fault: optional(oneOf('commit_then_drop_ack')),
  recover_run: optional(object({ items: listOf(message) }, 'field of recover_run')),
  as: optional(anything),
  session: optional(text),
  op: optional(oneOf('read', 'search', 'delete')),
  text: optional(text),
};
export type CaseCommand = ReadShape<typeof commandShape>;

const writerShape = {
  name: text,
  expected_version: optional(nullable(either(number, oneOf('any')))),
  append: batch,
};

const effect = oneOf('read_only', 'idempotent', 'non_idempotent');

const storeDouble = object({
  kind: oneOf('kurrent-like'),
  any_version_same_event_id: oneOf('ack_and_ignore'),
  exact_version_same_event_id: oneOf('write_again'),
});

const finishShape = {
  summary: text,
  covers_ids: listOf(text),
  based_on_position: optional(number),
};

const buildShape = {
  now: optional(text),
  append: optional(listOf(message)),
  tools_order: optional(listOf(text)),
};

const roundtripSteps = oneOf('append', 'reload', 'project', 'serialize');

const paramShape = {
  strategy: optional(oneOf('keep_last_contiguous')),
  policy: optional(nullable(oneOf('keep_user_text'))),
  max_tokens: optional(nullable(number)),
  tokens: optional(recordOf(number)),
  max_items: optional(nullable(number)),
  max_tool_result_tokens: optional(nullable(number)),
  max_argument_chars: optional(nullable(number)),
  shorten: optional(oneOf('head_and_tail')),
  truncate_tool_results: optional(flag),
  pin_roles: optional(listOf(oneOf('system', 'developer', 'user', 'assistant', 'tool'))),
  must_keep: optional(listOf(text)),
  require_user_start: optional(flag),
  on_split: optional(oneOf('keep_pair', 'reject')),
  interrupted: optional(oneOf('keep_text', 'leave_out')),
  on_unanswered: optional(oneOf('synthesize', 'drop_call', 'reject')),
  adjacency: optional(oneOf('move_results_up', 'reject')),
  system_policy: optional(oneOf('coalesce_leading')),
  on_bad_arguments: optional(oneOf('empty_object', 'drop_pair', 'reject')),
  on_trailing_assistant: optional(oneOf('reject', 'append_continue')),
  on_missing_signature: optional(oneOf('documented_skip_value', 'reject')),
  on_dangling: optional(oneOf('reject', 'attach_previous')),
  on_miss: optional(oneOf('error')),
  on_stale_summary: optional(oneOf('fall_back_to_messages')),
  capabilities: optional(
    object(
      {
        prefill: optional(flag),
        thought_signature_required: optional(flag),
        prefix_bound_thinking: optional(flag),
        thinking_required_in_tool_loop: optional(flag),
      },
      'capability',
    ),
  ),
  thinking: optional(oneOf('enabled', true, false)),
  target: optional(either(text, object({ provider: text, model: optional(text) }))),
  tools: optional(
    either(listOf(text), recordOf(object({ effect: optional(effect) }, 'field of a tool'))),
  ),
  also_profile: optional(oneOf(...profileNames)),
  store: optional(either(flag, storeDouble)),
  stores: optional(listOf(oneOf(...storeNames))),
  reload_from_store: optional(flag),
  via: optional(listOf(roundtripSteps)),
  then: optional(oneOf('convert', 'read')),
  commands: optional(listOf(object(commandShape, 'field of a command'))),
  read_version: optional(number),
  writers: optional(listOf(object(writerShape, 'field of a writer'))),
  order: optional(listOf(text)),
  retry_loser_at_head: optional(flag),
  append: optional(object({ count: number, message }, 'field of append')),
  read_after_messages: optional(listOf(number)),
  compactions_every: optional(nullable(number)),
  clock: optional(text),
  clock_steps_ms: optional(listOf(number)),
  truncate: optional(
    listOf(object({ text, max_utf16: number, want: optional(text) }, 'field of truncate')),
  ),
  keep_from: optional(nullable(text)),
  summary: optional(text),
  summary_tokens: optional(number),
  previous_summaries: optional(
    listOf(either(text, object({ summary: text, covers_ids: optional(listOf(text)) }))),
  ),
  finish: optional(object(finishShape, 'field of finish')),
  auto_compact: optional(flag),
  attempts: optional(number),
  new_message: optional(message),
  edit: optional(text),
  viewed_branch: optional(text),
  source_format: optional(oneOf('parent-linked-jsonl')),
  leaf: optional(text),
  project: optional(oneOf('history', 'raw')),
  upcasters: optional(listOf(text)),
  redact: optional(listOf(text)),
  reason: optional(text),
  subject: optional(text),
  requests: optional(listOf(object({ name: text, arguments: anything }, 'field of a request'))),
  builds: optional(listOf(object(buildShape, 'field of a build'))),
};

/** The parameters of a case, all of them optional. */
export const params = object(paramShape, 'param');
export type Params = ReadShape<typeof paramShape>;

/** Steps after the operation of a variant. */
export const afterSteps = object(
  {
    append: optional(listOf(message)),
    compact: optional(
      object(
        { keep_from: nullable(text), summary: optional(text), on_split: paramShape.on_split },
        'field of compact',
      ),
    ),
  },
  'field of after',
);
export type AfterSteps = ReturnType<typeof afterSteps>;

/** A message of a provider, with or without a label of the case. */
export const providerMessage: Reader<Readonly<Record<string, unknown>>> = (value, at) =>
  isFields(value) ? value : refuse(at, 'is no object');
