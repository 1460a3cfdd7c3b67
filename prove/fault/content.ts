import { createHash } from 'node:crypto';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { base64url } from '../../src/domain/digest.js';
import { idFromHash } from '../../src/domain/envelope.js';

/**
 * What a store file says, row by row, by each way that the product reads it: a digest for each.
 * Read past the product, so that its own checks can be compared with what really changed.
 */
export interface Content {
  /** Events, streams, blobs and the identity: what is true and nothing else can say. */
  readonly truth: ReadonlyMap<string, string>;
  /**
   * Keys, conversations and snapshots: made from the events, and can be made again. And what nobody
   * reads: the names in the row of a blob, which is found by its index, and of the hash of an event
   * all but the id, which is part of the truth.
   */
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
  { name: 'blob', keys: 1, sql: 'SELECT id, bytes FROM blobs NOT INDEXED' },
  {
    name: 'blob name',
    keys: 2,
    sql: 'SELECT tenant, name, id FROM blobs ORDER BY tenant, name',
  },
];

const derived: readonly Table[] = [
  { name: 'key', keys: 4, sql: 'SELECT conv, key, stream, revision FROM keys' },
  { name: 'blob row', keys: 1, sql: 'SELECT id, tenant, name FROM blobs NOT INDEXED' },
  { name: 'hash', keys: 1, sql: 'SELECT position, hash AS whole FROM events NOT INDEXED' },
  { name: 'conversation', keys: 1, sql: 'SELECT id, name FROM conversations NOT INDEXED' },
  { name: 'conversation name', keys: 1, sql: 'SELECT name, id FROM conversations ORDER BY name' },
  { name: 'snapshot', keys: 1, sql: 'SELECT name, value FROM snapshots' },
];

type Value = null | number | bigint | string | Uint8Array;

const textOf = ([column, value]: readonly [string, Value]): string => {
  if (!(value instanceof Uint8Array)) return String(value);
  const isHash = column === 'hash' && value.length === 32;
  return isHash ? idFromHash(base64url(value)) : Buffer.from(value).toString('base64');
};

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
      const values = Object.entries(row).map(textOf);
      const place = `${name} ${values.slice(0, keys).join(' ')}`;
      // A place that comes twice is content too.
      const digest = createHash('sha256')
        .update(values.join('\n'))
        .update(rows.get(place) ?? '');
      rows.set(place, digest.digest('base64'));
    }
    return true;
  } catch {
    return false;
  }
};

const PROBE = `SELECT revision, position FROM events
  WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT 1`;

/** An event to be looked for by its place: a damaged index may fail there where a scan does not. */
export interface Probe {
  readonly streamNumber: number;
  readonly revision: number;
}

const readProbes = (
  db: DatabaseSyncInstance,
  probes: readonly Probe[],
  rows: Map<string, string>,
): boolean => {
  try {
    const statement = db.prepare(PROBE);
    for (const { streamNumber, revision } of probes) {
      const found = JSON.stringify(statement.get(streamNumber, revision) ?? null);
      rows.set(`probe ${streamNumber} ${revision}`, found);
    }
    return true;
  } catch {
    return false;
  }
};

export const contentOf = (file: string, probes: readonly Probe[]): Content => {
  const content = { truth: new Map<string, string>(), derived: new Map<string, string>() };
  let isWhole = true;
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      for (const table of truth) isWhole = readTable(db, table, content.truth) && isWhole;
      isWhole = readProbes(db, probes, content.truth) && isWhole;
      for (const table of derived) isWhole = readTable(db, table, content.derived) && isWhole;
    } finally {
      db.close();
    }
  } catch {
    isWhole = false;
  }
  return { ...content, isUnreadable: !isWhole };
};

/** Whether SQLite's own check of the file finds nothing. */
export const isIntegral = (file: string): boolean => {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const [row, ...more] = db.prepare('PRAGMA integrity_check').all() as readonly object[];
      return more.length === 0 && row !== undefined && Object.values(row)[0] === 'ok';
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
};

/** Rows that are not what they were: changed, gone or new. */
export const changedRows = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] => {
  const places = new Set([...before.keys(), ...after.keys()]);
  return [...places].filter((place) => before.get(place) !== after.get(place));
};
