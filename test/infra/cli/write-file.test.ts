import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isStemmaError } from '../../../src/face/stemma-error.js';
import type { Io } from '../../../src/infra/cli/io.js';
import { writeFile } from '../../../src/infra/cli/write-file.js';
import { tempFolder } from '../../support/temp-folder.js';

const callIn = (cwd: string, signal = new AbortController().signal) => ({
  io: { cwd, signal } as Io,
});

const fault = async (task: Promise<unknown>): Promise<unknown> => {
  try {
    await task;
  } catch (error) {
    if (isStemmaError(error)) return error.data;
    throw error;
  }
  return undefined;
};

describe('a file that is written', () => {
  it('B62 is whole, readable by its owner alone, and counted in bytes', async () => {
    const folder = tempFolder();
    const written = await writeFile(callIn(folder), 'out.txt', ['订单', ' 8812\n'], false);
    expect(written).toEqual({ path: path.join(folder, 'out.txt'), bytes: 12 });
    expect(fs.readFileSync(written.path, 'utf8')).toBe('订单 8812\n');
    expect(fs.statSync(written.path).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(folder)).toEqual(['out.txt']);
  });

  it('B62 leaves an existing file as it is, unless it is told to', async () => {
    const folder = tempFolder();
    fs.writeFileSync(path.join(folder, 'out.txt'), 'old');
    expect(await fault(writeFile(callIn(folder), 'out.txt', ['new'], false))).toEqual({
      _tag: 'TargetExists',
      path: 'out.txt',
    });
    expect(fs.readFileSync(path.join(folder, 'out.txt'), 'utf8')).toBe('old');
    await writeFile(callIn(folder), 'out.txt', ['new'], true);
    expect(fs.readFileSync(path.join(folder, 'out.txt'), 'utf8')).toBe('new');
    expect(fs.readdirSync(folder)).toEqual(['out.txt']);
  });

  it('B62 does not follow a link that is in the way', async () => {
    const folder = tempFolder();
    fs.writeFileSync(path.join(folder, 'precious'), 'old');
    fs.symlinkSync('precious', path.join(folder, 'out.txt'));
    expect(await fault(writeFile(callIn(folder), 'out.txt', ['new'], false))).toMatchObject({
      _tag: 'TargetExists',
    });
    await writeFile(callIn(folder), 'out.txt', ['new'], true);
    expect(fs.readFileSync(path.join(folder, 'precious'), 'utf8')).toBe('old');
  });

  it.each([
    ['folder', 'directory'],
    ['missing/out.txt', 'no_parent'],
    ['file/out.txt', 'no_parent'],
  ])('B62 refuses %s (%s)', async (name, reason) => {
    const folder = tempFolder();
    fs.mkdirSync(path.join(folder, 'folder'));
    fs.writeFileSync(path.join(folder, 'file'), '');
    for (const force of [false, true]) {
      expect(await fault(writeFile(callIn(folder), name, ['x'], force))).toEqual({
        _tag: 'TargetUnwritable',
        path: name,
        reason,
      });
    }
    expect(fs.readdirSync(folder).sort()).toEqual(['file', 'folder']);
  });

  it('B62 leaves nothing behind when the source breaks off', async () => {
    const folder = tempFolder();
    async function* parts(): AsyncGenerator<string> {
      yield 'half';
      await Promise.resolve();
      throw new Error('broken off');
    }
    await expect(writeFile(callIn(folder), 'out.txt', parts(), false)).rejects.toThrow(
      'broken off',
    );
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('B62 leaves nothing behind when it is interrupted', async () => {
    const folder = tempFolder();
    const stop = new AbortController();
    async function* parts(): AsyncGenerator<string> {
      yield 'half';
      stop.abort();
      await Promise.resolve();
      // The draft goes at once: the process may end before anything else runs.
      expect(fs.readdirSync(folder)).toEqual([]);
      yield 'rest';
    }
    const task = writeFile(callIn(folder, stop.signal), 'out.txt', parts(), false);
    expect(await fault(task)).toEqual({ _tag: 'Cancelled' });
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('B62 lets one of two writers win', async () => {
    const folder = tempFolder();
    async function* slow(text: string): AsyncGenerator<string> {
      yield text;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const results = await Promise.all(
      ['a', 'b'].map((text) => fault(writeFile(callIn(folder), 'out.txt', slow(text), false))),
    );
    expect(results.filter((result) => result === undefined)).toHaveLength(1);
    expect(results).toContainEqual({ _tag: 'TargetExists', path: 'out.txt' });
    expect(fs.readdirSync(folder)).toEqual(['out.txt']);
  });
});
