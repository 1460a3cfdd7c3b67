import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import {
  codecs,
  isEventType,
  SCHEMA_VERSION,
  type EventType,
} from '../../domain/events/catalog.js';
import { compatOf } from '../../domain/envelope.js';

/** JSON Schema, as far as the codecs of stored events need it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface EventRow {
  readonly type: EventType;
  readonly version: number;
  readonly compat: 'must' | 'skip';
}

export const eventRows: readonly EventRow[] = Object.keys(codecs)
  .filter(isEventType)
  .map((type) => ({ type, version: SCHEMA_VERSION, compat: compatOf(type) }));

type AnyCodec = t.Type<unknown, unknown>;

/** Names of all fields of a record, in the order in which they are written. */
const fieldsOf = (codec: AnyCodec): readonly string[] => {
  const seen: string[] = [];
  // A codec of a record asks for each of its fields and for nothing else.
  const probe = new Proxy(
    {},
    {
      get: (_target, key) => {
        if (typeof key === 'string') seen.push(key);
        return undefined;
      },
    },
  );
  try {
    codec.encode(probe);
  } catch {
    return [];
  }
  return [...new Set(seen)];
};

const NOTHING = Symbol('nothing that JSON has');

/** The codec of a field: it is the one that refuses what no codec takes. */
const codecOf = (codec: AnyCodec, key: string): AnyCodec | undefined => {
  const result = codec.decode({ [key]: NOTHING });
  if (E.isRight(result)) return undefined;
  const error = result.left.find(({ context }) => context.some((entry) => entry.key === key));
  const entry = error?.context.find((candidate) => candidate.key === key);
  return entry?.type as AnyCodec | undefined;
};

const isRequired = (codec: AnyCodec, key: string): boolean => {
  const result = codec.decode({});
  return (
    E.isLeft(result) &&
    result.left.some(({ context }) => context.some((entry) => entry.key === key))
  );
};

const words = (codec: AnyCodec): readonly string[] => {
  const parts = codec.name.split(' | ');
  return parts.every((part) => codec.is(part)) ? parts : [];
};

const itemOf = (codec: AnyCodec): AnyCodec | undefined => {
  const inner = 'type' in codec ? (codec.type as AnyCodec | undefined) : undefined;
  return inner !== undefined && 'type' in inner ? (inner.type as AnyCodec) : inner;
};

const slot: JsonSchema = {
  description: 'text: at hand, in a body of its own, or sealed',
  type: 'object',
  required: ['slot'],
  properties: {
    slot: { type: 'string' },
    inline: { type: 'string' },
    blob: { type: 'string' },
    bytes: { type: 'integer' },
    kind: { type: 'string' },
    sealed: { type: 'string' },
    kid: { type: 'string' },
    alg: { type: 'string' },
  },
};

const plain: Readonly<Record<string, JsonSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  whole: { type: 'integer' },
  unknown: {},
  Uid: { type: 'string', pattern: '^[A-Za-z0-9_-]{22}$' },
  Slot: slot,
};

const schemaOf = (codec: AnyCodec | undefined): JsonSchema => {
  if (codec === undefined) return {};
  const known = Object.hasOwn(plain, codec.name) ? plain[codec.name] : undefined;
  if (known !== undefined) return known;
  const values = words(codec);
  if (values.length > 0) return { enum: values };
  if (codec.is([])) return { type: 'array', items: schemaOf(itemOf(codec)) };
  const fields = fieldsOf(codec);
  return {
    title: codec.name,
    type: 'object',
    properties: Object.fromEntries(
      fields.map((key) => [key, schemaOf(codecOf(codec, key))] as const),
    ),
    required: fields.filter((key) => isRequired(codec, key)),
    additionalProperties: false,
  };
};

/** JSON Schema of the data of an event, read off its codec. */
export const eventSchema = (type: EventType): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...schemaOf(codecs[type] as AnyCodec),
});
