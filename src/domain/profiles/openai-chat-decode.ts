import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, StemmaFault } from '../errors.js';
import type { Usage } from '../events/model-call-events.js';
import type { Block, Role, ToolCall } from '../message.js';
import type { DecodedMessage, DecodedResponse, DecodeOptions } from './profile.js';
import { shapeOf } from './shape-of.js';
import { isWireObject, type WireObject } from './whitelist.js';

export const OPENAI_CHAT = 'openai-chat';

type ShapeFault = FaultOf<'InvalidShape'>;

const misfit = (path: string, expected: string, index?: number): ShapeFault => ({
  _tag: 'InvalidShape',
  path,
  expected,
  ...(index !== undefined && { index }),
});

const textAt = (object: WireObject, key: string): string | undefined => {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
};

const dataUrl = /^data:([^;,]*);base64,/;

const imageBlock = (part: WireObject): Block | undefined => {
  const image = part['image_url'];
  const url = isWireObject(image) ? textAt(image, 'url') : undefined;
  if (!isWireObject(image) || url === undefined) return undefined;
  const detail = textAt(image, 'detail');
  const inline = dataUrl.exec(url);
  const source =
    inline === null
      ? { mediaType: 'image/*', url }
      : { mediaType: inline[1] ?? '', data: url.slice(inline[0].length) };
  return { type: 'image', ...source, ...(detail !== undefined && { detail }) };
};

const fileBlock = (part: WireObject): Block | undefined => {
  const file = part['file'];
  if (!isWireObject(file)) return undefined;
  const name = textAt(file, 'filename');
  const fileId = textAt(file, 'file_id');
  const inline = dataUrl.exec(textAt(file, 'file_data') ?? '');
  return {
    type: 'file',
    mediaType: inline?.[1] ?? 'application/octet-stream',
    ...(name !== undefined && { name }),
    ...(inline !== null && { data: (textAt(file, 'file_data') ?? '').slice(inline[0].length) }),
    ...(fileId !== undefined && { fileId }),
  };
};

const audioBlock = (part: WireObject): Block | undefined => {
  const audio = part['input_audio'];
  const data = isWireObject(audio) ? textAt(audio, 'data') : undefined;
  if (!isWireObject(audio) || data === undefined) return undefined;
  return { type: 'audio', mediaType: `audio/${textAt(audio, 'format') ?? 'wav'}`, data };
};

const partBlock = (part: WireObject): Block | undefined => {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: textAt(part, 'text') ?? '' };
    case 'refusal':
      return { type: 'refusal', text: textAt(part, 'refusal') ?? '' };
    case 'image_url':
      return imageBlock(part);
    case 'input_audio':
      return audioBlock(part);
    case 'file':
      return fileBlock(part);
    default:
      return { type: 'provider', provider: 'openai', json: JSON.stringify(part) };
  }
};

const blocksOf = (content: unknown, path: string): E.Either<ShapeFault, readonly Block[]> => {
  if (content === undefined || content === null) return E.right([]);
  if (typeof content === 'string') return E.right([{ type: 'text', text: content }]);
  if (!Array.isArray(content)) return E.left(misfit(path, 'text or list of parts'));
  const blocks: Block[] = [];
  for (const [at, part] of content.entries()) {
    const block = isWireObject(part) ? partBlock(part) : undefined;
    if (block === undefined) return E.left(misfit(`${path}/${String(at)}`, 'content part'));
    blocks.push(block);
  }
  return E.right(blocks);
};

const callsOf = (
  calls: unknown,
  path: string,
  names: ReadonlyMap<string, string>,
): E.Either<ShapeFault, readonly ToolCall[]> => {
  if (calls === undefined || calls === null) return E.right([]);
  if (!Array.isArray(calls)) return E.left(misfit(path, 'list of tool calls'));
  const decoded: ToolCall[] = [];
  for (const [at, call] of calls.entries()) {
    const made = isWireObject(call) ? call['function'] : undefined;
    const name = isWireObject(made) ? textAt(made, 'name') : undefined;
    const args = isWireObject(made) ? made['arguments'] : undefined;
    if (!isWireObject(call) || name === undefined) {
      return E.left(misfit(`${path}/${String(at)}`, 'function call'));
    }
    const text = typeof args === 'string' ? args : args === undefined ? '' : JSON.stringify(args);
    decoded.push({ id: textAt(call, 'id') ?? '', name: names.get(name) ?? name, arguments: text });
  }
  return E.right(decoded);
};

