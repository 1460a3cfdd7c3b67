import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFolder, type Tally } from '../../../harness/data/folder.js';

const fixtures = fileURLToPath(new URL('../../fixtures/import/', import.meta.url));

const run = async (folder: string): Promise<{ readonly tally: Tally; readonly said: string[] }> => {
  const said: string[] = [];
  const tally = await checkFolder(folder, (line) => said.push(line));
  return { tally, said };
};

describe('the data harness', () => {
  it.each([
    ['claude-code', 9],
    ['openai-chat', 3],
  ])('B59 finds in the store what is expected of the files of %s', async (format, count) => {
    const { tally, said } = await run(path.join(fixtures, format));
    expect(said.filter((line) => !line.endsWith(': ok'))).toEqual([]);
    expect(tally).toEqual({ passed: count, failed: 0, skipped: 0 });
  });

  describe('of a folder', () => {
    let folder = '';

    beforeEach(() => {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stemma-data-'));
    });
    afterEach(() => {
      fs.rmSync(folder, { recursive: true });
    });

    const write = (name: string, text: string): void => {
      fs.writeFileSync(path.join(folder, name), text);
    };
    const record = (uuid: string, parentUuid: string | null): string =>
      `${JSON.stringify({ type: 'user', uuid, parentUuid, sessionId: 's', message: { role: 'user', content: uuid } })}\n`;

    it('fails a wrong value, a key that no table knows and a file that is not there', async () => {
      write('a.jsonl', record('u1', null));
      write('b.jsonl', record('u1', null));
      write(
        'expected.json',
        JSON.stringify({
          'a.jsonl': { records: 2 },
          'b.jsonl': { records: 1, nobody_knows: 1 },
          'gone.jsonl': { records: 1 },
          '../out.jsonl': { records: 1 },
        }),
      );
      const { tally, said } = await run(folder);
      expect(tally).toEqual({ passed: 0, failed: 4, skipped: 0 });
      expect(said[0]).toBe('a.jsonl: FAIL records: expected 2, found 1');
      expect(said[1]).toContain('nobody_knows');
    });

    it('skips a file of a kind that no importer recognises, and names it', async () => {
      write('x.json', '{"a":1}');
      write('expected.json', JSON.stringify({ 'x.json': { a: 1 } }));
      const { tally, said } = await run(folder);
      expect(tally).toEqual({ passed: 0, failed: 0, skipped: 1 });
      expect(said).toEqual(['x.json: skipped, no importer recognises it']);
    });

    it('B58 fails a file that must be refused and is not', async () => {
      write('a.jsonl', record('u1', null));
      write('expected.json', JSON.stringify({ 'a.jsonl': { malformed_lines: [2] } }));
      expect((await run(folder)).said[0]).toContain('was not refused');
    });

    it('B59 takes a longer version in behind a shorter one', async () => {
      write('1.jsonl', record('u1', null) + record('u2', 'u1'));
      write(
        '2.jsonl',
        record('u1', null) + record('u2', 'u1') + record('u3', 'u1') + record('u4', 'u2'),
      );
      write(
        'expected.json',
        JSON.stringify({
          '1.jsonl': { records: 2, true_branch_points: 0 },
          '2.jsonl': { records: 4, true_branch_points: 1, true_branch_point_uuids: ['u1'] },
        }),
      );
      expect((await run(folder)).said).toEqual(['1.jsonl: ok', '2.jsonl: ok']);
    });
  });
});
