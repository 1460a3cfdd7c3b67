import type { FaultOf, StoreFault } from '../../../domain/errors.js';
import { faultOfCode } from '../system-fault.js';
import { isRowShape } from './rows.js';

/** A store fault, or the one that only writers and openers can answer. */
export type DriverFault = StoreFault | FaultOf<'StoreLocked'>;

interface DriverError {
  readonly message: string;
  readonly code: string;
  readonly errcode?: number;
  readonly systemErrno?: number;
}

const isDriverError = (error: unknown): error is DriverError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string';

/** Result codes of SQLite (https://sqlite.org/rescode.html). */
export const SQLITE = {
  error: 1,
  perm: 3,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  protocol: 15,
  tooBig: 18,
  constraint: 19,
  auth: 23,
  notADatabase: 26,
} as const;

/** SQLite's own words for the codes (sqlite3_errstr), by which the driver reports some errors alone. */
const codeByMessage: readonly (readonly [string, number])[] = [
  ['database is locked', SQLITE.busy],
  ['database table is locked', SQLITE.locked],
  ['database disk image is malformed', SQLITE.corrupt],
  ['disk I/O error', SQLITE.ioError],
  ['database or disk is full', SQLITE.full],
  ['attempt to write a readonly database', SQLITE.readOnly],
  ['unable to open database file', SQLITE.cantOpen],
  ['file is not a database', SQLITE.notADatabase],
  ['out of memory', SQLITE.noMemory],
  ['access permission denied', SQLITE.perm],
];

/** The primary result code of a driver error; undefined for any other error. */
export const resultCode = (error: unknown): number | undefined => {
  if (!isDriverError(error)) return undefined;
  if (error.errcode !== undefined) return error.errcode & 0xff;
  if (error.code !== 'ERR_SQLITE_ERROR') return undefined;
  return codeByMessage.find(([words]) => error.message.endsWith(words))?.[1];
};

export const isBusy = (error: unknown): boolean => {
  const code = resultCode(error);
  return code === SQLITE.busy || code === SQLITE.locked;
};

const errnoNames: Readonly<Record<number, string>> = {
  1: 'EPERM',
  13: 'EACCES',
  23: 'ENFILE',
  24: 'EMFILE',
  28: 'ENOSPC',
  30: 'EROFS',
};

const codeFaults: Readonly<Record<number, (path: string) => DriverFault>> = {
  // Our statements are fixed and tested, so one that does not compile met a changed schema.
  [SQLITE.error]: () => ({ _tag: 'Damaged', check: 'payload' }),
  [SQLITE.perm]: (path) => ({ _tag: 'AccessDenied', path }),
  [SQLITE.busy]: (path) => ({ _tag: 'StoreLocked', path }),
  [SQLITE.locked]: (path) => ({ _tag: 'StoreLocked', path }),
  [SQLITE.noMemory]: (path) => ({ _tag: 'Unavailable', reason: 'exhausted', path }),
  [SQLITE.readOnly]: (path) => ({ _tag: 'ReadOnly', path }),
  [SQLITE.ioError]: (path) => ({ _tag: 'Unavailable', reason: 'unreachable', path }),
  [SQLITE.corrupt]: () => ({ _tag: 'Damaged', check: 'payload' }),
  [SQLITE.full]: (path) => ({ _tag: 'StorageFull', path }),
  [SQLITE.cantOpen]: (path) => ({ _tag: 'Unavailable', reason: 'path', path }),
  // The race for the lock of the log went on for longer than SQLite waits for it.
  [SQLITE.protocol]: (path) => ({ _tag: 'StoreLocked', path }),
  // A length that no row of ours has.
  [SQLITE.tooBig]: () => ({ _tag: 'Damaged', check: 'payload' }),
  [SQLITE.auth]: (path) => ({ _tag: 'AccessDenied', path }),
  [SQLITE.notADatabase]: () => ({ _tag: 'Damaged', check: 'payload' }),
};

/**
 * The one place where errors of the driver and of the file system become faults. An error of
 * another kind is a mistake of ours: it is thrown on, to be reported as such at the edge.
 */
export const toStoreFault = (error: unknown, path: string): DriverFault => {
  if (isRowShape(error)) return { _tag: 'Damaged', check: 'payload' };
  if (!isDriverError(error)) return thrownOn(error);
  const name = errnoNames[error.systemErrno ?? 0] ?? error.code;
  const code = resultCode(error);
  const fault =
    faultOfCode(name, path) ?? (code === undefined ? undefined : codeFaults[code]?.(path));
  return fault ?? thrownOn(error);
};

const thrownOn = (error: unknown): never => {
  throw error instanceof Error ? error : new Error('something that is no error was thrown');
};

/** For calls that cannot say `StoreLocked`: a lock that outlasts the timeout is a store too slow. */
export const withoutLocked = (fault: DriverFault): StoreFault =>
  fault._tag === 'StoreLocked' ? { ...fault, _tag: 'Unavailable', reason: 'timeout' } : fault;
