import * as E from 'fp-ts/lib/Either.js';
import { callKey, type BranchState, type OpenCall } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { ToolResultAttached } from '../events/message-events.js';
import type { AnsweredCall, Message } from '../message.js';
import type { Recorded } from '../recorded.js';
import type { Facts, KeyRef, Planned } from './decision.js';
import {
  digestFor,
  messageEvent,
  messageOf,
  namedCall,
  placeOf,
  sameGiven,
  type PreparedMessage,
} from './prepared-message.js';

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
export const findClosed = (
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
    return [{ recorded, call: event.data.call }];
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
    if (laterIds.has(callId)) {
      const ids = [item.message.id];
      return E.left({ _tag: 'OrderViolation', rule: 'result_before_call', index, ids });
    }
    // An empty id is one that the model left out; where no such call is open, it names nothing.
    return E.left(
      callId === ''
        ? { _tag: 'MissingToolCallId', index, path: '/toolCallId' }
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
