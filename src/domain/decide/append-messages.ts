import * as E from 'fp-ts/lib/Either.js';
import { callKey, type BranchState, type OpenCall } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { DomainEvent } from '../events/catalog.js';
import type { StoredMessage, ToolResultAttached } from '../events/message-events.js';
import {
  contentDigest,
  type AnsweredCall,
  type CallRef,
  type Message,
  type Provenance,
  type Role,
} from '../message.js';
import type { Recorded } from '../recorded.js';
import {
  append,
  refuse,
  type Command,
  type Decided,
  type Facts,
  type KeyRef,
  type Planned,
} from './decision.js';
import { revisionFault, sealedFault, turnFault, type BranchScope } from './guards.js';

/** A message on its way in: content for the digest, slots for the store. */
export interface PreparedMessage {
  readonly message: Message;
  readonly stored: Omit<StoredMessage, 'contentDigest'>;
  /** tool: what it answers, by the provider's id or by the call itself. */
  readonly answers?: { readonly callId: string } | { readonly ref: CallRef };
  readonly durationMs?: number;
}

export interface AppendInput {
  readonly scope: BranchScope;
  readonly items: readonly PreparedMessage[];
  readonly expected?: number;
}

/** Where a message stands, and whether this command wrote it. */
export interface AppendedMessage {
  readonly id: string;
  readonly place: { readonly branch: string; readonly revision: number; readonly hash: string };
  readonly status: 'written' | 'replayed';
}

/** What each origin may write (RL1). */
export const allowedRoles: Readonly<Record<Provenance['kind'], readonly Role[]>> = {
  operator: ['system', 'developer', 'user', 'assistant', 'tool'],
  app: ['system', 'developer', 'user', 'assistant', 'tool'],
  importer: ['system', 'developer', 'user', 'assistant', 'tool'],
  engine: ['user', 'tool'],
  end_user: ['user'],
  model: ['assistant'],
  tool: ['tool'],
};

/** RL1: an end user or a tool can never produce a system or developer message. */
export const roleFault = (role: Role, origin: Provenance['kind']): StemmaFault | undefined =>
  allowedRoles[origin].includes(role) ? undefined : { _tag: 'RoleNotAllowed', role, origin };

/** The stored message of an event that carries one. */
export const messageOf = (event: DomainEvent | undefined): StoredMessage | undefined => {
  if (event?.type === 'MessageAppended' || event?.type === 'ToolResultAttached') {
    return event.data.message;
  }
  return event?.type === 'ContextCompacted' ? event.data.replacement : undefined;
};

const placeOf = (recorded: Recorded) => ({
  branch: recorded.meta.branch,
  revision: recorded.revision,
  hash: recorded.hash,
});

/** Provider ids as they are looked up; each once. */
const callIdsOf = (message: Message): readonly KeyRef[] =>
  [...new Set(message.toolCalls.map((call) => call.id))].map((id) => ({ kind: 'call', id }));

const sameGiven = (item: PreparedMessage, call: AnsweredCall): boolean => {
  if (item.answers === undefined) return false;
  return 'ref' in item.answers
    ? callKey(item.answers.ref) === callKey(call)
    : item.answers.callId === call.callId;
};

const digestFor = (item: PreparedMessage, answers: readonly AnsweredCall[]): string =>
  contentDigest({ ...item.message, answers });

/** Compares an item with a stored event of the same id: the same content is a replay (ID2, ID3). */
const isReplay = (item: PreparedMessage, event: DomainEvent | undefined): boolean => {
  if (event?.type === 'MessageAppended') {
    return digestFor(item, []) === event.data.message.contentDigest;
  }
  if (event?.type !== 'ToolResultAttached') return false;
  const { calls, message } = event.data;
  if (calls.length > 0 && !calls.every((call) => sameGiven(item, call))) return false;
  return digestFor(item, calls) === message.contentDigest;
};

const conflict = (item: PreparedMessage, stored: Recorded): StemmaFault => ({
  _tag: 'MessageIdConflict',
  id: item.message.id,
  place: { branch: stored.meta.branch, revision: stored.revision },
  digest: digestFor(item, []),
  storedDigest: messageOf(stored.event)?.contentDigest ?? '',
});