const roles: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/** The neutral form of one message, without `raw`. */
export const decodeOpenAIMessage = (
  message: WireObject,
  index: number,
  names: ReadonlyMap<string, string> = new Map(),
): E.Either<StemmaFault, DecodedMessage> => {
  const path = `/messages/${String(index)}`;
  const role = message['role'];
  if (!roles.has(role)) return E.left({ _tag: 'UnknownRole', index, path: `${path}/role` });
  const blocks = blocksOf(message['content'], `${path}/content`);
  if (E.isLeft(blocks)) return E.left({ ...blocks.left, index });
  const calls = callsOf(message['tool_calls'], `${path}/tool_calls`, names);
  if (E.isLeft(calls)) return E.left({ ...calls.left, index });
  const answered = textAt(message, 'tool_call_id');
  if (role === 'tool' && answered === undefined) {
    return E.left({ _tag: 'MissingToolCallId', index, path: `${path}/tool_call_id` });
  }
  const refusal = textAt(message, 'refusal');
  const name = textAt(message, 'name');
  return E.right({
    index,
    role: role as Role,
    blocks:
      refusal === undefined ? blocks.right : [...blocks.right, { type: 'refusal', text: refusal }],
    toolCalls: calls.right,
    answersCallIds: role === 'tool' && answered !== undefined ? [answered] : [],
    ...(name !== undefined && role !== 'tool' && { name }),
  });
};

/** The messages of a request, or `ProfileMismatch` when they have another provider's form. */
export const decodeOpenAIMessages = (
  messages: unknown,
): E.Either<StemmaFault, readonly DecodedMessage[]> => {
  if (!Array.isArray(messages)) return E.left(misfit('/messages', 'list of messages'));
  const decoded: DecodedMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isWireObject(message)) {
      return E.left(misfit(`/messages/${String(index)}`, 'message', index));
    }
    const shape = shapeOf(message);
    if (shape !== undefined && shape !== OPENAI_CHAT) {
      return E.left({ _tag: 'ProfileMismatch', profile: OPENAI_CHAT, suggestion: shape, index });
    }
    const one = decodeOpenAIMessage(message, index);
    if (E.isLeft(one)) return one;
    decoded.push(one.right);
  }
  return E.right(decoded);
};

const countAt = (object: unknown, ...keys: readonly string[]): number | undefined => {
  let value: unknown = object;
  for (const key of keys) value = isWireObject(value) ? value[key] : undefined;
  return Number.isSafeInteger(value) ? (value as number) : undefined;
};

const usageOf = (usage: unknown): Usage => {
  if (!isWireObject(usage)) return {};
  const input = countAt(usage, 'prompt_tokens');
  const output = countAt(usage, 'completion_tokens');
  const cachedInput = countAt(usage, 'prompt_tokens_details', 'cached_tokens');
  const reasoning = countAt(usage, 'completion_tokens_details', 'reasoning_tokens');
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(cachedInput !== undefined && { cachedInput }),
    ...(reasoning !== undefined && { reasoning }),
    raw: JSON.stringify(usage),
  };
};

/** The answer of a chat completion; of several choices the first. */
export const decodeOpenAIResponse = (
  response: unknown,
  options: DecodeOptions = {},
): E.Either<StemmaFault, { readonly decoded: DecodedResponse; readonly message: WireObject }> => {
  const choices = isWireObject(response) ? response['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isWireObject(choice) ? choice['message'] : undefined;
  if (!isWireObject(response) || !isWireObject(choice) || !isWireObject(message)) {
    return E.left(misfit('/choices/0/message', 'chat completion'));
  }
  const neutral = decodeOpenAIMessage(message, 0, options.toolNames);
  if (E.isLeft(neutral)) return neutral;
  const responseId = textAt(response, 'id');
  const model = textAt(response, 'model');
  const decoded: DecodedResponse = {
    blocks: neutral.right.blocks,
    toolCalls: neutral.right.toolCalls,
    finishReason: textAt(choice, 'finish_reason') ?? 'unknown',
    usage: usageOf(response['usage']),
    ...(responseId !== undefined && { responseId }),
    ...(model !== undefined && { model }),
  };
  return E.right({ decoded, message });
};
