import * as E from 'fp-ts/lib/Either.js';
import type { StoreFault } from '../../../domain/errors.js';
import type { Page, ReadOptions, StoredEvent } from '../../../domain/event-store.js';
import { idOfHash } from '../event-id.js';
import { headOf } from './append.js';
import type { Database, Row } from './driver.js';
import { resultCode, SQLITE } from './faults.js';
import type { NameTable } from './names.js';
import { bytesOf, decodedText, hashOf, integerOf, isRowShape, textOf } from './rows.js';

// The index says where an event is; the row itself must say the same, or one of them is damaged.
const FORWARDS = `SELECT event.position, place.revision AS revision, event.hash, event.type,
  event.meta, event.data, event.stream = place.stream AND event.revision = place.revision AS agrees
  FROM events AS place CROSS JOIN events AS event ON event.position = place.position
  WHERE place.stream = ? AND place.revision >= ? ORDER BY revision LIMIT ?`;
const BACKWARDS = `SELECT event.position, place.revision AS revision, event.hash, event.type,
  event.meta, event.data, event.stream = place.stream AND event.revision = place.revision AS agrees
  FROM events AS place CROSS JOIN events AS event ON event.position = place.position
  WHERE place.stream = ? AND place.revision <= ? ORDER BY revision DESC LIMIT ?`;

/** Rows of one look: few at first, since one event may have a megabyte. */
const FIRST_ROWS = 16;
const MOST_ROWS = 256;
const LOOK_BYTES = 1_000_000;

/** An event as its row holds it. Throws where the file was changed from outside. */
export const eventOf = (row: Row, stream: string): StoredEvent => ({
  stream,
  revision: integerOf(row, 'revision'),
  position: String(integerOf(row, 'position')),
  id: idOfHash(hashOf(row)),
  type: textOf(row, 'type'),
  meta: decodedText(bytesOf(row, 'meta')),
  data: decodedText(bytesOf(row, 'data')),
});

const eventBytes = (row: Row): number => bytesOf(row, 'meta').length + bytesOf(row, 'data').length;

/** How many rows the next look may take, after `rows` of them had `bytes`. */
const nextLook = (rows: number, bytes: number): number =>
  Math.max(1, Math.min(MOST_ROWS, Math.floor((LOOK_BYTES * rows) / Math.max(1, bytes))));

export const isDamage = (error: unknown): boolean => {
  const code = resultCode(error);
  return isRowShape(error) || code === SQLITE.corrupt || code === SQLITE.tooBig;
};

interface Where {
  readonly stream: number;
  readonly name: string;
  readonly step: 1 | -1;
}

interface Found {
  readonly events: readonly StoredEvent[];
  /** Bytes of envelope and body of each. */
  readonly sizes: readonly number[];
  /** What is wrong with the event behind them. */
  readonly damage?: 'order' | 'payload';
}

/** The rows as events, as far as they follow each other and have the right shape. */
const decoded = (rows: readonly Row[], { name, step }: Where, from: number): Found => {
  const events: StoredEvent[] = [];
  const sizes: number[] = [];
  try {
    for (const row of rows) {
      const event = eventOf(row, name);
      const isNext = event.revision === from + step * events.length;
      if (!isNext || integerOf(row, 'agrees') !== 1) return { events, sizes, damage: 'order' };
      events.push(event);
      sizes.push(eventBytes(row));
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { events, sizes, damage: 'payload' };
  }
  return events.length === 0 ? { events, sizes, damage: 'order' } : { events, sizes };
};

/** Events from a revision on. Where pages of the file are broken it goes one row at a time. */
const look = (db: Database, where: Where, from: number, rows: number): Found => {
  try {
    const statement = db.sql(where.step === 1 ? FORWARDS : BACKWARDS);
    return decoded(statement.all(where.stream, from, rows), where, from);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return rows === 1 ? { events: [], sizes: [], damage: 'payload' } : look(db, where, from, 1);
  }
};

/**
 * Gathers a page. Where the next event is missing or unreadable the page ends before it; a page that
 * would begin there is `Damaged`, and a reader that goes on behind it gets the rest.
 */
const gather = (
  db: Database,
  where: Where,
  reach: { readonly start: number; readonly head: number },
  { limit, maxBytes }: ReadOptions,
): E.Either<StoreFault, Page> => {
  const events: StoredEvent[] = [];
  let bytes = 0;
  let at = reach.start;
  let rows = FIRST_ROWS;
  const isInside = (): boolean => at >= 0 && at <= reach.head;
  const isFull = (): boolean => events.length >= limit || bytes > maxBytes;
  while (isInside() && !isFull()) {
    const found = look(db, where, at, Math.min(rows, limit - events.length));
    for (const [index, event] of found.events.entries()) {
      if (isFull()) break;
      events.push(event);
      bytes += found.sizes[index] ?? 0;
      at += where.step;
    }
    if (found.damage !== undefined && !isFull()) {
      if (events.length > 0) break;
      return E.left({ _tag: 'Damaged', stream: where.name, revision: at, check: found.damage });
    }
    rows = nextLook(events.length, bytes);
  }
  return E.right(isInside() ? { events, next: at, exists: true } : { events, exists: true });
};

const startOf = ({ from, direction }: ReadOptions, head: number): number => {
  if (from === 'start') return 0;
  if (from === 'end') return direction === 'forwards' ? head + 1 : head;
  return from;
};

/** A page of one stream, by revision, without an open cursor. */
export const readPage = (
  db: Database,
  streams: NameTable,
  options: ReadOptions,
): E.Either<StoreFault, Page> => {
  const stream = streams.find(options.stream);
  const head = headOf(db, stream);
  if (stream === undefined || head < 0) return E.right({ events: [], exists: false });
  const step = options.direction === 'forwards' ? 1 : -1;
  const where: Where = { stream, name: options.stream, step };
  return gather(db, where, { start: startOf(options, head), head }, options);
};
