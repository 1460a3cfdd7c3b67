import type { FaultOf, StoreFault } from '../../domain/errors.js';
import { STORE_LIMITS, type ExpectedRevision, type NewEvent } from '../../domain/event-store.js';
import type { Revision } from '../../domain/ids.js';
import { isWellFormed } from '../../domain/text.js';
import { hashBytes, idOfHash } from './event-id.js';

/** Sum of type, meta and data bytes: what the limit of an append counts. */
export const appendBytes = (events: readonly NewEvent[]): number => {
  let bytes = 0;
  for (const { type, meta, data } of events) {
    bytes += Buffer.byteLength(type) + Buffer.byteLength(meta) + Buffer.byteLength(data);
  }
  return bytes;
};

/**
 * What every store refuses before it writes: too many events or bytes, a text that no
 * UTF-8 can hold, and an id that is not cut from its hash (a store keeps one and derives the other).
 */
export const appendRefusal = (
  stream: string,
  events: readonly NewEvent[],
): FaultOf<'AppendTooLarge'> | StoreFault | undefined => {
  const bytes = appendBytes(events);
  if (events.length > STORE_LIMITS.appendEvents) {
    return {
      _tag: 'AppendTooLarge',
      bytes,
      events: events.length,
      limit: STORE_LIMITS.appendEvents,
    };
  }
  if (bytes > STORE_LIMITS.appendBytes) {
    return {
      _tag: 'AppendTooLarge',
      bytes,
      events: events.length,
      limit: STORE_LIMITS.appendBytes,
    };
  }
  for (const event of events) {
    if (!isWellFormed(event.meta) || !isWellFormed(event.data)) {
      return { _tag: 'Damaged', stream, check: 'payload' };
    }
    const hash = hashBytes(event.hash);
    if (hash === undefined || idOfHash(hash) !== event.id) {
      return { _tag: 'Damaged', stream, check: 'hash' };
    }
  }
  return undefined;
};

/** The revision that the first event of an append takes. */
export const firstRevision = (expected: ExpectedRevision): Revision =>
  expected === 'none' ? 0 : expected + 1;

/** The head of a stream as it is named in faults. */
export const headName = (head: Revision): Revision | 'none' => (head < 0 ? 'none' : head);

/** True when a repeated append finds its own events: a prefix of what is stored is enough. */
export const isResend = (storedIds: readonly string[], events: readonly NewEvent[]): boolean =>
  storedIds.length === events.length &&
  events.every((event, index) => event.id === storedIds[index]);

export interface MetaKeys {
  readonly conversation: string;
  readonly keys: readonly string[];
}

const noKeys: MetaKeys = { conversation: '', keys: [] };

/**
 * The lookup keys of an event, from `meta.keys`. Every event is indexed by its envelope alone, so
 * that unknown types are found too; a meta text of another shape has no keys and is no fault here.
 */
export const metaKeys = (meta: string): MetaKeys => {
  if (!meta.includes('"keys"')) return noKeys;
  let parsed: unknown;
  try {
    parsed = JSON.parse(meta);
  } catch {
    return noKeys;
  }
  if (typeof parsed !== 'object' || parsed === null) return noKeys;
  const { conv, keys } = parsed as { readonly conv?: unknown; readonly keys?: unknown };
  if (typeof conv !== 'string' || typeof keys !== 'string') return noKeys;
  return { conversation: conv, keys: [...new Set(keys.split(' '))].filter((key) => key !== '') };
};
