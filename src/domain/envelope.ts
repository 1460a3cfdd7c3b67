// The names of keys in this file are stored. Add; never rename.
import type * as E from 'fp-ts/lib/Either.js';
import { decodeWith, oneOf, optional, record, text, type Codec, type Misfit } from './codec.js';
import { base64url, hashParts, sha256Bytes } from './digest.js';
import type { EventType } from './events/catalog.js';
import type { Revision } from './ids.js';

/** Names the hash and the encoding. Frozen as `stemma/1` once every adapter has round-tripped. */
export const FORMAT = 'stemma/0';

/**
 * What surrounds every event: a flat record of texts, written in this order (format.md, Envelope).
 * A list (`keys`, `kids`) is its values joined by one space.
 */
export interface Meta {
  readonly fmt: string;
  readonly sv: string;
  /** `must`: a reader that does not know the event may not decide or build contexts past it. */
  readonly compat: 'must' | 'skip';
  readonly conv: string;
  readonly branch: string;
  /** Hash of the event before; of a fork's first event: of the parent's event. */
  readonly prev: string;
  readonly cmd?: string;
  readonly cmdDigest?: string;
  /** `i/n`: place in the atomic batch. */
  readonly part: string;
  /** max(now, `at` of the event before), RFC 3339 UTC with milliseconds. */
  readonly at: string;
  /** The clock's own reading, when it stood before `at`. */
  readonly wall?: string;
  readonly actor: string;
  readonly via: string;
  readonly run?: string;
  readonly keys?: string;
  readonly kids?: string;
  readonly $correlationId?: string;
  readonly $causationId?: string;
}

export const Meta: Codec<Meta> = record<Meta>('Meta', {
  fmt: text,
  sv: text,
  compat: oneOf('must', 'skip'),
  conv: text,
  branch: text,
  prev: text,
  cmd: optional(text),
  cmdDigest: optional(text),
  part: text,
  at: text,
  wall: optional(text),
  actor: text,
  via: text,
  run: optional(text),
  keys: optional(text),
  kids: optional(text),
  $correlationId: optional(text),
  $causationId: optional(text),
});

export const encodeMeta = (meta: Meta): string => JSON.stringify(Meta.encode(meta));

export const decodeMeta = (input: unknown): E.Either<Misfit, Meta> => decodeWith(Meta, input);

/** Lookup keys of an event, from the text of its envelope; none when the envelope is unreadable. */
export const keysOfMeta = (metaText: string): readonly string[] => {
  try {
    const meta: unknown = JSON.parse(metaText);
    const keys =
      typeof meta === 'object' && meta !== null && 'keys' in meta ? meta.keys : undefined;
    return typeof keys === 'string' && keys !== '' ? keys.split(' ') : [];
  } catch {
    return [];
  }
};

/** `prev` of the first event of a stream that continues nothing. */
export const chainStart = (conversation: string, branch: string): string =>
  base64url(hashParts([FORMAT, conversation, branch]));

/** SHA-256 over envelope, type, place and body, as base64url (format.md, Envelope). */
export const hashEvent = (
  place: Pick<Meta, 'fmt' | 'conv' | 'branch'> & { readonly revision: Revision },
  type: string,
  metaText: string,
  dataText: string,
): string =>
  base64url(
    hashParts([
      place.fmt,
      place.conv,
      place.branch,
      String(place.revision),
      type,
      metaText,
      sha256Bytes(dataText),
    ]),
  );

const fromBase64url = (value: string): Uint8Array => {
  const binary = atob(value.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
};

/** Event id: a UUIDv8 made of the first 16 bytes of the hash. */
export const idFromHash = (hash: string): string => {
  const bytes = fromBase64url(hash).slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
};

const skippable: ReadonlySet<EventType> = new Set<EventType>([
  'BranchLabelled',
  'BranchPromoted',
  'MetadataAnnotated',
  'FeedbackRecorded',
  'SourceRecordImported',
]);

/** Types that change neither what a model reads nor what is decided may be passed by. */
export const compatOf = (type: EventType): 'must' | 'skip' =>
  skippable.has(type) ? 'skip' : 'must';
