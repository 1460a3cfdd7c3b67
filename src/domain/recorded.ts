import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from './errors.js';
import { decodeMeta, FORMAT, hashEvent, idFromHash, type Meta } from './envelope.js';
import { decodeEvent, type Decoded, type DomainEvent, type Upcasts } from './events/catalog.js';
import type { Position, StoredEvent } from './event-store.js';
import type { Revision } from './ids.js';

/** A stored event that was read, checked against its own hash and decoded. */
export interface Recorded {
  readonly stream: string;
  readonly revision: Revision;
  readonly position: Position;
  readonly id: string;
  readonly hash: string;
  readonly meta: Meta;
  /** Absent for a type or version that this build does not know. */
  readonly event?: DomainEvent;
  readonly unknown?: Extract<Decoded, { readonly _tag: 'unknown' }>;
}

export type RecordFault = FaultOf<'Damaged'> | FaultOf<'UnknownFormat'>;

const damaged = (
  stored: StoredEvent,
  check: FaultOf<'Damaged'>['check'],
): E.Either<RecordFault, never> =>
  E.left({ _tag: 'Damaged', stream: stored.stream, revision: stored.revision, check });

/** A schema version as it is written. */
const VERSION = /^[1-9]\d{0,8}$/;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * Reads one stored event. `Damaged` names the check that failed: `payload` when the bytes are not
 * what this format writes, `hash` when they are not what was written.
 */
export const readStored = (
  stored: StoredEvent,
  upcasts: Upcasts = {},
): E.Either<RecordFault, Recorded> => {
  const meta = decodeMeta(parse(stored.meta));
  if (E.isLeft(meta)) return damaged(stored, 'payload');
  if (meta.right.fmt !== FORMAT) return E.left({ _tag: 'UnknownFormat', fmt: meta.right.fmt });
  if (!VERSION.test(meta.right.sv)) return damaged(stored, 'payload');
  const place = { ...meta.right, revision: stored.revision };
  const hash = hashEvent(place, stored.type, stored.meta, stored.data);
  if (idFromHash(hash) !== stored.id) return damaged(stored, 'hash');
  const decoded = decodeEvent(stored.type, Number(meta.right.sv), parse(stored.data), upcasts);
  if (E.isLeft(decoded)) return damaged(stored, 'payload');
  const { stream, revision, position, id } = stored;
  const base = { stream, revision, position, id, hash, meta: meta.right };
  return E.right(
    decoded.right._tag === 'known'
      ? { ...base, event: decoded.right.event }
      : { ...base, unknown: decoded.right },
  );
};

/** The fault that an unknown event means to a decision or a context; undefined where it may be passed by. */
export const unknownFault = (recorded: Recorded): FaultOf<'UnknownEvent'> | undefined =>
  recorded.unknown !== undefined && recorded.meta.compat === 'must'
    ? {
        _tag: 'UnknownEvent',
        type: recorded.unknown.type,
        version: recorded.unknown.version,
        revision: recorded.revision,
        reason: recorded.unknown.reason,
      }
    : undefined;
