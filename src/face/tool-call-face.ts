import * as E from 'fp-ts/lib/Either.js';
import type { AppendedMessage } from '../domain/decide/append-messages.js';
import type { JsonObject } from '../domain/json-value.js';
import { FOREIGN_JSON, parseJson, scanJson } from '../domain/json-scan.js';
import type { CallRef, Outcome, ToolCall } from '../domain/message.js';
import type { BranchContext, CommandOptions } from '../engine/engine-context.js';
import { append } from '../engine/message-commands.js';
import { session } from '../engine/recover.js';
import {
  abandon,
  askApproval,
  beginTool,
  type AskOptions,
  type StartToolOptions,
} from '../engine/tool-commands.js';
import { toolCallLooks } from './call-looks.js';
import { guarded } from './looks.js';
import { StemmaError, run } from './stemma-error.js';
import type { Tool, Toolbox } from './toolbox.js';

export interface ToolOutcome {
  /** Absent while the call waits for an approval. */
  readonly messageId?: string;
  readonly outcome: Outcome | 'awaiting_approval';
  /** The text that the model will read. */
  readonly content: string;
}

/**
 * What readers of an argument text disagree about: a key that is there twice (B08), digits that a
 * number cannot hold (B11), names such as `__proto__` (B10). The text itself is always kept.
 */
export type ArgumentFlag = 'dup_keys' | 'unsafe_numbers' | 'forbidden_keys';

/** A tool call that waits for its result. */
export interface ToolCallHandle extends ToolCall {
  readonly ref: CallRef;
  readonly flags: readonly ArgumentFlag[];
  /**
   * Runs the caller's tool between two durable events: started, then the result. What the tool
   * throws is recorded as an error result. A call of an unknown tool, or with arguments that are no
   * JSON object or that name a key twice, gets an error result and nothing runs.
   */
  readonly run: (
    tools: Toolbox,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<ToolOutcome>;
  /** Records that the tool begins, for loops that run it themselves. */
  readonly start: (
    options?: StartToolOptions,
  ) => Promise<{ readonly attempt: number; readonly idempotencyKey: string }>;
  readonly result: (
    content: string,
    options?: CommandOptions & { readonly outcome?: Outcome; readonly id?: string },
  ) => Promise<AppendedMessage>;
  readonly abandon: (reason?: string) => Promise<void>;
  readonly askApproval: (options?: AskOptions) => Promise<{ readonly requestId: string }>;
}

const textOfResult = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
};

const flagsOf = (text: string): readonly ArgumentFlag[] => {
  const scanned = scanJson(text, FOREIGN_JSON);
  if (E.isLeft(scanned)) return [];
  const { dupKeys, unsafeNumbers, forbiddenKeys } = scanned.right;
  return [
    ...(dupKeys ? (['dup_keys'] as const) : []),
    ...(unsafeNumbers ? (['unsafe_numbers'] as const) : []),
    ...(forbiddenKeys ? (['forbidden_keys'] as const) : []),
  ];
};

/** Undefined for what is no JSON object, or one of which nobody can say what it holds. */
const parsedArguments = (text: string): JsonObject | undefined => {
  if (flagsOf(text).includes('dup_keys')) return undefined;
  const parsed = parseJson(text, FOREIGN_JSON);
  const value = E.isRight(parsed) ? parsed.right : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
};

interface Attempted {
  readonly content: string;
  readonly outcome: Outcome;
  readonly durationMs?: number;
}

const attempt = async (
  context: BranchContext,
  call: ToolCall & { readonly ref: CallRef },
  tool: Tool,
  args: JsonObject,
  signal: AbortSignal,
): Promise<Attempted> => {
  const { effect } = tool;
  const begin = beginTool(context, call.ref, effect === undefined ? {} : { effect });
  const { answer: started } = await run(begin);
  const before = Date.parse(context.runtime.now());
  const took = (): number => Math.max(0, Date.parse(context.runtime.now()) - before);
  try {
    const value = await tool.run(args, { signal, argumentsText: call.arguments, ...started });
    return { content: textOfResult(value), outcome: 'ok', durationMs: took() };
  } catch (error) {
    const content = error instanceof Error ? error.message : String(error);
    return { content, outcome: 'error', durationMs: took() };
  }
};

