import type { Block } from '../message.js';
import type {
  AnthropicBlock,
  AnthropicDocument,
  AnthropicImage,
  AnthropicSource,
  AnthropicText,
  AnthropicToolResult,
  AnthropicToolUse,
} from './anthropic-wire.js';
import type { Turn, TurnCall } from './profile.js';
import { isWireObject } from './whitelist.js';
import { repairJson } from './wire-text.js';

export const isBlankText = (text: string): boolean => text.trim() === '';

type Media = AnthropicImage | AnthropicDocument | AnthropicText;

const sourceOf = (block: {
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly fileId?: string;
}): AnthropicSource | undefined => {
  if (block.fileId !== undefined) return { type: 'file', file_id: block.fileId };
  if (block.data !== undefined) {
    return { type: 'base64', media_type: block.mediaType, data: block.data };
  }
  return block.url === undefined ? undefined : { type: 'url', url: block.url };
};

/** A block other than text that a user message or a result may hold; undefined: it has no place. */
export const anthropicMedia = (block: Block): Media | undefined => {
  if (block.type === 'image') {
    const source = sourceOf(block);
    return source === undefined ? undefined : { type: 'image', source };
  }
  if (block.type === 'file') {
    const source = sourceOf(block);
    const title = block.name === undefined ? {} : { title: block.name };
    return source === undefined ? undefined : { type: 'document', source, ...title };
  }
  return undefined;
};

/** Reasoning in the form in which it came; unsigned reasoning has no signature to send. */
export const anthropicReasoning = (
  block: Extract<Block, { readonly type: 'reasoning' }>,
): AnthropicBlock =>
  block.encrypted === undefined
    ? { type: 'thinking', thinking: block.text, signature: block.signature ?? '' }
    : { type: 'redacted_thinking', data: block.encrypted };

export const isSigned = (block: Extract<Block, { readonly type: 'reasoning' }>): boolean =>
  block.encrypted !== undefined || (block.signature ?? '') !== '';

/** An opaque block of the provider, word for word. */
export const anthropicOpaque = (json: string): AnthropicBlock =>
  repairJson(JSON.parse(json)) as AnthropicBlock;

const inputOf = (text: string): unknown => {
  if (isBlankText(text)) return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** A call, and whether a text in its input had to be repaired. */
export const anthropicToolUse = (
  call: TurnCall,
): { readonly block: AnthropicToolUse; readonly repaired: boolean } => {
  const given = inputOf(call.arguments);
  const input = repairJson(given);
  return {
    block: { type: 'tool_use', id: call.id, name: call.name, input },
    repaired: input !== given,
  };
};

const contentBlocks = (turn: Turn, strict: boolean): readonly Media[] =>
  turn.blocks.flatMap((block): readonly Media[] => {
    if (block.type === 'text' || block.type === 'refusal') {
      return !strict && isBlankText(block.text) ? [] : [{ type: 'text', text: block.text }];
    }
    if (block.type === 'provider') {
      return [anthropicOpaque(block.json) as unknown as Media];
    }
    const media = anthropicMedia(block);
    return media === undefined ? [] : [media];
  });

/** One text is sent as a string, everything else as a list of blocks. */
export const compact = <B extends { readonly type: string }>(
  blocks: readonly B[],
): string | B[] => {
  const [only] = blocks;
  if (blocks.length !== 1 || only?.type !== 'text') return [...blocks];
  const { text } = only as unknown as AnthropicText;
  return isWireObject(only) && Object.keys(only).length === 2 ? text : [...blocks];
};

/** What a user turn holds, blank texts left out. */
export const anthropicUserBlocks = (turn: Turn, strict: boolean): readonly Media[] =>
  contentBlocks(turn, strict);

/** The result block of a tool turn; its content is absent when there is nothing in it (A7). */
export const anthropicToolResult = (turn: Turn, strict: boolean): AnthropicToolResult => {
  const content = contentBlocks(turn, strict);
  return {
    type: 'tool_result',
    tool_use_id: turn.answer?.id ?? '',
    ...(content.length > 0 && { content: compact(content) }),
    ...(turn.isError === true && { is_error: true }),
  };
};
