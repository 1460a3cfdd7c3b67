import type { EventRef, MessageRef, Run } from './events/references.js';
import type {
  ApprovalOutcome,
  ContextCompacted,
  Effect,
  StoredMessage,
} from './events/message-events.js';
import type { Purpose } from './events/model-call-events.js';
import type { DomainEvent } from './events/catalog.js';
import type { Recorded } from './recorded.js';
import type { Revision, Uid } from './ids.js';
import type { CallRef } from './message.js';
import { digestOf } from './digest.js';
import type { Slot } from './slot.js';

/** A call without a result. */
export interface OpenCall extends CallRef {
  readonly callId: string;
  readonly name: string;
  readonly argumentsDigest: string;
  readonly state: 'not_started' | 'started' | 'awaiting_approval' | 'denied';
  readonly approved: boolean;
  /** Made before the fork: starts and approvals do not carry over. */
  readonly inherited: boolean;
  readonly attempt: number;
  readonly effect?: Effect;
  readonly idempotencyKey?: string;
}

export interface OpenApproval {
  readonly requestId: string;
  readonly kind: string;
  readonly call: CallRef;
  readonly argumentsDigest: string;
  readonly expiresAt?: string;
}

export interface OpenModelCall {
  readonly modelCallId: string;
  readonly attempt: number;
  readonly purpose: Purpose;
  readonly run?: string;
}

/** A message that waits to be confirmed or blocked, with the calls that it would make. */
export interface Draft {
  readonly message: MessageRef;
  readonly role: StoredMessage['role'];
  readonly calls: readonly OpenCall[];
}

export interface CompactionState {
  /** It stands for nothing as a whole, it only shortens messages: others may cover some of them. */
  readonly shortens: boolean;
  readonly compaction: string;
  readonly place: EventRef;
  readonly covers: readonly Run[];
}

/** The open turn, its writer, and the runs that it was claimed from (newest last, at most 16). */
export interface OpenTurn {
  readonly turn: string;
  readonly run: string;
  readonly former: readonly string[];
}

export interface InstructionsState {
  readonly version: number;
  readonly digest: string;
}

/**
 * What a decision on a branch may know: the head and what is open. Bounded: ids of what is done are
 * looked up, never kept (store.md, Decision state).
 */
export interface BranchState {
  readonly head: Revision;
  /** Hash of the head event: `prev` of the next one. Empty before the first event. */
  readonly hash: string;
  readonly at: string;
  readonly parent?: EventRef;
  readonly ancestors: readonly EventRef[];
  readonly depth: number;
  readonly sealed: boolean;
  readonly turn?: OpenTurn;
  readonly calls: ReadonlyMap<string, OpenCall>;
  readonly approvals: ReadonlyMap<string, OpenApproval>;
  readonly drafts: ReadonlyMap<string, Draft>;
  readonly instructions: ReadonlyMap<string, InstructionsState>;
  readonly compactions: ReadonlyMap<string, CompactionState>;
  readonly modelCalls: ReadonlyMap<string, OpenModelCall>;
  /** Summaries that a call made and no compaction used yet: model call ids. */
  readonly unusedSummaries: ReadonlySet<string>;
  /** Whether the model has yet to read something: a user's message or a tool's result. */
  readonly awaitsModel: boolean;
}

type Editable = {
  -readonly [K in keyof BranchState]: BranchState[K] extends ReadonlyMap<infer A, infer B>
    ? Map<A, B>
    : BranchState[K] extends ReadonlySet<infer A>
      ? Set<A>
      : BranchState[K];
};

export const emptyBranch: BranchState = {
  awaitsModel: false,
  head: -1,
  hash: '',
  at: '',
  ancestors: [],
  depth: 0,
  sealed: false,
  calls: new Map(),
  approvals: new Map(),
  drafts: new Map(),
  instructions: new Map(),
  compactions: new Map(),
  modelCalls: new Map(),
  unusedSummaries: new Set(),
};

export const callKey = (call: CallRef): string => `${String(call.index)} ${call.messageId}`;

const draftOf = (state: BranchState): Editable => ({
  ...state,
  calls: new Map(state.calls),
  approvals: new Map(state.approvals),
  drafts: new Map(state.drafts),
  instructions: new Map(state.instructions),
  compactions: new Map(state.compactions),
  modelCalls: new Map(state.modelCalls),
  unusedSummaries: new Set(state.unusedSummaries),
});

