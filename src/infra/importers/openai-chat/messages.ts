import {
  contentDigest,
  type Block,
  type Message,
  type Role,
  type Trust,
} from '../../../domain/message.js';
import type { ToolCall } from '../../../domain/message.js';
import type { ImportedMessage } from '../../../domain/import-plan.js';
import { isObject, member, nameMember, textMember, usableId } from '../foreign.js';
import { locatedItems, locatedMember, type Located } from './document.js';

/** Name of the format: of its raw texts, provenance and record keys. */
export const SYSTEM = 'openai-chat';

const roleOf = (source: string): Role => {
  if (source === 'function' || source === 'tool') return 'tool';
  return source === 'system' || source === 'developer' || source === 'assistant' ? source : 'user';
};

const trustOf: Readonly<Record<Role, Trust>> = {
  system: 'operator',
  developer: 'operator',
  user: 'user',
  assistant: 'model',
  tool: 'external',
};

const DATA_URL = /^data:([^;,]+);base64,/;

const imageOf = (part: Located): Block | undefined => {
  const image = member(part.value, 'image_url');
  const url = typeof image === 'string' ? image : textMember(image, 'url');
  if (url === undefined) return undefined;
  const detail = textMember(image, 'detail');
  const found = DATA_URL.exec(url);
  return {
    type: 'image',
    mediaType: found?.[1] ?? 'image/*',
    ...(found === null ? { url } : { data: url.slice(found[0].length) }),
    ...(detail === undefined ? {} : { detail }),
  };
};

const audioOf = (part: Located): Block | undefined => {
  const audio = member(part.value, 'input_audio');
  const data = textMember(audio, 'data');
  const format = textMember(audio, 'format') ?? 'wav';
  return data === undefined ? undefined : { type: 'audio', mediaType: `audio/${format}`, data };
};

const fileOf = (part: Located): Block | undefined => {
  const file = member(part.value, 'file');
  if (!isObject(file)) return undefined;
  const [name, fileId] = [textMember(file, 'filename'), textMember(file, 'file_id')];
  const data = textMember(file, 'file_data');
  const found = data === undefined ? null : DATA_URL.exec(data);
  return {
    type: 'file',
    mediaType: found?.[1] ?? 'application/octet-stream',
    ...(name === undefined ? {} : { name }),
    ...(data === undefined ? {} : { data: data.slice(found?.[0].length ?? 0) }),
    ...(fileId === undefined ? {} : { fileId }),
  };
};

const textOrRefusal = (part: Located): Block | undefined => {
  const text = textMember(part.value, 'text');
  const refusal = textMember(part.value, 'refusal');
  if (text !== undefined) return { type: 'text', text };
  return refusal === undefined ? undefined : { type: 'refusal', text: refusal };
};

const partOf = (part: Located): Block => {
  const type = textMember(part.value, 'type');
  if (typeof part.value === 'string') return { type: 'text', text: part.value };
  const block =
    type === 'image_url'
      ? imageOf(part)
      : type === 'input_audio'
        ? audioOf(part)
        : type === 'file'
          ? fileOf(part)
          : textOrRefusal(part);
  return block ?? { type: 'provider', provider: SYSTEM, json: part.source };
};

const contentOf = (message: Located): readonly Block[] => {
  const content = locatedMember(message, 'content');
  if (content === undefined || content.value === null || content.value === '') return [];
  if (typeof content.value === 'string') return [{ type: 'text', text: content.value }];
  if (Array.isArray(content.value)) return locatedItems(content).map(partOf);
  return [{ type: 'provider', provider: SYSTEM, json: content.source }];
};

/** Reasoning that DeepSeek and those that follow it hand out beside the content. */
const reasoningOf = (message: Located): readonly Block[] => {
  const text = nameMember(message.value, 'reasoning_content');
  return text === undefined ? [] : [{ type: 'reasoning', text, provider: 'deepseek' }];
};

const refusalOf = (message: Located): readonly Block[] => {
  const text = nameMember(message.value, 'refusal');
  return text === undefined ? [] : [{ type: 'refusal', text }];
};

/** Arguments word for word: text as it is, anything else by its source text. */
const argumentsIn = (body: Located | undefined, key: string): string => {
  const given = body && locatedMember(body, key);
  if (given === undefined) return '';
  return typeof given.value === 'string' ? given.value : given.source;
};

const callOf = (call: Located): ToolCall => {
  const id = textMember(call.value, 'id') ?? '';
  const custom = locatedMember(call, 'custom');
  const body = custom ?? locatedMember(call, 'function');
  return {
    id,
    name: textMember(body?.value, 'name') ?? '',
    arguments: argumentsIn(body, custom === undefined ? 'arguments' : 'input'),
  };
};

/** A call of the older form has no id: it is known by its function's name. */
const olderCall = (message: Located): readonly ToolCall[] => {
  const call = locatedMember(message, 'function_call');
  if (call === undefined || !isObject(call.value)) return [];
  const name = textMember(call.value, 'name') ?? '';
  return [{ id: name, name, arguments: argumentsIn(call, 'arguments') }];
};

const callsOf = (message: Located): readonly ToolCall[] => [
  ...locatedItems(locatedMember(message, 'tool_calls')).map(callOf),
  ...olderCall(message),
];

/** Id of the call that a result names; a result of the older form names the function. */
export const answeredId = (message: Located): string | undefined => {
  const isOlder = textMember(message.value, 'role') === 'function';
  return textMember(message.value, isOlder ? 'name' : 'tool_call_id');
};

/** Message without its id: the id is made of the content where the source gives none. */
const bodyOf = (message: Located): Omit<Message, 'id' | 'provenance'> => {
  const role = roleOf(textMember(message.value, 'role') ?? '');
  const name = nameMember(message.value, 'name');
  return {
    role,
    blocks: [...reasoningOf(message), ...contentOf(message), ...refusalOf(message)],
    ...(name === undefined ? {} : { name }),
    toolCalls: role === 'assistant' ? callsOf(message) : [],
    answers: [],
    ...(role === 'tool' ? { outcome: 'ok' as const } : {}),
    trust: trustOf[role],
    status: 'confirmed',
    raw: { system: SYSTEM, text: message.source },
  };
};

const DIGEST_CHARS = 16;
const DIGEST_START = 'c1.s1:'.length;

/** Name of a message by its place and its content, so that a longer list names it alike. */
const derivedId = (place: string, body: Omit<Message, 'id' | 'provenance'>): string => {
  const digest = contentDigest(body).slice(DIGEST_START, DIGEST_START + DIGEST_CHARS);
  return `${place}-${digest}`;
};

/**
 * The canonical message of a chat message. `place` names its position, in words of this code; it is
 * the id together with the content, unless the source gives one that may be used.
 */
export const messageOf = (
  message: Located,
  place: string,
  ignoresGivenId: boolean,
): ImportedMessage => {
  const body = bodyOf(message);
  const given = ignoresGivenId ? undefined : nameMember(message.value, 'id');
  const id = given === undefined ? derivedId(place, body) : usableId(given);
  const answered = body.role === 'tool' ? answeredId(message) : undefined;
  return {
    kind: 'message',
    record: id,
    message: {
      id,
      ...body,
      provenance: { kind: 'importer', system: SYSTEM, sourceId: message.pointer },
    },
    answersCallIds: body.role === 'tool' ? [answered ?? ''] : [],
  };
};
