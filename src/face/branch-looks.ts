import * as E from 'fp-ts/lib/Either.js';
import { decodeWith, optional, record, text } from '../domain/codec.js';
import type { StemmaFault } from '../domain/errors.js';
import { pointerTo } from '../domain/json-pointer.js';
import { plainJson } from '../domain/json-value.js';
import { CallRef } from '../domain/message.js';
import {
  actorFault,
  argumentFault,
  nameFault,
  optionalNameFault,
  type OptionKind,
} from '../engine/arguments.js';
import {
  at,
  firstOf,
  member,
  named,
  needed,
  oneOf,
  optionalText,
  options,
  TURN_OUTCOMES as outcomes,
} from './looks.js';

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

/** Who works on a branch, and under which run. */
export const actorLook = (as: unknown, run: unknown): StemmaFault | undefined =>
  as === undefined
    ? argumentFault('as', 'missing')
    : (actorFault(as) ?? optionalNameFault('/run', run));