/**
 * What a fork begins with: the parent's state at the fork point, less what belongs to the parent's
 * life: its turn, its running calls, its approvals (one approval must not pay twice).
 */
export const inheritState = ({ turn: _turn, ...parent }: BranchState): BranchState => ({
  ...parent,
  head: -1,
  sealed: false,
  calls: new Map(
    [...parent.calls].map(([key, call]) => {
      const { effect: _effect, idempotencyKey: _key, ...rest } = call;
      return [
        key,
        { ...rest, state: 'not_started', approved: false, inherited: true, attempt: 0 },
      ] as const;
    }),
  ),
  drafts: new Map(
    [...parent.drafts].map(([id, draft]) => [
      id,
      { ...draft, calls: draft.calls.map((call) => ({ ...call, inherited: true })) },
    ]),
  ),
  approvals: new Map(),
  modelCalls: new Map(),
  unusedSummaries: new Set(),
});

const digestOfArguments = (slot: Slot): string => {
  if ('inline' in slot) return digestOf(slot.inline);
  return 'blob' in slot ? `blob:${slot.blob}` : digestOf(slot.sealed);
};

/** The calls that a message makes once it is confirmed. */
const callsOf = (message: StoredMessage): readonly OpenCall[] =>
  message.toolCalls.map((call, index) => ({
    messageId: message.id,
    index,
    callId: call.id,
    name: call.name,
    argumentsDigest: digestOfArguments(call.arguments),
    state: 'not_started',
    approved: false,
    inherited: false,
    attempt: 0,
  }));

const openCalls = (draft: Editable, calls: readonly OpenCall[]): void => {
  for (const call of calls) draft.calls.set(callKey(call), call);
};

const noteMessage = (draft: Editable, message: StoredMessage, place: EventRef): void => {
  if (message.status === 'draft') {
    const ref = { id: message.id, ...place };
    draft.drafts.set(message.id, { message: ref, role: message.role, calls: callsOf(message) });
  }
  // Calls of an unfinished or blocked message are kept for audit and can never be run.
  if (message.status !== 'confirmed') return;
  openCalls(draft, callsOf(message));
  if (message.role === 'user') draft.awaitsModel = true;
  if (message.role === 'assistant') draft.awaitsModel = false;
};

const changeCall = (draft: Editable, ref: CallRef, change: Partial<OpenCall>): void => {
  const call = draft.calls.get(callKey(ref));
  if (call !== undefined) draft.calls.set(callKey(ref), { ...call, ...change });
};

const dropCallsOf = (draft: Editable, messageId: string): void => {
  for (const [key, call] of draft.calls) if (call.messageId === messageId) draft.calls.delete(key);
};

const dropApprovalsOf = (draft: Editable, ref: CallRef): void => {
  for (const [id, approval] of draft.approvals) {
    if (callKey(approval.call) === callKey(ref)) draft.approvals.delete(id);
  }
};

const resolveApproval = (draft: Editable, requestId: string, outcome: ApprovalOutcome): void => {
  const approval = draft.approvals.get(requestId);
  if (approval === undefined) return;
  draft.approvals.delete(requestId);
  const call = draft.calls.get(callKey(approval.call));
  if (call === undefined) return;
  // A word about a call that has started says nothing about running it once more; and one that was
  // held back for an approval does not become free by nobody answering.
  const started = call.attempt > 0 ? 'started' : undefined;
  const approved = outcome === 'approved';
  changeCall(draft, approval.call, {
    state: started ?? (approved ? 'not_started' : 'denied'),
    approved,
  });
};

const compact = (draft: Editable, data: ContextCompacted, place: EventRef): void => {
  draft.compactions.set(data.compaction, {
    compaction: data.compaction,
    shortens: data.replacement === undefined && data.shortened.length > 0,
    place,
    covers: data.covers,
  });
  if (data.madeBy !== undefined) draft.unusedSummaries.delete(data.madeBy);
};

type Handlers = {
  readonly [K in DomainEvent['type']]?: (
    draft: Editable,
    data: Extract<DomainEvent, { type: K }>['data'],
    place: EventRef,
    recorded: Recorded,
  ) => void;
};

