import * as E from 'fp-ts/lib/Either.js';
import { list, optional, record, text, whole, decodeWith, type Codec } from '../domain/codec.js';
import type { StemmaFault } from '../domain/errors.js';
import { pointerTo } from '../domain/json-pointer.js';
import { plainJson } from '../domain/json-value.js';
import { Blocks, CallRef } from '../domain/message.js';
import {
  actorFault,
  argumentFault,
  nameFault,
  optionalNameFault,
  optionsFault,
  type OptionKind,
} from '../engine/arguments.js';
import { check } from './stemma-error.js';

/** Looks at the arguments of one call, whatever they are. */
type Look = (...args: readonly unknown[]) => StemmaFault | undefined;

type AnyMethod = (...args: readonly unknown[]) => unknown;

/**
 * The same face, whose methods look at their arguments first. Types do not bind a caller in plain
 * JavaScript: what does not fit is refused by name, before anything is read or written (B14).
 */
export const guarded = <T extends object>(
  face: T,
  looks: { readonly [K in keyof T]?: Look },
): T => {
  const wrapped = Object.entries(looks as Readonly<Record<string, Look>>).map(([name, look]) => {
    const method = face[name as keyof T] as AnyMethod;
    const call = (...args: readonly unknown[]): Promise<unknown> =>
      new Promise((resolve) => {
        check(look(...args));
        resolve(method(...args));
      });
    return [name, call] as const;
  });
  return { ...face, ...Object.fromEntries(wrapped) };
};

