import * as E from 'fp-ts/lib/Either.js';
import type { StoreFault } from '../../../domain/errors.js';
import type { StoredEvent } from '../../../domain/event-store.js';
import { categoryOf } from '../../../domain/stream-name.js';
import type { ChangeSignal } from '../change-signal.js';
import type { FeedPage } from '../feed-loop.js';
import type { Database, Row } from './driver.js';
import type { NameTable } from './names.js';
import { eventOf, isDamage } from './read.js';
import { integerOf, maybeIntegerOf } from './rows.js';

const PLACES = `SELECT position, stream, revision, length(meta) + length(data) AS bytes FROM events
  WHERE position > ? ORDER BY position LIMIT ?`;
const EVENT = `SELECT position, stream, revision, hash, type, meta, data FROM events
  WHERE position = ?`;
const EVENTS = `SELECT position, stream, revision, hash, type, meta, data FROM events
  WHERE position BETWEEN ? AND ? ORDER BY position`;
const LAST = 'SELECT max(position) AS last FROM events';

const PAGE_EVENTS = 500;
const PAGE_BYTES = 1_000_000;

export const lastPosition = (db: Database): number =>
  maybeIntegerOf(db.sql(LAST).get(), 'last') ?? 0;

interface Place {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly bytes: number;
}

const placeOf = (row: Row, streams: NameTable): Place => ({
  position: integerOf(row, 'position'),
  stream: streams.nameOf(integerOf(row, 'stream')),
  revision: integerOf(row, 'revision'),
  bytes: integerOf(row, 'bytes'),
});

/** What a look at the places found: the wanted ones up to `to`, and what is wrong behind it. */
interface Look {
  readonly wanted: readonly Place[];
  readonly to: number;
  readonly atEnd: boolean;
  readonly fault?: StoreFault;
}

const lookAt = (
  rows: readonly Row[],
  streams: NameTable,
  categories: ReadonlySet<string>,
  after: number,
): Look => {
  const wanted: Place[] = [];
  let to = after;
  let bytes = 0;
  for (const row of rows) {
    const place = placeOf(row, streams);
    // Positions have no gaps: a missing one was taken away.
    if (place.position !== to + 1) {
      return { wanted, to, atEnd: false, fault: { _tag: 'Damaged', check: 'order' } };
    }
    if (bytes > PAGE_BYTES) return { wanted, to, atEnd: false };
    to = place.position;
    if (categories.size > 0 && !categories.has(categoryOf(place.stream))) continue;
    wanted.push(place);
    bytes += place.bytes;
  }
  return { wanted, to, atEnd: rows.length < PAGE_EVENTS };
};

/** Rows by position, read in one go where most of them are wanted. */
const rowsOf = (db: Database, wanted: readonly Place[]): ReadonlyMap<number, Row> => {
  const [first, last] = [wanted[0]?.position ?? 0, wanted[wanted.length - 1]?.position ?? 0];
  if (wanted.length * 2 <= last - first) return new Map();
  try {
    const rows = db.sql(EVENTS).all(first, last);
    return new Map(rows.map((row) => [integerOf(row, 'position'), row]));
  } catch (error) {
    if (!isDamage(error)) throw error;
    return new Map();
  }
};

/** The events of these places, as far as they can be read. */
const readAll = (db: Database, wanted: readonly Place[]): readonly StoredEvent[] => {
  const rows = rowsOf(db, wanted);
  const events: StoredEvent[] = [];
  try {
    for (const { position, stream } of wanted) {
      const row = rows.get(position) ?? db.sql(EVENT).get(position);
      if (row === undefined) break;
      events.push(eventOf(row, stream));
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return events;
};

/**
 * The wanted events behind a position. What stands before a damaged event is still given, and the
 * next look answers the fault.
 */
export const feedPage = (
  db: Database,
  streams: NameTable,
  categories: ReadonlySet<string>,
  after: number,
): E.Either<StoreFault, FeedPage> => {
  const rows = db.sql(PLACES).all(after, PAGE_EVENTS);
  const { wanted, to, atEnd, fault } = lookAt(rows, streams, categories, after);
  const events = readAll(db, wanted);
  const unread = wanted[events.length];
  const end = unread === undefined ? to : unread.position - 1;
  if (end > after) return E.right({ events, to: end, atEnd: atEnd && unread === undefined });
  if (unread !== undefined) {
    const { stream, revision } = unread;
    return E.left({ _tag: 'Damaged', stream, revision, check: 'payload' });
  }
  return fault === undefined ? E.right({ events, to, atEnd }) : E.left(fault);
};

/** Looks for commits of other processes while anyone waits, oftener after one was seen. */
const POLL_LEAST_MS = 25;
const POLL_MOST_MS = 100;

export interface Watch {
  /** To be called when a feed begins to wait. */
  readonly start: () => void;
  readonly stop: () => void;
}

const dataVersion = (db: Database): number =>
  integerOf(db.sql('PRAGMA data_version').get(), 'data_version');

/**
 * Announces commits of other processes. One timer for all feeds: `data_version` changes exactly when
 * another connection has committed, and costs no read of the file.
 */
export const watchOthers = (db: Database, changes: ChangeSignal): Watch => {
  let timer: NodeJS.Timeout | undefined;
  let seen = dataVersion(db);
  let pause = POLL_LEAST_MS;
  const look = (): void => {
    timer = undefined;
    let now = seen;
    try {
      now = dataVersion(db);
    } catch {
      // Whatever is wrong, the feed will meet it when it reads.
      changes.announce();
    }
    pause = now === seen ? Math.min(POLL_MOST_MS, pause * 1.5) : POLL_LEAST_MS;
    if (now !== seen) changes.announce();
    seen = now;
    start();
  };
  const start = (): void => {
    if (timer === undefined && changes.waiting() > 0) timer = setTimeout(look, pause);
  };
  return {
    start,
    stop: () => {
      clearTimeout(timer);
    },
  };
};
