import { setTimeout as delay } from 'node:timers/promises';
import type { OpenFault } from '../../../domain/errors.js';
import {
  checkpoint,
  inTransaction,
  journalMode,
  retryDelayMs,
  setSync,
  syncOf,
  whileBusy,
} from './connection.js';
import { sqliteVersion, type Database } from './driver.js';
import { isBusy } from './faults.js';
import type { Header } from './file-checks.js';
import type { Settings } from './options.js';
import { migrate, SCHEMA_VERSION, schemaState, writeSchemaState } from './schema.js';

/** A log that grew beyond this in a busy hour is cut back to it when it begins again. */
const LOG_LIMIT_BYTES = 67_108_864;

/**
 * Writes the mark, or takes it away, as everybody now sees it; the file itself learns of it later.
 * False when it was so already.
 */
const mark = (db: Database, isMarkedOpen: boolean): boolean =>
  inTransaction(db, () => {
    const state = schemaState(db);
    if (state.isMarkedOpen === isMarkedOpen) return false;
    writeSchemaState(db, { ...state, isMarkedOpen });
    return true;
  });

/** Takes away a mark in the log that a process left there which ended in the middle of settling. */
export const unmark = (db: Database): void => {
  if (schemaState(db).isMarkedOpen) mark(db, false);
};

/**
 * Moves the log into the file so that the file is left marked: "there is more, in my log". The log
 * itself begins again with the mark taken away. So whoever moves all of it into the file (SQLite does
 * when the last connection closes, or another program that repairs the file) takes the mark away
 * with it, and a mark without a log means that the log is lost. False when readers kept a part of it,
 * or another process took the mark away before it was in the file: it is to be done again then.
 */
export const settleLog = (db: Database): boolean => {
  mark(db, true);
  const isWhole = checkpoint(db);
  const wasMarked = mark(db, false);
  return isWhole && wasMarked;
};

const prepareSchema = (db: Database): void => {
  inTransaction(db, () => {
    const { version, isMarkedOpen } = schemaState(db);
    if (version === SCHEMA_VERSION) return;
    migrate(db, version);
    writeSchemaState(db, { version: SCHEMA_VERSION, isMarkedOpen });
  });
};

/** How often the first mark is tried to be brought into the file past readers of an older state. */
const SETTLE_TRIES = 20;

const settleFirst = async (db: Database, timeoutMs: number): Promise<void> => {
  for (let tries = 0; tries < SETTLE_TRIES; tries += 1) {
    if (await whileBusy(() => settleLog(db), timeoutMs)) return;
    await delay(retryDelayMs());
  }
};

/** Turns the log on with the sync level wanted; gives the journal mode that the file then has. */
const turnLogOn = (db: Database, sync: Settings['sync']): string => {
  setSync(db, sync);
  const mode = journalMode(db, 'WAL');
  setSync(db, sync);
  db.exec('PRAGMA wal_autocheckpoint = 0');
  db.exec(`PRAGMA journal_size_limit = ${String(LOG_LIMIT_BYTES)}`);
  return mode;
};

/**
 * Makes a connection ready for appends: write-ahead log, sync level, missing migrations and the
 * mark. The sync level counts only as it is read after a write, because the library has a default
 * of its own that it takes at the first use of the log when none was set.
 */
export const prepareForWriting = async (
  db: Database,
  settings: Settings,
  header: Header | undefined,
): Promise<OpenFault | undefined> => {
  const { file, busyTimeoutMs, sync } = settings;
  const waiting = <A>(run: () => A): Promise<A> => whileBusy(run, busyTimeoutMs);
  const mode = await waiting(() => turnLogOn(db, sync));
  // SQLite keeps the old mode where the file system offers no shared memory.
  if (mode !== 'wal') return { _tag: 'UnsafeFilesystem', path: file, filesystem: 'unknown' };
  await waiting(() => {
    prepareSchema(db);
  });
  if (header?.isMarkedOpen !== true) await settleFirst(db, busyTimeoutMs);
  await waiting(() => {
    unmark(db);
  });
  return (await waiting(() => syncOf(db))) === sync
    ? undefined
    : { _tag: 'UnsafeDriver', version: sqliteVersion(db) };
};

/**
 * Ends write-ahead mode if no other connection is there: the store is then one whole file. SQLite
 * takes the exclusive lock for it, and gives it back also when it cannot have it.
 */
const closeAsLast = (db: Database): boolean => {
  try {
    mark(db, false);
    return journalMode(db, 'DELETE') === 'delete';
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
};

const CLOSE_TRIES = 3;

/**
 * Closes a connection that wrote. The driver cannot finalize statements, so SQLite keeps a closed
 * connection, and its lock, until they are garbage: out of write-ahead mode it holds no lock.
 */
export const closeWriter = async (db: Database): Promise<void> => {
  try {
    for (let tries = 1; !closeAsLast(db) && tries < CLOSE_TRIES; tries += 1) {
      await delay(retryDelayMs());
    }
  } catch {
    // It costs nothing: the log stays, and the next opening goes on with it.
  }
  db.close();
};
