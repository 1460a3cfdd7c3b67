import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { syncOf } from '../../../src/infra/stores/sqlite/connection.js';
import { openDatabase } from '../../../src/infra/stores/sqlite/driver.js';
import { openStore } from '../../../src/infra/stores/sqlite/open.js';
import { sqliteStores } from '../../../src/infra/stores/sqlite/sqlite-store.js';
import { refusalOf, valueOf } from '../../../src/testing/answers.js';
import { hasCaughtUp, hasEvents, readFeed } from '../../../src/testing/feed-reader.js';
import { countTo, fill, idsOf, readAll, sampleBatch } from '../../../src/testing/sample-events.js';
import { tempFolder } from '../../support/temp-folder.js';
import { openSqlite } from './sqlite-support.js';

const forwards = { stream: 'branch-a', direction: 'forwards', limit: 100, maxBytes: 1e9 } as const;

/** Runs SQL on the file as an outsider with an editor could. */
const meddle = (file: string, ...statements: readonly string[]): void => {
  const db = openDatabase(file, { readOnly: false, blockMs: 1_000 });
  try {
    for (const statement of statements) db.exec(statement);
  } finally {
    db.close();
  }
};

/** A closed store with ten events in one stream. */
const closedStore = async (): Promise<string> => {
  const stores = await openSqlite({ path: tempFolder('file') });
  await fill(stores.events, 'branch-a', 10);
  await valueOf(stores.blobs.put('tenant', 'name', Buffer.alloc(100_000, 7)));
  await valueOf(stores.events.close());
  return stores.file;
};

const dropGuards = 'DROP TRIGGER events_are_never_deleted; DROP TRIGGER events_are_never_changed';

