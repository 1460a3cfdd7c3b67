import * as E from 'fp-ts/lib/Either.js';
import {
  anything,
  decodeWith,
  flag,
  list,
  optional,
  record,
  text,
  textOr,
  whole,
  type Codec,
} from './codec.js';
import type { PreparedMessage } from './decide/prepared-message.js';
import type { StemmaFault } from './errors.js';
import { plainJson, type Json, type JsonObject } from './json-value.js';
import {
  Author,
  Blocks,
  CallRef,
  MessageStatus,
  Outcome,
  Role,
  Trust,
  lowestTrust,
  type Block as BlockValue,
  type Message,
  type Provenance,
  type Raw,
  type Role as RoleName,
  type ToolCall,
  type Trust as TrustLevel,
} from './message.js';
import type { Slot } from './slot.js';
import { messageSizeFault } from './message-size.js';
import { foreignId, isRfc3339 } from './text.js';

/**
 * A call in a message that a caller hands in. `arguments` is text, kept verbatim, or a JSON object,
 * whose keys are written in alphabetical order.
 */
export interface ToolCallInput {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: string | Readonly<Record<string, unknown>>;
}

/** A message that a caller hands in. All but the role may be left out; unknown keys are refused. */
export interface MessageInput {
  readonly id?: string;
  readonly role: RoleName;
  readonly content?: string | readonly BlockValue[];
  readonly name?: string;
  readonly toolCalls?: readonly ToolCallInput[];
  /** tool: the provider's id of the call that is answered. */
  readonly toolCallId?: string;
  /** tool: the call itself, where the provider's id is not enough. */
  readonly call?: CallRef;
  readonly outcome?: Message['outcome'];
  /** tool: a second, other result of an answered call, kept for audit. */
  readonly late?: boolean;
  readonly durationMs?: number;
  readonly status?: Message['status'];
  readonly pinned?: boolean;
  /** Any JSON object; never sent to a model. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly author?: Author;
  readonly createdAt?: string;
  readonly partOf?: string;
  /** Lowers the trust that follows from the role. */
  readonly trust?: TrustLevel;
  readonly raw?: { readonly system: string; readonly text: string };
}

interface CallShape {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: Json;
}

interface Shape extends Omit<MessageInput, 'toolCalls' | 'metadata'> {
  readonly toolCalls?: readonly CallShape[];
  readonly metadata?: JsonObject;
}

const roles: readonly string[] = ['system', 'developer', 'user', 'assistant', 'tool'];

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Fields = Readonly<Record<string, Json>>;

/** Reads the fields of a message one by one, so that each fault names its own place. */
interface FieldReader {
  readonly fields: Fields;
  readonly path: string;
  readonly index: number | undefined;
}

const misshapen = (reader: FieldReader, pointer: string, expected: string): StemmaFault => ({
  _tag: 'InvalidShape',
  path: reader.path + pointer,
  expected,
  ...(reader.index === undefined ? {} : { index: reader.index }),
});

const shapeCodec = record<Shape>('Message', {
  id: optional(text),
  role: Role,
  content: optional(textOr(Blocks)),
  name: optional(text),
  toolCalls: optional(
    list(
      record<CallShape>('ToolCall', {
        id: optional(text),
        name: text,
        arguments: optional(anything as Codec<Json>),
      }),
    ),
  ),
  toolCallId: optional(text),
  call: optional(CallRef),
  outcome: optional(Outcome),
  late: optional(flag),
  durationMs: optional(whole),
  status: optional(MessageStatus),
  pinned: optional(flag),
  metadata: optional(anything as Codec<JsonObject>),
  author: optional(Author),
  createdAt: optional(text),
  partOf: optional(text),
  trust: optional(Trust),
  raw: optional(record<Raw>('Raw', { system: text, text })),
});

const readShape = (reader: FieldReader): E.Either<StemmaFault, Shape> => {
  const { metadata } = reader.fields;
  if (metadata !== undefined && !isObject(metadata)) {
    return E.left(misshapen(reader, '/metadata', 'object'));
  }
  const decoded = decodeWith(shapeCodec, reader.fields);
  return E.isLeft(decoded)
    ? E.left(misshapen(reader, decoded.left.path, decoded.left.expected))
    : decoded;
};

