import * as E from 'fp-ts/lib/Either.js';
import * as TE from 'fp-ts/lib/TaskEither.js';
import { pipe } from 'fp-ts/lib/function.js';
import type { BlobStore } from '../../../domain/blob-store.js';
import type { AppendFault, StoreFault } from '../../../domain/errors.js';
import type { SnapshotCache } from '../../../domain/snapshot-cache.js';
import type { Calls } from './calls.js';
import { bytesOf, decodedText } from './rows.js';

const PUT_BLOB = 'INSERT INTO blobs (tenant, name, bytes) VALUES (?, ?, ?)';
const GET_BLOB = 'SELECT bytes FROM blobs WHERE tenant = ? AND name = ?';
const HAS_BLOB = 'SELECT name FROM blobs WHERE tenant = ? AND name = ?';

/** Blobs in a table of the event file, each committed before `put` answers. */
export const sqliteBlobs = ({ db, path, reading, writing }: Calls): BlobStore => ({
  put: (tenant, name, bytes) =>
    writing<'stored' | 'already'>(() => ({
      bytes: bytes.length,
      // Nothing refers to the blob yet and its name stands for its bytes, so it is put once more.
      unknown: { _tag: 'Unavailable', reason: 'timeout', path },
      run: () => {
        const row = db.sql(GET_BLOB).get(tenant, name);
        if (row === undefined) {
          db.sql(PUT_BLOB).run(tenant, name, bytes);
          return E.right('stored');
        }
        return Buffer.compare(bytesOf(row, 'bytes'), bytes) === 0
          ? E.right('already')
          : E.left({ _tag: 'Damaged', check: 'blob' });
      },
    })),
  get: (tenant, name) =>
    reading(() => {
      const row = db.sql(GET_BLOB).get(tenant, name);
      return E.right(row === undefined ? undefined : bytesOf(row, 'bytes'));
    }),
  has: (tenant, names) =>
    reading(() =>
      E.right(new Set(names.filter((name) => db.sql(HAS_BLOB).get(tenant, name) !== undefined))),
    ),
});

const PUT_SNAPSHOT = `INSERT INTO snapshots (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const GET_SNAPSHOT = 'SELECT value FROM snapshots WHERE name = ?';
// Names are compared by their bytes from the start: LIKE would fold letters and know wildcards.
const DROP_SNAPSHOTS = 'DELETE FROM snapshots WHERE substr(name, 1, length(?1)) = ?1';

const isStoreFault = (fault: AppendFault): fault is StoreFault =>
  fault._tag !== 'WrongRevision' &&
  fault._tag !== 'AppendTooLarge' &&
  fault._tag !== 'OutcomeUnknown' &&
  fault._tag !== 'StoreLocked';

/** Snapshots in a table of their own: they take no position and no feed sees them. */
export const sqliteSnapshots = ({ db, path, reading, writing }: Calls): SnapshotCache => {
  const timeout: StoreFault = { _tag: 'Unavailable', reason: 'timeout', path };
  const change = (bytes: number, run: () => void): TE.TaskEither<StoreFault, void> =>
    pipe(
      writing<undefined>(() => ({
        bytes,
        unknown: timeout,
        run: () => {
          run();
          return E.right(undefined);
        },
      })),
      TE.mapLeft((fault) => (isStoreFault(fault) ? fault : timeout)),
    );
  return {
    get: (name) =>
      reading(() => {
        const row = db.sql(GET_SNAPSHOT).get(name);
        return E.right(row === undefined ? undefined : decodedText(bytesOf(row, 'value')));
      }),
    put: (name, value) => {
      const bytes = Buffer.from(value);
      return change(bytes.length, () => {
        db.sql(PUT_SNAPSHOT).run(name, bytes);
      });
    },
    drop: (prefix) =>
      change(0, () => {
        db.sql(DROP_SNAPSHOTS).run(prefix);
      }),
  };
};
