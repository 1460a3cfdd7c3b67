import { isWireObject, type WireObject } from './whitelist.js';

const anthropicTypes: ReadonlySet<unknown> = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'document',
]);
const openaiTypes: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'refusal', 'file']);
const responsesTypes: ReadonlySet<unknown> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'reasoning',
  'item_reference',
]);

const partsOf = (message: WireObject): readonly WireObject[] =>
  Array.isArray(message['content']) ? message['content'].filter(isWireObject) : [];

/** The provider whose form a message surely has; undefined when several would fit (B60). */
export const shapeOf = (message: WireObject): string | undefined => {
  if (Array.isArray(message['parts'])) return 'gemini';
  if (responsesTypes.has(message['type'])) return 'openai-responses';
  const { role } = message as { readonly role?: unknown };
  if (role === 'model') return 'gemini';
  if (role === 'tool' || role === 'developer' || 'tool_calls' in message) return 'openai-chat';
  for (const part of partsOf(message)) {
    if (openaiTypes.has(part['type'])) return 'openai-chat';
    if (anthropicTypes.has(part['type'])) return 'anthropic';
    if (part['type'] === 'image' && 'source' in part) return 'anthropic';
    if (part['type'] === 'input_text' || part['type'] === 'output_text') return 'openai-responses';
    if (part['toolUse'] !== undefined || part['toolResult'] !== undefined)
      return 'bedrock-converse';
  }
  return undefined;
};
