import * as E from 'fp-ts/lib/Either.js';
import type { BranchState } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { EventOf } from '../events/catalog.js';
import type {
  CallError,
  ModelCallCompleted,
  ModelCallRequested,
  Usage,
} from '../events/model-call-events.js';
import type { TurnOutcome } from '../events/branch-events.js';
import type { Recorded } from '../recorded.js';
import type { Slot } from '../slot.js';
import { messageOf, type PreparedMessage } from './prepared-message.js';
import { planMessages } from './plan-messages.js';
import { contentDigest } from '../message.js';
import {
  append,
  known,
  plain,
  refuse,
  type Command,
  type Decided,
  type Facts,
  type KeyRef,
  type Planned,
} from './decision.js';
import { revisionFault, sealedFault, turnFault, type BranchScope } from './guards.js';

export interface RequestInput {
  readonly scope: BranchScope;
  /** Id for the turn, should one have to be opened. */
  readonly turn: string;
  readonly cause?: string;
  readonly requested: ModelCallRequested;
}

const callKeyRef = (modelCallId: string): KeyRef => ({ kind: 'call', id: modelCallId });

const decideRequest =
  ({ scope, turn, cause, requested }: RequestInput) =>
  (state: BranchState): Decided => {
    const fault =
      sealedFault(scope, state) ??
      turnFault(scope, state) ??
      revisionFault(requested.branchRevision, state);
    if (fault !== undefined) return refuse(fault);
    const started = plain({
      type: 'TurnStarted',
      data: { turn, run: scope.run, ...(cause === undefined ? {} : { cause }) },
    });
    const opens = state.turn === undefined && requested.purpose === 'turn';
    return append([
      ...(opens ? [started] : []),
      {
        event: { type: 'ModelCallRequested', data: requested },
        keys: [callKeyRef(requested.modelCallId)],
      },
    ]);
  };

/** Records a call with its exact context, durable before it is sent; opens a turn when none is open. */
export const requestCall = (input: RequestInput): Command<BranchState, string> => ({
  name: 'request',
  keysOf: [],
  decide: decideRequest(input),
  answer: () => input.requested.modelCallId,
});

export interface CompleteInput {
  readonly scope: BranchScope;
  readonly modelCallId: string;
  /** Absent for a call that writes no message (a summary, a title): its `output` is kept instead. */
  readonly message?: PreparedMessage;
  readonly output?: Slot;
  readonly finishReason: string;
  readonly usage: Usage;
  readonly responseId?: string;
  readonly latencyMs?: number;
}

const completedData = (input: CompleteInput): ModelCallCompleted => ({
  modelCallId: input.modelCallId,
  finishReason: input.finishReason,
  usage: input.usage,
  ...(input.responseId === undefined ? {} : { responseId: input.responseId }),
  ...(input.latencyMs === undefined ? {} : { latencyMs: input.latencyMs }),
  ...(input.output === undefined ? {} : { output: input.output }),
});

const callEvents = (facts: Facts, modelCallId: string) => {
  const events = facts.of('call', modelCallId);
  const find = <K extends 'ModelCallRequested' | 'ModelCallCompleted' | 'ModelCallFailed'>(
    type: K,
  ): (Recorded & { readonly event: EventOf<K> }) | undefined =>
    events.find(
      (recorded): recorded is Recorded & { readonly event: EventOf<K> } =>
        recorded.event?.type === type,
    );
  return {
    requested: find('ModelCallRequested'),
    completed: find('ModelCallCompleted'),
    failed: find('ModelCallFailed'),
  };
};

const notFound = (modelCallId: string): StemmaFault => ({
  _tag: 'NotFound',
  kind: 'call',
  ref: modelCallId,
});

/** The same answer again is a replay; another one is refused (ID3). */
const completedAlready = (
  input: CompleteInput,
  completed: Recorded & { readonly event: EventOf<'ModelCallCompleted'> },
  facts: Facts,
): Decided => {
  const { message } = input;
  if (message === undefined) return known([completed]);
  const [stored] = facts.of('message', message.message.id);
  const digest = contentDigest(message.message);
  const storedDigest = messageOf(stored?.event)?.contentDigest ?? '';
  if (stored !== undefined && digest === storedDigest) return known([stored, completed]);
  const place = stored ?? completed;
  return refuse({
    _tag: 'MessageIdConflict',
    id: message.message.id,
    place: { branch: place.meta.branch, revision: place.revision },
    digest,
    storedDigest,
  });
};

