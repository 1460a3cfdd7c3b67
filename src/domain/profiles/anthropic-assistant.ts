import type { Block } from '../message.js';
import {
  anthropicOpaque,
  anthropicReasoning,
  anthropicToolUse,
  isBlankText,
  isSigned,
} from './anthropic-blocks.js';
import { report, type EncodeWork } from './anthropic-work.js';
import type { AnthropicBlock } from './anthropic-wire.js';
import type { Turn } from './profile.js';

const reasoningOf = (
  work: EncodeWork,
  turn: Turn,
  block: Extract<Block, { readonly type: 'reasoning' }>,
): readonly AnthropicBlock[] => {
  const { options, encoding, keepsInvalid } = work;
  if (options.strict) return [anthropicReasoning(block)];
  if (!isSigned(block)) {
    report(work, turn, { code: 'FOREIGN_REASONING_DROPPED' });
    return [];
  }
  const isInvalid =
    encoding.capabilities.prefixBoundThinking === true &&
    turn.ids.some((id) => options.prefixChanged.has(id));
  return isInvalid && !keepsInvalid ? [] : [anthropicReasoning(block)];
};

const blockOf = (work: EncodeWork, turn: Turn, block: Block): readonly AnthropicBlock[] => {
  switch (block.type) {
    case 'text':
    case 'refusal':
      if (isBlankText(block.text) && !work.options.strict) return [];
      return [{ type: 'text', text: block.text }];
    case 'reasoning':
      return reasoningOf(work, turn, block);
    case 'tool_call': {
      const call = turn.calls[block.call];
      if (call === undefined) return [];
      const made = anthropicToolUse(call);
      if (made.repaired && !work.options.strict) {
        report(work, turn, { code: 'TEXT_REPAIRED', toolCallId: call.source.id });
      }
      return [made.block];
    }
    case 'provider':
      return [anthropicOpaque(block.json)];
    case 'image':
    case 'audio':
    case 'file':
      report(work, turn, { code: 'CONTENT_OMITTED', action: block.type });
      return [];
  }
};

const isCall = ({ type }: AnthropicBlock): boolean => type === 'tool_use';

/** Blocks of an assistant turn in their order, the client's tool calls last (A5). */
export const encodeAssistantBlocks = (work: EncodeWork, turn: Turn): AnthropicBlock[] => {
  const blocks = turn.blocks.flatMap((block) => blockOf(work, turn, block));
  if (work.options.strict) return blocks;
  const firstCall = blocks.findIndex(isCall);
  const isOrdered = firstCall < 0 || blocks.slice(firstCall).every(isCall);
  if (isOrdered) return blocks;
  report(work, turn, { code: 'MOVED_FOR_ADJACENCY', action: 'calls_last' });
  return [...blocks.filter((block) => !isCall(block)), ...blocks.filter(isCall)];
};
