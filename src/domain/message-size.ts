import type { FaultOf } from './errors.js';
import type { Message } from './message.js';
import { utf8Bytes } from './text.js';

/**
 * Bytes of text that one message may hold: content, arguments, metadata and raw together. Whoever
 * takes messages from a network may allow less (B03).
 */
export const MESSAGE_BYTES = 16_777_216;

const textsIn = ({ blocks, toolCalls, metadata = '', raw }: Message): readonly string[] => [
  ...blocks.flatMap(({ type: _type, ...rest }) =>
    Object.values(rest).filter((value) => typeof value === 'string'),
  ),
  ...toolCalls.map((call) => call.arguments),
  metadata,
  raw?.text ?? '',
];

/** `TooLarge` for a message with more text than one may hold. */
export const messageSizeFault = (message: Message): FaultOf<'TooLarge'> | undefined => {
  const texts = textsIn(message);
  // No text has more bytes than three for each of its units: most messages need no count.
  if (texts.reduce((sum, text) => sum + text.length, 0) * 3 <= MESSAGE_BYTES) return undefined;
  const bytes = texts.reduce((sum, text) => sum + utf8Bytes(text), 0);
  return bytes > MESSAGE_BYTES ? { _tag: 'TooLarge', bytes, limit: MESSAGE_BYTES } : undefined;
};
