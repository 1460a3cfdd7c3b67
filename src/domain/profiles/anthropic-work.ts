import type {
  AnthropicBlock,
  AnthropicMessage,
  AnthropicThinkingConfig,
} from './anthropic-wire.js';
import type { AddedTurn, Capabilities, EncodeOptions, Turn } from './profile.js';
import type { Repair } from './repair.js';

/** How reasoning is switched on, and what the model can do with it. */
export interface ThinkingDefaults {
  readonly capabilities: Capabilities;
  readonly maxTokens: number;
  readonly thinking?: AnthropicThinkingConfig;
}

export interface AnthropicEncoding extends ThinkingDefaults {
  readonly model: string;
  readonly capabilities: Capabilities;
}

/** A message on the wire, and what it was made of. */
export interface WireDraft {
  readonly role: AnthropicMessage['role'];
  content: string | AnthropicBlock[];
  /** The original form, keys in their own order, while it holds just this content. */
  readonly wire?: AnthropicMessage;
  readonly turns: Turn[];
}

export interface EncodeWork {
  readonly encoding: AnthropicEncoding;
  readonly options: EncodeOptions;
  readonly drafts: WireDraft[];
  readonly repairs: Repair[];
  readonly omitted: string[];
  readonly added: AddedTurn[];
  /** Whether invalidated reasoning is sent for the provider to drop it (A12). */
  readonly keepsInvalid: boolean;
}

/** Adds an entry to the report, with the id of the message. */
export const report = (work: Pick<EncodeWork, 'repairs'>, turn: Turn, repair: Repair): void => {
  const id = turn.ids[0];
  work.repairs.push({ ...repair, ...(id !== undefined && { id }) });
};
