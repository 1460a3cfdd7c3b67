import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { AppendFault } from '../../../src/domain/errors.js';
import { openDatabase, type Database } from '../../../src/infra/stores/sqlite/driver.js';
import { SCHEMA_VERSION, writeSchemaState } from '../../../src/infra/stores/sqlite/schema.js';
import type { GroupEnd, WriteJob } from '../../../src/infra/stores/sqlite/write-group.js';
import { writeQueue, type WriteQueue } from '../../../src/infra/stores/sqlite/write-queue.js';
import { countTo } from '../../../src/testing/sample-events.js';
import { tempFolder } from '../../support/temp-folder.js';

const unknown: AppendFault = { _tag: 'OutcomeUnknown', stream: 's', expected: 0, ids: ['id'] };

/** An error as the driver throws it. */
const driverError = (errcode: number): Error =>
  Object.assign(new Error('from the driver'), { code: 'ERR_SQLITE_ERROR', errcode });

interface Rig {
  readonly db: Database;
  readonly queue: WriteQueue;
  readonly ends: GroupEnd[];
  /** Makes the next statement with this text throw, after it ran or in its place. */
  readonly fail: (text: string, errcode: number, how: 'instead' | 'after') => void;
  readonly rows: () => readonly unknown[];
  readonly commits: () => number;
}

const open: Database[] = [];

afterEach(() => {
  for (const db of open.splice(0)) db.close();
});

const rigOf = (): Rig => {
  const file = path.join(tempFolder('queue'), 'queue.db');
  const db = openDatabase(file, { readOnly: false, blockMs: 0 });
  open.push(db);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT');
  writeSchemaState(db, { version: SCHEMA_VERSION, isMarkedOpen: false });
  const faults: { text: string; errcode: number; how: 'instead' | 'after' }[] = [];
  let commits = 0;
  const faulty: Database = {
    ...db,
    sql: (text) => {
      const statement = db.sql(text);
      return {
        ...statement,
        run: (...values) => {
          if (text === 'COMMIT') commits += 1;
          const [fault] = faults;
          if (fault?.text !== text) return statement.run(...values);
          faults.shift();
          if (fault.how === 'after') statement.run(...values);
          throw driverError(fault.errcode);
        },
      };
    },
  };
  const ends: GroupEnd[] = [];
  const queue = writeQueue({
    db: faulty,
    path: file,
    busyTimeoutMs: 100,
    onEnd: (end) => ends.push(end),
  });
  return {
    db,
    queue,
    ends,
    fail: (text, errcode, how) => faults.push({ text, errcode, how }),
    rows: () =>
      db
        .sql('SELECT x FROM t ORDER BY x')
        .all()
        .map((row) => row['x']),
    commits: () => commits,
  };
};

const insert = ({ db }: Rig, x: number, bytes = 10): WriteJob<number> => ({
  bytes,
  unknown,
  run: () => {
    db.sql('INSERT INTO t (x) VALUES (?)').run(x);
    return E.right(x);
  },
});

const refused = (rig: Rig, x: number): WriteJob<number> => ({
  ...insert(rig, x),
  run: () => {
    db(rig, x);
    return E.left({ _tag: 'WrongRevision', expected: 0, actual: 1 });
  },
});

const db = (rig: Rig, x: number): void => {
  rig.db.sql('INSERT INTO t (x) VALUES (?)').run(x);
};

const crashing = (rig: Rig, x: number, error: Error): WriteJob<number> => ({
  ...insert(rig, x),
  run: () => {
    db(rig, x);
    throw error;
  },
});