/** Splits a batch in the prefix that is stored already and the rest; anything else is refused. */
const splitKnown = (
  items: readonly PreparedMessage[],
  facts: Facts,
): E.Either<StemmaFault, readonly Recorded[]> => {
  const found = items.map((item) => facts.of('message', item.message.id)[0]);
  for (const [index, item] of items.entries()) {
    const stored = found[index];
    if (stored !== undefined && !isReplay(item, stored.event))
      return E.left(conflict(item, stored));
  }
  const firstNew = found.findIndex((stored) => stored === undefined);
  const prefix = firstNew < 0 ? found.length : firstNew;
  const later = found.findIndex((stored, index) => index > prefix && stored !== undefined);
  if (later >= 0) {
    const ids = items.flatMap((item, index) =>
      found[index] === undefined ? [] : [item.message.id],
    );
    return E.left({ _tag: 'BatchPartlyKnown', index: later, ids });
  }
  return E.right(
    found.slice(0, prefix).flatMap((stored) => (stored === undefined ? [] : [stored])),
  );
};

/**
 * The open call that a result names. A provider id may repeat: the newest message that has such an
 * open call counts, and within it the first (guarantees B29, B31).
 */
const findOpen = (
  open: ReadonlyMap<string, OpenCall>,
  answers: NonNullable<PreparedMessage['answers']>,
): OpenCall | undefined => {
  if ('ref' in answers) return open.get(callKey(answers.ref));
  const named = [...open.values()].filter((call) => call.callId === answers.callId);
  const newest = named[named.length - 1];
  return newest && named.find((call) => call.messageId === newest.messageId);
};

/** A result or abandonment that closed a call named like this. */
const findClosed = (
  facts: Facts,
  item: PreparedMessage,
): readonly { readonly recorded: Recorded; readonly call: AnsweredCall }[] => {
  const { answers } = item;
  if (answers === undefined) return [];
  const id = 'ref' in answers ? callKey(answers.ref) : answers.callId;
  return facts.of('call', id).flatMap((recorded) => {
    const { event } = recorded;
    if (event?.type === 'ToolResultAttached') {
      return event.data.calls
        .filter((call) => sameGiven(item, call))
        .map((call) => ({ recorded, call }));
    }
    if (event?.type !== 'ToolCallAbandoned') return [];
    const call = { ...event.data.call, callId: 'callId' in answers ? answers.callId : '' };
    return [{ recorded, call }];
  });
};

type Resolved =
  | { readonly _tag: 'call'; readonly call: AnsweredCall; readonly late: boolean }
  | { readonly _tag: 'same'; readonly recorded: Recorded };

const resolveClosed = (
  item: PreparedMessage,
  facts: Facts,
  laterIds: ReadonlySet<string>,
  index: number,
): E.Either<StemmaFault, Resolved> => {
  const callId = namedCall(item);
  const closed = findClosed(facts, item);
  const last = closed[closed.length - 1];
  if (last === undefined) {
    return E.left(
      laterIds.has(callId)
        ? { _tag: 'OrderViolation', rule: 'result_before_call', index, ids: [item.message.id] }
        : { _tag: 'OrphanToolResult', callId },
    );
  }
  const same = closed.find(
    ({ recorded, call }) => messageOf(recorded.event)?.contentDigest === digestFor(item, [call]),
  );
  if (same !== undefined) return E.right({ _tag: 'same', recorded: same.recorded });
  if (item.message.late === true) return E.right({ _tag: 'call', call: last.call, late: true });
  const { branch, revision } = placeOf(last.recorded);
  return E.left({ _tag: 'DuplicateToolResult', callId, place: { branch, revision } });
};

const namedCall = (item: PreparedMessage): string => {
  if (item.answers === undefined) return '';
  return 'ref' in item.answers ? callKey(item.answers.ref) : item.answers.callId;
};

const resultEvent = (item: PreparedMessage, call: AnsweredCall, late: boolean): Planned => {
  const data: ToolResultAttached = {
    message: { ...item.stored, contentDigest: digestFor(item, [call]) },
    calls: [call],
    outcome: item.message.outcome ?? 'ok',
    ...(late ? { late: true } : {}),
    ...(item.durationMs === undefined ? {} : { durationMs: item.durationMs }),
  };
  return {
    event: { type: 'ToolResultAttached', data },
    keys: [{ kind: 'message', id: item.message.id }, ...resultKeys(call)],
  };
};

