import * as E from 'fp-ts/lib/Either.js';
import { callKey, type BranchState, type OpenCall } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { ApprovalOutcome, Effect } from '../events/message-events.js';
import type { CallRef } from '../message.js';
import type { Recorded } from '../recorded.js';
import type { Slot } from '../slot.js';
import {
  append,
  known,
  refuse,
  type Command,
  type Decided,
  type Facts,
  type KeyRef,
} from './decision.js';
import { sealedFault, turnFault, type BranchScope } from './guards.js';

const OPEN_LIMIT = 1_000;

/** The open call, or why there is none. */
const openCall = (
  state: BranchState,
  facts: Facts,
  ref: CallRef,
): E.Either<StemmaFault, OpenCall> => {
  const call = state.calls.get(callKey(ref));
  if (call !== undefined) return E.right(call);
  const closed = facts
    .of('call', callKey(ref))
    .find(
      ({ event }) => event?.type === 'ToolResultAttached' || event?.type === 'ToolCallAbandoned',
    );
  return E.left(
    closed === undefined
      ? { _tag: 'NotFound', kind: 'tool call', ref: callKey(ref) }
      : {
          _tag: 'DuplicateToolResult',
          callId: callKey(ref),
          place: { branch: closed.meta.branch, revision: closed.revision },
        },
  );
};

const callRefKey = (ref: CallRef): KeyRef => ({ kind: 'call', id: callKey(ref) });

const named = (ref: CallRef): CallRef => ({ messageId: ref.messageId, index: ref.index });

export interface StartToolInput {
  readonly scope: BranchScope;
  readonly call: CallRef;
  readonly executor: string;
  readonly effect: Effect;
  /** Used when the call was not started before; a rerun keeps the first one. */
  readonly idempotencyKey: string;
}

/**
 * A started call may run again only if its tool says that this does no harm; a non-idempotent one
 * waits for the caller's word (session.md). One approval must not pay twice: an inherited call of a
 * non-idempotent tool needs an approval of this branch.
 */
const startFault = (input: StartToolInput, call: OpenCall): StemmaFault | undefined => {
  const refusal = (reason: 'awaiting_approval' | 'denied' | 'already_started' | 'inherited') =>
    ({ _tag: 'InvalidArgument', name: 'call', reason }) as const;
  if (call.state === 'awaiting_approval') return refusal('awaiting_approval');
  if (call.state === 'denied') return refusal('denied');
  const harmful = (call.effect ?? input.effect) === 'non_idempotent';
  if (call.state === 'started' && harmful) return refusal('already_started');
  return call.inherited && harmful && !call.approved ? refusal('inherited') : undefined;
};

export interface StartedTool {
  readonly attempt: number;
  readonly idempotencyKey: string;
}

/** Records that a tool begins to run, durable before the caller's function is called. */
export const startTool = (input: StartToolInput): Command<BranchState, StartedTool> => ({
  name: 'startTool',
  keysOf: [callRefKey(input.call)],
  decide: (state, facts) => {
    const fault = sealedFault(input.scope, state) ?? turnFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    const call = openCall(state, facts, input.call);
    if (E.isLeft(call)) return call;
    const refused = startFault(input, call.right);
    if (refused !== undefined) return refuse(refused);
    return append([
      {
        event: {
          type: 'ToolExecutionStarted',
          data: {
            call: named(input.call),
            attempt: call.right.attempt + 1,
            executor: input.executor,
            effect: input.effect,
            idempotencyKey: call.right.idempotencyKey ?? input.idempotencyKey,
            argumentsDigest: call.right.argumentsDigest,
          },
        },
        keys: [],
      },
    ]);
  },
  answer: (before, written) => {
    const event = [...before, ...written].map((recorded) => recorded.event).at(-1);
    return event?.type === 'ToolExecutionStarted'
      ? { attempt: event.data.attempt, idempotencyKey: event.data.idempotencyKey }
      : { attempt: 0, idempotencyKey: input.idempotencyKey };
  },
});

