import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyFolder } from '../../../src/infra/stores/key-folder.js';
import { refusalOf, valueOf } from '../../../src/testing/answers.js';
import { tempFolder } from '../../support/temp-folder.js';

const folderOf = (): string => path.join(tempFolder('keys'), 'keys');

describe('secrets in a folder', () => {
  it('SQ90 writes a file for the owner alone, under a name that tells nothing', async () => {
    const folder = folderOf();
    const secret = await valueOf(keyFolder(folder).create('../../tenant'));
    const [name = '', ...others] = fs.readdirSync(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(/^tenant-[0-9a-f]{32}\.key$/);
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
    expect(Uint8Array.from(fs.readFileSync(path.join(folder, name)))).toEqual(secret);
  });

  it('SQ91 makes no folder for a question', async () => {
    const folder = folderOf();
    expect(await valueOf(keyFolder(folder).secret('tenant'))).toBeUndefined();
    expect(fs.existsSync(folder)).toBe(false);
  });

  it('SQ92 gives the secret that another node of the same folder made', async () => {
    const folder = folderOf();
    const [one, two] = [keyFolder(folder), keyFolder(folder)];
    const secrets = await Promise.all(
      [one, two, one, two].map((keys) => valueOf(keys.create('t'))),
    );
    for (const secret of secrets) expect(secret).toEqual(secrets[0]);
    expect(fs.readdirSync(folder)).toHaveLength(1);
  });

  it('SQ93 takes a damaged file for damage and never for a secret', async () => {
    const folder = folderOf();
    const keys = keyFolder(folder);
    await valueOf(keys.create('tenant'));
    const file = path.join(folder, fs.readdirSync(folder)[0] ?? '');
    for (const length of [0, 31, 33]) {
      fs.writeFileSync(file, Buffer.alloc(length, 1));
      const fault = { _tag: 'Damaged', check: 'seal' };
      expect(await refusalOf(keys.secret('tenant'))).toEqual(fault);
      expect(await refusalOf(keys.create('tenant'))).toEqual(fault);
    }
  });

  it('SQ94 says where it cannot be', async () => {
    const folder = tempFolder('keys');
    const taken = path.join(folder, 'file');
    fs.writeFileSync(taken, '');
    expect(await refusalOf(keyFolder(taken).create('tenant'))).toMatchObject({
      _tag: 'Unavailable',
      path: taken,
    });
  });
});
