import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/infra/stores/sqlite/driver.js';
import { filesystemVerdict, isSafeSqlite } from '../../../src/infra/stores/sqlite/file-checks.js';
import { sqliteStores } from '../../../src/infra/stores/sqlite/sqlite-store.js';
import { refusalOf, valueOf } from '../../../src/testing/answers.js';
import { fill, readAll, sampleBatch } from '../../../src/testing/sample-events.js';
import { tempFolder } from '../../support/temp-folder.js';
import { startChild } from './child-process.js';
import { openSqlite } from './sqlite-support.js';

/** Name, kind, mode and content of everything below a folder: what must not change. */
const pictureOf = (folder: string): readonly string[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name);
      const stats = fs.lstatSync(file);
      const content = stats.isFile()
        ? createHash('sha256').update(fs.readFileSync(file)).digest('hex')
        : '';
      return `${name} ${stats.mode} ${content}`;
    });

/** A closed store with a few events. */
const closedStore = async (folder = tempFolder('open')): Promise<string> => {
  const stores = await openSqlite({ path: folder });
  await fill(stores.events, 'branch-a', 5);
  await valueOf(stores.events.close());
  return stores.file;
};

/** The files of a store whose process was killed, in a folder of their own. */
const abandonedStore = async (): Promise<string> => {
  const folder = path.join(tempFolder('open'), 'store');
  const child = startChild('append', folder, 'branch-a');
  await child.line('acknowledged');
  child.process.kill('SIGKILL');
  await child.exited;
  return path.join(folder, 'store.db');
};

describe('what is no store is refused and not changed', () => {
  const cases: readonly {
    readonly found: string;
    readonly make: (file: string) => void;
  }[] = [
    { found: 'directory', make: (file) => fs.mkdirSync(file) },
    { found: 'empty', make: (file) => fs.writeFileSync(file, '') },
    { found: 'random', make: (file) => fs.writeFileSync(file, 'no database') },
    { found: 'random', make: (file) => fs.writeFileSync(file, Buffer.alloc(8_192, 0x5a)) },
    {
      found: 'other_schema',
      make: (file) => {
        const db = openDatabase(file, { readOnly: false, blockMs: 0 });
        db.exec('PRAGMA journal_mode = WAL');
        db.exec('CREATE TABLE events (id INTEGER PRIMARY KEY, version INTEGER)');
        db.exec('PRAGMA user_version = 1');
        db.close();
      },
    },
    {
      found: 'link',
      make: (file) => {
        fs.writeFileSync(`${file}.target`, '');
        fs.symlinkSync(`${file}.target`, file);
      },
    },
    { found: 'link', make: (file) => fs.symlinkSync(`${file}.nowhere`, file) },
  ];
  for (const [index, { found, make }] of cases.entries()) {
    for (const readOnly of [false, true]) {
      it(`B46 SQ20.${index} names ${found}${readOnly ? ', also read-only' : ''}`, async () => {
        const folder = tempFolder('open');
        const file = path.join(folder, 'x.db');
        make(file);
        const before = pictureOf(folder);
        expect(await refusalOf(sqliteStores({ path: file, readOnly }))).toEqual({
          _tag: 'NotAStore',
          path: file,
          found,
        });
        expect(pictureOf(folder)).toEqual(before);
      });
    }
  }

  it('B46 SQ21 refuses a store whose log is a link', async () => {
    const file = await closedStore();
    fs.symlinkSync('/nowhere', `${file}-wal`);
    expect(await refusalOf(sqliteStores({ path: file }))).toMatchObject({ found: 'link' });
  });

  it('B46 SQ22 refuses a later schema', async () => {
    const file = await closedStore();
    const db = openDatabase(file, { readOnly: false, blockMs: 0 });
    // Left in write-ahead mode, where a connection would put a log beside the file.
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA user_version = 9');
    db.close();
    const copy = path.join(tempFolder('open'), 'later.db');
    fs.copyFileSync(file, copy);
    const before = pictureOf(path.dirname(copy));
    for (const readOnly of [false, true]) {
      expect(await refusalOf(sqliteStores({ path: copy, readOnly }))).toEqual({
        _tag: 'StoreTooNew',
        schema: 9,
        supported: 1,
      });
    }
    expect(pictureOf(path.dirname(copy))).toEqual(before);
  });

  it('B47 SQ23 names the path where nothing can be', async () => {
    const folder = tempFolder('open');
    fs.writeFileSync(path.join(folder, 'file'), '');
    const below = path.join(folder, 'file', 'store.db');
    expect(await refusalOf(sqliteStores({ path: below }))).toMatchObject({
      _tag: 'Unavailable',
      reason: 'path',
    });
    const missing = path.join(folder, 'missing');
    expect(await refusalOf(sqliteStores({ path: missing, readOnly: true }))).toMatchObject({
      _tag: 'Unavailable',
      reason: 'path',
    });
    expect(fs.existsSync(missing)).toBe(false);
    const empty = tempFolder('open');
    expect(await refusalOf(sqliteStores({ path: empty, readOnly: true }))).toMatchObject({
      _tag: 'Unavailable',
      reason: 'path',
    });
    expect(fs.readdirSync(empty)).toEqual([]);
  });

  it('SQ24 refuses options that mean nothing', async () => {
    for (const path of ['', 'a\u0000b']) {
      expect(await refusalOf(sqliteStores({ path }))).toMatchObject({
        _tag: 'InvalidArgument',
        name: 'path',
      });
    }
    for (const busyTimeoutMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const options = { path: tempFolder('open'), busyTimeoutMs };
      expect(await refusalOf(sqliteStores(options))).toMatchObject({ name: 'busyTimeoutMs' });
    }
  });
});

