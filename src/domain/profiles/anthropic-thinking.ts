import type { AnthropicThinkingConfig } from './anthropic-wire.js';
import type { ThinkingDefaults } from './anthropic-work.js';
import type { EncodeOptions, Turn } from './profile.js';
import type { Repair } from './repair.js';
import { isWireObject } from './whitelist.js';

export interface ThinkingPlan {
  readonly config?: AnthropicThinkingConfig;
  /** Invalidated reasoning is sent, and the provider asked to drop it. */
  readonly keepsInvalid: boolean;
  readonly repairs: readonly Repair[];
}

const LEAST_BUDGET = 1_024;

export const isThinkingOn = (config: AnthropicThinkingConfig | undefined): boolean =>
  config !== undefined && config.type !== 'disabled';

const configOf = (
  defaults: ThinkingDefaults,
  options: EncodeOptions,
  asked: unknown,
): AnthropicThinkingConfig | undefined => {
  if (isWireObject(asked)) return asked as unknown as AnthropicThinkingConfig;
  if (!options.thinking) return undefined;
  const budget = Math.max(LEAST_BUDGET, Math.floor(defaults.maxTokens / 2));
  return defaults.thinking ?? { type: 'enabled', budget_tokens: budget };
};

/** Assistant turns behind the last turn that a user wrote: the tool loop at hand, oldest first. */
export const currentLoop = (turns: readonly Turn[]): readonly Turn[] => {
  const lastUser = turns.findLastIndex(({ role }) => role === 'user');
  const loop = turns.slice(lastUser + 1);
  return loop.at(-1)?.role === 'tool' ? loop.filter(({ role }) => role === 'assistant') : [];
};

const isInvalid = (turn: Turn, options: EncodeOptions): boolean =>
  turn.ids.some((id) => options.prefixChanged.has(id)) &&
  turn.blocks.some(({ type }) => type === 'reasoning');

/**
 * The thinking parameter, and what becomes of reasoning whose prefix changed (A12): it is left out,
 * unless the open tool loop has to start with it (A10); then the provider is asked to drop it.
 */
export const thinkingOf = (
  turns: readonly Turn[],
  defaults: ThinkingDefaults,
  options: EncodeOptions,
  asked: unknown,
): ThinkingPlan => {
  const config = configOf(defaults, options, asked);
  const { prefixBoundThinking, thinkingRequiredInToolLoop } = defaults.capabilities;
  const none = { ...(config && { config }), keepsInvalid: false, repairs: [] };
  if (prefixBoundThinking !== true || options.strict) return none;
  const invalid = turns.filter((turn) => turn.role === 'assistant' && isInvalid(turn, options));
  if (invalid.length === 0) return none;
  const [first] = currentLoop(turns);
  const isNeeded =
    isThinkingOn(config) &&
    thinkingRequiredInToolLoop !== false &&
    first !== undefined &&
    invalid.includes(first);
  const ids = invalid.flatMap((turn) => turn.ids);
  const action = isNeeded ? 'drop_block' : 'left_out';
  const repairs: Repair[] = [{ code: 'THINKING_INVALIDATED_BY_PREFIX', ids, action }];
  if (!isNeeded || config === undefined) return { ...none, repairs };
  const block_binding = { prefix_mismatch_behavior: 'drop_block' as const };
  return { config: { ...config, block_binding }, keepsInvalid: true, repairs };
};
