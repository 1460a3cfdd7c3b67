import type { Allowed } from './whitelist.js';

const text: Allowed = { fields: { type: 'value', text: 'value' } };

export const openaiTextParts: Allowed = { items: { byType: { text } } };

export const openaiUserParts: Allowed = {
  items: {
    byType: {
      text,
      image_url: {
        fields: { type: 'value', image_url: { fields: { url: 'value', detail: 'value' } } },
      },
      input_audio: {
        fields: { type: 'value', input_audio: { fields: { data: 'value', format: 'value' } } },
      },
      file: {
        fields: {
          type: 'value',
          file: { fields: { file_data: 'value', file_id: 'value', filename: 'value' } },
        },
      },
    },
  },
};

const assistantParts: Allowed = {
  items: { byType: { text, refusal: { fields: { type: 'value', refusal: 'value' } } } },
};

const toolCalls: Allowed = {
  items: {
    fields: {
      id: 'value',
      type: 'value',
      function: { fields: { name: 'value', arguments: 'value' } },
    },
  },
};

/** Fields that may leave, by role. Everything else of a message stays at home (S15, OC9). */
export const openaiFields: Readonly<Record<string, Readonly<Record<string, Allowed>>>> = {
  system: { role: 'value', content: openaiTextParts, name: 'value' },
  developer: { role: 'value', content: openaiTextParts, name: 'value' },
  user: { role: 'value', content: openaiUserParts, name: 'value' },
  assistant: {
    role: 'value',
    content: assistantParts,
    refusal: 'value',
    name: 'value',
    tool_calls: toolCalls,
  },
  tool: { role: 'value', content: openaiTextParts, tool_call_id: 'value' },
};