const attach = async (
  context: BranchContext,
  call: { readonly ref: CallRef },
  { content, outcome, durationMs }: Attempted,
  options: CommandOptions & { readonly id?: string } = {},
): Promise<AppendedMessage> => {
  const { id, ...rest } = options;
  const done = await run(
    append(
      context,
      {
        role: 'tool',
        call: call.ref,
        content,
        outcome,
        ...(id === undefined ? {} : { id }),
        ...(durationMs === undefined ? {} : { durationMs }),
      },
      { ...rest, as: { kind: 'tool' } },
    ),
  );
  const [message] = done.answer;
  if (message === undefined) throw new StemmaError({ _tag: 'Unexpected', ref: 'attach' });
  return message;
};

const DENIED = 'This call was not approved.';

/**
 * A tool that needs an approval waits for one: asked once per call, answered by `resolveApproval`,
 * whenever that is. Undefined: it may run.
 */
const heldBack = async (
  context: BranchContext,
  call: { readonly ref: CallRef },
  tool: Tool | undefined,
): Promise<ToolOutcome | Attempted | undefined> => {
  if (tool?.needsApproval !== true) return undefined;
  const { toolCalls } = await run(session(context));
  const { messageId, index } = call.ref;
  const open = toolCalls.find((c) => c.messageId === messageId && c.index === index);
  if (open === undefined || open.approved) return undefined;
  if (open.state === 'denied') return { content: DENIED, outcome: 'denied' };
  if (open.state !== 'awaiting_approval') await run(askApproval(context, call.ref));
  return { outcome: 'awaiting_approval', content: '' };
};

const unusable = (text: string): string =>
  flagsOf(text).includes('dup_keys')
    ? 'The arguments name a key twice.'
    : 'The arguments are no JSON object.';

const runCall = async (
  context: BranchContext,
  call: ToolCall & { readonly ref: CallRef },
  tools: Toolbox,
  signal: AbortSignal,
): Promise<ToolOutcome> => {
  const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : undefined;
  const args = parsedArguments(call.arguments);
  const held = args === undefined ? undefined : await heldBack(context, call, tool);
  if (held?.outcome === 'awaiting_approval')
    return { outcome: held.outcome, content: held.content };
  const denied =
    held?.outcome === 'denied' ? { content: DENIED, outcome: 'denied' as const } : undefined;
  const attempted: Attempted =
    denied ??
    (tool === undefined
      ? { content: 'There is no tool of this name.', outcome: 'not_started' }
      : args === undefined
        ? { content: unusable(call.arguments), outcome: 'not_started' }
        : await attempt(context, call, tool, args, signal));
  const message = await attach(context, call, attempted);
  return { messageId: message.id, outcome: attempted.outcome, content: attempted.content };
};

export const toolCallHandle = (
  context: BranchContext,
  call: ToolCall,
  ref: CallRef,
): ToolCallHandle => {
  const flags = flagsOf(call.arguments);
  const named = { id: call.id, name: call.name, arguments: call.arguments, ref, flags };
  const face: ToolCallHandle = {
    ...named,
    run: (tools, options = {}) =>
      runCall(context, named, tools, options.signal ?? new AbortController().signal),
    start: async (options) => (await run(beginTool(context, ref, options))).answer,
    result: (content, { outcome = 'ok', ...options } = {}) =>
      attach(context, named, { content, outcome }, options),
    abandon: async (reason) => {
      await run(abandon(context, ref, reason === undefined ? {} : { reason }));
    },
    askApproval: async (options) => (await run(askApproval(context, ref, options))).answer,
  };
  return guarded(face, toolCallLooks);
};
