import type { Database } from './driver.js';
import { integerOf } from './rows.js';
import { settleLog, unmark } from './writer.js';

/** From this length on (4 MB) the log is moved into the file in the next quiet moment. */
const QUIET_FRAMES = 1_000;
/** From this length on it is moved although writers are busy. */
const MOST_FRAMES = 3_000;
/** A commit is looked at only so often: the look itself costs a few microseconds. */
const COMMITS_PER_LOOK = 32;
const QUIET_MS = 20;

export interface LogKeeper {
  readonly committed: () => void;
  readonly stop: () => void;
}

/**
 * Keeps the write-ahead log short, away from the commits: SQLite's own way would put the copying
 * into whichever append happens to cross the line. What goes wrong with it is told to `onError`.
 */
export const logKeeper = (
  db: Database,
  isBusy: () => boolean,
  onError: (error: unknown) => void,
): LogKeeper => {
  let commits = 0;
  let timer: NodeJS.Timeout | undefined;
  const frames = (): number => {
    const row = db.sql('PRAGMA wal_checkpoint(NOOP)').get();
    return integerOf(row, 'log') - integerOf(row, 'checkpointed');
  };
  const arm = (): void => {
    timer ??= setTimeout(tend, QUIET_MS).unref();
  };
  const tend = (): void => {
    timer = undefined;
    try {
      unmark(db);
      const length = frames();
      if (length < QUIET_FRAMES) return;
      if (isBusy() && length < MOST_FRAMES) arm();
      else if (!settleLog(db)) arm();
    } catch (error) {
      onError(error);
      // The log only stays longer: whatever is wrong, the next append meets it and says so.
      if (db.isOpen()) arm();
    }
  };
  return {
    committed: () => {
      commits += 1;
      if (commits % COMMITS_PER_LOOK === 0) arm();
    },
    stop: () => {
      clearTimeout(timer);
    },
  };
};