const firstFault = (
  faults: readonly (() => E.Either<StemmaFault, unknown>)[],
): StemmaFault | undefined => {
  for (const check of faults) {
    const result = check();
    if (E.isLeft(result)) return result.left;
  }
  return undefined;
};

const roleFaultOf = (reader: FieldReader): StemmaFault | undefined => {
  const { role } = reader.fields;
  if (role === undefined) return misshapen(reader, '/role', 'role');
  // No case folding and no trimming: " system" is not a role (B24).
  if (typeof role === 'string' && roles.includes(role)) return undefined;
  return {
    _tag: 'UnknownRole',
    path: `${reader.path}/role`,
    ...(reader.index === undefined ? {} : { index: reader.index }),
  };
};

const idFaultOf = (reader: FieldReader, shape: Shape): StemmaFault | undefined => {
  const id =
    (key: string, value: string | undefined, mayBeEmpty = false) =>
    () =>
      value === undefined || (mayBeEmpty && value === '')
        ? E.right(undefined)
        : foreignId(`${reader.path}/${key}`, value);
  return firstFault([
    id('id', shape.id),
    id('toolCallId', shape.toolCallId, true),
    id('partOf', shape.partOf),
    ...(shape.toolCalls ?? []).map((call, at) => id(`toolCalls/${String(at)}/id`, call.id, true)),
    () =>
      shape.createdAt === undefined || isRfc3339(shape.createdAt)
        ? E.right(undefined)
        : E.left({ _tag: 'InvalidTimestamp', path: `${reader.path}/createdAt` }),
  ]);
};

const trustOf: Readonly<Record<RoleName, TrustLevel>> = {
  system: 'operator',
  developer: 'operator',
  user: 'user',
  assistant: 'model',
  tool: 'external',
};

const roleFieldFault = (reader: FieldReader, shape: Shape): StemmaFault | undefined => {
  const named = shape.toolCallId !== undefined || shape.call !== undefined;
  if (shape.role === 'tool' && !named) {
    return {
      _tag: 'MissingToolCallId',
      path: `${reader.path}/toolCallId`,
      ...(reader.index === undefined ? {} : { index: reader.index }),
    };
  }
  if (shape.role !== 'tool' && named) return misshapen(reader, '/toolCallId', 'role tool');
  const ofResult = (['outcome', 'late', 'durationMs'] as const).find((k) => shape[k] !== undefined);
  if (shape.role !== 'tool' && ofResult !== undefined) {
    return misshapen(reader, `/${ofResult}`, 'role tool');
  }
  if (shape.durationMs !== undefined && shape.durationMs < 0) {
    return misshapen(reader, '/durationMs', 'whole, 0 or more');
  }
  const most = trustOf[shape.role];
  if (shape.trust !== undefined && lowestTrust([most, shape.trust]) !== shape.trust) {
    return misshapen(reader, '/trust', `${most} or lower`);
  }
  return shape.role !== 'assistant' && (shape.toolCalls?.length ?? 0) > 0
    ? misshapen(reader, '/toolCalls', 'role assistant')
    : undefined;
};

