import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { OpenFault, StoreFault } from '../../../domain/errors.js';
import { changeSignal, type ChangeSignal } from '../change-signal.js';
import { keyFolder, readOnlyKeys } from '../key-folder.js';
import type { Stores } from '../stores.js';
import { sqliteBlobs, sqliteSnapshots } from './aside.js';
import { backupStore, type BackupFault } from './backup.js';
import { callsOf } from './calls.js';
import { sqliteEvents } from './events.js';
import { resultCode, SQLITE } from './faults.js';
import { watchOthers, type Watch } from './feed.js';
import { sqliteKeys } from './key-index.js';
import { logKeeper } from './log-keeper.js';
import { nameTable, type NameTable } from './names.js';
import { openStore, type Opened } from './open.js';
import type { SqliteOptions, StoreWarning } from './options.js';
import { writeQueue, type WriteQueue } from './write-queue.js';
import { settleLog } from './writer.js';

export type { BackupFault } from './backup.js';
export type { SqliteOptions, StoreWarning } from './options.js';

/** The stores in one SQLite file. */
export interface SqliteStores extends Stores {
  /** The file itself. */
  readonly file: string;
  /** What the owner should know about the place. */
  readonly warnings: readonly StoreWarning[];
  /** Copies the store, also while it is written; `TargetExists` rather than overwrite. */
  readonly backup: (toPath: string) => TE.TaskEither<BackupFault, void>;
  /** Moves the write-ahead log into the file; false when readers kept a part of it. */
  readonly checkpoint: () => TE.TaskEither<StoreFault, boolean>;
}

interface Names {
  readonly streams: NameTable;
  readonly conversations: NameTable;
}

interface Writer {
  readonly queue: WriteQueue;
  /** Moves the log into the file; an error of the disk stops the queue. */
  readonly settle: () => boolean;
  readonly stop: () => void;
}

const writerOf = ({ db, settings }: Opened, names: Names, changes: ChangeSignal): Writer => {
  const { file, busyTimeoutMs } = settings;
  const queue = writeQueue({
    db,
    path: file,
    busyTimeoutMs,
    onEnd: (end) => {
      const isCommitted = end === 'committed';
      names.streams.ended(isCommitted);
      names.conversations.ended(isCommitted);
      if (!isCommitted) return;
      keeper.committed();
      changes.announce();
    },
  });
  // After a failed sync the system may have dropped pages, whoever asked for it (write-group.ts).
  const onSettleError = (error: unknown): void => {
    if (resultCode(error) === SQLITE.ioError) queue.stop();
  };
  const keeper = logKeeper(db, queue.isBusy, onSettleError);
  const settle = (): boolean => {
    try {
      return settleLog(db);
    } catch (error) {
      onSettleError(error);
      throw error;
    }
  };
  return { queue, settle, stop: keeper.stop };
};

const storesOf = (opened: Opened): SqliteStores => {
  const { db, settings, storeId, warnings } = opened;
  const { file, readOnly, busyTimeoutMs } = settings;
  const names = {
    streams: nameTable(db, 'streams'),
    conversations: nameTable(db, 'conversations'),
  };
  const changes: ChangeSignal = changeSignal(() => {
    watch.start();
  });
  const watch: Watch = watchOthers(db, changes);
  const writer = readOnly ? undefined : writerOf(opened, names, changes);
  let isClosed = false;
  let closing: Promise<void> | undefined;
  const closeNow = async (): Promise<void> => {
    await writer?.queue.drain();
    isClosed = true;
    writer?.stop();
    watch.stop();
    changes.announce();
    await opened.close();
  };
  const calls = callsOf({
    db,
    path: file,
    busyTimeoutMs,
    queue: writer?.queue,
    isClosed: () => isClosed,
  });
  const folder = keyFolder(settings.keyFolder);
  return {
    file,
    warnings,
    events: sqliteEvents({
      calls,
      storeId,
      ...names,
      changes,
      close: () => (closing ??= closeNow()),
    }),
    blobs: sqliteBlobs(calls),
    snapshots: sqliteSnapshots(calls),
    keys: sqliteKeys(calls, names.streams, names.conversations),
    keyStore: readOnly ? readOnlyKeys(folder, settings.keyFolder) : folder,
    backup: (toPath) => backupStore(file, toPath),
    checkpoint: () =>
      calls.reading(() =>
        writer === undefined ? E.left({ _tag: 'ReadOnly', path: file }) : E.right(writer.settle()),
      ),
  };
};

/**
 * Opens the stores in one SQLite file, made if it is not there. Refuses anything that is not a store
 * of this engine, and never changes what it refuses.
 */
export const sqliteStores =
  (options: SqliteOptions): TE.TaskEither<OpenFault, SqliteStores> =>
  async () => {
    const opened = await openStore(options);
    return E.isLeft(opened) ? opened : E.right(storesOf(opened.right));
  };
