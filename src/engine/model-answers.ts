import { completeCall, failCall } from '../domain/decide/model-call.js';
import * as E from 'fp-ts/lib/Either.js';
import type { TurnOutcome } from '../domain/events/branch-events.js';
import type { CallError, Purpose, Usage } from '../domain/events/model-call-events.js';
import { prepare } from '../domain/intake.js';
import type { Block, Message, MessageStatus, Raw, ToolCall } from '../domain/message.js';
import type { Recorded } from '../domain/recorded.js';
import { slotMaker } from './content.js';
import { given, scopeOf, type BranchContext, type CommandOptions } from './engine-context.js';
import { onBranch, type Done } from './execute.js';
import type { Task } from './runtime.js';

/** The answer of a model, in neutral form. */
export interface Answer {
  /** Id for the assistant message; absent: a new one. */
  readonly id?: string;
  readonly blocks: readonly Block[];
  readonly toolCalls?: readonly ToolCall[];
  readonly finishReason?: string;
  readonly usage?: Usage;
  readonly responseId?: string;
  readonly model?: string;
  readonly raw?: Raw;
  readonly latencyMs?: number;
  /** `draft` or `blocked` keeps it out of later contexts until it is confirmed. */
  readonly status?: MessageStatus;
}

const answerMessage = (
  answer: Answer,
  id: string,
  status: MessageStatus,
  system?: string,
): Message => ({
  id,
  role: 'assistant',
  blocks: answer.blocks,
  toolCalls: answer.toolCalls ?? [],
  answers: [],
  provenance: {
    kind: 'model',
    ...(answer.model === undefined ? {} : { id: answer.model }),
    ...(system === undefined ? {} : { system }),
  },
  trust: 'model',
  status,
  ...(answer.raw === undefined ? {} : { raw: answer.raw }),
});

export interface CompletedCall {
  readonly messageId?: string;
  readonly events: readonly Recorded[];
  readonly replayed: boolean;
}

/** The message of a call is the one that was written: a late answer writes none. */
const messageIdOf = ({ event }: Recorded): string | undefined => {
  if (event?.type === 'MessageAppended') return event.data.message.id;
  if (event?.type === 'ModelCallFailed') return event.data.partial?.id;
  return event?.type === 'ModelCallCompleted' ? event.data.message?.id : undefined;
};

const completed = (done: Done<readonly Recorded[]>): CompletedCall => {
  const messageId = done.answer.map(messageIdOf).find((id) => id !== undefined);
  return {
    ...(messageId === undefined ? {} : { messageId }),
    events: done.answer,
    replayed: done.replayed,
  };
};

export interface CompleteOptions extends CommandOptions {
  readonly purpose?: Purpose;
  readonly provider?: string;
}

/** Records the answer of a call: message and completion in one append. */
export const complete =
  (
    context: BranchContext,
    modelCallId: string,
    answer: Answer,
    options: CompleteOptions = {},
  ): Task<CompletedCall> =>
  async () => {
    const { runtime, states, key } = context;
    const slots = slotMaker(runtime, key.conversation);
    const isTurn = (options.purpose ?? 'turn') === 'turn';
    // The id follows from the call, so that completing it again is a replay and not a second answer.
    const id = answer.id ?? `m-${modelCallId}`;
    const message = answerMessage(answer, id, answer.status ?? 'confirmed', options.provider);
    const output = JSON.stringify(answer.blocks);
    const command = completeCall({
      scope: scopeOf(context),
      modelCallId,
      ...(isTurn
        ? { message: prepare(message, slots.make) }
        : { output: slots.make(output, 'output') }),
      finishReason: answer.finishReason ?? 'stop',
      usage: answer.usage ?? {},
      ...(answer.responseId === undefined ? {} : { responseId: answer.responseId }),
      ...(answer.latencyMs === undefined ? {} : { latencyMs: answer.latencyMs }),
    });
    const done = await onBranch(runtime, states, key, command, {
      ...given(context, options, 'complete', [modelCallId, id, answer]),
      slots,
    })();
    return E.isLeft(done) ? done : E.right(completed(done.right));
  };

export interface Failure {
  readonly kind: CallError['kind'];
  readonly code?: string;
  readonly retryable?: boolean;
  readonly detail?: string;
  /** What had come of the answer. */
  readonly partial?: Pick<Answer, 'id' | 'blocks' | 'toolCalls'>;
  /** Ends the turn with this outcome; absent: another attempt follows. */
  readonly ends?: TurnOutcome;
}

/** Records that a call failed, with what of its answer had come. */
export const fail =
  (
    context: BranchContext,
    modelCallId: string,
    failure: Failure,
    options: CommandOptions = {},
  ): Task<CompletedCall> =>
  async () => {
    const { runtime, states, key } = context;
    const slots = slotMaker(runtime, key.conversation);
    const { kind, code, retryable = kind === 'transport', detail, partial, ends } = failure;
    const id = partial?.id ?? `m-${modelCallId}`;
    const command = failCall({
      scope: scopeOf(context),
      modelCallId,
      error: {
        kind,
        ...(code === undefined ? {} : { code }),
        retryable,
        ...(detail === undefined ? {} : { detail: slots.make(detail, 'detail') }),
      },
      ...(partial === undefined
        ? {}
        : { partial: prepare(answerMessage(partial, id, 'interrupted'), slots.make) }),
      ...(ends === undefined ? {} : { ends }),
    });
    const done = await onBranch(runtime, states, key, command, {
      ...given(context, options, 'fail', [modelCallId, failure]),
      slots,
    })();
    return E.isLeft(done) ? done : E.right(completed(done.right));
  };
