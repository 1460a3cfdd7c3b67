import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, StemmaFault } from '../errors.js';
import type { Usage } from '../events/model-call-events.js';
import type { Block, ToolCall } from '../message.js';
import type { DecodedMessage, DecodedResponse, DecodeOptions } from './profile.js';
import { shapeOf } from './shape-of.js';
import { isWireObject, type WireObject } from './whitelist.js';

export const ANTHROPIC = 'anthropic';

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

/** Where and by whom a block was made. */
interface Origin {
  readonly model?: string;
  readonly names: ReadonlyMap<string, string>;
}

const opaque = (block: WireObject): Block => ({
  type: 'provider',
  provider: ANTHROPIC,
  json: JSON.stringify(block),
});

const mediaBlock = (block: WireObject): Block => {
  const source = block['source'];
  if (!isWireObject(source)) return opaque(block);
  const mediaType = textAt(source, 'media_type');
  const data = textAt(source, 'data');
  const url = textAt(source, 'url');
  const fileId = textAt(source, 'file_id');
  if (block['type'] === 'image' && (data !== undefined || url !== undefined)) {
    const from = data === undefined ? { url: url ?? '' } : { data };
    return { type: 'image', mediaType: mediaType ?? 'image/*', ...from };
  }
  const type = source['type'];
  if (block['type'] !== 'document' || (type !== 'base64' && type !== 'url' && type !== 'file')) {
    return opaque(block);
  }
  const name = textAt(block, 'title');
  return {
    type: 'file',
    mediaType: mediaType ?? 'application/pdf',
    ...(name !== undefined && { name }),
    ...(data !== undefined && { data }),
    ...(url !== undefined && { url }),
    ...(fileId !== undefined && { fileId }),
  };
};

const reasoningBlock = (block: WireObject, { model }: Origin): Block => {
  const made = { provider: ANTHROPIC, ...(model !== undefined && { model }) };
  if (block['type'] === 'redacted_thinking') {
    return { type: 'reasoning', text: '', ...made, encrypted: textAt(block, 'data') ?? '' };
  }
  const signature = textAt(block, 'signature');
  const text = textAt(block, 'thinking') ?? '';
  return { type: 'reasoning', text, ...made, ...(signature !== undefined && { signature }) };
};

/** A content block other than a call or a result in neutral form. */
const blockOf = (block: WireObject, origin: Origin): Block => {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: textAt(block, 'text') ?? '' };
    case 'image':
    case 'document':
      return mediaBlock(block);
    case 'thinking':
    case 'redacted_thinking':
      return reasoningBlock(block, origin);
    default:
      return opaque(block);
  }
};

const listOf = (content: unknown, path: string): E.Either<ShapeFault, readonly WireObject[]> => {
  if (typeof content === 'string') return E.right([{ type: 'text', text: content }]);
  if (!Array.isArray(content) || !content.every(isWireObject)) {
    return E.left(misfit(path, 'text or list of blocks'));
  }
  return E.right(content);
};

const assistantOf = (
  blocks: readonly WireObject[],
  index: number,
  origin: Origin,
): DecodedMessage => {
  const toolCalls: ToolCall[] = [];
  const decoded = blocks.map((block): Block => {
    if (block['type'] !== 'tool_use') return blockOf(block, origin);
    const name = textAt(block, 'name') ?? '';
    const text = JSON.stringify(block['input'] ?? {});
    const id = textAt(block, 'id') ?? '';
    toolCalls.push({ id, name: origin.names.get(name) ?? name, arguments: text });
    return { type: 'tool_call', call: toolCalls.length - 1 };
  });
  const firstCall = decoded.findIndex(({ type }) => type === 'tool_call');
  const isLast =
    firstCall < 0 || decoded.slice(firstCall).every(({ type }) => type === 'tool_call');
  const shown = isLast ? decoded.filter(({ type }) => type !== 'tool_call') : decoded;
  return { index, role: 'assistant', blocks: shown, toolCalls, answersCallIds: [] };
};

const resultOf = (
  block: WireObject,
  index: number,
  origin: Origin,
): E.Either<StemmaFault, DecodedMessage> => {
  const path = `/messages/${String(index)}/content`;
  const id = textAt(block, 'tool_use_id');
  if (id === undefined) {
    return E.left({ _tag: 'MissingToolCallId', index, path: `${path}/tool_use_id` });
  }
  const content = block['content'] ?? [];
  const blocks = listOf(content, path);
  if (E.isLeft(blocks)) return E.left({ ...blocks.left, index });
  return E.right({
    index,
    role: 'tool',
    blocks: blocks.right.map((part) => blockOf(part, origin)),
    toolCalls: [],
    answersCallIds: [id],
    outcome: block['is_error'] === true ? 'error' : 'ok',
  });
};