/** A call that is over: the same answer again is a replay; an answer after a loss is audit only. */
const decideClosed = (input: CompleteInput, state: BranchState, facts: Facts): Decided => {
  const { requested, completed, failed } = callEvents(facts, input.modelCallId);
  if (requested === undefined) return refuse(notFound(input.modelCallId));
  if (completed !== undefined && completed.event.data.late !== true) {
    return completedAlready(input, completed, facts);
  }
  if (completed !== undefined) return known([completed]);
  if (failed?.event.data.error.lost !== true) return refuse(notFound(input.modelCallId));
  const turn = turnFault(input.scope, state);
  const fault =
    sealedFault(input.scope, state) ?? (turn?._tag === 'RunSuperseded' ? turn : undefined);
  if (fault !== undefined) return refuse(fault);
  const output = input.output ?? input.message?.stored.blocks;
  const data = { ...completedData(input), late: true, ...(output === undefined ? {} : { output }) };
  return append([
    { event: { type: 'ModelCallCompleted', data }, keys: [callKeyRef(input.modelCallId)] },
  ]);
};

const endTurnIfOpen = (state: BranchState, outcome: TurnOutcome): readonly Planned[] =>
  state.turn === undefined
    ? []
    : [plain({ type: 'TurnEnded', data: { turn: state.turn.turn, outcome } })];

const decideComplete =
  (input: CompleteInput) =>
  (state: BranchState, facts: Facts): Decided => {
    const call = state.modelCalls.get(input.modelCallId);
    if (call === undefined) return decideClosed(input, state, facts);
    const fault = sealedFault(input.scope, state) ?? turnFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    const items = input.message === undefined ? [] : [input.message];
    const clash = items.find(({ message }) => facts.of('message', message.id).length > 0);
    if (clash !== undefined) return refuse(idConflict(clash, facts));
    const planned = planMessages(items, state, facts);
    if (E.isLeft(planned)) return planned;
    const completed: Planned = {
      event: ([message]) => ({
        type: 'ModelCallCompleted',
        data: {
          ...completedData(input),
          ...(message === undefined || input.message === undefined
            ? {}
            : { message: { id: input.message.message.id, ...message } }),
        },
      }),
      keys: [callKeyRef(input.modelCallId)],
    };
    const answered =
      call.purpose === 'turn' && (input.message?.message.toolCalls.length ?? 0) === 0;
    return append([
      ...planned.right.events,
      completed,
      ...(answered ? endTurnIfOpen(state, 'completed') : []),
    ]);
  };

const idConflict = (item: PreparedMessage, facts: Facts): StemmaFault => {
  const stored = facts.of('message', item.message.id)[0];
  return {
    _tag: 'MessageIdConflict',
    id: item.message.id,
    place: { branch: stored?.meta.branch ?? '', revision: stored?.revision ?? -1 },
    digest: contentDigest(item.message),
    storedDigest: messageOf(stored?.event)?.contentDigest ?? '',
  };
};

/** Records the answer of a call and its message in one append; ends the turn when no tool is called. */
export const completeCall = (input: CompleteInput): Command<BranchState, readonly Recorded[]> => ({
  name: 'complete',
  keysOf: [
    callKeyRef(input.modelCallId),
    ...(input.message === undefined
      ? []
      : [{ kind: 'message', id: input.message.message.id } as const]),
  ],
  decide: decideComplete(input),
  answer: (before, written) => [...before, ...written],
});

export interface FailInput {
  readonly scope: BranchScope;
  readonly modelCallId: string;
  readonly error: CallError;
  /** What had come before the failure; it is kept as interrupted, its calls are never run. */
  readonly partial?: PreparedMessage;
  /** Ends the turn with this outcome; absent when another attempt follows. */
  readonly ends?: TurnOutcome;
}

const decideFail =
  (input: FailInput) =>
  (state: BranchState, facts: Facts): Decided => {
    if (!state.modelCalls.has(input.modelCallId)) {
      const { failed } = callEvents(facts, input.modelCallId);
      return failed === undefined ? refuse(notFound(input.modelCallId)) : known([failed]);
    }
    const fault = sealedFault(input.scope, state) ?? turnFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    const items = input.partial === undefined ? [] : [input.partial];
    const clash = items.find(({ message }) => facts.of('message', message.id).length > 0);
    if (clash !== undefined) return refuse(idConflict(clash, facts));
    const planned = planMessages(items, state, facts);
    if (E.isLeft(planned)) return planned;
    const failed: Planned = {
      event: ([message]) => ({
        type: 'ModelCallFailed',
        data: {
          modelCallId: input.modelCallId,
          error: input.error,
          ...(message === undefined || input.partial === undefined
            ? {}
            : { partial: { id: input.partial.message.id, ...message } }),
        },
      }),
      keys: [callKeyRef(input.modelCallId)],
    };
    const ends = input.ends === undefined ? [] : endTurnIfOpen(state, input.ends);
    return append([...planned.right.events, failed, ...ends]);
  };

/** Records that a call failed, with what of its answer had come. */
export const failCall = (input: FailInput): Command<BranchState, readonly Recorded[]> => ({
  name: 'fail',
  keysOf: [
    callKeyRef(input.modelCallId),
    ...(input.partial === undefined
      ? []
      : [{ kind: 'message', id: input.partial.message.id } as const]),
  ],
  decide: decideFail(input),
  answer: (before, written) => [...before, ...written],
});
