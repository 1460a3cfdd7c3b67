import fs from 'node:fs';
import path from 'node:path';
import type { FaultOf, NotAStoreFound, OpenFault } from '../../../domain/errors.js';
import { isHeldHere } from './driver.js';
import type { Settings, SqliteOptions } from './options.js';
import { APPLICATION_ID, SCHEMA_VERSION, schemaStateOf } from './schema.js';

const STORE_FILE = 'store.db';
const looksLikeFile = /\.(db|sqlite|sqlite3)$/;

const invalid = (
  name: keyof SqliteOptions,
  reason: 'missing' | 'out_of_range',
): FaultOf<'InvalidArgument'> => ({ _tag: 'InvalidArgument', name, reason });

/** The fault of options that no store can be opened with. */
export const optionFault = (options: SqliteOptions): FaultOf<'InvalidArgument'> | undefined => {
  const { path: given, busyTimeoutMs = 0 } = options;
  if (given === '') return invalid('path', 'missing');
  if (given.includes('\u0000')) return invalid('path', 'out_of_range');
  return Number.isFinite(busyTimeoutMs) && busyTimeoutMs >= 0
    ? undefined
    : invalid('busyTimeoutMs', 'out_of_range');
};

/** True for a path that names the file itself: anything there but a folder, or a name for one. */
const isNamedFileAt = (given: string): boolean => {
  if (looksLikeFile.test(given)) return true;
  const here = fs.lstatSync(given, { throwIfNoEntry: false });
  return (
    here !== undefined && fs.statSync(given, { throwIfNoEntry: false })?.isDirectory() !== true
  );
};

/** Where the store of these options lives. */
export const settingsOf = (options: SqliteOptions): Settings => {
  const given = path.resolve(options.path);
  const isNamedFile = isNamedFileAt(given);
  return {
    file: isNamedFile ? given : path.join(given, STORE_FILE),
    keyFolder: path.join(isNamedFile ? path.dirname(given) : given, 'keys'),
    readOnly: options.readOnly === true || options.salvage === true,
    salvage: options.salvage === true,
    busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
    sync: options.sync ?? 'full',
    allowUnsafeFilesystem: options.allowUnsafeFilesystem === true,
  };
};

// Numbers from Linux (statfs(2) and the kernel's magic.h); other systems do not publish theirs.
const networkFilesystems: Readonly<Record<number, string>> = {
  0x6969: 'nfs',
  0x517b: 'smb',
  0xff534d42: 'cifs',
  0xfe534d42: 'smb2',
  0x01021997: '9p',
  0x5346414f: 'afs',
  0x73757245: 'coda',
  0x00c36400: 'ceph',
  0x0bd00bd0: 'lustre',
  0x01161970: 'gfs2',
  0x7461636f: 'ocfs2',
  0x65735546: 'fuse',
  0x786f4256: 'vboxsf',
};
const OVERLAY = 0x794c7630;

export interface FilesystemVerdict {
  readonly filesystem: string;
  readonly isRefused: boolean;
}

/**
 * What is wrong with a file system for a write-ahead log, whose index is memory that all processes
 * must share: network mounts do not share it between hosts. FUSE cannot be told from one. An overlay
 * is what containers use: right within one, and lost with it, so it is named and not refused.
 */
export const filesystemVerdict = (type: number): FilesystemVerdict | undefined => {
  const unsigned = type >>> 0;
  const name = networkFilesystems[unsigned];
  if (name !== undefined) return { filesystem: name, isRefused: true };
  return unsigned === OVERLAY ? { filesystem: 'overlay', isRefused: false } : undefined;
};

/** The verdict on the file system of a folder; undefined where the system tells nothing. */
export const filesystemOf = (folder: string): FilesystemVerdict | undefined =>
  process.platform === 'linux' ? filesystemVerdict(fs.statfsSync(folder).type) : undefined;

/** What the first bytes of a store say before SQLite has touched it. */
export interface Header {
  readonly isWal: boolean;
  readonly version: number;
  readonly isMarkedOpen: boolean;
}

const MAGIC = Buffer.from('SQLite format 3\u0000', 'latin1');
const HEADER_BYTES = 100;

const headerOf = (bytes: Buffer): Header | NotAStoreFound => {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    return 'random';
  if (bytes.readUInt32BE(68) !== APPLICATION_ID) return 'other_schema';
  const { version, isMarkedOpen } = schemaStateOf(bytes.readUInt32BE(60));
  return { isWal: bytes[19] === 2, version, isMarkedOpen };
};

const readHeader = (file: string): Header | NotAStoreFound => {
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(HEADER_BYTES);
    const length = fs.readSync(descriptor, bytes, 0, HEADER_BYTES, 0);
    return headerOf(bytes.subarray(0, length));
  } finally {
    fs.closeSync(descriptor);
  }
};

const notAStore = (file: string, found: NotAStoreFound): FaultOf<'NotAStore'> => ({
  _tag: 'NotAStore',
  path: file,
  found,
});

const kindOf = (stats: fs.Stats): NotAStoreFound | undefined => {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isDirectory()) return 'directory';
  if (!stats.isFile()) return 'random';
  return stats.size === 0 ? 'empty' : undefined;
};

/** The files that SQLite keeps beside a store. */
export const sideFiles = (file: string): readonly string[] =>
  ['-wal', '-shm', '-journal'].map((ending) => file + ending);

const hasLinkBeside = (file: string): boolean =>
  sideFiles(file).some(
    (side) => fs.lstatSync(side, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  );

export const hasWal = (file: string): boolean => fs.existsSync(`${file}-wal`);

export type FileState =
  | { readonly _tag: 'Missing' }
  /** `header` is absent for a file that this process already holds open. */
  | { readonly _tag: 'Store'; readonly header?: Header };

/**
 * Looks at what is there without changing it: `NotAStore` for anything that this engine did not
 * write, `StoreTooNew` for a later schema.
 */
export const inspectFile = (file: string): FileState | OpenFault => {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { _tag: 'Missing' };
  const kind = kindOf(stats) ?? (hasLinkBeside(file) ? 'link' : undefined);
  if (kind !== undefined) return notAStore(file, kind);
  // A connection of this process may hold locks that looking into the file would drop. Only one that
  // uses a log holds any while it waits.
  if (isHeldHere(stats) && hasWal(file)) return { _tag: 'Store' };
  const header = readHeader(file);
  if (typeof header === 'string') return notAStore(file, header);
  if (header.version > SCHEMA_VERSION) {
    return { _tag: 'StoreTooNew', schema: header.version, supported: SCHEMA_VERSION };
  }
  return { _tag: 'Store', header };
};

/** Marked open, in write-ahead mode, and the log gone: what it held is lost. */
export const isWalLost = (file: string, header: Header | undefined): boolean =>
  header !== undefined && header.isWal && header.isMarkedOpen && !hasWal(file);

/** Supported are the releases without the WAL-reset bug (https://sqlite.org/releaselog/3_51_3.html). */
export const isSafeSqlite = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major !== 3) return major > 3;
  if (minor === 44) return patch >= 6;
  if (minor === 50) return patch >= 7;
  return minor > 51 || (minor === 51 && patch >= 3);
};
