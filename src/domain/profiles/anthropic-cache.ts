import type { AnthropicBlock, AnthropicMessage } from './anthropic-wire.js';
import type { Repair } from './repair.js';
import { isWireObject } from './whitelist.js';

export const MAX_CACHE_MARKERS = 4;

/** How many cache markers stand anywhere in a value. */
export const cacheMarkers = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + cacheMarkers(item), 0);
  if (!isWireObject(value)) return 0;
  const own = value['cache_control'] === undefined || value['cache_control'] === null ? 0 : 1;
  return Object.values(value).reduce<number>((sum, item) => sum + cacheMarkers(item), own);
};

const unmarked = (block: AnthropicBlock): AnthropicBlock => {
  const { cache_control: _marker, ...rest } = block as AnthropicBlock & {
    readonly cache_control?: unknown;
  };
  if (rest.type !== 'tool_result' || !Array.isArray(rest.content)) return rest;
  return { ...rest, content: rest.content.map((part) => unmarked(part) as never) };
};

/** At most four markers (A14): the earliest go, since the latest ones cover them. */
export const boundedCacheMarkers = (
  messages: readonly AnthropicMessage[],
  repairs: Repair[],
): AnthropicMessage[] => {
  let surplus = cacheMarkers(messages) - MAX_CACHE_MARKERS;
  if (surplus <= 0) return [...messages];
  repairs.push({ code: 'CACHE_MARKER_DROPPED', action: `dropped ${String(surplus)}` });
  return messages.map((message) => {
    if (surplus <= 0 || typeof message.content === 'string') return message;
    const content = message.content.map((block) => {
      const own = cacheMarkers(block);
      if (surplus <= 0 || own === 0) return block;
      surplus -= own;
      return unmarked(block);
    });
    return { ...message, content };
  });
};
