import type { Database } from './driver.js';
import { maybeIntegerOf, misshaped, textOf } from './rows.js';

/**
 * The compact numbers that stand for names in a file. They never change once committed, so what
 * was committed is remembered; what a running transaction made is not, until it has committed.
 */
export interface NameTable {
  /** The number of a name; undefined when it was never written. */
  readonly find: (name: string) => number | undefined;
  /** The number of a name, made if need be. Only inside a write transaction. */
  readonly make: (name: string) => number;
  /** To be called when a write transaction has ended: only what was committed is remembered. */
  readonly ended: (isCommitted: boolean) => void;
  readonly nameOf: (id: number) => string;
}

/** Enough for the streams that one process works on at a time; more costs one probe of an index. */
const REMEMBERED = 10_000;

const bounded = <K, V>(): { get: (key: K) => V | undefined; set: (key: K, value: V) => void } => {
  const values = new Map<K, V>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      if (values.size >= REMEMBERED) values.clear();
      values.set(key, value);
    },
  };
};

const statements = {
  streams: {
    find: 'SELECT id FROM streams WHERE name = ?',
    make: 'INSERT INTO streams (name) VALUES (?)',
    name: 'SELECT name FROM streams WHERE id = ?',
  },
  conversations: {
    find: 'SELECT id FROM conversations WHERE name = ?',
    make: 'INSERT INTO conversations (name) VALUES (?)',
    name: 'SELECT name FROM conversations WHERE id = ?',
  },
} as const;

export const nameTable = (db: Database, table: keyof typeof statements): NameTable => {
  const text = statements[table];
  const ids = bounded<string, number>();
  const names = bounded<number, string>();
  // Names whose numbers were asked for inside a transaction that may yet be undone.
  let asked = new Set<string>();
  const probe = (name: string): number | undefined =>
    maybeIntegerOf(db.sql(text.find).get(name), 'id');
  const find = (name: string): number | undefined => {
    const known = ids.get(name);
    if (known !== undefined) return known;
    const id = probe(name);
    if (db.inTransaction()) asked.add(name);
    else if (id !== undefined) ids.set(name, id);
    return id;
  };
  return {
    find,
    make: (name) => find(name) ?? db.sql(text.make).insert(name),
    ended: (isCommitted) => {
      if (asked.size === 0) return;
      const committed = asked;
      asked = new Set();
      if (isCommitted) for (const name of committed) find(name);
    },
    nameOf: (id) => {
      const known = names.get(id);
      if (known !== undefined) return known;
      const name = textOf(db.sql(text.name).get(id), 'name');
      // Table and index are two places on disk: where they disagree, one of them is damaged.
      if (probe(name) !== id) throw misshaped('name');
      names.set(id, name);
      return name;
    },
  };
};
