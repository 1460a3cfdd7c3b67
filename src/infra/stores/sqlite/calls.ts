import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { AppendFault, StoreFault } from '../../../domain/errors.js';
import { whileBusy } from './connection.js';
import type { Database } from './driver.js';
import { toStoreFault, withoutLocked } from './faults.js';
import type { WriteJob } from './write-group.js';
import type { WriteQueue } from './write-queue.js';

/** What the parts of the adapter share: the connection, and how a call on it becomes an answer. */
export interface Calls {
  readonly db: Database;
  readonly path: string;
  /**
   * Runs a look at committed data. Errors of the driver become faults; a lock of another process,
   * which is only held while it opens or closes the file, is waited for.
   */
  readonly reading: <A>(run: () => E.Either<StoreFault, A>) => TE.TaskEither<StoreFault, A>;
  /** Puts a job into the next commit; `ReadOnly` where the store was opened so. */
  readonly writing: <A>(job: () => WriteJob<A>) => TE.TaskEither<AppendFault, A>;
}

export interface CallsOptions {
  readonly db: Database;
  readonly path: string;
  readonly busyTimeoutMs: number;
  /** Absent in a store that was opened read-only. */
  readonly queue: WriteQueue | undefined;
  readonly isClosed: () => boolean;
}

export const callsOf = (options: CallsOptions): Calls => {
  const { db, path, busyTimeoutMs, queue, isClosed } = options;
  const closed: StoreFault = { _tag: 'Unavailable', reason: 'closed', path };
  return {
    db,
    path,
    reading: (run) => async () => {
      try {
        return await whileBusy(() => (isClosed() ? E.left(closed) : run()), busyTimeoutMs);
      } catch (error) {
        return E.left(withoutLocked(toStoreFault(error, path)));
      }
    },
    writing: (job) => () => {
      if (isClosed()) return Promise.resolve(E.left(closed));
      if (queue === undefined) return Promise.resolve(E.left({ _tag: 'ReadOnly', path }));
      return queue.add(job());
    },
  };
};
