import type { ImportedMessage, ImportedRecord } from '../../../domain/import-plan.js';
import type { Json, JsonObject } from '../../../domain/json-value.js';
import type { Block, Role, ToolCall, Trust } from '../../../domain/message.js';
import {
  claimedAtOf,
  isList,
  isObject,
  member,
  nameMember,
  textMember,
  usableId,
} from '../foreign.js';
import { itemSpans, rootSpan, sliceOf, spanOf } from '../json-span.js';
import type { LinkedRecord } from './record.js';

export const PARENT_LINKED = 'parent-linked-jsonl';

const trustOf: Readonly<Record<Role, Trust>> = {
  system: 'operator',
  developer: 'operator',
  user: 'user',
  assistant: 'model',
  tool: 'external',
};

const isRole = (role: string | undefined): role is Role =>
  role !== undefined && Object.hasOwn(trustOf, role);

/** Whether a record is a message: it has one of the roles of messages. */
export const isMessageRecord = (value: JsonObject): boolean => isRole(textMember(value, 'role'));

const unread = (part: Json): Block => ({
  type: 'provider',
  provider: PARENT_LINKED,
  json: JSON.stringify(part),
});

const sizes = (part: Json): { readonly width?: number; readonly height?: number } => {
  const [width, height] = [member(part, 'width'), member(part, 'height')];
  return {
    ...(typeof width === 'number' && Number.isSafeInteger(width) ? { width } : {}),
    ...(typeof height === 'number' && Number.isSafeInteger(height) ? { height } : {}),
  };
};

const reasoningOf = (part: Json): Block | undefined => {
  const text = textMember(part, 'text');
  if (text === undefined) return undefined;
  const [provider, model, signature] = ['provider', 'model', 'signature'].map((key) =>
    textMember(part, key),
  );
  return {
    type: 'reasoning',
    text,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(signature === undefined ? {} : { signature }),
  };
};

const partOf = (part: Json): Block => {
  const type = textMember(part, 'type');
  const text = textMember(part, 'text');
  if (type === 'text' && text !== undefined) return { type, text };
  if (type === 'reasoning') return reasoningOf(part) ?? unread(part);
  const [mediaType, data] = [textMember(part, 'media_type'), textMember(part, 'data')];
  return type === 'image' && mediaType !== undefined && data !== undefined
    ? { type, mediaType, data, ...sizes(part) }
    : unread(part);
};

const contentOf = (value: JsonObject): readonly Block[] => {
  const content = member(value, 'content');
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return isList(content) ? content.map(partOf) : [unread(content)];
};

const blocksOf = (value: JsonObject): readonly Block[] => {
  const reasoning = member(value, 'reasoning');
  const hidden = reasoning === undefined ? undefined : reasoningOf(reasoning);
  return hidden === undefined ? contentOf(value) : [hidden, ...contentOf(value)];
};

/** Calls of a record. Arguments that are no text are taken by their source, word for word. */
export const callsOf = ({
  value,
  text,
}: Pick<LinkedRecord, 'value' | 'text'>): readonly ToolCall[] => {
  const calls = member(value, 'tool_calls');
  if (!isList(calls) || textMember(value, 'role') !== 'assistant') return [];
  const list = spanOf(text, rootSpan(text), ['tool_calls']);
  const spans = list === undefined ? [] : itemSpans(text, list);
  return calls.map((call, index) => {
    const span = spans[index] && spanOf(text, spans[index], ['arguments']);
    const given = member(call, 'arguments');
    const source = span === undefined ? '{}' : sliceOf(text, span);
    return {
      id: textMember(call, 'id') ?? '',
      name: textMember(call, 'name') ?? '',
      arguments: typeof given === 'string' ? given : source,
    };
  });
};

/** Id of the call that a record answers; undefined for other messages. */
export const answeredBy = (value: JsonObject): string | undefined =>
  textMember(value, 'role') === 'tool' ? (textMember(value, 'tool_call_id') ?? '') : undefined;

const metadataOf = (value: JsonObject): { readonly metadata?: string } => {
  const metadata = member(value, 'metadata');
  return isObject(metadata) ? { metadata: JSON.stringify(metadata) } : {};
};

/** The message that a record is. */
export const messageItem = (record: LinkedRecord, importId: string): ImportedMessage => {
  const { value, text } = record;
  const given = textMember(value, 'role');
  const role: Role = isRole(given) ? given : 'user';
  const id = usableId(record.id);
  const name = nameMember(value, 'name');
  const answered = answeredBy(value);
  const isError = member(value, 'is_error') === true;
  return {
    kind: 'message',
    record: id,
    message: {
      id,
      role,
      blocks: blocksOf(value),
      ...(name === undefined ? {} : { name }),
      toolCalls: callsOf(record),
      answers: [],
      ...(role === 'tool' ? { outcome: isError ? ('error' as const) : ('ok' as const) } : {}),
      provenance: { kind: 'importer', system: PARENT_LINKED, sourceId: id, import: importId },
      trust: trustOf[role],
      status: 'confirmed',
      ...(member(value, 'pinned') === true ? { pinned: true } : {}),
      ...metadataOf(value),
      raw: { system: PARENT_LINKED, text },
      ...claimedAtOf(member(value, 'created_at')),
    },
    answersCallIds: answered === undefined ? [] : [answered],
  };
};

const KIND = /^[\w -]{1,40}$/;

/** A record that is no message, word for word. */
export const recordItem = (record: LinkedRecord): ImportedRecord => {
  const role = textMember(record.value, 'role') ?? textMember(record.value, 'type') ?? '';
  return {
    kind: 'record',
    record: usableId(record.id),
    recordKind: KIND.test(role) ? `${PARENT_LINKED}/${role}` : `${PARENT_LINKED}/other`,
    raw: record.text,
  };
};
