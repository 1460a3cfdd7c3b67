import { setTimeout as delay } from 'node:timers/promises';
import type { OpenFault } from '../../../domain/errors.js';
import { openDatabase, type Database, type OpenMode } from './driver.js';
import { isBusy } from './faults.js';
import { integerOf, textOf } from './rows.js';
import { APPLICATION_ID, SCHEMA_VERSION, schemaState } from './schema.js';

/** A call may block the event loop this long for a lock of another process; then it waits outside. */
export const BLOCK_MS = 10;

/** Time until the next try for a lock: random, so that two waiters do not meet again and again. */
export const retryDelayMs = (): number => 1 + Math.random() * 9;

/** Repeats `run` while another process holds the lock, without blocking the event loop. */
export const whileBusy = async <A>(run: () => A, timeoutMs: number): Promise<A> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await delay(retryDelayMs());
  }
};

export const begin = (db: Database): void => {
  db.sql('BEGIN IMMEDIATE').run();
};

export const commit = (db: Database): void => {
  db.sql('COMMIT').run();
};

/** Ends a transaction that may have ended by itself. */
export const rollback = (db: Database): void => {
  if (db.inTransaction()) db.sql('ROLLBACK').run();
};

/** Runs `work` in one write transaction; an error rolls all of it back. */
export const inTransaction = <A>(db: Database, work: () => A): A => {
  begin(db);
  try {
    const result = work();
    commit(db);
    return result;
  } catch (error) {
    rollback(db);
    throw error;
  }
};

/** What no stored content may do: settings of the connection that do not touch the file. */
const harden = (db: Database): void => {
  db.exec('PRAGMA trusted_schema = OFF');
  db.exec('PRAGMA cell_size_check = ON');
  db.exec('PRAGMA mmap_size = 0');
  db.exec('PRAGMA temp_store = MEMORY');
};

/** Opens the file with hardened settings and without any change to it. */
export const connect = (file: string, mode: OpenMode): Database => {
  const db = openDatabase(file, mode);
  try {
    harden(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/** The fault of a file that is no store, or one of a schema that this build does not know. */
export const schemaFault = (db: Database, file: string): OpenFault | undefined => {
  const application = integerOf(db.sql('PRAGMA application_id').get(), 'application_id');
  const { version } = schemaState(db);
  if (application !== APPLICATION_ID || version < 1) {
    return { _tag: 'NotAStore', path: file, found: 'other_schema' };
  }
  return version > SCHEMA_VERSION
    ? { _tag: 'StoreTooNew', schema: version, supported: SCHEMA_VERSION }
    : undefined;
};

export const storeIdOf = (db: Database): string =>
  textOf(db.sql('SELECT store_id FROM store WHERE one = 1').get(), 'store_id');

/** A pragma takes no bound value: the texts are ours. */
export const setSync = (db: Database, sync: 'full' | 'normal'): void => {
  db.exec(sync === 'full' ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
};

export const syncOf = (db: Database): 'full' | 'normal' | 'other' => {
  const level = integerOf(db.sql('PRAGMA synchronous').get(), 'synchronous');
  if (level === 2) return 'full';
  return level === 1 ? 'normal' : 'other';
};

/** Asks for a journal mode and gives the one that the file then has. */
export const journalMode = (db: Database, mode: 'WAL' | 'DELETE'): string =>
  textOf(db.sql(`PRAGMA journal_mode = ${mode}`).get(), 'journal_mode');

/** Copies the log into the file as far as readers allow; true when nothing of it is left out. */
export const checkpoint = (db: Database): boolean => {
  const row = db.sql('PRAGMA wal_checkpoint(PASSIVE)').get();
  return integerOf(row, 'busy') === 0 && integerOf(row, 'log') === integerOf(row, 'checkpointed');
};