/** Records that a call will never be answered. */
export const abandonCall = (
  scope: BranchScope,
  ref: CallRef,
  reason?: Slot,
): Command<BranchState, { readonly call: CallRef }> => ({
  name: 'abandonCall',
  keysOf: [callRefKey(ref)],
  decide: (state, facts): Decided => {
    const fault = sealedFault(scope, state) ?? turnFault(scope, state);
    if (fault !== undefined) return refuse(fault);
    const abandoned = facts
      .of('call', callKey(ref))
      .filter(({ event }) => event?.type === 'ToolCallAbandoned');
    if (abandoned.length > 0) return known(abandoned);
    const call = openCall(state, facts, ref);
    if (E.isLeft(call)) return call;
    const { callId } = call.right;
    return append([
      {
        event: {
          type: 'ToolCallAbandoned',
          data: { call: { ...named(ref), callId }, ...(reason === undefined ? {} : { reason }) },
        },
        keys: [callRefKey(ref), ...(callId === '' ? [] : [{ kind: 'call', id: callId } as const])],
      },
    ]);
  },
  answer: () => ({ call: named(ref) }),
});

export interface ApprovalInput {
  readonly scope: BranchScope;
  readonly requestId: string;
  readonly kind: string;
  readonly call: CallRef;
  readonly expiresAt?: string;
}

const approvalKey = (requestId: string): KeyRef => ({
  kind: 'record',
  id: `approval ${requestId}`,
});

/** What this branch says of an approval: those of its ancestors do not carry over. */
const ownApprovals = (
  input: { readonly scope: BranchScope; readonly requestId: string },
  facts: Facts,
): readonly Recorded[] =>
  facts
    .of('record', approvalKey(input.requestId).id)
    .filter(({ meta }) => meta.branch === input.scope.branch);

/** Asks a human; the call waits, for weeks if need be, and is never repaired away. */
export const requestApproval = (
  input: ApprovalInput,
): Command<BranchState, { readonly requestId: string }> => ({
  name: 'requestApproval',
  keysOf: [approvalKey(input.requestId), callRefKey(input.call)],
  decide: (state, facts) => {
    const before = ownApprovals(input, facts).find(
      ({ event }) => event?.type === 'ApprovalRequested',
    );
    if (before?.event?.type === 'ApprovalRequested') {
      return callKey(before.event.data.call) === callKey(input.call)
        ? known([before])
        : refuse({ _tag: 'InvalidArgument', name: 'requestId', reason: 'excludes_another' });
    }
    const fault = sealedFault(input.scope, state) ?? turnFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    const call = openCall(state, facts, input.call);
    if (E.isLeft(call)) return call;
    if (state.approvals.size >= OPEN_LIMIT) {
      return refuse({ _tag: 'TooManyOpen', open: state.approvals.size, limit: OPEN_LIMIT });
    }
    return append([
      {
        event: {
          type: 'ApprovalRequested',
          data: {
            requestId: input.requestId,
            kind: input.kind,
            call: named(input.call),
            argumentsDigest: call.right.argumentsDigest,
            ...(input.expiresAt === undefined ? {} : { expiresAt: input.expiresAt }),
          },
        },
        keys: [approvalKey(input.requestId)],
      },
    ]);
  },
  answer: () => ({ requestId: input.requestId }),
});

export interface ResolveInput {
  readonly scope: BranchScope;
  readonly requestId: string;
  readonly outcome: ApprovalOutcome;
  readonly approver: string;
  readonly reason?: Slot;
}

const resolvedAlready = (input: ResolveInput, before: readonly Recorded[]): Decided => {
  const resolved = before.find(({ event }) => event?.type === 'ApprovalResolved');
  if (resolved === undefined) {
    return refuse({ _tag: 'NotFound', kind: 'approval', ref: input.requestId });
  }
  const { event } = resolved;
  return event?.type === 'ApprovalResolved' && event.data.outcome === input.outcome
    ? known([resolved])
    : refuse({ _tag: 'InvalidArgument', name: 'outcome', reason: 'already_resolved' });
};

/** Records a human's word on a waiting call; needs no turn, since people answer when they can. */
export const resolveApproval = (
  input: ResolveInput,
): Command<BranchState, { readonly outcome: ApprovalOutcome }> => ({
  name: 'resolveApproval',
  keysOf: [approvalKey(input.requestId)],
  decide: (state, facts) => {
    const fault = sealedFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    if (!state.approvals.has(input.requestId)) {
      return resolvedAlready(input, ownApprovals(input, facts));
    }
    return append([
      {
        event: {
          type: 'ApprovalResolved',
          data: {
            requestId: input.requestId,
            outcome: input.outcome,
            approver: input.approver,
            ...(input.reason === undefined ? {} : { reason: input.reason }),
          },
        },
        keys: [approvalKey(input.requestId)],
      },
    ]);
  },
  answer: () => ({ outcome: input.outcome }),
});
