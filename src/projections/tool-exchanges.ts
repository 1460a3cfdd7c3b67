import type { EventRef } from '../domain/events/references.js';
import type {
  ApprovalOutcome,
  ApprovalRequested,
  ToolExecutionStarted,
  ToolResultAttached,
} from '../domain/events/message-events.js';
import type { AnsweredCall, CallRef, MessageStatus, Outcome } from '../domain/message.js';
import type { Slot } from '../domain/slot.js';
import { advance, stampAt, startCursor, type Cursor } from './cursor.js';
import { handle, placeOf, type Handlers, type Stamp } from './places.js';
import type { Projection } from './projection.js';

/** One run of the caller's function. */
export interface ToolAttempt extends Stamp, Omit<ToolExecutionStarted, 'call'> {}

export interface ToolApproval extends Stamp, Omit<ApprovalRequested, 'call'> {
  readonly resolved?: {
    readonly outcome: ApprovalOutcome;
    readonly approver: string;
    readonly place: EventRef;
    readonly at: string;
  };
}

/** A result of a call; `late` when the call had one before, or when it was recorded as such. */
export interface ToolAnswer extends Stamp {
  readonly messageId: string;
  readonly outcome: Outcome;
  readonly late: boolean;
  readonly durationMs?: number;
}

export type ToolCallState =
  'not_started' | 'awaiting_approval' | 'denied' | 'started' | 'answered' | 'abandoned';

/** A tool call of a model with everything that became of it. */
export interface ToolExchange extends Stamp, CallRef {
  /** The provider's id: it may be empty and may repeat. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: Slot;
  /** Status that its message has now; calls of unconfirmed messages are never run. */
  readonly messageStatus: MessageStatus;
  readonly state: ToolCallState;
  readonly attempts: readonly ToolAttempt[];
  readonly approvals: readonly ToolApproval[];
  readonly answers: readonly ToolAnswer[];
  readonly abandoned?: EventRef;
  /** How it ended, by its first result. */
  readonly outcome?: Outcome;
  /** As the first result says, else from its last start to that result. Never negative. */
  readonly durationMs?: number;
  /** Made before the fork: starts and approvals of then do not carry over. */
  readonly inherited: boolean;
}

/** A result that answers no open call: of a foreign source, or a second one. */
export interface OrphanResult extends Stamp {
  readonly messageId: string;
  readonly call?: AnsweredCall;
}

/** Pairing as it is counted in transcripts: by position, a result answers an open call before it. */
export interface Pairing {
  readonly toolCalls: number;
  /** Answers given: one for each call that a result message names, one for an orphan. */
  readonly toolResults: number;
  readonly paired: number;
  readonly orphanResults: number;
  readonly unansweredCalls: number;
  /** Ids that more than one call has; no id (an empty one) is none. */
  readonly reusedCallIds: readonly string[];
}

export interface ToolExchanges {
  /** In log order; the calls of one message in the order of the model. */
  readonly exchanges: readonly ToolExchange[];
  readonly orphans: readonly OrphanResult[];
  readonly pairing: Pairing;
}

interface ApprovalDraft {
  readonly stamp: Stamp;
  readonly data: Omit<ApprovalRequested, 'call'>;
  resolved?: NonNullable<ToolApproval['resolved']>;
}

interface ExchangeDraft {
  readonly stamp: Stamp;
  readonly call: CallRef;
  readonly callId: string;
  readonly name: string;
  readonly arguments: Slot;
  readonly attempts: ToolAttempt[];
  readonly approvals: ApprovalDraft[];
  readonly answers: ToolAnswer[];
  abandoned?: EventRef;
}

export interface ToolExchangesDraft {
  readonly cursor: Cursor;
  readonly exchanges: ExchangeDraft[];
  /** Index of the first call of each message. */
  readonly firstOf: Map<string, number>;
  readonly statusOf: Map<string, MessageStatus>;
  /** Approval request to the index of its exchange. */
  readonly approvalOf: Map<string, number>;
  readonly orphans: OrphanResult[];
  toolResults: number;
}

const indexOf = (draft: ToolExchangesDraft, { messageId, index }: CallRef): number => {
  const first = draft.firstOf.get(messageId);
  const at = first === undefined ? -1 : first + index;
  const found = draft.exchanges[at]?.call;
  return found?.messageId === messageId && found.index === index ? at : -1;
};

const answerCall = (
  draft: ToolExchangesDraft,
  answer: ToolAnswer,
  call: AnsweredCall | undefined,
): void => {
  const exchange = call && draft.exchanges[indexOf(draft, call)];
  draft.toolResults += 1;
  if (exchange === undefined || exchange.answers.length > 0) {
    const { messageId, outcome: _outcome, late: _late, durationMs: _duration, ...own } = answer;
    draft.orphans.push({ ...own, messageId, ...(call === undefined ? {} : { call }) });
  }
  exchange?.answers.push({ ...answer, late: answer.late || exchange.answers.length > 0 });
};

const attach = (draft: ToolExchangesDraft, data: ToolResultAttached, own: Stamp): void => {
  const answer: ToolAnswer = {
    ...own,
    messageId: data.message.id,
    outcome: data.outcome,
    late: data.late === true,
    ...(data.durationMs === undefined ? {} : { durationMs: data.durationMs }),
  };
  if (data.calls.length === 0) answerCall(draft, answer, undefined);
  for (const call of data.calls) answerCall(draft, answer, call);
};

