import * as E from 'fp-ts/lib/Either.js';
import { decodeOpenAIMessage, OPENAI_CHAT } from './openai-chat-decode.js';
import { openaiFields } from './openai-chat-fields.js';
import type { OpenAIMessage } from './openai-chat-wire.js';
import { parseRaw } from './raw.js';
import type { Turn } from './profile.js';
import { isWireObject, pickAllowed } from './whitelist.js';

const placedAtEnd = (turn: Turn): readonly unknown[] =>
  turn.blocks.filter((block) => block.type !== 'tool_call');

/**
 * The original form of a message, less what may not leave, when it says exactly what the neutral
 * form says; else undefined, and the neutral form is sent.
 */
export const rawOpenAIMessage = (turn: Turn): OpenAIMessage | undefined => {
  const raw = parseRaw(turn.raw, OPENAI_CHAT);
  const role = raw?.['role'];
  if (raw === undefined || typeof role !== 'string' || role !== turn.role) return undefined;
  const picked = pickAllowed(raw, { fields: openaiFields[role] ?? {} });
  if (!isWireObject(picked)) return undefined;
  const decoded = decodeOpenAIMessage(picked, 0);
  if (E.isLeft(decoded)) return undefined;
  const { blocks, toolCalls, answersCallIds, name } = decoded.right;
  const says = [blocks, toolCalls, answersCallIds, name ?? null];
  const meant = [
    placedAtEnd(turn),
    turn.calls.map(({ source: { id, name: tool, arguments: text } }) => ({
      id,
      name: tool,
      arguments: text,
    })),
    turn.answer === undefined ? [] : [turn.answer.sourceId],
    turn.name ?? null,
  ];
  return JSON.stringify(says) === JSON.stringify(meant)
    ? (picked as unknown as OpenAIMessage)
    : undefined;
};