/** A result is found by the provider's id and by the call itself. */
const resultKeys = (call: AnsweredCall): readonly KeyRef[] => [
  ...(call.callId === '' ? [] : [{ kind: 'call', id: call.callId } as const]),
  { kind: 'call', id: callKey(call) },
];

export const messageEvent = (item: PreparedMessage): Planned => ({
  event: {
    type: 'MessageAppended',
    data: { message: { ...item.stored, contentDigest: digestFor(item, []) } },
  },
  keys: [{ kind: 'message', id: item.message.id }, ...callIdsOf(item.message)],
});

const issue = (open: Map<string, OpenCall>, message: Message): void => {
  if (message.status !== 'confirmed') return;
  message.toolCalls.forEach((call, index) => {
    const ref = { messageId: message.id, index };
    const fresh = { state: 'not_started', approved: false, inherited: false, attempt: 0 } as const;
    open.set(callKey(ref), {
      ...ref,
      callId: call.id,
      name: call.name,
      argumentsDigest: '',
      ...fresh,
    });
  });
};

const OPEN_LIMIT = 1_000;

interface Planning {
  readonly open: Map<string, OpenCall>;
  /** Calls that a result of this very batch answered. */
  readonly answered: { readonly item: PreparedMessage; readonly call: AnsweredCall }[];
  readonly nextPlace: { readonly branch: string; readonly revision: number };
  readonly events: Planned[];
  readonly known: Recorded[];
}

const planItem = (
  planning: Planning,
  items: readonly PreparedMessage[],
  index: number,
  facts: Facts,
): StemmaFault | undefined => {
  const item = items[index];
  if (item === undefined) return undefined;
  if (item.message.role !== 'tool') {
    issue(planning.open, item.message);
    planning.events.push(messageEvent(item));
    return planning.open.size > OPEN_LIMIT
      ? { _tag: 'TooManyOpen', open: planning.open.size, limit: OPEN_LIMIT }
      : undefined;
  }
  if (item.answers === undefined) {
    return { _tag: 'MissingToolCallId', index, path: '/toolCallId' };
  }
  const open = findOpen(planning.open, item.answers);
  if (open !== undefined) {
    const { messageId, index: at, callId } = open;
    const call = { messageId, index: at, callId };
    planning.open.delete(callKey(open));
    planning.answered.push({ item, call });
    planning.events.push(resultEvent(item, call, false));
    return undefined;
  }
  const twice = planning.answered.find(({ call }) => sameGiven(item, call));
  if (twice !== undefined && item.message.late !== true) {
    return { _tag: 'DuplicateToolResult', callId: namedCall(item), place: planning.nextPlace };
  }
  const laterIds = new Set(
    items.slice(index + 1).flatMap(({ message }) => message.toolCalls.map((call) => call.id)),
  );
  const resolved = resolveClosed(item, facts, laterIds, index);
  if (E.isLeft(resolved)) return resolved.left;
  if (resolved.right._tag === 'same') planning.known.push(resolved.right.recorded);
  else planning.events.push(resultEvent(item, resolved.right.call, resolved.right.late));
  return undefined;
};

/** Events for new messages, with tool results paired to calls that are open or of this batch. */
export const planMessages = (
  items: readonly PreparedMessage[],
  state: BranchState,
  facts: Facts,
  branch = '',
): E.Either<StemmaFault, Pick<Planning, 'events' | 'known'>> => {
  const planning: Planning = {
    open: new Map(state.calls),
    answered: [],
    nextPlace: { branch, revision: state.head + 1 },
    events: [],
    known: [],
  };
  for (const index of items.keys()) {
    const fault = planItem(planning, items, index, facts);
    if (fault !== undefined) return E.left(fault);
  }
  return E.right(planning);
};

/**
 * A user's message is never held back by a turn. Results come from wherever the tool ran, but not from
 * a run that lost its turn; everything else is written by the run whose turn it is.
 */
const writerFault = (input: AppendInput, state: BranchState): StemmaFault | undefined => {
  const roles = new Set(input.items.map(({ message }) => message.role));
  roles.delete('user');
  const fault = roles.size === 0 ? undefined : turnFault(input.scope, state);
  const onlyResults = roles.size === 1 && roles.has('tool');
  return onlyResults && fault?._tag === 'TurnOpen' ? undefined : fault;
};