const handlers: Handlers = {
  BranchForked: (draft, data) => {
    draft.parent = data.parent;
    draft.ancestors = data.ancestors;
    draft.depth = data.depth;
  },
  BranchSealed: (draft) => {
    draft.sealed = true;
  },
  BranchUnsealed: (draft) => {
    draft.sealed = false;
  },
  TurnStarted: (draft, data) => {
    draft.turn = { turn: data.turn, run: data.run, former: [] };
  },
  TurnClaimed: (draft, data) => {
    const former = [...(draft.turn?.former ?? []), data.fromRun].filter((run) => run !== data.run);
    draft.turn = { turn: data.turn, run: data.run, former: former.slice(-16) };
  },
  TurnEnded: (draft) => {
    delete draft.turn;
  },
  InstructionsRevised: (draft, data) => {
    draft.instructions.set(data.name, { version: data.version, digest: data.digest });
  },
  MessageAppended: (draft, { message }, place) => {
    noteMessage(draft, message, place);
  },
  ToolResultAttached: (draft, data) => {
    for (const call of data.calls) {
      draft.calls.delete(callKey(call));
      dropApprovalsOf(draft, call);
    }
    // What came late is for audit: the model has gone on without it.
    if (data.late !== true) draft.awaitsModel = true;
  },
  MessageStatusChanged: (draft, data) => {
    const waiting = draft.drafts.get(data.message.id);
    draft.drafts.delete(data.message.id);
    if (data.to !== 'confirmed') dropCallsOf(draft, data.message.id);
    else if (waiting !== undefined) {
      openCalls(draft, waiting.calls);
      if (waiting.role === 'user') draft.awaitsModel = true;
      if (waiting.role === 'assistant') draft.awaitsModel = false;
    }
  },
  MessagesWithdrawn: (draft, data) => {
    for (const id of data.messages) {
      draft.drafts.delete(id);
      dropCallsOf(draft, id);
    }
  },
  ToolExecutionStarted: (draft, data) => {
    changeCall(draft, data.call, {
      state: 'started',
      attempt: data.attempt,
      effect: data.effect,
      idempotencyKey: data.idempotencyKey,
    });
  },
  ToolCallAbandoned: (draft, data) => {
    draft.calls.delete(callKey(data.call));
    dropApprovalsOf(draft, data.call);
  },
  ApprovalRequested: (draft, data) => {
    draft.approvals.set(data.requestId, data);
    changeCall(draft, data.call, { state: 'awaiting_approval', approved: false });
  },
  ApprovalResolved: (draft, data) => {
    resolveApproval(draft, data.requestId, data.outcome);
  },
  ContextCompacted: (draft, data, place) => {
    compact(draft, data, place);
  },
  CompactionReverted: (draft, data) => {
    draft.compactions.delete(data.compaction);
  },
  ModelCallRequested: (draft, data, _place, recorded) => {
    draft.modelCalls.set(data.modelCallId, {
      modelCallId: data.modelCallId,
      attempt: data.attempt,
      purpose: data.purpose,
      ...(recorded.meta.run === undefined ? {} : { run: recorded.meta.run }),
    });
  },
  ModelCallCompleted: (draft, data) => {
    const call = draft.modelCalls.get(data.modelCallId);
    draft.modelCalls.delete(data.modelCallId);
    if (call?.purpose === 'compaction' && data.late !== true) {
      draft.unusedSummaries.add(data.modelCallId);
    }
  },
  ModelCallFailed: (draft, data) => {
    draft.modelCalls.delete(data.modelCallId);
  },
};

const apply = (draft: Editable, recorded: Recorded): void => {
  const { event } = recorded;
  if (event !== undefined) {
    const place = {
      branch: recorded.meta.branch as Uid,
      revision: recorded.revision,
      hash: recorded.hash,
    };
    const handler = handlers[event.type] as
      ((draft: Editable, data: unknown, place: EventRef, recorded: Recorded) => void) | undefined;
    handler?.(draft, event.data, place, recorded);
  }
  draft.head = recorded.revision;
  draft.hash = recorded.hash;
  draft.at = recorded.meta.at;
};

/** State after `events`. Copies `start` once, so the cost is linear in what is open and in the events. */
export const foldBranch = (start: BranchState, events: Iterable<Recorded>): BranchState => {
  const draft = draftOf(start);
  for (const recorded of events) apply(draft, recorded);
  return draft;
};