describe('group commit', () => {
  it('SQ70 commits at once when it is idle, before the caller goes on', () => {
    const rig = rigOf();
    void rig.queue.add(insert(rig, 1));
    expect(rig.db.inTransaction()).toBe(false);
    expect(rig.rows()).toEqual([1]);
  });

  it('SQ71 gathers what comes while a commit is being made', async () => {
    const rig = rigOf();
    const answers = await Promise.all(countTo(20).map((x) => rig.queue.add(insert(rig, x))));
    expect(answers).toEqual(countTo(20).map((x) => E.right(x)));
    expect(rig.commits()).toBe(2);
  });

  it('SQ72 is idle again when nobody came', async () => {
    const rig = rigOf();
    await rig.queue.add(insert(rig, 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(rig.queue.isBusy()).toBe(false);
    void rig.queue.add(insert(rig, 2));
    expect(rig.rows()).toEqual([1, 2]);
  });

  it('SQ73 undoes a refused job and keeps the others of its group', async () => {
    const rig = rigOf();
    const answers = await Promise.all([
      rig.queue.add(insert(rig, 0)),
      rig.queue.add(insert(rig, 1)),
      rig.queue.add(refused(rig, 2)),
      rig.queue.add(crashing(rig, 3, driverError(19 + 256))).catch(() => 'thrown'),
      rig.queue.add(insert(rig, 4)),
    ]);
    expect(answers.map((answer) => (typeof answer === 'string' ? answer : answer._tag))).toEqual([
      'Right',
      'Right',
      'Left',
      'thrown',
      'Right',
    ]);
    expect(rig.rows()).toEqual([0, 1, 4]);
  });

  it('SQ74 undoes a refused job that is alone', async () => {
    const rig = rigOf();
    expect(E.isLeft(await rig.queue.add(refused(rig, 1)))).toBe(true);
    expect(rig.rows()).toEqual([]);
    expect(rig.ends).toEqual(['refused']);
  });

  it('G8 SQ75 says that an outcome is unknown when COMMIT itself failed', async () => {
    for (const how of ['instead', 'after'] as const) {
      const rig = rigOf();
      rig.fail('COMMIT', 11, how);
      expect(await rig.queue.add(insert(rig, 1))).toEqual(E.left(unknown));
      expect(rig.rows()).toEqual(how === 'after' ? [1] : []);
      expect(rig.ends).toEqual(['failed']);
      expect(await rig.queue.add(insert(rig, 2))).toEqual(E.right(2));
    }
  });

  it('G8 SQ76 says so of every job of the group, also of a refused one', async () => {
    const rig = rigOf();
    const first = rig.queue.add(insert(rig, 0));
    rig.fail('COMMIT', 11, 'instead');
    const answers = await Promise.all([
      rig.queue.add(insert(rig, 1)),
      rig.queue.add(refused(rig, 2)),
      rig.queue.add(insert(rig, 3)),
    ]);
    expect(await first).toEqual(E.right(0));
    expect(answers).toEqual([E.left(unknown), E.left(unknown), E.left(unknown)]);
    expect(rig.rows()).toEqual([0]);
  });

  it('G4 SQ77 writes nothing more after a sync that failed', async () => {
    const rig = rigOf();
    rig.fail('COMMIT', 10 + 4 * 256, 'instead');
    expect(await rig.queue.add(insert(rig, 1))).toEqual(E.left(unknown));
    const closed = { _tag: 'Unavailable', reason: 'closed' };
    for (const x of [2, 3]) {
      expect(await rig.queue.add(insert(rig, x))).toMatchObject(E.left(closed));
    }
    expect(rig.rows()).toEqual([]);
  });

  it('G5 SQ78 names a full disk, stores nothing of that append and goes on afterwards', async () => {
    const rig = rigOf();
    rig.fail('COMMIT', 13, 'instead');
    expect(await rig.queue.add(insert(rig, 1))).toMatchObject(E.left({ _tag: 'StorageFull' }));
    expect(await rig.queue.add(insert(rig, 2))).toEqual(E.right(2));
    expect(rig.rows()).toEqual([2]);
  });

  it('SQ79 tells all of a group that SQLite has undone by itself', async () => {
    const rig = rigOf();
    const first = rig.queue.add(insert(rig, 0));
    const ending: WriteJob<number> = {
      ...insert(rig, 2),
      run: () => {
        rig.db.exec('ROLLBACK');
        throw driverError(13);
      },
    };
    const answers = await Promise.all([
      rig.queue.add(insert(rig, 1)),
      rig.queue.add(ending),
      rig.queue.add(insert(rig, 3)),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(E.left({ _tag: 'StorageFull' }));
    await first;
    expect(await rig.queue.add(insert(rig, 4))).toEqual(E.right(4));
    expect(rig.rows()).toEqual([0, 4]);
  });

  it('SQ80 closes a group when it holds enough', async () => {
    const rig = rigOf();
    const jobs = [0, 1, 2, 3, 4].map((x) => rig.queue.add(insert(rig, x, 900_000)));
    await Promise.all(jobs);
    expect(rig.commits()).toBe(3);
  });

  it('SQ81 takes the jobs in the order in which they came', async () => {
    const rig = rigOf();
    const order: number[] = [];
    const noted = (x: number): WriteJob<number> => ({
      ...insert(rig, x),
      run: () => {
        order.push(x);
        return E.right(x);
      },
    });
    await Promise.all(countTo(600).map((x) => rig.queue.add(noted(x))));
    expect(order).toEqual(countTo(600));
  });

  it('SQ82 answers everything that waits before it is drained, and nothing after', async () => {
    const rig = rigOf();
    const jobs = countTo(10).map((x) => rig.queue.add(insert(rig, x)));
    await rig.queue.drain();
    expect((await Promise.all(jobs)).every(E.isRight)).toBe(true);
    const late = await rig.queue.add(insert(rig, 11));
    expect(late).toMatchObject(E.left({ _tag: 'Unavailable', reason: 'closed' }));
  });

  it('SQ83 gives up on a lock after the timeout, job by job', async () => {
    const rig = rigOf();
    const other = openDatabase(path.join(path.dirname(locationOf(rig)), 'queue.db'), {
      readOnly: false,
      blockMs: 0,
    });
    open.push(other);
    other.exec('BEGIN IMMEDIATE');
    const early = rig.queue.add(insert(rig, 1));
    await new Promise((resolve) => setTimeout(resolve, 70));
    const later = rig.queue.add(insert(rig, 2));
    expect(await early).toMatchObject(E.left({ _tag: 'StoreLocked' }));
    other.exec('ROLLBACK');
    expect(await later).toEqual(E.right(2));
    expect(rig.rows()).toEqual([2]);
  });
});

const locationOf = (rig: Rig): string => {
  const file = rig.db.sql('PRAGMA database_list').get()?.['file'];
  if (typeof file !== 'string') throw new Error('no file');
  return file;
};
