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

    const run = (...args: readonly string[]) =>
      spawnSync(
        process.execPath,
        [path.join(root, 'scripts/run.mjs'), 'harness/cases/main', ...args],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      );

    it('ends with 0 when nothing failed, and takes paths from where it is called', () => {
      const done = run('good.json', '--store', 'memory');
      expect([done.stdout, done.status]).toEqual(['ok A\n1 passed, 0 failed, 0 skipped\n', 0]);
    }, 120_000);

    it('ends with 1 when something failed, and with 2 when there is nothing to run', () => {
      expect(run('bad.json', '--store', 'memory').status).toBe(1);
      expect(run('none.json').status).toBe(2);
      expect(run('missing.json').status).toBe(2);
      expect(run().status).toBe(2);
      expect(run('good.json', '--store', 'tape').status).toBe(2);
    }, 120_000);
  });
});
