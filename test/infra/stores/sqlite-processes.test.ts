import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/infra/stores/sqlite/driver.js';
import { sqliteStores } from '../../../src/infra/stores/sqlite/sqlite-store.js';
import { refusalOf, valueOf } from '../../../src/testing/answers.js';
import { hasCaughtUp, hasEvents, readFeed } from '../../../src/testing/feed-reader.js';
import { countTo, fill, readAll, sampleBatch } from '../../../src/testing/sample-events.js';
import { tempFolder } from '../../support/temp-folder.js';
import { startChild } from './child-process.js';
import { openSqlite } from './sqlite-support.js';

const newFolder = (): string => path.join(tempFolder('processes'), 'store');

// Starting a process takes its time on a machine that has much else to do.
describe('several processes on one file', { timeout: 120_000 }, () => {
  it('G6 SQ1 lets exactly one process have a revision, without a gap and without a raw error', async () => {
    const folder = newFolder();
    const children = countTo(4).map((name) => startChild('compete', folder, `p${name}`, '60'));
    for (const child of children) expect(await child.exited).toBe(0);
    const stores = await openSqlite({ path: folder });
    const stored = await readAll(stores.events, 'branch-shared');
    expect(stored.map(({ revision }) => revision)).toEqual(countTo(240));
    expect(stored.map(({ position }) => Number(position))).toEqual(
      countTo(240).map((at) => at + 1),
    );
    for (const [name, child] of children.entries()) {
      expect(stored.filter(({ data }) => data === `"p${name}"`)).toHaveLength(60);
      const { refused } = await child.line('appended');
      expect(Object.keys(refused as object).filter((tag) => tag !== 'WrongRevision')).toEqual([]);
    }
    await valueOf(stores.events.close());
  });

  it('SQ2 makes one store when several processes make it at once', async () => {
    const folder = newFolder();
    const children = countTo(4).map(() => startChild('secret', folder, 'tenant'));
    for (const child of children) expect(await child.exited).toBe(0);
    const opened = await Promise.all(children.map((child) => child.line('opened')));
    expect(new Set(opened.map((line) => JSON.stringify(line))).size).toBe(1);
    const secrets = await Promise.all(children.map((child) => child.line('secret')));
    expect(new Set(secrets.map((line) => line['secret'])).size).toBe(1);
    expect(fs.readdirSync(folder).toSorted()).toEqual(['keys', 'store.db']);
  });

  it('G2 SQ3 keeps every acknowledged append of a process that was killed', async () => {
    const folder = newFolder();
    for (const turn of countTo(4)) {
      const child = startChild('append', folder, 'branch-a');
      await child.line('acknowledged');
      await delay(30 + turn * 20);
      child.process.kill('SIGKILL');
      expect(await child.exited).toBe('SIGKILL');
      const acknowledged = child.lines[child.lines.length - 1]?.['acknowledged'] as number;
      const stores = await openSqlite({ path: folder });
      const stored = await readAll(stores.events, 'branch-a');
      expect(stored.length).toBeGreaterThan(acknowledged);
      expect(stored.length % 3).toBe(0);
      expect(stored.map(({ revision }) => revision)).toEqual(countTo(stored.length));
      await valueOf(stores.events.close());
    }
  });

  it('G11 SQ4 gives live what another process appends', async () => {
    const folder = newFolder();
    const stores = await openSqlite({ path: folder });
    const feed = readFeed(stores.events);
    await feed.until(hasCaughtUp);
    const child = startChild('compete', folder, 'p', '20');
    await feed.until(hasEvents(20));
    expect(await child.exited).toBe(0);
    await feed.stop();
    expect(feed.events().map(({ revision }) => revision)).toEqual(countTo(20));
    await valueOf(stores.events.close());
  });

  it('B50 SQ5 waits for the lock of another process without holding up this one, then says so', async () => {
    const folder = newFolder();
    const stores = await openSqlite({ path: folder, busyTimeoutMs: 300 });
    const holder = openDatabase(stores.file, { readOnly: false, blockMs: 0 });
    holder.exec('BEGIN IMMEDIATE');
    let longest = 0;
    let before = performance.now();
    const heart = setInterval(() => {
      longest = Math.max(longest, performance.now() - before);
      before = performance.now();
    }, 1);
    const append = stores.events.append('branch-a', 'none', sampleBatch('branch-a', 0, 1));
    expect(await refusalOf(append)).toEqual({ _tag: 'StoreLocked', path: stores.file });
    const waiting = valueOf(append);
    await delay(50);
    holder.exec('ROLLBACK');
    expect(await waiting).toMatchObject({ first: 0, last: 0 });
    clearInterval(heart);
    expect(longest).toBeLessThan(150);
    holder.close();
    await valueOf(stores.events.close());
  });

  it('B50 SQ6 is not opened for writing while another process holds it', async () => {
    const folder = newFolder();
    const { file, events } = await openSqlite({ path: folder });
    await valueOf(events.close());
    const holder = openDatabase(file, { readOnly: false, blockMs: 0 });
    holder.exec('BEGIN EXCLUSIVE');
    expect(await refusalOf(sqliteStores({ path: folder, busyTimeoutMs: 100 }))).toEqual({
      _tag: 'StoreLocked',
      path: file,
    });
    holder.exec('ROLLBACK');
    holder.close();
    const again = await openSqlite({ path: folder });
    await valueOf(again.events.close());
  });

  it('B45 SQ7 finds its log again after any order of closing', async () => {
    const folder = newFolder();
    const stores = await openSqlite({ path: folder });
    const child = startChild('stay', folder, '300');
    await child.line('opened');
    await fill(stores.events, 'branch-a', 3);
    await valueOf(stores.events.close());
    expect(await child.exited).toBe(0);
    const again = await openSqlite({ path: folder });
    expect(await readAll(again.events, 'branch-a')).toHaveLength(3);
    await valueOf(again.events.close());
  });

  it('B45 SQ8 finds its log again after processes that closed at the same moment', async () => {
    const folder = newFolder();
    for (const _ of countTo(3)) {
      const children = countTo(3).map(() => startChild('stay', folder, '100'));
      for (const child of children) expect(await child.exited).toBe(0);
      const stores = await openSqlite({ path: folder });
      await valueOf(stores.events.close());
    }
  });

  it('SQ9 takes over a store that a process left without closing it', async () => {
    const folder = newFolder();
    expect(await startChild('leave', folder).exited).toBe(0);
    const stores = await openSqlite({ path: folder });
    await fill(stores.events, 'branch-a', 1);
    await valueOf(stores.events.close());
    expect(fs.existsSync(`${stores.file}-wal`)).toBe(false);
  });
});
