import * as E from 'fp-ts/lib/Either.js';
import type { AppendFault } from '../../../domain/errors.js';
import { commit, rollback } from './connection.js';
import type { Database } from './driver.js';
import { resultCode, SQLITE, toStoreFault } from './faults.js';

/** One piece of work for a write transaction. */
export interface WriteJob<A> {
  /** Runs inside the transaction. A fault, or an error thrown, undoes this job and no other. */
  readonly run: () => E.Either<AppendFault, A>;
  /** The answer when COMMIT itself failed and nobody knows what is on disk. */
  readonly unknown: AppendFault;
  /** Bytes to be written: a group is closed when it holds enough of them. */
  readonly bytes: number;
}

/** A job in the queue: it remembers its answer, and gives it only when it counts. */
export interface QueuedJob {
  readonly sinceMs: number;
  readonly bytes: number;
  readonly unknown: AppendFault;
  /** Runs the job. True when it wants to be kept, else its answer is already a fault. */
  readonly attempt: () => boolean;
  /** Gives the answer of the attempt: to be called after COMMIT. */
  readonly settle: () => void;
  readonly fail: (fault: AppendFault) => void;
  readonly crash: (error: unknown) => void;
}

export const queuedJob = <A>(
  path: string,
  job: WriteJob<A>,
  resolve: (answer: E.Either<AppendFault, A>) => void,
  reject: (error: unknown) => void,
): QueuedJob => {
  let answer: E.Either<AppendFault, A> = E.left(job.unknown);
  const runSafely = (): E.Either<AppendFault, A> => {
    try {
      return job.run();
    } catch (error) {
      return E.left(toStoreFault(error, path));
    }
  };
  return {
    sinceMs: performance.now(),
    bytes: job.bytes,
    unknown: job.unknown,
    attempt: () => {
      try {
        answer = runSafely();
        return E.isRight(answer);
      } catch (error) {
        // A mistake of ours costs the job that it is in, and no other.
        reject(error);
        return false;
      }
    },
    settle: () => {
      resolve(answer);
    },
    fail: (fault) => {
      resolve(E.left(fault));
    },
    crash: reject,
  };
};

/** What became of a group: `broken` means that the connection must not be trusted with another. */
export type GroupEnd = 'committed' | 'refused' | 'failed' | 'broken';

/** The savepoint of a job: an error inside it leaves what the others wrote. */
const attemptInside = (db: Database, job: QueuedJob): void => {
  db.sql('SAVEPOINT job').run();
  const isKept = job.attempt();
  // Some errors (a full disk, no memory) make SQLite end the whole transaction by itself.
  if (!db.inTransaction()) return;
  if (!isKept) db.sql('ROLLBACK TO job').run();
  db.sql('RELEASE job').run();
};

/** The fault of a commit that failed. A full disk kept no complete commit; others may have. */
const commitFault = (error: unknown, job: QueuedJob, path: string): AppendFault =>
  resultCode(error) === SQLITE.full ? { _tag: 'StorageFull', path } : job.unknown;

const commitAll = (db: Database, path: string, group: readonly QueuedJob[]): GroupEnd => {
  try {
    commit(db);
  } catch (error) {
    for (const job of group) job.fail(commitFault(error, job, path));
    rollback(db);
    // After a failed sync the system may have dropped the pages: nothing more is promised then.
    return resultCode(error) === SQLITE.ioError ? 'broken' : 'failed';
  }
  for (const job of group) job.settle();
  return 'committed';
};

/** Everything was undone by SQLite: nothing is stored, and that is certain. */
const undone = (group: readonly QueuedJob[], path: string, culprit: QueuedJob): GroupEnd => {
  culprit.settle();
  for (const job of group) if (job !== culprit) job.fail({ _tag: 'StorageFull', path });
  return 'failed';
};

/**
 * Runs the jobs of a group in the transaction that was begun, and commits it. A job alone needs no
 * savepoint. Answers are given after COMMIT; those of a failed commit are `OutcomeUnknown` for all,
 * also for a refused job, since it may have been refused because of one that is not there.
 */
export const commitGroup = (db: Database, path: string, group: readonly QueuedJob[]): GroupEnd => {
  const [first, ...others] = group;
  if (first === undefined || others.length > 0) {
    for (const job of group) {
      attemptInside(db, job);
      if (!db.inTransaction()) return undone(group, path, job);
    }
    return commitAll(db, path, group);
  }
  if (first.attempt()) return commitAll(db, path, group);
  rollback(db);
  first.settle();
  return 'refused';
};
