import type { Json } from '../../../domain/json-value.js';
import { isList, isObject, member, textMember } from '../foreign.js';

const ROLES: readonly string[] = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Whether a role is one of chat messages, to the letter (B24). */
const isChatRole = (role: Json | undefined): boolean =>
  typeof role === 'string' && ROLES.includes(role);

const PARTS: readonly string[] = [
  'text',
  'image_url',
  'input_audio',
  'audio',
  'file',
  'refusal',
  'video_url',
];
const ANTHROPIC: readonly string[] = [
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'image',
  'document',
];
const RESPONSES: readonly string[] = ['input_text', 'output_text', 'input_image', 'input_file'];

const partTypes = (message: Json): readonly string[] => {
  const content = member(message, 'content');
  return isList(content) ? content.flatMap((part) => textMember(part, 'type') ?? []) : [];
};

const hasContent = (message: Json): boolean =>
  ['content', 'tool_calls', 'function_call', 'refusal', 'reasoning_content'].some(
    (key) => member(message, key) !== undefined,
  );

/** Why a list of messages is no list of chat messages: its first such item, and whose it looks. */
export interface Misfit {
  readonly index: number;
  readonly reason: 'shape' | 'role' | 'provider';
  readonly suggestion?: string;
}

const providerOf = (message: Json): string | undefined => {
  const types = partTypes(message);
  if (types.some((type) => ANTHROPIC.includes(type))) return 'anthropic';
  if (types.some((type) => RESPONSES.includes(type))) return 'openai-responses';
  const parts = member(message, 'parts');
  if (!isList(parts)) return member(message, 'type') === 'message' ? 'openai-responses' : undefined;
  return parts.some((part) => textMember(part, 'type') !== undefined) ? 'ai-sdk' : 'gemini';
};

const misfitOf = (message: Json, index: number): Misfit | undefined => {
  if (!isObject(message)) return { index, reason: 'shape' };
  const suggestion = providerOf(message);
  if (suggestion !== undefined) return { index, reason: 'provider', suggestion };
  const role = member(message, 'role');
  if (typeof role !== 'string') return { index, reason: 'shape' };
  if (!isChatRole(role)) return { index, reason: 'role' };
  if (!hasContent(message)) return { index, reason: 'shape' };
  const foreign = partTypes(message).some((type) => !PARTS.includes(type));
  return foreign ? { index, reason: 'provider' } : undefined;
};

/** The first message that is no chat message; undefined when all are. */
export const firstMisfit = (messages: readonly Json[]): Misfit | undefined => {
  for (const [index, message] of messages.entries()) {
    const misfit = misfitOf(message, index);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
};

/** The lists of messages that a document of this format may have. */
export const messageLists = (value: Json): readonly (readonly Json[])[] => {
  if (isList(value)) return [value];
  const attempts = member(value, 'train_messages');
  if (isList(attempts)) return attempts.filter(isList);
  const request = member(value, 'request');
  const messages = member(isObject(request) ? request : value, 'messages');
  return isList(messages) ? [messages] : [];
};

/** A recorded answer of another protocol stands beside the messages. */
const hasForeignEnvelope = (value: Json): boolean => {
  const request = member(value, 'request');
  const body = isObject(request) ? request : value;
  const response = member(value, 'response');
  return (
    member(body, 'system') !== undefined ||
    (isObject(response) && !isList(member(response, 'choices')))
  );
};

/** Whose document it is when it is not one of chat messages, as far as that can be seen. */
export const suggestionFor = (value: Json): string | undefined => {
  const request = member(value, 'request');
  const body = isObject(request) ? request : value;
  if (member(body, 'contents') !== undefined) return 'gemini';
  if (member(body, 'input') !== undefined) return 'openai-responses';
  const lists = messageLists(value);
  const named = lists
    .map((list) => firstMisfit(list)?.suggestion)
    .find((name) => name !== undefined);
  return named ?? (lists.length > 0 && hasForeignEnvelope(value) ? 'anthropic' : undefined);
};

/** Whether a value is a document of chat messages, and every message in it is one. */
export const isChatDocument = (value: Json): boolean => {
  const lists = messageLists(value);
  return (
    lists.some((list) => list.length > 0) &&
    lists.every((list) => firstMisfit(list) === undefined) &&
    !hasForeignEnvelope(value)
  );
};
