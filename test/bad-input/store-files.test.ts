import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStemma, type OpenOptions } from '../../src/index.js';
import { tempFolder } from '../support/temp-folder.js';
import { faultOf, loose } from './support.js';

const bytesBelow = (folder: string): readonly string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
    .map((file) => `${file} ${fs.readFileSync(file).toString('base64')}`);

/** The fault of opening a store here, which must leave every file as it is. */
const opening = async (folder: string, options: OpenOptions) => {
  const before = bytesBelow(folder);
  const fault = await faultOf(() => openStemma(options));
  expect(bytesBelow(folder)).toEqual(before);
  return fault;
};

const sqlite = async (): Promise<{ readonly folder: string; readonly file: string }> => {
  const folder = tempFolder('bad-store');
  const file = path.join(folder, 'store.db');
  const stemma = await openStemma({ store: file });
  const branch = await stemma.start({ id: 'conversation' });
  await branch.append({ role: 'user', content: 'x' });
  await stemma.close();
  return { folder, file };
};

describe('a store that is none', () => {
  it('B46 refuses a directory in place of the file', async () => {
    const folder = tempFolder('bad-store');
    const file = path.join(folder, 'store.db');
    fs.mkdirSync(file);
    expect(await opening(folder, { store: file })).toEqual({
      _tag: 'NotAStore',
      path: file,
      found: 'directory',
    });
  });

  it('B46 refuses a link, whether or not it leads to a store', async () => {
    const { folder, file } = await sqlite();
    for (const [name, target] of [
      ['link.db', file],
      ['dangling.db', path.join(folder, 'nothing.db')],
    ] as const) {
      const link = path.join(folder, name);
      fs.symlinkSync(target, link);
      expect(await faultOf(() => openStemma({ store: link }))).toEqual({
        _tag: 'NotAStore',
        path: link,
        found: 'link',
      });
    }
    expect(fs.existsSync(path.join(folder, 'nothing.db'))).toBe(false);
  });

  it.each<[string, Uint8Array, string]>([
    ['an empty file', new Uint8Array(0), 'empty'],
    [
      'random bytes',
      Uint8Array.from({ length: 8_192 }, (_, i) => (i * 7_919 + 13) % 256),
      'random',
    ],
    ['a text', Buffer.from('hello\n'), 'random'],
    ['only the name of the format', Buffer.from('SQLite format 3\u0000'), 'random'],
    ['zeros', new Uint8Array(65_536), 'random'],
  ])('B46 refuses %s', async (_what, bytes, found) => {
    const folder = tempFolder('bad-store');
    const file = path.join(folder, 'store.db');
    fs.writeFileSync(file, bytes);
    for (const readOnly of [false, true]) {
      expect(await opening(folder, { store: file, readOnly })).toMatchObject({
        _tag: 'NotAStore',
        path: file,
        found,
      });
    }
  });

  it('B46 refuses a database of something else', async () => {
    const folder = tempFolder('bad-store');
    const file = path.join(folder, 'store.db');
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const other = new DatabaseSync(file);
    other.exec('CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT)');
    other.close();
    expect(await opening(folder, { store: file })).toEqual({
      _tag: 'NotAStore',
      path: file,
      found: 'other_schema',
    });
  });

  it('B46 refuses a store of a newer schema, and tells both versions', async () => {
    const { folder, file } = await sqlite();
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const database = new DatabaseSync(file);
    const row = database.prepare('PRAGMA user_version').get() as { readonly user_version: number };
    database.exec(`PRAGMA user_version = ${String(row.user_version + 1)}`);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    expect(await opening(folder, { store: file })).toEqual({
      _tag: 'StoreTooNew',
      schema: row.user_version + 1,
      supported: row.user_version,
    });
  });

  it('B46 refuses a store without its keys, and one with others', async () => {
    const { file, folder } = await sqlite();
    const keys = path.join(folder, 'keys');
    expect(fs.existsSync(keys)).toBe(true);
    fs.renameSync(keys, path.join(folder, 'elsewhere'));
    const missing = await faultOf(() => openStemma({ store: file }));
    expect(missing._tag).toBe('KeysMissing');
    const other = await sqlite();
    fs.rmSync(keys, { recursive: true, force: true });
    fs.cpSync(path.join(other.folder, 'keys'), keys, { recursive: true });
    const mismatch = await faultOf(() => openStemma({ store: file }));
    expect(mismatch._tag).toBe('KeysMismatch');
    expect(JSON.stringify([missing, mismatch]).length).toBeLessThan(400);
  });

  it.each<[string, object, string, string]>([
    ['a misspelt option', { path: 'x' }, 'path', 'unknown_option'],
    ['a date as clock', { now: new Date() }, 'now', 'wrong_type'],
    ['stores without their parts', { store: { events: {} } }, 'store', 'wrong_type'],
    ['null as store', { store: null }, 'store', 'wrong_type'],
    ['an unknown actor', { as: { kind: 'root' } }, 'as', 'unknown_value'],
    ['a number as store', { store: 5 }, 'store', 'wrong_type'],
    ['an empty store', { store: '' }, 'store', 'missing'],
    ['a text as readOnly', { readOnly: 'no' }, 'readOnly', 'wrong_type'],
  ])('B46 refuses %s', async (_what, options, name, reason) => {
    const open = () => openStemma(loose({ store: 'memory:', ...options }));
    expect(await faultOf(open)).toEqual({ _tag: 'InvalidArgument', name, reason });
  });

  it.each([5, null, '', ' ', {}])('B46 opens nothing for the tenant %j', async (tenant) => {
    const open = () => openStemma({ store: 'memory:', tenant: loose(tenant) });
    expect(await faultOf(open)).toEqual({ _tag: 'Forbidden', action: 'open' });
  });

  it('B46 makes no store where it may only read', async () => {
    const folder = tempFolder('bad-store');
    const file = path.join(folder, 'store.db');
    const fault = await faultOf(() => openStemma({ store: file, readOnly: true }));
    expect(['NotAStore', 'Unavailable', 'NotFound', 'ReadOnly']).toContain(fault._tag);
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});
