import type { Effect } from '../domain/events/message-events.js';
import type { JsonObject } from '../domain/json-value.js';
import type { ToolDefinition } from '../domain/tool.js';

export interface ToolRun {
  readonly signal: AbortSignal;
  /** Stays the same when the call is run again, so that the tool can find out. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** The arguments word for word: digits beyond what a number holds are still there. */
  readonly argumentsText: string;
}

/** A tool of the caller: what the model is told, what running it does, and the function itself. */
export interface Tool {
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Without a word a tool is taken for harmful: it never runs twice unasked. */
  readonly effect?: Effect;
  /** Ask a human before each run. */
  readonly needsApproval?: boolean;
  /** A text is the result as it is; anything else is sent as JSON. */
  readonly run: (args: JsonObject, run: ToolRun) => unknown;
}

export type Toolbox = Readonly<Record<string, Tool>>;

export const definitionsOf = (tools: Toolbox | undefined): readonly ToolDefinition[] =>
  Object.entries(tools ?? {}).map(([name, { description, parameters }]) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
  }));