const firstOf =
  (...looks: readonly Look[]): Look =>
  (...args) => {
    for (const look of looks) {
      const fault = look(...args);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };

/** The argument at `at`, looked at by a rule. */
const at =
  (place: number, look: (value: unknown) => StemmaFault | undefined): Look =>
  (...args) =>
    look(args[place]);

const named = (name: string) => (value: unknown) =>
  typeof value === 'string' ? undefined : argumentFault(name, 'wrong_type');

const optionalText = (name: string) => (value: unknown) =>
  value === undefined ? undefined : named(name)(value);

/** Options that may be left out altogether. */
const options =
  (kinds: Readonly<Record<string, OptionKind>>) =>
  (value: unknown): StemmaFault | undefined =>
    value === undefined ? undefined : optionsFault(value as object, kinds);

/** Options of which some have to be there. */
const needed =
  (kinds: Readonly<Record<string, OptionKind>>, ...names: readonly string[]) =>
  (value: unknown): StemmaFault | undefined => {
    const fault = optionsFault(value as object, kinds);
    if (fault !== undefined) return fault;
    const missing = names.find(
      (name) => (value as Readonly<Record<string, unknown>>)[name] === undefined,
    );
    return missing === undefined ? undefined : argumentFault(missing, 'missing');
  };

const member =
  (name: string, look: (value: unknown) => StemmaFault | undefined) =>
  (value: unknown): StemmaFault | undefined =>
    typeof value === 'object' && value !== null
      ? look((value as Readonly<Record<string, unknown>>)[name])
      : undefined;

const contextKinds = {
  profile: 'object',
  budgetTokens: 'any',
  policy: 'object',
  tools: 'object',
  params: 'any',
  literals: 'list',
  counter: 'object',
} as const;

const requestKinds = {
  ...contextKinds,
  purpose: 'text',
  agent: 'text',
  retryOf: 'text',
  cause: 'text',
  commandId: 'any',
} as const;

const compactionKinds = {
  strategy: 'text',
  keepFrom: 'any',
  keepLast: 'any',
  summary: 'text',
  onSplit: 'text',
  requireProgress: 'flag',
  keepUserText: 'flag',
  profile: 'object',
  counter: 'object',
  summaryId: 'any',
  madeBy: 'text',
  plan: 'object',
  commandId: 'any',
} as const;

const oneOf =
  (name: string, ...values: readonly string[]) =>
  (value: unknown): StemmaFault | undefined =>
    value === undefined || values.includes(value as string)
      ? undefined
      : argumentFault(name, 'unknown_value');

/** Each tool is an object; what it says about itself is JSON. */
const toolbox = (value: unknown): StemmaFault | undefined => {
  if (value === undefined) return undefined;
  for (const [name, tool] of Object.entries(value as object) as [string, unknown][]) {
    const path = pointerTo('/tools', [name]);
    if (typeof tool !== 'object' || tool === null) {
      return { _tag: 'InvalidShape', path, expected: 'tool' };
    }
    const told = tool as Readonly<Record<string, unknown>>;
    for (const key of ['description', 'parameters']) {
      const plain = told[key] === undefined ? undefined : plainJson(told[key], `${path}/${key}`);
      if (plain !== undefined && E.isLeft(plain)) return plain.left;
    }
  }
  return undefined;
};

const context =
  (kinds: Readonly<Record<string, OptionKind>>) =>
  (value: unknown): StemmaFault | undefined =>
    needed(kinds, 'profile')(value) ?? member('tools', toolbox)(value);

/** A plan made before comes back whole, or it is none. */
const compactionPlan = (value: unknown): StemmaFault | undefined => {
  if (value === undefined) return undefined;
  for (const name of ['covers', 'covered', 'states']) {
    const part = (value as Readonly<Record<string, unknown>>)[name];
    if (!Array.isArray(part)) {
      return { _tag: 'InvalidShape', path: `/plan/${name}`, expected: 'list' };
    }
  }
  return undefined;
};

const compaction = (value: unknown): StemmaFault | undefined =>
  needed(compactionKinds, 'strategy')(value) ??
  member('plan', compactionPlan)(value) ??
  member('strategy', oneOf('strategy', 'keep-last', 'elide-tool-results', 'summary'))(value) ??
  member('onSplit', oneOf('onSplit', 'move', 'reject'))(value) ??
  member('summaryId', (id) => optionalNameFault('/summaryId', id))(value);

const places: readonly string[] = ['before', 'after', 'revision', 'beforeCall'];

const forkPlace = (value: unknown): StemmaFault | undefined => {
  if (typeof value !== 'object' || value === null) return argumentFault('place', 'wrong_type');
  const [name, ...others] = Object.keys(value);
  if (name === undefined) return argumentFault('place', 'missing');
  if (!places.includes(name)) return argumentFault(name, 'unknown_option');
  if (others.length > 0) return argumentFault('place', 'excludes_another');
  return name === 'revision' ? undefined : member(name, (id) => nameFault(`/${name}`, id))(value);
};

const outcomes = ['completed', 'interrupted', 'failed', 'lost'] as const;
const forkKinds = { commandId: 'any', name: 'any', reason: 'text' } as const;
const retryKinds = {
  before: 'text',
  ofCall: 'text',
  replace: 'object',
  name: 'any',
  commandId: 'any',
} as const;

const note = (value: unknown): StemmaFault | undefined =>
  needed({ name: 'any', value: 'text' }, 'name', 'value')(value) ??
  member('name', (name) => nameFault('/name', name))(value);

const callId = (id: unknown): StemmaFault | undefined => nameFault('/modelCallId', id);

const CallChoice = record<{ call: CallRef; do: string; content?: string; reason?: string }>(
  'choice',
  { call: CallRef, do: text, content: optional(text), reason: optional(text) },
);

/** What the caller says about a call is never guessed at. */
const toolChoice = (value: unknown, index: number): StemmaFault | undefined => {
  const path = `/tools/${String(index)}`;
  const read = decodeWith(CallChoice, value);
  if (E.isLeft(read)) {
    return {
      _tag: 'InvalidShape',
      path: path + read.left.path,
      expected: read.left.expected,
    };
  }
  const { do: what, content } = read.right;
  if (what === 'result' && content === undefined) {
    return { _tag: 'InvalidShape', path: `${path}/content`, expected: 'text' };
  }
  return oneOf('do', 'unknown', 'abandon', 'result')(what);
};

const toolChoices = (value: unknown): StemmaFault | undefined => {
  for (const [index, choice] of ((value ?? []) as readonly unknown[]).entries()) {
    const fault = toolChoice(choice, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

const recovery = (value: unknown): StemmaFault | undefined =>
  options({ tools: 'list', endTurn: 'text' })(value) ??
  member('tools', toolChoices)(value) ??
  member('endTurn', oneOf('endTurn', ...outcomes))(value);

/** What each method of a branch is given. */
export const branchLooks = {
  label: at(0, (name) => nameFault('/name', name)),
  promote: at(0, optionalText('reason')),
  close: at(0, optionalText('reason')),
  reopen: at(0, optionalText('reason')),
  annotate: firstOf(at(0, needed({ kind: 'text', ref: 'text' }, 'kind', 'ref')), at(1, note)),
  feedback: firstOf(at(0, needed({ kind: 'text', ref: 'text' }, 'kind', 'ref')), at(1, note)),
  merge: at(0, needed({ from: 'text', messages: 'list', commandId: 'any' }, 'from', 'messages')),
  preview: at(0, context(contextKinds)),
  check: at(0, context(contextKinds)),
  request: at(0, context(requestKinds)),
  status: at(0, (id) => nameFault('/id', id)),
  recordedCall: at(0, callId),
  context: at(0, callId),
  why: firstOf(
    at(0, (id) => nameFault('/messageId', id)),
    at(1, needed({ modelCallId: 'any' }, 'modelCallId')),
    at(1, member('modelCallId', callId)),
  ),
  recover: at(0, recovery),
  endTurn: at(0, (outcome) => named('outcome')(outcome) ?? oneOf('outcome', ...outcomes)(outcome)),
  resolveApproval: firstOf(
    at(0, (id) => nameFault('/requestId', id)),
    at(1, named('outcome')),
    at(2, options({ approver: 'text', reason: 'text', commandId: 'any' })),
  ),
  planCompaction: at(0, compaction),
  compact: at(0, compaction),
  undoCompaction: firstOf(
    at(0, (id) => nameFault('/compaction', id)),
    at(1, optionalText('reason')),
  ),
  fork: firstOf(
    at(0, forkPlace),
    at(1, options(forkKinds)),
    at(
      1,
      member('name', (name) => optionalNameFault('/name', name)),
    ),
  ),
  retry: firstOf(
    at(0, needed(retryKinds)),
    at(
      0,
      member('name', (name) => optionalNameFault('/name', name)),
    ),
  ),
} as const;

interface AnswerShape {
  readonly blocks: readonly unknown[];
  readonly toolCalls?: readonly { id: string; name: string; arguments: string }[];
}

const AnswerShape = {
  blocks: Blocks as Codec<readonly unknown[]>,
  toolCalls: optional(
    list(
      record<{ id: string; name: string; arguments: string }>('ToolCall', {
        id: text,
        name: text,
        arguments: text,
      }),
    ),
  ),
};

const partial = record<AnswerShape>('Answer', AnswerShape);

/** What a model said is taken as it is, but it must be something that can be stored. */
const answerContent = (value: unknown): StemmaFault | undefined => {
  if (typeof value !== 'object' || value === null) return argumentFault('answer', 'wrong_type');
  const { blocks, toolCalls } = value as Partial<AnswerShape>;
  const plain = plainJson({ blocks, ...(toolCalls === undefined ? {} : { toolCalls }) });
  if (E.isLeft(plain)) return plain.left;
  const read = decodeWith(partial, plain.right);
  return E.isLeft(read)
    ? { _tag: 'InvalidShape', path: read.left.path, expected: read.left.expected }
    : undefined;
};

const answerKinds = {
  id: 'any',
  blocks: 'list',
  toolCalls: 'list',
  finishReason: 'text',
  usage: 'object',
  responseId: 'text',
  model: 'text',
  raw: 'object',
  latencyMs: 'any',
  status: 'text',
} as const;

const answerId = member('id', (id) => optionalNameFault('/id', id));

const latency = member('latencyMs', (ms) =>
  ms === undefined || whole.is(ms) ? undefined : argumentFault('latencyMs', 'not_an_integer'),
);

const failureKinds = {
  kind: 'text',
  code: 'text',
  retryable: 'flag',
  detail: 'text',
  partial: 'object',
  ends: 'text',
} as const;

const partialAnswer = (value: unknown): StemmaFault | undefined =>
  value === undefined
    ? undefined
    : (needed({ id: 'any', blocks: 'list', toolCalls: 'list' }, 'blocks')(value) ??
      answerId(value) ??
      answerContent(value));

/** What each method of a model call is given. */
export const modelCallLooks = {
  complete: at(
    0,
    (answer) =>
      needed(answerKinds, 'blocks')(answer) ??
      answerId(answer) ??
      latency(answer) ??
      answerContent(answer),
  ),
  fail: at(
    0,
    (failure) =>
      needed(failureKinds, 'kind')(failure) ??
      member('ends', oneOf('ends', ...outcomes))(failure) ??
      member('partial', partialAnswer)(failure),
  ),
  interrupt: at(0, partialAnswer),
} as const;

/** What each method of a tool call is given. */
export const toolCallLooks = {
  start: at(
    0,
    options({ effect: 'text', idempotencyKey: 'text', executor: 'text', commandId: 'any' }),
  ),
  result: firstOf(
    at(0, named('content')),
    at(1, options({ outcome: 'text', id: 'any', commandId: 'any' })),
  ),
  abandon: at(0, optionalText('reason')),
  askApproval: firstOf(
    at(0, options({ requestId: 'any', kind: 'text', expiresAt: 'text', commandId: 'any' })),
    at(
      0,
      member('requestId', (id) => optionalNameFault('/requestId', id)),
    ),
  ),
} as const;

/** Who works on a branch, and under which run. */
export const actorLook = (as: unknown, run: unknown): StemmaFault | undefined =>
  as === undefined
    ? argumentFault('as', 'missing')
    : (actorFault(as) ?? optionalNameFault('/run', run));
