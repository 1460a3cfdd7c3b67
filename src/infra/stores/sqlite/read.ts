import * as E from 'fp-ts/lib/Either.js';
import type { StoreFault } from '../../../domain/errors.js';
import type { Page, ReadOptions, StoredEvent } from '../../../domain/event-store.js';
import { idOfHash } from '../event-id.js';
import { headOf } from './append.js';
import type { Database, Row } from './driver.js';
import { resultCode, SQLITE } from './faults.js';
import type { NameTable } from './names.js';
import { bytesOf, decodedText, integerOf, isRowShape, textOf } from './rows.js';

const FORWARDS = `SELECT position, revision, hash, type, meta, data FROM events
  WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`;
const BACKWARDS = `SELECT position, revision, hash, type, meta, data FROM events
  WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`;

/** Rows of one look: few at first, since one event may have a megabyte. */
const FIRST_ROWS = 16;
const MOST_ROWS = 256;
const LOOK_BYTES = 1_000_000;

/** An event as its row holds it. Throws where the file was changed from outside. */
export const eventOf = (row: Row, stream: string): StoredEvent => ({
  stream,
  revision: integerOf(row, 'revision'),
  position: String(integerOf(row, 'position')),
  id: idOfHash(bytesOf(row, 'hash')),
  type: textOf(row, 'type'),
  meta: decodedText(bytesOf(row, 'meta')),
  data: decodedText(bytesOf(row, 'data')),
});

export const eventBytes = (row: Row): number =>
  bytesOf(row, 'meta').length + bytesOf(row, 'data').length;

/** How many rows the next look may take, after `rows` of them had `bytes`. */
export const nextLook = (rows: number, bytes: number): number =>
  Math.max(1, Math.min(MOST_ROWS, Math.floor((LOOK_BYTES * rows) / Math.max(1, bytes))));

export const isDamage = (error: unknown): boolean =>
  isRowShape(error) || resultCode(error) === SQLITE.corrupt;

interface Look {
  readonly stream: number;
  readonly name: string;
  readonly step: 1 | -1;
}

/** Rows from a revision on; of a damaged file only those that stand before the damage. */
const look = (db: Database, { stream, step }: Look, from: number, rows: number): readonly Row[] => {
  const statement = db.sql(step === 1 ? FORWARDS : BACKWARDS);
  try {
    return statement.all(stream, from, rows);
  } catch (error) {
    if (!isDamage(error) || rows === 1) throw error;
    return look(db, { stream, name: '', step }, from, 1);
  }
};

const damagedAt = (stream: string, revision: number): E.Either<StoreFault, Page> =>
  E.left({ _tag: 'Damaged', stream, revision, check: 'order' });

/**
 * Gathers a page. Where the next event is missing or unreadable the page ends before it; a page that
 * would begin there is `Damaged`, and a reader that goes on behind it gets the rest.
 */
const gather = (
  db: Database,
  where: Look,
  start: number,
  head: number,
  { limit, maxBytes }: ReadOptions,
): E.Either<StoreFault, Page> => {
  const events: StoredEvent[] = [];
  let bytes = 0;
  let at = start;
  const isInside = (): boolean => at >= 0 && at <= head;
  const isFull = (): boolean => events.length >= limit || bytes > maxBytes;
  let rows = FIRST_ROWS;
  while (isInside() && !isFull()) {
    const wanted = Math.min(rows, limit - events.length);
    let found: readonly Row[];
    try {
      found = look(db, where, at, wanted);
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (events.length > 0) break;
      return E.left({ _tag: 'Damaged', stream: where.name, revision: at, check: 'payload' });
    }
    for (const row of found) {
      if (isFull()) break;
      if (integerOf(row, 'revision') !== at) {
        return events.length > 0
          ? E.right({ events, next: at, exists: true })
          : damagedAt(where.name, at);
      }
      events.push(eventOf(row, where.name));
      bytes += eventBytes(row);
      at += where.step;
    }
    if (found.length === 0) return damagedAt(where.name, at);
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
  const where: Look = { stream, name: options.stream, step };
  return gather(db, where, startOf(options, head), head, options);
};
