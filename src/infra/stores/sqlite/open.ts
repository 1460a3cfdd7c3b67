import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { OpenFault } from '../../../domain/errors.js';
import { errorCode, makeFolder } from '../publish-file.js';
import { BLOCK_MS, connect, schemaFault, storeIdOf, whileBusy } from './connection.js';
import { createStore } from './create.js';
import { sqliteVersion, type Database } from './driver.js';
import { resultCode, SQLITE, toStoreFault } from './faults.js';
import {
  filesystemOf,
  inspectFile,
  isSafeSqlite,
  isWalLost,
  optionFault,
  settingsOf,
  type FileState,
  type Header,
} from './file-checks.js';
import type { Settings, SqliteOptions, StoreWarning } from './options.js';
import { closeWriter, prepareForWriting } from './writer.js';

/** An open store, before the parts of the adapter are put on it. */
export interface Opened {
  readonly db: Database;
  readonly settings: Settings;
  readonly storeId: string;
  readonly warnings: readonly StoreWarning[];
  readonly close: () => Promise<void>;
}

const isFault = (state: FileState | OpenFault): state is OpenFault =>
  state._tag !== 'Missing' && state._tag !== 'Store';

/** Times that a lost log is looked at again: another process may just be opening or closing. */
const LOOKS = 3;

const lostWal = async (file: string, first: Header | undefined): Promise<boolean> => {
  let header = first;
  for (let looks = 1; isWalLost(file, header); looks += 1) {
    if (looks === LOOKS) return true;
    await delay(20);
    const state = inspectFile(file);
    header = state._tag === 'Store' ? state.header : undefined;
  }
  return false;
};

const folderFor = (settings: Settings): void => {
  if (settings.readOnly) return;
  const folder = path.dirname(settings.file);
  try {
    makeFolder(folder);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    // The recursive form says so of every fault of a parent; the plain one says what is wrong.
    fs.mkdirSync(folder, { mode: 0o700 });
  }
};

const checkFilesystem = (settings: Settings): E.Either<OpenFault, readonly StoreWarning[]> => {
  const verdict = filesystemOf(path.dirname(settings.file));
  if (verdict === undefined) return E.right([]);
  const { filesystem, isRefused } = verdict;
  const fault: StoreWarning = { _tag: 'UnsafeFilesystem', path: settings.file, filesystem };
  return isRefused && !settings.allowUnsafeFilesystem ? E.left(fault) : E.right([fault]);
};

/** What stands at the place: a store, made if need be; never anything else. */
const findStore = (settings: Settings): FileState | OpenFault => {
  const state = inspectFile(settings.file);
  if (state._tag !== 'Missing' || settings.readOnly) return state;
  createStore(settings.file);
  return inspectFile(settings.file);
};

/** What speaks against a connection before anything is done over it. */
const connectionFault = (db: Database, file: string): OpenFault | undefined => {
  const version = sqliteVersion(db);
  return isSafeSqlite(version) ? schemaFault(db, file) : { _tag: 'UnsafeDriver', version };
};

const connectTo = async (
  settings: Settings,
  header: Header | undefined,
  isImmutable: boolean,
): Promise<E.Either<OpenFault, Database>> => {
  const { file, readOnly, busyTimeoutMs } = settings;
  const db = connect(file, { readOnly, immutable: isImmutable, blockMs: BLOCK_MS });
  try {
    const fault =
      (await whileBusy(() => connectionFault(db, file), busyTimeoutMs)) ??
      (readOnly ? undefined : await prepareForWriting(db, settings, header));
    if (fault === undefined) return E.right(db);
    db.close();
    return E.left(fault);
  } catch (error) {
    db.close();
    throw error;
  }
};

const openChecked = async (settings: Settings): Promise<E.Either<OpenFault, Opened>> => {
  const { file, readOnly, salvage } = settings;
  folderFor(settings);
  const warnings = checkFilesystem(settings);
  if (E.isLeft(warnings)) return warnings;
  const state = findStore(settings);
  if (isFault(state)) return E.left(state);
  if (state._tag === 'Missing') {
    return E.left({ _tag: 'Unavailable', reason: 'path', path: file });
  }
  const isLost = await lostWal(file, state.header);
  if (isLost && !salvage) return E.left({ _tag: 'WalMissing', path: file });
  // Without its log a file must be opened so that no new, empty log is put beside it.
  const db = await connectTo(settings, state.header, isLost);
  if (E.isLeft(db)) return db;
  const close = async (): Promise<void> => {
    if (readOnly) db.right.close();
    else await closeWriter(db.right);
  };
  const storeId = await whileBusy(() => storeIdOf(db.right), settings.busyTimeoutMs);
  return E.right({ db: db.right, settings, storeId, warnings: warnings.right, close });
};

/** Opens the store of these options, or says why not; a file that is refused is not changed. */
export const openStore = async (options: SqliteOptions): Promise<E.Either<OpenFault, Opened>> => {
  const invalid = optionFault(options);
  if (invalid !== undefined) return E.left(invalid);
  let file = options.path;
  try {
    const settings = settingsOf(options);
    file = settings.file;
    return await openChecked(settings);
  } catch (error) {
    if (resultCode(error) === SQLITE.notADatabase) {
      return E.left({ _tag: 'NotAStore', path: file, found: 'random' });
    }
    return E.left(toStoreFault(error, file));
  }
};
