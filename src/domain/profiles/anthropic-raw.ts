import * as E from 'fp-ts/lib/Either.js';
import { ANTHROPIC, decodeAnthropicMessage } from './anthropic-decode.js';
import { anthropicFields } from './anthropic-fields.js';
import type { AnthropicMessage } from './anthropic-wire.js';
import type { DecodedMessage, Turn } from './profile.js';
import { parseRaw } from './raw.js';
import type { Block } from '../message.js';
import { isWireObject, pickAllowed } from './whitelist.js';

// Calls behind all other blocks need no place of their own; the model that made a block is known
// from the answer and not from the wire.
const comparable = (blocks: readonly Block[], calls: number): readonly unknown[] => {
  const first = blocks.findIndex(({ type }) => type === 'tool_call');
  const isLast = first < 0 || blocks.length - first === calls;
  const shown = isLast ? blocks.filter(({ type }) => type !== 'tool_call') : blocks;
  return shown.map((block) => {
    if (block.type === 'reasoning') return { ...block, model: undefined };
    if (block.type !== 'image') return block;
    return { ...block, width: undefined, height: undefined, detail: undefined };
  });
};

const says = (decoded: DecodedMessage): string =>
  JSON.stringify([
    decoded.role,
    comparable(decoded.blocks, decoded.toolCalls.length),
    decoded.toolCalls.map(({ id, name, arguments: text }) => [id, name, text]),
    decoded.answersCallIds,
    decoded.outcome === 'error',
  ]);

const means = (turn: Turn): string =>
  JSON.stringify([
    turn.role,
    comparable(turn.blocks, turn.calls.length),
    turn.calls.map(({ source }) => [source.id, source.name, source.arguments]),
    turn.answer === undefined ? [] : [turn.answer.sourceId],
    turn.isError === true,
  ]);

/**
 * The original form of a turn, less what may not leave, when it says exactly what the
 * neutral form says; else undefined, and the neutral form is sent.
 */
export const rawAnthropicMessage = (turn: Turn): AnthropicMessage | undefined => {
  const raw = parseRaw(turn.raw, ANTHROPIC);
  const picked = raw === undefined ? undefined : pickAllowed(raw, { fields: anthropicFields });
  if (!isWireObject(picked)) return undefined;
  const parts = decodeAnthropicMessage(picked, 0);
  if (E.isLeft(parts) || parts.right.length !== 1) return undefined;
  const decoded = parts.right[0]?.decoded;
  if (decoded === undefined || says(decoded) !== means(turn)) return undefined;
  return picked as unknown as AnthropicMessage;
};
