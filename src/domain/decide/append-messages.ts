import * as E from 'fp-ts/lib/Either.js';
import type { BranchState } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { DomainEvent } from '../events/catalog.js';
import type { Recorded } from '../recorded.js';
import { append, refuse, type Command, type Decided, type Facts, type KeyRef } from './decision.js';
import { revisionFault, sealedFault, turnFault, type BranchScope } from './guards.js';
import { findClosed, planMessages } from './plan-messages.js';
import {
  digestFor,
  messageOf,
  namedCall,
  placeOf,
  roleFault,
  sameGiven,
  type PreparedMessage,
} from './prepared-message.js';

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