const handlers: Handlers<ToolExchangesDraft> = {
  MessageAppended: (draft, { message }, recorded) => {
    if (message.toolCalls.length === 0) return;
    draft.firstOf.set(message.id, draft.exchanges.length);
    draft.statusOf.set(message.id, message.status);
    message.toolCalls.forEach((call, index) => {
      draft.exchanges.push({
        stamp: stampAt(draft.cursor, recorded),
        call: { messageId: message.id, index },
        callId: call.id,
        name: call.name,
        arguments: call.arguments,
        attempts: [],
        approvals: [],
        answers: [],
      });
    });
  },
  MessageStatusChanged: (draft, data) => {
    if (draft.statusOf.has(data.message.id)) draft.statusOf.set(data.message.id, data.to);
  },
  ToolExecutionStarted: (draft, { call, ...attempt }, recorded) => {
    draft.exchanges[indexOf(draft, call)]?.attempts.push({
      ...stampAt(draft.cursor, recorded),
      ...attempt,
    });
  },
  ToolResultAttached: (draft, data, recorded) => {
    attach(draft, data, stampAt(draft.cursor, recorded));
  },
  ToolCallAbandoned: (draft, data, recorded) => {
    const exchange = draft.exchanges[indexOf(draft, data.call)];
    if (exchange !== undefined) exchange.abandoned ??= placeOf(recorded);
  },
  ApprovalRequested: (draft, { call, ...data }, recorded) => {
    const index = indexOf(draft, call);
    draft.approvalOf.set(data.requestId, index);
    draft.exchanges[index]?.approvals.push({ stamp: stampAt(draft.cursor, recorded), data });
  },
  ApprovalResolved: (draft, { requestId, outcome, approver }, recorded) => {
    const approvals = draft.exchanges[draft.approvalOf.get(requestId) ?? -1]?.approvals;
    const approval = approvals?.find((candidate) => candidate.data.requestId === requestId);
    if (approval === undefined) return;
    approval.resolved ??= { outcome, approver, place: placeOf(recorded), at: recorded.meta.at };
  },
};

const stateOf = (draft: ToolExchangesDraft, exchange: ExchangeDraft): ToolCallState => {
  if (exchange.answers.length > 0) return 'answered';
  if (exchange.abandoned !== undefined) return 'abandoned';
  // One approval must not pay twice: what was started or approved on the parent is not on a fork.
  const own = (at: Stamp): boolean => at.sequence >= draft.cursor.ownFrom;
  const approval = exchange.approvals.filter((item) => own(item.stamp)).at(-1);
  const attempt = exchange.attempts.filter(own).at(-1);
  if (attempt !== undefined && attempt.sequence > (approval?.stamp.sequence ?? -1))
    return 'started';
  if (approval !== undefined && approval.resolved === undefined) return 'awaiting_approval';
  return approval?.resolved?.outcome === 'denied' ? 'denied' : 'not_started';
};

/** `at` never falls on a lineage, so a measured duration is never negative (G16). */
const durationOf = ({ attempts, answers }: ExchangeDraft): number | undefined => {
  const [answer] = answers;
  const attempt = attempts.filter(({ sequence }) => sequence < (answer?.sequence ?? -1)).at(-1);
  if (answer === undefined || answer.durationMs !== undefined) return answer?.durationMs;
  return attempt === undefined
    ? undefined
    : Math.max(0, Date.parse(answer.at) - Date.parse(attempt.at));
};

const exchangeOf = (draft: ToolExchangesDraft, exchange: ExchangeDraft): ToolExchange => {
  const { call, callId, name, abandoned } = exchange;
  const outcome = exchange.answers[0]?.outcome;
  const durationMs = durationOf(exchange);
  return {
    ...exchange.stamp,
    ...call,
    callId,
    name,
    arguments: exchange.arguments,
    messageStatus: draft.statusOf.get(call.messageId) ?? 'confirmed',
    state: stateOf(draft, exchange),
    attempts: [...exchange.attempts],
    approvals: exchange.approvals.map(({ stamp: own, data, resolved }) => ({
      ...own,
      ...data,
      ...(resolved === undefined ? {} : { resolved }),
    })),
    answers: [...exchange.answers],
    ...(abandoned === undefined ? {} : { abandoned }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(durationMs === undefined ? {} : { durationMs }),
    inherited: exchange.stamp.sequence < draft.cursor.ownFrom,
  };
};

const pairingOf = (draft: ToolExchangesDraft): Pairing => {
  const paired = draft.exchanges.filter(({ answers }) => answers.length > 0).length;
  const uses = new Map<string, number>();
  for (const { callId } of draft.exchanges) uses.set(callId, (uses.get(callId) ?? 0) + 1);
  return {
    toolCalls: draft.exchanges.length,
    toolResults: draft.toolResults,
    paired,
    orphanResults: draft.orphans.length,
    unansweredCalls: draft.exchanges.length - paired,
    reusedCallIds: [...uses].flatMap(([id, count]) => (id !== '' && count > 1 ? [id] : [])),
  };
};

/** Tool calls of a lineage, what became of each, and how calls and results pair. */
export const toolExchanges: Projection<ToolExchangesDraft, ToolExchanges> = {
  name: 'tool-exchanges',
  version: 1,
  start: () => ({
    cursor: startCursor(),
    exchanges: [],
    firstOf: new Map(),
    statusOf: new Map(),
    approvalOf: new Map(),
    orphans: [],
    toolResults: 0,
  }),
  apply: (draft, recorded) => {
    advance(draft.cursor, recorded, () => {
      handle(handlers, draft, recorded);
    });
  },
  view: (draft) => ({
    exchanges: draft.exchanges.map((exchange) => exchangeOf(draft, exchange)),
    orphans: [...draft.orphans],
    pairing: pairingOf(draft),
  }),
};
