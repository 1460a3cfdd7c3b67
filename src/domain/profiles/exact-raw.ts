import * as E from 'fp-ts/lib/Either.js';
import type { Raw } from '../message.js';
import type { DecodedMessage, EncodeOptions, Profile, Turn } from './profile.js';
import { isWireObject } from './whitelist.js';

const plain: EncodeOptions = {
  tools: [],
  params: {},
  thinking: false,
  systemPolicy: 'profile',
  onTrailingAssistant: 'reject',
  prefixChanged: new Set(),
  strict: true,
};

/** A decoded message as a turn of its own, nothing renamed. */
export const decodedTurn = (decoded: DecodedMessage): Turn => {
  const placed = decoded.blocks.some(({ type }) => type === 'tool_call');
  const [answered] = decoded.answersCallIds;
  return {
    ids: [],
    role: decoded.role,
    blocks: placed
      ? decoded.blocks
      : [
          ...decoded.blocks,
          ...decoded.toolCalls.map((_call, call) => ({ type: 'tool_call' as const, call })),
        ],
    calls: decoded.toolCalls.map((call, index) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments,
      source: call,
      ref: { messageId: '', index },
    })),
    ...(answered !== undefined && { answer: { id: answered, name: '', sourceId: answered } }),
    ...(decoded.outcome !== undefined && decoded.outcome !== 'ok' && { isError: true }),
    ...(decoded.name !== undefined && { name: decoded.name }),
    index: 0,
  };
};

/**
 * The wire message word for word, when encoding its neutral form would not give it back to the byte;
 * undefined when it would, since then nothing is lost.
 */
export const exactRaw = (
  profile: Pick<Profile, 'encode'>,
  system: string,
  parts: readonly DecodedMessage[],
  wire: unknown,
): Raw | undefined => {
  const text = JSON.stringify(wire);
  const encoded = profile.encode(parts.map(decodedTurn), plain);
  const body: unknown = E.isRight(encoded) ? encoded.right.body : undefined;
  const messages = isWireObject(body) ? body['messages'] : undefined;
  const same =
    Array.isArray(messages) && messages.length === 1 && JSON.stringify(messages[0]) === text;
  return same ? undefined : { system, text };
};