describe('a log that is gone', { timeout: 120_000 }, () => {
  it('B45 SQ25 is missed when a store that was not closed is copied without it', async () => {
    const file = await abandonedStore();
    const folder = tempFolder('open');
    const copy = path.join(folder, 'store.db');
    fs.copyFileSync(file, copy);
    const before = pictureOf(folder);
    for (const readOnly of [false, true]) {
      expect(await refusalOf(sqliteStores({ path: copy, readOnly }))).toEqual({
        _tag: 'WalMissing',
        path: copy,
      });
    }
    expect(pictureOf(folder)).toEqual(before);
  });

  it('B45 SQ26 is missed when it was deleted, and every time again', async () => {
    const file = await abandonedStore();
    fs.rmSync(`${file}-wal`);
    for (const _ of [1, 2, 3]) {
      expect(await refusalOf(sqliteStores({ path: file }))).toMatchObject({ _tag: 'WalMissing' });
    }
  });

  it('B45 SQ27 lets the rest be read with salvage, which makes nothing look well again', async () => {
    const file = await abandonedStore();
    fs.rmSync(`${file}-wal`);
    fs.rmSync(`${file}-shm`, { force: true });
    const stores = await openSqlite({ path: file, salvage: true });
    expect(await readAll(stores.events, 'branch-a')).toEqual([]);
    const append = stores.events.append('branch-a', 'none', sampleBatch('branch-a', 0, 1));
    expect(await refusalOf(append)).toEqual({ _tag: 'ReadOnly', path: file });
    await valueOf(stores.events.close());
    expect(await refusalOf(sqliteStores({ path: file }))).toMatchObject({ _tag: 'WalMissing' });
  });

  it('SQ28 is not missed in a store that was closed, nor in one that was left with its log', async () => {
    const closed = await closedStore();
    const copy = path.join(tempFolder('open'), 'copy.db');
    fs.copyFileSync(closed, copy);
    const left = await abandonedStore();
    for (const file of [copy, left]) {
      const stores = await openSqlite({ path: file });
      expect((await readAll(stores.events, 'branch-a')).length).toBeGreaterThan(0);
      await valueOf(stores.events.close());
    }
  });

  it('SQ29 is not missed when another program has moved it into the file', async () => {
    const file = await abandonedStore();
    const db = openDatabase(file, { readOnly: false, blockMs: 0 });
    db.exec('SELECT * FROM store');
    db.close();
    expect(fs.existsSync(`${file}-wal`)).toBe(false);
    const stores = await openSqlite({ path: file });
    expect((await readAll(stores.events, 'branch-a')).length).toBeGreaterThan(0);
    await valueOf(stores.events.close());
  });
});

describe('the place of a store', () => {
  it('SQ30 is store.db in a folder, with the keys beside it, for the owner alone', async () => {
    const folder = path.join(tempFolder('open'), 'a', 'b');
    const stores = await openSqlite({ path: folder });
    await fill(stores.events, 'branch-a', 1);
    await valueOf(stores.keyStore.create('tenant'));
    const modeOf = (name: string): string =>
      (fs.statSync(path.join(folder, name)).mode & 0o777).toString(8);
    expect(stores.file).toBe(path.join(folder, 'store.db'));
    expect(modeOf('.')).toBe('700');
    expect(modeOf('keys')).toBe('700');
    for (const name of ['store.db', 'store.db-wal', 'store.db-shm'])
      expect(modeOf(name)).toBe('600');
    for (const name of fs.readdirSync(path.join(folder, 'keys'))) {
      expect(modeOf(path.join('keys', name))).toBe('600');
    }
    await valueOf(stores.events.close());
    expect(fs.readdirSync(folder).toSorted()).toEqual(['keys', 'store.db']);
  });

  it('SQ31 is the file that is named', async () => {
    const folder = tempFolder('open');
    const stores = await openSqlite({ path: path.join(folder, 'notes.db') });
    await valueOf(stores.keyStore.create('tenant'));
    await valueOf(stores.events.close());
    expect(fs.readdirSync(folder).toSorted()).toEqual(['keys', 'notes.db']);
  });

  it('B48 SQ32 is refused on a file system that hosts share, named on an overlay', () => {
    for (const [type, filesystem] of [
      [0x6969, 'nfs'],
      [0xff534d42, 'cifs'],
      [-11317950, 'cifs'],
      [0x01021997, '9p'],
      [0x65735546, 'fuse'],
    ] as const) {
      expect(filesystemVerdict(type)).toEqual({ filesystem, isRefused: true });
    }
    expect(filesystemVerdict(0x794c7630)).toEqual({ filesystem: 'overlay', isRefused: false });
    for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994]) {
      expect(filesystemVerdict(type)).toBeUndefined();
    }
  });

  it('B49 SQ33 knows the SQLite releases that lose commits of several processes', () => {
    const unsafe = ['3.7.0', '3.44.5', '3.49.2', '3.50.6', '3.51.2', '3.45.9', '', 'x'];
    const safe = ['3.44.6', '3.50.7', '3.51.3', '3.52.0', '3.53.4', '4.0.0'];
    expect(unsafe.filter(isSafeSqlite)).toEqual([]);
    expect(safe.filter((version) => !isSafeSqlite(version))).toEqual([]);
  });
});
