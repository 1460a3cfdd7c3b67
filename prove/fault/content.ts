import { createHash } from 'node:crypto';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

/**
 * What a store file says, row by row, by each way that the product reads it: a digest for each. Read
 * past the product, so that its own checks can be compared with what really changed.
 */
export interface Content {
  /** Events, streams, blobs and the identity: what is true and nothing else can say. */
  readonly truth: ReadonlyMap<string, string>;
  /** Keys, conversations and snapshots: made from the events, and can be made again. */
  readonly derived: ReadonlyMap<string, string>;
  /** True when some of it could not be read at all. */
  readonly isUnreadable: boolean;
}

interface Table {
  readonly name: string;
  /** The first `keys` columns say which row it is. */
  readonly keys: number;
  readonly sql: string;
}

const truth: readonly Table[] = [
  { name: 'store', keys: 1, sql: 'SELECT one, store_id FROM store' },
  {
    name: 'event',
    keys: 1,
    sql: 'SELECT position, stream, revision, hash, type, meta, data FROM events NOT INDEXED',
  },
  {
    name: 'place',
    keys: 2,
    sql: 'SELECT stream, revision, position FROM events ORDER BY stream, revision',
  },
  { name: 'stream', keys: 1, sql: 'SELECT id, name FROM streams NOT INDEXED' },
  { name: 'stream name', keys: 1, sql: 'SELECT name, id FROM streams ORDER BY name' },
  { name: 'blob', keys: 2, sql: 'SELECT tenant, name, bytes FROM blobs NOT INDEXED' },
  {
    name: 'blob name',
    keys: 2,
    sql: 'SELECT tenant, name, id FROM blobs ORDER BY tenant, name',
  },
];

const derived: readonly Table[] = [
  { name: 'key', keys: 4, sql: 'SELECT conv, key, stream, revision FROM keys' },
  { name: 'conversation', keys: 1, sql: 'SELECT id, name FROM conversations NOT INDEXED' },
  { name: 'conversation name', keys: 1, sql: 'SELECT name, id FROM conversations ORDER BY name' },
  { name: 'snapshot', keys: 1, sql: 'SELECT name, value FROM snapshots' },
];

type Value = null | number | bigint | string | Uint8Array;

const textOf = (value: Value): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : String(value);

/** Reads a table into `rows`; false when that fails on the way. */
const readTable = (
  db: DatabaseSyncInstance,
  { name, keys, sql }: Table,
  rows: Map<string, string>,
): boolean => {
  try {
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    for (const row of statement.iterate() as Iterable<Readonly<Record<string, Value>>>) {
      const values = Object.values(row).map(textOf);
      const place = `${name} ${values.slice(0, keys).join(' ')}`;
      // A place that comes twice is content too.
      const digest = createHash('sha256').update(values.join('\n')).update(rows.get(place) ?? '');
      rows.set(place, digest.digest('base64'));
    }
    return true;
  } catch {
    return false;
  }
};

export const contentOf = (file: string): Content => {
  const content = { truth: new Map<string, string>(), derived: new Map<string, string>() };
  let isWhole = true;
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      for (const table of truth) isWhole = readTable(db, table, content.truth) && isWhole;
      for (const table of derived) isWhole = readTable(db, table, content.derived) && isWhole;
    } finally {
      db.close();
    }
  } catch {
    isWhole = false;
  }
  return { ...content, isUnreadable: !isWhole };
};

/** Rows that are not what they were: changed, gone or new. */
export const changedRows = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] => {
  const places = new Set([...before.keys(), ...after.keys()]);
  return [...places].filter((place) => before.get(place) !== after.get(place));
};