const sorted = (_key: string, value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

// The keys of an object have no order: written in one, the same call is the same text (B34).
const argumentsText = (value: Json | undefined): string =>
  value === undefined ? '{}' : typeof value === 'string' ? value : JSON.stringify(value, sorted);

const callsOf = (shape: Shape): readonly ToolCall[] =>
  (shape.toolCalls ?? []).map((call) => ({
    id: call.id ?? '',
    name: call.name,
    arguments: argumentsText(call.arguments),
  }));

const blocksOf = (content: Shape['content']): readonly BlockValue[] => {
  if (content === undefined) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
};

const messageFrom = (shape: Shape, id: string, provenance: Provenance): Message => ({
  id,
  role: shape.role,
  blocks: blocksOf(shape.content),
  ...(shape.name === undefined ? {} : { name: shape.name }),
  toolCalls: callsOf(shape),
  answers: [],
  ...(shape.role === 'tool' ? { outcome: shape.outcome ?? 'ok' } : {}),
  ...(shape.late === undefined ? {} : { late: shape.late }),
  ...(shape.author === undefined ? {} : { author: shape.author }),
  provenance,
  trust: shape.trust ?? trustOf[shape.role],
  status: shape.status ?? 'confirmed',
  ...(shape.pinned === undefined ? {} : { pinned: shape.pinned }),
  ...(shape.metadata === undefined ? {} : { metadata: JSON.stringify(shape.metadata) }),
  ...(shape.raw === undefined ? {} : { raw: shape.raw }),
  ...(shape.partOf === undefined ? {} : { partOf: shape.partOf }),
  ...(shape.createdAt === undefined ? {} : { claimedAt: shape.createdAt }),
});

export type MakeSlot = (text: string, kind: string) => Slot;

/** Puts the content of a message into slots. */
export const prepare = (
  message: Message,
  make: MakeSlot,
  extra: Pick<PreparedMessage, 'answers' | 'durationMs'> & { readonly origin?: string } = {},
): PreparedMessage => {
  const { origin, ...rest } = extra;
  const stored: PreparedMessage['stored'] = {
    id: message.id,
    role: message.role,
    blocks: make(JSON.stringify(Blocks.encode(message.blocks)), 'blocks'),
    ...(message.name === undefined ? {} : { name: message.name }),
    toolCalls: message.toolCalls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: make(call.arguments, 'arguments'),
    })),
    ...(message.author === undefined ? {} : { author: message.author }),
    provenance: message.provenance,
    trust: message.trust,
    status: message.status,
    ...(message.pinned === undefined ? {} : { pinned: message.pinned }),
    ...(message.metadata === undefined ? {} : { metadata: make(message.metadata, 'metadata') }),
    ...(message.raw === undefined
      ? {}
      : { raw: { system: message.raw.system, text: make(message.raw.text, 'raw') } }),
    ...(message.partOf === undefined ? {} : { partOf: message.partOf }),
    ...(message.claimedAt === undefined ? {} : { claimedAt: message.claimedAt }),
    ...(origin === undefined ? {} : { origin }),
  };
  return { message, stored, ...rest };
};

export interface IntakeContext {
  readonly provenance: Provenance;
  readonly make: MakeSlot;
  /** Id for a message that names none, by its place in the batch. */
  readonly newId: (index: number) => string;
}

/** Reads one message that a caller handed in. `index` is its place in a batch. */
export const takeMessage = (
  input: unknown,
  context: IntakeContext,
  index?: number,
): E.Either<StemmaFault, PreparedMessage> => {
  const path = index === undefined ? '' : `/${String(index)}`;
  const plain = plainJson(input, path);
  if (E.isLeft(plain)) return plain;
  if (!isObject(plain.right)) {
    return E.left({
      _tag: 'InvalidShape',
      path,
      expected: 'message',
      ...(index === undefined ? {} : { index }),
    });
  }
  const reader: FieldReader = { fields: plain.right, path, index };
  const badRole = roleFaultOf(reader);
  if (badRole !== undefined) return E.left(badRole);
  const shape = readShape(reader);
  if (E.isLeft(shape)) return shape;
  const fault = idFaultOf(reader, shape.right) ?? roleFieldFault(reader, shape.right);
  if (fault !== undefined) return E.left(fault);
  const id = shape.right.id ?? context.newId(index ?? 0);
  const { call, toolCallId, durationMs } = shape.right;
  const answers =
    call !== undefined
      ? { ref: call }
      : toolCallId !== undefined
        ? { callId: toolCallId }
        : undefined;
  const message = messageFrom(shape.right, id, context.provenance);
  const tooLarge = messageSizeFault(message);
  if (tooLarge !== undefined) return E.left(tooLarge);
  return E.right(
    prepare(message, context.make, {
      ...(answers === undefined ? {} : { answers }),
      ...(durationMs === undefined ? {} : { durationMs }),
    }),
  );
};

/** Reads one message or a batch; a bad item names its index, and nothing of the batch is taken. */
export const takeMessages = (
  input: unknown,
  context: IntakeContext,
): E.Either<StemmaFault, readonly PreparedMessage[]> => {
  if (!Array.isArray(input))
    return E.map((one: PreparedMessage) => [one])(takeMessage(input, context));
  if (input.length === 0) {
    return E.left({ _tag: 'InvalidShape', path: '', expected: 'at least one message' });
  }
  const items: PreparedMessage[] = [];
  for (const [index, item] of input.entries()) {
    const taken = takeMessage(item, context, index);
    if (E.isLeft(taken)) return taken;
    items.push(taken.right);
  }
  return E.right(items);
};
