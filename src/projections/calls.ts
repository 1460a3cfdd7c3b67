import type { MessageRef, Ruling } from '../domain/events/references.js';
import type {
  CallError,
  InstructionVersion,
  Literal,
  ModelCallCompleted,
  ModelCallRequested,
  Purpose,
  SelectionRun,
  Usage,
} from '../domain/events/model-call-events.js';
import type { Revision } from '../domain/ids.js';
import type { Slot } from '../domain/slot.js';
import { advance, stampAt, startCursor, type Cursor } from './cursor.js';
import { handle, type Handlers, type Stamp } from './places.js';
import type { Projection } from './projection.js';

/** An answer of the provider to a call. */
export interface CallAnswer extends Stamp {
  readonly message?: MessageRef;
  readonly finishReason: string;
  readonly usage: Usage;
  readonly responseId?: string;
  readonly latencyMs?: number;
  readonly output?: Slot;
}

export interface CallFailure extends Stamp {
  readonly error: CallError;
  readonly partial?: MessageRef;
}

/** `open`: nothing came yet. `lost`: nobody knows what became of it. */
export type ModelCallState = 'open' | 'completed' | 'failed' | 'lost';

/** A call to a model: what was asked, with which context, and what came of it. */
export interface ModelCall extends Stamp {
  readonly modelCallId: string;
  readonly attempt: number;
  readonly retryOf?: string;
  readonly agent?: string;
  readonly purpose: Purpose;
  readonly source: 'built' | 'observed';
  readonly profile: Ruling;
  readonly model?: string;
  readonly policy: Ruling;
  readonly branchRevision: Revision;
  readonly directoryRevision: Revision;
  readonly selection: readonly SelectionRun[];
  readonly literals: readonly Literal[];
  readonly instructions: readonly InstructionVersion[];
  readonly tools?: Slot;
  readonly params?: Slot;
  readonly counter: string;
  readonly exact: boolean;
  readonly tokens: number;
  readonly budget?: number;
  readonly requestDigest: string;
  readonly state: ModelCallState;
  readonly answer?: CallAnswer;
  readonly failure?: CallFailure;
  /** Answers that came after the call had an outcome: for audit only. */
  readonly late: readonly CallAnswer[];
  /** First call of the chain of attempts; itself when it retries none. */
  readonly first: string;
  /** Requested before the fork: its outcome may stand on the parent. */
  readonly inherited: boolean;
}

export interface ModelCalls {
  /** In log order. */
  readonly calls: readonly ModelCall[];
  /** First call of each chain of attempts to the ids of all of them, in log order. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
}

interface CallDraft {
  readonly stamp: Stamp;
  readonly data: ModelCallRequested;
  answer?: CallAnswer;
  failure?: CallFailure;
  readonly late: CallAnswer[];
}

export interface ModelCallsDraft {
  readonly cursor: Cursor;
  readonly calls: CallDraft[];
  readonly byId: Map<string, number>;
}

const answerOf = (stamp: Stamp, data: ModelCallCompleted): CallAnswer => {
  const { modelCallId: _id, late: _late, ...answer } = data;
  return { ...stamp, ...answer };
};

const callOf = (draft: ModelCallsDraft, id: string): CallDraft | undefined =>
  draft.calls[draft.byId.get(id) ?? -1];

const handlers: Handlers<ModelCallsDraft> = {
  ModelCallRequested: (draft, data, recorded) => {
    draft.byId.set(data.modelCallId, draft.calls.length);
    draft.calls.push({ stamp: stampAt(draft.cursor, recorded), data, late: [] });
  },
  ModelCallCompleted: (draft, data, recorded) => {
    const call = callOf(draft, data.modelCallId);
    if (call === undefined) return;
    const answer = answerOf(stampAt(draft.cursor, recorded), data);
    const isLate = data.late === true || call.answer !== undefined || call.failure !== undefined;
    if (isLate) call.late.push(answer);
    else call.answer = answer;
  },
  ModelCallFailed: (draft, data, recorded) => {
    const call = callOf(draft, data.modelCallId);
    // The first outcome counts: a failure reported after an answer takes nothing back.
    if (call === undefined || call.answer !== undefined || call.failure !== undefined) return;
    const { modelCallId: _id, ...failure } = data;
    call.failure = { ...stampAt(draft.cursor, recorded), ...failure };
  },
};

const stateOf = ({ answer, failure }: CallDraft): ModelCallState => {
  if (answer !== undefined) return 'completed';
  if (failure === undefined) return 'open';
  return failure.error.kind === 'lost' || failure.error.lost === true ? 'lost' : 'failed';
};

/** Follows `retryOf` to its beginning; a chain that turns in circles ends where it began to. */
const firstOf = (draft: ModelCallsDraft, id: string): string => {
  const seen = new Set<string>([id]);
  let first = id;
  for (;;) {
    const before = callOf(draft, first)?.data.retryOf;
    if (before === undefined || seen.has(before)) return first;
    seen.add(before);
    first = before;
  }
};

const viewOf = (draft: ModelCallsDraft): ModelCalls => {
  const calls = draft.calls.map((call): ModelCall => ({
    ...call.stamp,
    ...call.data,
    state: stateOf(call),
    ...(call.answer === undefined ? {} : { answer: call.answer }),
    ...(call.failure === undefined ? {} : { failure: call.failure }),
    late: [...call.late],
    first: firstOf(draft, call.data.modelCallId),
    inherited: call.stamp.sequence < draft.cursor.ownFrom,
  }));
  const chains = new Map<string, string[]>();
  for (const { first, modelCallId } of calls) {
    const chain = chains.get(first);
    if (chain === undefined) chains.set(first, [modelCallId]);
    else chain.push(modelCallId);
  }
  return { calls, chains };
};

/** Calls to models on a lineage, each with its recorded context and its outcome (CX4). */
export const modelCalls: Projection<ModelCallsDraft, ModelCalls> = {
  name: 'calls',
  version: 1,
  start: () => ({ cursor: startCursor(), calls: [], byId: new Map() }),
  apply: (draft, recorded) => {
    advance(draft.cursor, recorded, () => {
      handle(handlers, draft, recorded);
    });
  },
  view: viewOf,
};
