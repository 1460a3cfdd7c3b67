import { backup, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

/** A value that SQLite stores. */
export type SqlValue = null | number | string | Uint8Array;

/** A row as the driver gives it: nothing is known of it before a guard has looked. */
export type Row = Readonly<Record<string, unknown>>;

export interface Statement {
  readonly run: (...values: readonly SqlValue[]) => void;
  /** Runs an INSERT into a table with row numbers, and gives the new one. */
  readonly insert: (...values: readonly SqlValue[]) => number;
  readonly get: (...values: readonly SqlValue[]) => Row | undefined;
  /** All rows at once: the statement is reset when this returns, so no snapshot stays open. */
  readonly all: (...values: readonly SqlValue[]) => readonly Row[];
}

/** One connection to one file: the only view of the driver that the rest of the adapter has. */
export interface Database {
  readonly exec: (sql: string) => void;
  /** The statement of this text, prepared once per connection. */
  readonly sql: (text: string) => Statement;
  readonly isOpen: () => boolean;
  readonly inTransaction: () => boolean;
  /** Copies the whole file in one step of another thread. */
  readonly copyTo: (path: string) => Promise<void>;
  readonly close: () => void;
}

export interface OpenMode {
  readonly readOnly: boolean;
  /** Takes no locks and creates no side files: only for a file that nobody writes. */
  readonly immutable?: boolean;
  /** How long a call may block the event loop while another process holds a lock. */
  readonly blockMs: number;
}

const inodeOf = (stats: fs.Stats): string => `${String(stats.dev)}:${String(stats.ino)}`;

const held = new Map<string, number>();

const hold = (inode: string, change: 1 | -1): void => {
  const count = (held.get(inode) ?? 0) + change;
  if (count > 0) held.set(inode, count);
  else held.delete(inode);
};

/**
 * True while a connection of this process holds the file. It must then not be opened and closed in
 * any other way: closing any descriptor of a file drops the process's POSIX locks on it, SQLite's
 * among them.
 */
export const isHeldHere = (stats: fs.Stats): boolean => held.has(inodeOf(stats));

const collected = new FinalizationRegistry<() => void>((report) => {
  report();
});

const wrapped = (db: DatabaseSyncInstance, inode: string): Database => {
  let statements = new Map<string, Statement>();
  let alive = 0;
  let isClosed = false;
  // SQLite keeps a closed connection, and its locks, until the driver has let go of all statements.
  const free = (): void => {
    if (isClosed && alive === 0) hold(inode, -1);
  };
  const report = (): void => {
    alive -= 1;
    free();
  };
  const prepare = (text: string): Statement => {
    const statement = db.prepare(text);
    alive += 1;
    collected.register(statement, report);
    return {
      run: (...values) => {
        statement.run(...values);
      },
      insert: (...values) => Number(statement.run(...values).lastInsertRowid),
      get: (...values) => statement.get(...values) as Row | undefined,
      all: (...values) => statement.all(...values) as readonly Row[],
    };
  };
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    sql: (text) => {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const statement = prepare(text);
      statements.set(text, statement);
      return statement;
    },
    isOpen: () => !isClosed,
    inTransaction: () => db.isTransaction,
    copyTo: async (path) => {
      await backup(db, path, { rate: -1 });
    },
    close: () => {
      if (isClosed) return;
      isClosed = true;
      statements = new Map();
      db.close();
      free();
    },
  };
};

/** Opens a file, without any setting yet. Throws what the driver throws. */
export const openDatabase = (path: string, mode: OpenMode): Database => {
  const url = pathToFileURL(path);
  if (mode.immutable === true) url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, {
    readOnly: mode.readOnly,
    timeout: mode.blockMs,
    defensive: true,
    allowExtension: false,
    enableForeignKeyConstraints: false,
  });
  const inode = inodeOf(fs.statSync(path));
  hold(inode, 1);
  return wrapped(db, inode);
};

/** Version of the SQLite library inside the driver. */
export const sqliteVersion = (db: Database): string => {
  const version = db.sql('SELECT sqlite_version() AS version').get()?.['version'];
  return typeof version === 'string' ? version : '';
};
