import { setTimeout as delay } from 'node:timers/promises';
import type { OpenFault } from '../../../domain/errors.js';
import {
  BLOCK_MS,
  checkpoint,
  connect,
  inTransaction,
  journalMode,
  retryDelayMs,
  setSync,
  syncOf,
  whileBusy,
} from './connection.js';
import { sqliteVersion, type Database } from './driver.js';
import { isBusy } from './faults.js';
import { hasWal } from './file-checks.js';
import type { Settings } from './options.js';
import { migrate, SCHEMA_VERSION, schemaState, writeSchemaState } from './schema.js';

/** A log that grew beyond this in a busy hour is cut back to it when it begins again. */
const LOG_LIMIT_BYTES = 67_108_864;

/** True when this connection set the mark that the log belongs to the file. */
const markOpen = (db: Database): boolean => {
  const { version, isMarkedOpen } = schemaState(db);
  return inTransaction(db, () => {
    if (version === SCHEMA_VERSION && isMarkedOpen) return false;
    migrate(db, schemaState(db).version);
    writeSchemaState(db, { version: SCHEMA_VERSION, isMarkedOpen: true });
    return true;
  });
};

/** Brings the mark into the file itself, the only place where it is worth something. */
const settleMark = async (db: Database): Promise<void> => {
  for (let tries = 0; tries < 20; tries += 1) {
    if (checkpoint(db, 'PASSIVE')) return;
    await delay(retryDelayMs());
  }
};

/**
 * Makes a connection ready for appends: write-ahead log, sync level, missing migrations and the
 * mark. The sync level counts only as it is read after a write, because the library has a default
 * of its own that it takes at the first use of the log when none was set.
 */
export const prepareForWriting = async (
  db: Database,
  settings: Settings,
): Promise<OpenFault | undefined> => {
  const { file, busyTimeoutMs, sync } = settings;
  setSync(db, sync);
  const mode = await whileBusy(() => journalMode(db, 'WAL'), busyTimeoutMs);
  // SQLite keeps the old mode where the file system offers no shared memory.
  if (mode !== 'wal') return { _tag: 'UnsafeFilesystem', path: file, filesystem: 'unknown' };
  setSync(db, sync);
  db.exec('PRAGMA wal_autocheckpoint = 0');
  db.exec(`PRAGMA journal_size_limit = ${String(LOG_LIMIT_BYTES)}`);
  const isNewlyMarked = await whileBusy(() => markOpen(db), busyTimeoutMs);
  if (isNewlyMarked) await settleMark(db);
  return syncOf(db) === sync ? undefined : { _tag: 'UnsafeDriver', version: sqliteVersion(db) };
};

/**
 * Takes the mark away and ends write-ahead mode, if no other connection is there: the store is then
 * one whole file. The mark goes first, so that a kill at any step never looks like a lost log.
 */
const closeAsLast = (db: Database): boolean => {
  // With this setting a write transaction begins only when nobody else is connected to the file.
  db.exec('PRAGMA locking_mode = EXCLUSIVE');
  try {
    inTransaction(db, () => {
      writeSchemaState(db, { ...schemaState(db), isMarkedOpen: false });
    });
  } catch (error) {
    db.exec('PRAGMA locking_mode = NORMAL');
    if (isBusy(error)) return false;
    throw error;
  }
  journalMode(db, 'DELETE');
  db.exec('PRAGMA locking_mode = NORMAL');
  // The exclusive lock is given back by the next use of the file.
  db.exec('SELECT 1 FROM store');
  return true;
};

const CLOSE_TRIES = 3;

const triesToCloseAsLast = async (db: Database): Promise<boolean> => {
  for (let tries = 1; ; tries += 1) {
    if (closeAsLast(db)) return true;
    if (tries === CLOSE_TRIES) return false;
    await delay(retryDelayMs());
  }
};

/**
 * Closes a connection that wrote. When it is not the last one, a read-only connection stays until
 * the driver has let go of this one: SQLite would delete the log of a file that is still marked when
 * it closes the last connection that may write, and the next opening would miss it.
 */
export const closeWriter = async (db: Database, file: string): Promise<void> => {
  // What fails here costs nothing: the store stays marked, and its log is read at the next opening.
  const isLast = await triesToCloseAsLast(db).catch(() => false);
  if (!isLast && hasWal(file)) {
    const guard = connect(file, { readOnly: true, blockMs: BLOCK_MS });
    guard.exec('SELECT 1 FROM store');
    db.whenFreed(() => {
      guard.close();
    });
  }
  db.close();
};
