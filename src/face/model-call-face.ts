import * as E from 'fp-ts/lib/Either.js';
import type { ContextPlan } from '../domain/context/plan.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Purpose } from '../domain/events/model-call-events.js';
import { textOf, type Block } from '../domain/message.js';
import type { Profile } from '../domain/profiles/profile.js';
import { addDelta, assembled, startStream, type StreamDelta } from '../domain/stream-assembly.js';
import type { BranchContext } from '../engine/engine-context.js';
import {
  complete,
  fail,
  type Answer,
  type CompleteOptions,
  type Failure,
} from '../engine/model-answers.js';
import type { RequestedCall } from '../engine/model-calls.js';
import { modelCallLooks } from './call-looks.js';
import { guarded } from './looks.js';
import { run, StemmaError } from './stemma-error.js';
import { toolCallHandle, type ToolCallHandle } from './tool-call-face.js';

/** What a model answered, as it was recorded. */
export interface Reply {
  readonly modelCallId: string;
  /** Absent for a call that writes no message. */
  readonly messageId?: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCallHandle[];
  readonly finishReason: string;
}

/** A streamed answer that is being put together; nothing is durable before it ends. */
export interface LiveAnswer {
  readonly push: (delta: StreamDelta) => void;
  /** Records the whole message. */
  readonly finish: (end?: Omit<Answer, 'blocks' | 'toolCalls'>) => Promise<Reply>;
  /** Records what had come as interrupted; its tool calls are kept for audit and never run. */
  readonly abort: (reason?: string) => Promise<Reply>;
}

/** A call to a model that is recorded and may be sent. */
export interface ModelCall<Body extends object> {
  readonly modelCallId: string;
  readonly attempt: number;
  readonly plan: ContextPlan<Body>;
  readonly body: Body;
  /**
   * Sends through the caller's function and records its answer. What the function throws is recorded
   * as a failure that another attempt may follow, and thrown on.
   */
  readonly send: (
    sender: (body: Body, options: { readonly signal: AbortSignal }) => unknown,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<Reply>;
  readonly complete: (answer: Answer, options?: CompleteOptions) => Promise<Reply>;
  readonly fail: (failure: Failure) => Promise<void>;
  /** Ends the call and the turn as interrupted, keeping what had come. */
  readonly interrupt: (partial?: Failure['partial']) => Promise<void>;
  readonly stream: () => LiveAnswer;
}

const replyOf = (
  context: BranchContext,
  modelCallId: string,
  messageId: string | undefined,
  answer: Pick<Answer, 'blocks' | 'toolCalls' | 'finishReason' | 'status'>,
): Reply => {
  const confirmed = (answer.status ?? 'confirmed') === 'confirmed';
  return {
    modelCallId,
    ...(messageId === undefined ? {} : { messageId }),
    text: textOf(answer.blocks),
    blocks: answer.blocks,
    toolCalls:
      messageId === undefined || !confirmed
        ? []
        : (answer.toolCalls ?? []).map((call, index) =>
            toolCallHandle(context, call, { messageId, index }),
          ),
    finishReason: answer.finishReason ?? 'stop',
  };
};

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

const codeOf = (error: unknown): string | undefined => {
  const code: unknown =
    typeof error === 'object' && error !== null
      ? 'code' in error
        ? error.code
        : 'status' in error
          ? error.status
          : undefined
      : undefined;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined;
};

/** Status codes that a later attempt may get past; anything without a status is a transport failure. */
const isTransient = (code: string | undefined): boolean =>
  code === undefined ||
  !/^\d+$/.test(code) ||
  ['408', '409', '429'].includes(code) ||
  Number(code) >= 500;

const failureOf = (error: unknown): Failure => {
  if (isAbort(error)) return { kind: 'interrupted', retryable: true, ends: 'interrupted' };
  const code = codeOf(error);
  const retryable = isTransient(code);
  return {
    kind: code !== undefined && /^\d+$/.test(code) ? 'provider' : 'transport',
    retryable,
    ...(code === undefined ? {} : { code }),
    detail: error instanceof Error ? error.message : String(error),
    ...(retryable ? {} : { ends: 'failed' }),
  };
};

interface CallParts<Body extends object> {
  readonly context: BranchContext;
  readonly profile: Profile<Body>;
  readonly requested: RequestedCall<Body>;
  readonly purpose: Purpose;
}

const completer =
  <Body extends object>({ context, profile, requested, purpose }: CallParts<Body>) =>
  async (answer: Answer, options: CompleteOptions = {}): Promise<Reply> => {
    const { modelCallId } = requested;
    const filled = { purpose, provider: profile.provider, ...options };
    const done = await run(complete(context, modelCallId, answer, filled));
    return replyOf(context, modelCallId, done.messageId, answer);
  };

const refusedAnswer = (fault: StemmaFault): Failure => ({
  kind: 'other',
  code: fault._tag,
  retryable: true,
});

const sender =
  <Body extends object>(parts: CallParts<Body>): ModelCall<Body>['send'] =>
  async (send, options = {}) => {
    const { context, profile, requested } = parts;
    const { modelCallId, plan } = requested;
    const signal = options.signal ?? new AbortController().signal;
    const before = Date.parse(context.runtime.now());
    let response: unknown;
    try {
      response = await send(plan.body, { signal });
    } catch (error) {
      await run(fail(context, modelCallId, failureOf(error)));
      throw error;
    }
    const decoded = profile.decode(response, { toolNames: plan.toolNames });
    if (E.isLeft(decoded)) {
      await run(fail(context, modelCallId, refusedAnswer(decoded.left)));
      throw new StemmaError(decoded.left);
    }
    const latencyMs = Math.max(0, Date.parse(context.runtime.now()) - before);
    return completer(parts)({ ...decoded.right, latencyMs });
  };

const live =
  <Body extends object>(parts: CallParts<Body>): ModelCall<Body>['stream'] =>
  () => {
    const { context, requested, profile } = parts;
    const draft = startStream();
    return {
      push: (delta) => {
        addDelta(draft, delta);
      },
      finish: (end = {}) => completer(parts)({ ...end, ...assembled(draft, profile.provider) }),
      abort: async (reason) => {
        const partial = assembled(draft, profile.provider);
        const { modelCallId } = requested;
        const done = await run(
          fail(context, modelCallId, {
            kind: 'interrupted',
            retryable: true,
            ...(reason === undefined ? {} : { detail: reason }),
            partial,
            ends: 'interrupted',
          }),
        );
        const answer = { ...partial, status: 'interrupted', finishReason: 'interrupted' } as const;
        return replyOf(context, modelCallId, done.messageId, answer);
      },
    };
  };

export const modelCall = <Body extends object>(parts: CallParts<Body>): ModelCall<Body> => {
  const { context, requested } = parts;
  const { modelCallId, plan, attempt } = requested;
  const face: ModelCall<Body> = {
    modelCallId,
    attempt,
    plan,
    body: plan.body,
    send: sender(parts),
    complete: completer(parts),
    fail: async (failure) => {
      await run(fail(context, modelCallId, failure));
    },
    interrupt: async (partial) => {
      await run(
        fail(context, modelCallId, {
          kind: 'interrupted',
          retryable: true,
          ends: 'interrupted',
          ...(partial === undefined ? {} : { partial }),
        }),
      );
    },
    stream: live(parts),
  };
  return guarded(face, modelCallLooks);
};
