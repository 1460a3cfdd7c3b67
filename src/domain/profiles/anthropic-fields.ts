import type { Allowed } from './whitelist.js';

const cacheable = { type: 'value', cache_control: 'value' } as const;

const source: Allowed = {
  fields: { type: 'value', media_type: 'value', data: 'value', url: 'value', file_id: 'value' },
};

const text: Allowed = { fields: { ...cacheable, text: 'value', citations: 'value' } };
const image: Allowed = { fields: { ...cacheable, source } };
const document: Allowed = {
  fields: {
    ...cacheable,
    source: 'value',
    title: 'value',
    context: 'value',
    citations: 'value',
  },
};

const toolResult: Allowed = {
  fields: {
    ...cacheable,
    tool_use_id: 'value',
    content: { items: { byType: { text, image, document }, otherTypes: 'value' } },
    is_error: 'value',
  },
};

/** Blocks that may leave. A type that is not named here is the provider's own, and opaque to us. */
export const anthropicBlocks: Allowed = {
  items: {
    byType: {
      text,
      image,
      document,
      thinking: { fields: { type: 'value', thinking: 'value', signature: 'value' } },
      redacted_thinking: { fields: { type: 'value', data: 'value' } },
      tool_use: { fields: { ...cacheable, id: 'value', name: 'value', input: 'value' } },
      tool_result: toolResult,
    },
    otherTypes: 'value',
  },
};

/** Fields of a message that may leave. Everything else stays at home (S15). */
export const anthropicFields: Readonly<Record<string, Allowed>> = {
  role: 'value',
  content: anthropicBlocks,
};