/** The parts of one wire message: each result is a message of its own, the rest is one more. */
export interface DecodedPart {
  readonly decoded: DecodedMessage;
  /** The wire message that holds this part only. */
  readonly wire: WireObject;
}

/** The neutral form of one wire message: a user message with results becomes several. */
export const decodeAnthropicMessage = (
  message: WireObject,
  index: number,
  origin: Partial<Origin> = {},
): E.Either<StemmaFault, readonly DecodedPart[]> => {
  const from: Origin = { ...origin, names: origin.names ?? new Map() };
  const path = `/messages/${String(index)}`;
  const role = message['role'];
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    return E.left({ _tag: 'UnknownRole', index, path: `${path}/role` });
  }
  const blocks = listOf(message['content'], `${path}/content`);
  if (E.isLeft(blocks)) return E.left({ ...blocks.left, index });
  if (role === 'assistant') {
    return E.right([{ decoded: assistantOf(blocks.right, index, from), wire: message }]);
  }
  const results = blocks.right.filter((block) => block['type'] === 'tool_result');
  const rest = blocks.right.filter((block) => block['type'] !== 'tool_result');
  const parts: DecodedPart[] = [];
  for (const block of results) {
    const decoded = resultOf(block, index, from);
    if (E.isLeft(decoded)) return decoded;
    parts.push({ decoded: decoded.right, wire: { role, content: [block] } });
  }
  if (rest.length > 0 || results.length === 0) {
    const decoded: DecodedMessage = {
      index,
      role,
      blocks: rest.map((block) => blockOf(block, from)),
      toolCalls: [],
      answersCallIds: [],
    };
    const wire = results.length === 0 ? message : { role, content: rest };
    parts.push({ decoded, wire });
  }
  return E.right(parts);
};

/** The messages of a request, or `ProfileMismatch` when they have another provider's form. */
export const decodeAnthropicMessages = (
  messages: unknown,
): E.Either<StemmaFault, readonly DecodedPart[]> => {
  if (!Array.isArray(messages)) return E.left(misfit('/messages', 'list of messages'));
  const parts: DecodedPart[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isWireObject(message)) {
      return E.left(misfit(`/messages/${String(index)}`, 'message', index));
    }
    const shape = shapeOf(message);
    if (shape !== undefined && shape !== ANTHROPIC) {
      return E.left({ _tag: 'ProfileMismatch', profile: ANTHROPIC, suggestion: shape, index });
    }
    const decoded = decodeAnthropicMessage(message, index);
    if (E.isLeft(decoded)) return decoded;
    parts.push(...decoded.right);
  }
  return E.right(parts);
};

const countAt = (usage: WireObject, key: string): number | undefined => {
  const value = usage[key];
  return Number.isSafeInteger(value) ? (value as number) : undefined;
};

const usageOf = (usage: unknown): Usage => {
  if (!isWireObject(usage)) return {};
  const input = countAt(usage, 'input_tokens');
  const output = countAt(usage, 'output_tokens');
  const cachedInput = countAt(usage, 'cache_read_input_tokens');
  const cacheWrite = countAt(usage, 'cache_creation_input_tokens');
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(cachedInput !== undefined && { cachedInput }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    raw: JSON.stringify(usage),
  };
};

/** The answer of a request, with the wire message that it would be in a history. */
export const decodeAnthropicResponse = (
  response: unknown,
  options: DecodeOptions = {},
): E.Either<StemmaFault, { readonly answer: DecodedResponse; readonly part: DecodedPart }> => {
  if (!isWireObject(response) || !Array.isArray(response['content'])) {
    return E.left(misfit('/content', 'message'));
  }
  const model = textAt(response, 'model');
  const wire = { role: 'assistant', content: response['content'] };
  const parts = decodeAnthropicMessage(wire, 0, {
    ...(model !== undefined && { model }),
    ...(options.toolNames && { names: options.toolNames }),
  });
  if (E.isLeft(parts)) return parts;
  const part = parts.right[0];
  if (part === undefined) return E.left(misfit('/content', 'message'));
  const responseId = textAt(response, 'id');
  const { blocks, toolCalls } = part.decoded;
  const answer: DecodedResponse = {
    blocks,
    toolCalls,
    finishReason: textAt(response, 'stop_reason') ?? 'unknown',
    usage: usageOf(response['usage']),
    ...(responseId !== undefined && { responseId }),
    ...(model !== undefined && { model }),
  };
  return E.right({ answer, part });
};