describe('the file guards itself', () => {
  it('SQ40 refuses to change or delete an event, a stream or a blob', async () => {
    const file = await closedStore();
    for (const statement of [
      "UPDATE events SET data = x'00' WHERE position = 1",
      'DELETE FROM events WHERE position = 10',
      "UPDATE streams SET name = 'x'",
      'DELETE FROM streams',
      "UPDATE blobs SET bytes = x'00'",
    ]) {
      expect(() => {
        meddle(file, statement);
      }).toThrow(/never/);
    }
  });

  it('SQ41 syncs every commit, as it says after a write, and trusts no schema', async () => {
    for (const sync of ['full', 'normal'] as const) {
      const opened = await openStore({ path: tempFolder('file'), sync });
      if (opened._tag === 'Left') throw new Error(opened.left._tag);
      const { db } = opened.right;
      db.exec('BEGIN IMMEDIATE');
      db.exec('COMMIT');
      expect(syncOf(db)).toBe(sync);
      expect(db.sql('PRAGMA trusted_schema').get()).toMatchObject({ trusted_schema: 0 });
      expect(db.sql('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
      await opened.right.close();
    }
  });

  it('SQ42 gives gap-free positions, also after refused and undone appends', async () => {
    const stores = await openSqlite({ path: tempFolder('file') });
    await Promise.all([
      fill(stores.events, 'branch-a', 3),
      refusalOf(stores.events.append('branch-b', 7, sampleBatch('branch-b', 8, 3))),
      fill(stores.events, 'branch-c', 2),
    ]);
    await fill(stores.events, 'branch-a', 1, 3);
    const feed = readFeed(stores.events);
    await feed.until(hasEvents(6));
    await feed.stop();
    expect(feed.events().map(({ position }) => position)).toEqual(['1', '2', '3', '4', '5', '6']);
    await valueOf(stores.events.close());
  });

  it('SQ43 does not write any more when a later build has raised the schema', async () => {
    const stores = await openSqlite({ path: tempFolder('file') });
    await fill(stores.events, 'branch-a', 1);
    meddle(stores.file, 'PRAGMA user_version = 2');
    const append = stores.events.append('branch-a', 0, sampleBatch('branch-a', 1, 1));
    expect(await refusalOf(append)).toEqual({ _tag: 'ReadOnly', path: stores.file });
    expect(await readAll(stores.events, 'branch-a')).toHaveLength(1);
    await valueOf(stores.events.close());
  });

  it('SQ44 keeps its log short, and reads go on all the while', async () => {
    const stores = await openSqlite({ path: tempFolder('file'), sync: 'normal' });
    const data = JSON.stringify('x'.repeat(9_000));
    for (const turn of countTo(160)) {
      const batch = sampleBatch('branch-a', turn * 10, 10, { data });
      await valueOf(stores.events.append('branch-a', turn === 0 ? 'none' : turn * 10 - 1, batch));
      if (turn % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(fs.statSync(`${stores.file}-wal`).size).toBeLessThan(14_000_000);
    expect(fs.statSync(stores.file).size).toBeGreaterThan(8_000_000);
    expect(await readAll(stores.events, 'branch-a')).toHaveLength(1_600);
    await valueOf(stores.events.close());
  });
});

describe('read-only', () => {
  it('SQ45 reads everything, answers every write with ReadOnly and changes no byte', async () => {
    const file = await closedStore();
    const before = [fs.readFileSync(file), fs.readdirSync(path.dirname(file))];
    const stores = await openSqlite({ path: file, readOnly: true });
    expect(await readAll(stores.events, 'branch-a')).toHaveLength(10);
    expect(await valueOf(stores.blobs.get('tenant', 'name'))).toHaveLength(100_000);
    const readOnly = { _tag: 'ReadOnly' };
    const append = stores.events.append('branch-a', 9, sampleBatch('branch-a', 10, 1));
    expect(await refusalOf(append)).toMatchObject(readOnly);
    expect(await refusalOf(stores.blobs.put('t', 'n', Buffer.alloc(1)))).toMatchObject(readOnly);
    expect(await refusalOf(stores.snapshots.put('n', 'v'))).toMatchObject(readOnly);
    expect(await refusalOf(stores.keyStore.create('tenant'))).toMatchObject(readOnly);
    await valueOf(stores.events.close());
    expect([fs.readFileSync(file), fs.readdirSync(path.dirname(file))]).toEqual(before);
  });

  it('SQ46 sees what a writer appends, before and after it', async () => {
    const file = await closedStore();
    const reader = await openSqlite({ path: file, readOnly: true });
    const feed = readFeed(reader.events);
    await feed.until(hasCaughtUp);
    const writer = await openSqlite({ path: file });
    await fill(writer.events, 'branch-a', 2, 10);
    await feed.until(hasEvents(12));
    await valueOf(writer.events.close());
    expect(await readAll(reader.events, 'branch-a')).toHaveLength(12);
    await feed.stop();
    await valueOf(reader.events.close());
  });
});

describe('damage', () => {
  it('B44 SQ50 finds a deleted event at its place, and reads what stands around it', async () => {
    const file = await closedStore();
    meddle(file, dropGuards, 'DELETE FROM events WHERE revision = 4');
    const { events } = await openSqlite({ path: file, readOnly: true });
    const page = await valueOf(events.read({ ...forwards, from: 'start' }));
    expect([page.events.length, page.next]).toEqual([4, 4]);
    expect(await refusalOf(events.read({ ...forwards, from: 4 }))).toEqual({
      _tag: 'Damaged',
      stream: 'branch-a',
      revision: 4,
      check: 'order',
    });
    const rest = await valueOf(events.read({ ...forwards, from: 5 }));
    expect(rest.events.map(({ revision }) => revision)).toEqual([5, 6, 7, 8, 9]);
    const back = await valueOf(events.read({ ...forwards, from: 'end', direction: 'backwards' }));
    expect([back.events.length, back.next]).toEqual([5, 4]);
    const feed = readFeed(events);
    await feed.ended;
    expect(feed.events()).toHaveLength(4);
    expect(feed.items.at(-1)).toEqual({
      _tag: 'Fault',
      fault: { _tag: 'Damaged', check: 'order' },
    });
    await valueOf(events.close());
  });

  it('B44 SQ51 notices a position that an older copy of the file never reached', async () => {
    const file = await closedStore();
    const copy = path.join(tempFolder('file'), 'older.db');
    fs.copyFileSync(file, copy);
    const newer = await openSqlite({ path: file });
    await fill(newer.events, 'branch-a', 3, 10);
    const after = (await readAll(newer.events, 'branch-a')).at(-1)?.position ?? '';
    const identity = await valueOf(newer.events.identity());
    await valueOf(newer.events.close());
    const { events } = await openSqlite({ path: copy });
    const feed = readFeed(events, { after });
    await feed.ended;
    expect(feed.items).toEqual([
      { _tag: 'Fault', fault: { _tag: 'StoreChanged', ...identity, position: after } },
    ]);
    await valueOf(events.close());
  });

  it('B42 SQ52 names the event whose row has another shape, and reads the others', async () => {
    const file = await closedStore();
    meddle(
      file,
      dropGuards,
      "UPDATE events SET hash = x'00' WHERE revision = 2",
      "UPDATE events SET data = x'ff00fe' WHERE revision = 6",
    );
    const { events } = await openSqlite({ path: file });
    const page = await valueOf(events.read({ ...forwards, from: 'start' }));
    expect([page.events.length, page.next]).toEqual([2, 2]);
    const damaged = { _tag: 'Damaged', stream: 'branch-a', revision: 2, check: 'payload' };
    expect(await refusalOf(events.read({ ...forwards, from: 2 }))).toEqual(damaged);
    const rest = await valueOf(events.read({ ...forwards, from: 3 }));
    expect(rest.events.map(({ revision }) => revision)).toEqual([3, 4, 5, 6, 7, 8, 9]);
    // Bytes that are no UTF-8 any more are given as what they now are: the hash check finds them.
    expect(rest.events[3]?.data).toBe('\ufffd\u0000\ufffd');
    const feed = readFeed(events);
    await feed.ended;
    expect(feed.items.at(-1)).toEqual({ _tag: 'Fault', fault: damaged });
    await valueOf(events.close());
  });

  it('G13 SQ53 reads up to a broken page, and the rest behind it', async () => {
    const stores = await openSqlite({ path: tempFolder('file') });
    for (const revision of countTo(30)) {
      const data = String.fromCharCode(0x41 + revision).repeat(20_000);
      const batch = sampleBatch('branch-a', revision, 1, { data });
      await valueOf(
        stores.events.append('branch-a', revision === 0 ? 'none' : revision - 1, batch),
      );
    }
    await valueOf(stores.events.close());
    const broken = path.join(tempFolder('file'), 'broken.db');
    fs.copyFileSync(stores.file, broken);
    breakOverflowOf(broken, String.fromCharCode(0x41 + 11));
    const { events } = await openSqlite({ path: broken, readOnly: true });
    const page = await valueOf(events.read({ ...forwards, from: 'start' }));
    expect(page.events.map(({ revision }) => revision)).toEqual(countTo(11));
    expect(await refusalOf(events.read({ ...forwards, from: 11 }))).toEqual({
      _tag: 'Damaged',
      stream: 'branch-a',
      revision: 11,
      check: 'payload',
    });
    const rest = await valueOf(events.read({ ...forwards, from: 12 }));
    expect(rest.events).toHaveLength(18);
    await valueOf(events.close());
  });
});

const PAGE_BYTES = 4_096;

/** Points an overflow page that is full of this letter to a next page that is not there. */
const breakOverflowOf = (file: string, letter: string): void => {
  const bytes = fs.readFileSync(file);
  const payload = Buffer.from(letter.repeat(PAGE_BYTES - 4));
  for (let at = 0; at < bytes.length; at += PAGE_BYTES) {
    // Such a page begins with the number of the next one and is all payload behind it.
    if (!bytes.subarray(at + 4, at + PAGE_BYTES).equals(payload)) continue;
    bytes.writeUInt32BE(0x7fffffff, at);
    fs.writeFileSync(file, bytes);
    return;
  }
  throw new Error('no overflow page of this event');
};

describe('backup', () => {
  it('G15 SQ60 copies a store while it is written, and the copy is a closed store of its own', async () => {
    const stores = await openSqlite({ path: tempFolder('file') });
    await fill(stores.events, 'branch-a', 200);
    const folder = tempFolder('file');
    let isWriting = true;
    const write = async (): Promise<void> => {
      for (let revision = 200; isWriting; revision += 1) {
        await fill(stores.events, 'branch-a', 1, revision);
      }
    };
    const writing = write();
    for (const turn of countTo(5)) {
      await valueOf(stores.backup(path.join(folder, `copy-${turn}.db`)));
    }
    isWriting = false;
    await writing;
    const all = await readAll(stores.events, 'branch-a');
    expect(fs.readdirSync(folder)).toHaveLength(5);
    let shortest = 200;
    for (const turn of countTo(5)) {
      const file = path.join(folder, `copy-${turn}.db`);
      expect((fs.statSync(file).mode & 0o777).toString(8)).toBe('600');
      const copy = await openSqlite({ path: file });
      expect(await valueOf(copy.events.identity())).toEqual(
        await valueOf(stores.events.identity()),
      );
      const copied = await readAll(copy.events, 'branch-a');
      expect(idsOf(copied)).toEqual(idsOf(all.slice(0, copied.length)));
      expect(copied.length).toBeGreaterThanOrEqual(shortest);
      shortest = copied.length;
      await valueOf(copy.events.close());
    }
    await valueOf(stores.events.close());
  });

  it('B62 SQ61 never overwrites, and leaves nothing behind where it fails', async () => {
    const stores = await openSqlite({ path: tempFolder('file') });
    const folder = tempFolder('file');
    const target = path.join(folder, 'taken');
    fs.writeFileSync(target, 'mine');
    expect(await refusalOf(stores.backup(target))).toEqual({ _tag: 'TargetExists', path: target });
    expect(fs.readFileSync(target, 'utf8')).toBe('mine');
    const nowhere = path.join(folder, 'missing', 'copy.db');
    expect(await refusalOf(stores.backup(nowhere))).toMatchObject({ _tag: 'Unavailable' });
    expect(fs.readdirSync(folder)).toEqual(['taken']);
    await valueOf(stores.events.close());
  });

  it('SQ62 moves the log into the file when it is asked to', async () => {
    const stores = await openSqlite({ path: tempFolder('file') });
    await fill(stores.events, 'branch-a', 500);
    expect(await valueOf(stores.checkpoint())).toBe(true);
    expect(fs.statSync(stores.file).size).toBeGreaterThan(100_000);
    // The file alone now says that there may be more in its log; whoever reads both is not told so.
    const copy = path.join(tempFolder('file'), 'copy.db');
    fs.copyFileSync(stores.file, copy);
    expect(await refusalOf(sqliteStores({ path: copy }))).toMatchObject({ _tag: 'WalMissing' });
    const db = openDatabase(stores.file, { readOnly: true, blockMs: 1_000 });
    expect(db.sql('PRAGMA user_version').get()).toMatchObject({ user_version: 1 });
    db.close();
    await valueOf(stores.events.close());
    expect(await refusalOf(stores.checkpoint())).toMatchObject({ _tag: 'Unavailable' });
    const again = await valueOf(sqliteStores({ path: stores.file }));
    expect(await readAll(again.events, 'branch-a')).toHaveLength(500);
    await valueOf(again.events.close());
  });
});