/** Within a batch, too, an id stands for one content: the same again is taken once (ID2, ID3). */
const distinct = (input: AppendInput): E.Either<StemmaFault, readonly PreparedMessage[]> => {
  const byId = new Map<string, PreparedMessage>();
  for (const item of input.items) {
    const { id } = item.message;
    const first = byId.get(id);
    if (first === undefined) {
      byId.set(id, item);
      continue;
    }
    const [digest, storedDigest] = [digestFor(item, []), digestFor(first, [])];
    const sameCall = JSON.stringify(item.answers) === JSON.stringify(first.answers);
    if (digest === storedDigest && sameCall) continue;
    const place = { branch: input.scope.branch, revision: -1 };
    return E.left({ _tag: 'MessageIdConflict', id, place, digest, storedDigest });
  }
  return E.right([...byId.values()]);
};

const decide =
  (input: AppendInput) =>
  (state: BranchState, facts: Facts): Decided => {
    const given = distinct(input);
    if (E.isLeft(given)) return given;
    const items = given.right;
    if (items.length === 0) return refuse({ _tag: 'InvalidShape', path: '', expected: 'messages' });
    for (const { message } of items) {
      const fault = roleFault(message.role, message.provenance.kind);
      if (fault !== undefined) return refuse(fault);
    }
    const stored = splitKnown(items, facts);
    if (E.isLeft(stored)) return stored;
    // The replay check comes before the revision check (store.md, Decision state 6).
    const rest = items.slice(stored.right.length);
    if (rest.length === 0) return append([], stored.right);
    const fault =
      revisionFault(input.expected, state) ??
      sealedFault(input.scope, state) ??
      writerFault(input, state);
    if (fault !== undefined) return refuse(fault);
    const planned = planMessages(rest, state, facts, input.scope.branch);
    return E.isLeft(planned)
      ? planned
      : append(planned.right.events, [...stored.right, ...planned.right.known]);
  };

const keysOf = (items: readonly PreparedMessage[]): readonly KeyRef[] =>
  items.flatMap((item) => [
    { kind: 'message', id: item.message.id } as const,
    ...(item.answers === undefined ? [] : [{ kind: 'call', id: namedCall(item) } as const]),
  ]);

const answerOf =
  (items: readonly PreparedMessage[]) =>
  (stored: readonly Recorded[], written: readonly Recorded[]): readonly AppendedMessage[] => {
    const byId = new Map<string, AppendedMessage>();
    const note = (recorded: Recorded, status: AppendedMessage['status']): void => {
      const id = messageOf(recorded.event)?.id;
      if (id !== undefined) byId.set(id, { id, place: placeOf(recorded), status });
    };
    for (const recorded of stored) note(recorded, 'replayed');
    for (const recorded of written) note(recorded, 'written');
    // A second, equal result under another id is answered by the first one.
    const rest = [...byId.values()].filter(({ id }) => !items.some((i) => i.message.id === id));
    return items.flatMap(({ message }) => byId.get(message.id) ?? rest.splice(0, 1));
  };

/** Where each item stands by now: its own event, or the equal result that was there before it. */
const answerAgain =
  (items: readonly PreparedMessage[]) =>
  (facts: Facts): readonly AppendedMessage[] =>
    items.flatMap((item) => {
      const own = facts.of('message', item.message.id)[0];
      const equal = findClosed(facts, item).find(
        ({ recorded, call }) =>
          messageOf(recorded.event)?.contentDigest === digestFor(item, [call]),
      );
      const recorded = own ?? equal?.recorded;
      const id = messageOf(recorded?.event)?.id;
      return recorded === undefined || id === undefined
        ? []
        : [{ id, place: placeOf(recorded), status: 'replayed' as const }];
    });

/** Appends messages and tool results as one batch: all or nothing, in this order. */
export const appendMessages = (
  input: AppendInput,
): Command<BranchState, readonly AppendedMessage[]> => ({
  name: 'append',
  keysOf: keysOf(input.items),
  decide: decide(input),
  answer: answerOf(input.items),
  answerAgain: answerAgain(input.items),
  mayRebase:
    input.expected === undefined &&
    input.items.every(({ message }) => message.role === 'user' || message.role === 'tool'),
});
