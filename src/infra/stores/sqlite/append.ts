import * as E from 'fp-ts/lib/Either.js';
import type { AppendFault } from '../../../domain/errors.js';
import type { Appended, ExpectedRevision, NewEvent } from '../../../domain/event-store.js';
import { firstRevision, headName, isResend, metaKeys } from '../append-rules.js';
import { hashBytes, idOfHash } from '../event-id.js';
import type { Database } from './driver.js';
import { resultCode, SQLITE } from './faults.js';
import { keyValue } from './key-value.js';
import type { NameTable } from './names.js';
import { hashOf, integerOf, maybeIntegerOf } from './rows.js';

export interface AppendTables {
  readonly db: Database;
  readonly streams: NameTable;
  readonly conversations: NameTable;
}

const HEAD = 'SELECT max(revision) AS head FROM events WHERE stream = ?';
const STORED = `SELECT position, hash FROM events
  WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`;
const EVENT = `INSERT INTO events (stream, revision, hash, type, meta, data)
  VALUES (?, ?, ?, ?, ?, ?)`;
const KEY = 'INSERT OR IGNORE INTO keys (conv, key, stream, revision) VALUES (?, ?, ?, ?)';

/** The revision of the last event of a stream, -1 without one. */
export const headOf = (db: Database, stream: number | undefined): number =>
  stream === undefined ? -1 : (maybeIntegerOf(db.sql(HEAD).get(stream), 'head') ?? -1);

const repeated = (
  { db }: AppendTables,
  id: number,
  first: number,
  events: readonly NewEvent[],
): string | undefined => {
  const rows = db.sql(STORED).all(id, first, events.length);
  const ids = rows.map((row) => idOfHash(hashOf(row)));
  return isResend(ids, events) ? String(integerOf(rows[rows.length - 1], 'position')) : undefined;
};

const writeKeys = (
  { db, conversations }: AppendTables,
  meta: string,
  stream: number,
  revision: number,
): void => {
  const { conversation, keys } = metaKeys(meta);
  if (keys.length === 0) return;
  const conv = conversations.make(conversation);
  for (const key of keys) db.sql(KEY).run(conv, keyValue(key), stream, revision);
};

/**
 * The append itself, inside a write transaction. The position is read from the file that the events
 * went into, so that commit order is position order and no position is ever left out.
 */
export const appendEvents = (
  tables: AppendTables,
  stream: string,
  expected: ExpectedRevision,
  events: readonly [NewEvent, ...NewEvent[]],
): E.Either<AppendFault, Appended> => {
  const { db, streams } = tables;
  const known = streams.find(stream);
  const head = headOf(db, known);
  const first = firstRevision(expected);
  const last = first + events.length - 1;
  if (head + 1 !== first) {
    const position = known === undefined ? undefined : repeated(tables, known, first, events);
    return position === undefined
      ? E.left({ _tag: 'WrongRevision', expected, actual: headName(head) })
      : E.right({ first, last, position });
  }
  const id = known ?? streams.make(stream);
  let position = 0;
  let revision = first;
  for (const { hash, type, meta, data } of events) {
    const stored = hashBytes(hash);
    if (stored === undefined) return E.left({ _tag: 'Damaged', stream, check: 'hash' });
    try {
      position = db
        .sql(EVENT)
        .insert(id, revision, stored, type, Buffer.from(meta), Buffer.from(data));
    } catch (error) {
      // The place was free a moment ago, in this transaction: the index contradicts itself.
      if (resultCode(error) !== SQLITE.constraint) throw error;
      return E.left({ _tag: 'Damaged', stream, revision, check: 'order' });
    }
    writeKeys(tables, meta, id, revision);
    revision += 1;
  }
  return E.right({ first, last, position: String(position) });
};
