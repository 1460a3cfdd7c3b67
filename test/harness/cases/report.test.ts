import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  closingLine,
  lineOf,
  runCases,
  totalsOf,
  type CaseResult,
} from '../../../harness/cases/run-file.js';
import { input } from './sample.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const list = [
  { id: 'A', input, expected: { ok: true } },
  { id: 'B', input, expected: { tokens: 1 } },
  { id: 'C', input: { ...input, profile: 'gemini' }, expected: { ok: true } },
  { input, expected: { ok: true } },
];

describe('the report of a file', () => {
  it('has a line for each case and a closing line', async () => {
    const told: CaseResult[] = [];
    const results = await runCases(list, (result) => told.push(result), ['memory']);
    expect(told).toEqual(results);
    expect(results.map(lineOf)).toEqual([
      'ok A',
      'FAIL B tokens: expected 1, found 6 (memory)',
      'skip C profile gemini comes later',
      'FAIL #3 : field of a case id is missing',
    ]);
    expect(closingLine(totalsOf(results))).toBe('1 passed, 2 failed, 1 skipped');
  });

  describe('as a command', () => {
    let folder = '';
    beforeAll(() => {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cases-'));
      fs.writeFileSync(path.join(folder, 'good.json'), JSON.stringify(list.slice(0, 1)));
      fs.writeFileSync(path.join(folder, 'bad.json'), JSON.stringify(list));
      fs.writeFileSync(path.join(folder, 'none.json'), '{}');
    });
    afterAll(() => {
      fs.rmSync(folder, { recursive: true, force: true });
    });

    const runNode = (...args: readonly string[]) =>
      spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

    it('ends with 0 when nothing failed, and takes paths from where it is called', () => {
      const script = path.join(root, 'scripts/run.mjs');
      const done = runNode(script, 'harness/cases/main', 'good.json', '--store', 'memory');
      expect([done.stdout, done.status]).toEqual(['ok A\n1 passed, 0 failed, 0 skipped\n', 0]);
    }, 120_000);

    it('ends with 1 when something failed, and with 2 when there is nothing to run', () => {
      // The test above has compiled it.
      const run = (...args: readonly string[]): number | null =>
        runNode(path.join(root, '.build/harness/cases/main.js'), ...args).status;
      expect(run('bad.json', '--store', 'memory')).toBe(1);
      expect(run('none.json')).toBe(2);
      expect(run('missing.json')).toBe(2);
      expect(run()).toBe(2);
      expect(run('good.json', '--store', 'tape')).toBe(2);
    }, 60_000);
  });
});
