import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileIfChanged, library } from '../../scripts/compile.mjs';
import { tempFolder } from '../support/temp-folder.js';
import { at } from '../infra/cli/cli-run.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = path.join(root, 'dist/infra/cli/main.js');

/** No network, no home of its own: what is needed is in the package. */
const environment = { PATH: process.env['PATH'] ?? '', LANG: 'C', HOME: '/nonexistent' };

const stemma = (cwd: string, ...argv: readonly string[]) =>
  spawnSync(process.execPath, [script, ...argv], { cwd, encoding: 'utf8', env: environment });

beforeAll(() => {
  compileIfChanged(library);
}, 180_000);

describe('the built command line', () => {
  it('CLI9 runs as a process, also by the link that npm makes', () => {
    const cwd = tempFolder();
    const { status, stdout, stderr } = stemma(cwd, 'demo');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^created {2}demo "Refund desk" 41 events, 2 branches, 1 compaction\n/);
    fs.symlinkSync(script, path.join(cwd, 'stemma'));
    const linked = spawnSync(process.execPath, [path.join(cwd, 'stemma'), 'history', 'demo'], {
      cwd,
      encoding: 'utf8',
      env: environment,
    });
    expect([linked.status, linked.stderr]).toEqual([0, '']);
    expect(linked.stdout).toContain('Refund desk');
    expect(stemma(cwd, 'history', 'nope').status).toBe(3);
  }, 60_000);

  it('CLI6 exits 130 on Ctrl-C, and leaves no part of a file', async () => {
    const cwd = tempFolder();
    stemma(cwd, 'new', '--id', 'c');
    const interruptedAfter = async (ms: number): Promise<unknown> => {
      const child = spawn(process.execPath, [script, 'append', 'c', '-'], {
        cwd,
        env: environment,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.stdin.write('half a sent');
      // It waits for the rest; there is no other sign of that than that it does not end.
      await new Promise((resolve) => setTimeout(resolve, ms));
      child.kill('SIGINT');
      return new Promise((resolve) => child.on('exit', resolve));
    };
    // A busy machine may not have started the program yet: then the signal ends node itself (null).
    const first = await interruptedAfter(1_500);
    expect(first ?? (await interruptedAfter(15_000))).toBe(130);
    expect(at(JSON.parse(stemma(cwd, 'history', 'c', '--json').stdout), 'rows')).toEqual([]);
  }, 60_000);

  it('CLI8 ends quietly when nobody reads on', () => {
    const cwd = tempFolder();
    stemma(cwd, 'demo');
    const piped = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${script}" export demo | head -c 1; exit 0`],
      { cwd, encoding: 'utf8', env: environment },
    );
    expect([piped.stdout, piped.stderr]).toEqual(['{', '']);
  }, 60_000);

  it('S22 keeps store, keys and exports to their owner, whatever the umask', () => {
    const cwd = tempFolder();
    spawnSync(
      'sh',
      [
        '-c',
        `umask 000; "${process.execPath}" "${script}" demo; "${process.execPath}" "${script}" export demo -o d.md`,
      ],
      {
        cwd,
        env: environment,
      },
    );
    const modeOf = (name: string): string =>
      (fs.statSync(path.join(cwd, name)).mode & 0o777).toString(8);
    expect([
      modeOf('.stemma'),
      modeOf('.stemma/store.db'),
      modeOf('.stemma/keys'),
      modeOf('d.md'),
    ]).toEqual(['700', '600', '700', '600']);
  }, 60_000);
});

describe('npm start', () => {
  it('DC6 shows the product on a fresh clone, twice, without a network', () => {
    const clone = tempFolder('stemma-clone');
    for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts', 'src']) {
      fs.cpSync(path.join(root, name), path.join(clone, name), {
        recursive: true,
        preserveTimestamps: true,
      });
    }
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
    const start = () =>
      spawnSync(process.execPath, ['scripts/start.mjs'], {
        cwd: clone,
        encoding: 'utf8',
        env: environment,
      });
    const first = start();
    expect(first.status).toBe(0);
    const commands = first.stdout.split('\n').filter((line) => line.startsWith('$ '));
    expect(commands).toEqual([
      '$ stemma demo',
      '$ stemma history demo',
      '$ stemma context demo --budget 2000 --why',
      '$ stemma diff demo/main demo/retry',
      '$ stemma verify demo',
    ]);
    expect(first.stdout).toContain('created  demo');
    expect(first.stdout).toContain('covered by a compaction');
    expect(first.stdout).toContain('intact: every event is what was written');
    expect(first.stdout.trimEnd().split('\n').at(-1)?.trim()).toBe(
      'npx stemma import ~/.claude/projects/…/session.jsonl',
    );
    const second = start();
    expect(second.status).toBe(0);
    expect(second.stdout).toContain('there already  demo');
    // The same but for the first command.
    const rest = (text: string): string => text.slice(text.indexOf('$ stemma history'));
    expect(rest(second.stdout)).toBe(rest(first.stdout));
  }, 180_000);
});
