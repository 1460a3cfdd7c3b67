import type * as E from 'fp-ts/lib/Either.js';
import type { AppendFault } from '../../../domain/errors.js';
import { begin, retryDelayMs, rollback } from './connection.js';
import type { Database } from './driver.js';
import { isBusy, toStoreFault } from './faults.js';
import { SCHEMA_VERSION, schemaState } from './schema.js';
import {
  commitGroup,
  queuedJob,
  type GroupEnd,
  type QueuedJob,
  type WriteJob,
} from './write-group.js';

export interface WriteQueue {
  /** Resolves after COMMIT. Never rejects, but for mistakes of ours. */
  readonly add: <A>(job: WriteJob<A>) => Promise<E.Either<AppendFault, A>>;
  /** Resolves when nothing waits any more; later jobs are refused as `closed`. */
  readonly drain: () => Promise<void>;
  /** Refuses all that waits and all that comes as `closed`: the connection is not trusted. */
  readonly stop: () => void;
  /** True while a commit is being made or is due. */
  readonly isBusy: () => boolean;
}

export interface QueueOptions {
  readonly db: Database;
  readonly path: string;
  readonly busyTimeoutMs: number;
  /** Told how every group ended, after its jobs were answered. */
  readonly onEnd: (end: GroupEnd) => void;
}

/** So much goes into one commit: more would hold the event loop for longer than the sync itself. */
const GROUP_BYTES = 2_000_000;
const GROUP_JOBS = 256;

interface Queue extends QueueOptions {
  readonly waiting: QueuedJob[];
  isScheduled: boolean;
  stopped?: AppendFault;
  readonly whenIdle: (() => void)[];
}

const takeGroup = (queue: Queue): readonly QueuedJob[] => {
  let bytes = 0;
  let count = 0;
  for (const job of queue.waiting) {
    bytes += job.bytes;
    if (count > 0 && (count >= GROUP_JOBS || bytes > GROUP_BYTES)) break;
    count += 1;
  }
  return queue.waiting.splice(0, count);
};

const failAll = (queue: Queue, fault: AppendFault): void => {
  for (const job of queue.waiting.splice(0)) job.fail(fault);
};

const failOverdue = (queue: Queue): void => {
  const oldest = performance.now() - queue.busyTimeoutMs;
  // Jobs wait in the order in which they came.
  const count = queue.waiting.findIndex((job) => job.sinceMs > oldest);
  const overdue = queue.waiting.splice(0, count < 0 ? queue.waiting.length : count);
  for (const job of overdue) job.fail({ _tag: 'StoreLocked', path: queue.path });
};

/** False when another process holds the lock, or the file is not ours to write any more. */
const begins = (queue: Queue): boolean => {
  const { db, path } = queue;
  try {
    begin(db);
    if (schemaState(db).version === SCHEMA_VERSION) return true;
    rollback(db);
    // Another process has raised the schema: this build may still read, but must not write.
    failAll(queue, { _tag: 'ReadOnly', path });
  } catch (error) {
    if (isBusy(error)) failOverdue(queue);
    else failAll(queue, toStoreFault(error, path));
  }
  return false;
};

const commitNext = (queue: Queue): void => {
  const group = takeGroup(queue);
  try {
    const end = commitGroup(queue.db, queue.path, group);
    if (end === 'broken') queue.stopped = closedFault(queue.path);
    queue.onEnd(end);
  } catch (error) {
    // A mistake of ours, or a connection that cannot even roll back: nobody may wait for ever.
    queue.stopped = closedFault(queue.path);
    for (const job of group) job.crash(error);
  }
};

const closedFault = (path: string): AppendFault => ({
  _tag: 'Unavailable',
  reason: 'closed',
  path,
});

const flush = (queue: Queue): void => {
  queue.isScheduled = false;
  if (queue.waiting.length === 0) {
    for (const report of queue.whenIdle.splice(0)) report();
    return;
  }
  queue.isScheduled = true;
  const again = (): void => {
    flush(queue);
  };
  if (queue.stopped !== undefined) failAll(queue, queue.stopped);
  else if (begins(queue)) commitNext(queue);
  else if (queue.waiting.length > 0) {
    setTimeout(again, retryDelayMs());
    return;
  }
  // What comes now gathers until the loop has come round, so that every caller of it is heard.
  setImmediate(again);
};

/**
 * Group commit: an idle store commits a job at once, and jobs gather only while a commit is being
 * made. No job waits longer for other processes than the busy timeout.
 */
export const writeQueue = (options: QueueOptions): WriteQueue => {
  const queue: Queue = { ...options, waiting: [], isScheduled: false, whenIdle: [] };
  return {
    add: (job) =>
      new Promise((resolve, reject) => {
        queue.waiting.push(queuedJob(queue.path, job, resolve, reject));
        if (!queue.isScheduled) flush(queue);
      }),
    drain: async () => {
      if (queue.isScheduled) {
        await new Promise<void>((resolve) => queue.whenIdle.push(resolve));
      }
      queue.stopped = closedFault(queue.path);
    },
    stop: () => {
      queue.stopped = closedFault(queue.path);
    },
    isBusy: () => queue.isScheduled,
  };
};
