import type { FaultOf } from '../../../domain/errors.js';

/** How to open a SQLite store. */
export interface SqliteOptions {
  /** A folder, which then holds `store.db` and `keys/`; or a file, with `keys/` beside it. */
  readonly path: string;
  /** Writes nothing at all, and answers every write with `ReadOnly`. The store must be there. */
  readonly readOnly?: boolean;
  /** Opens, read-only, a store whose write-ahead log is gone: what the log held is missing. */
  readonly salvage?: boolean;
  /** How long a write waits for other processes before `StoreLocked`. */
  readonly busyTimeoutMs?: number;
  /** `full` survives a power cut; `normal` may then lose the last appends, but is never damaged. */
  readonly sync?: 'full' | 'normal';
  /** Opens on a network file system all the same: two hosts that write will damage the store. */
  readonly allowUnsafeFilesystem?: boolean;
}

/** Something that is allowed but that its owner should know. */
export type StoreWarning = FaultOf<'UnsafeFilesystem'>;

/** The options with all defaults filled in. */
export interface Settings {
  readonly file: string;
  readonly keyFolder: string;
  readonly readOnly: boolean;
  readonly salvage: boolean;
  readonly busyTimeoutMs: number;
  readonly sync: 'full' | 'normal';
  readonly allowUnsafeFilesystem: boolean;
}
