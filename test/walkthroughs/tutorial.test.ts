import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cliIn } from '../infra/cli/cli-run.js';

const lines = readFileSync('docs/tutorial/first-steps.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('npx stemma '));

/** Words of a command line, quoted ones whole; the tutorial uses no other shell syntax. */
const words = (line: string): readonly string[] =>
  [...line.slice('npx stemma '.length).matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );

it('DC6 every line of the tutorial runs as it stands', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stemma-tutorial-'));
  try {
    expect(lines.length).toBeGreaterThan(20);
    const cli = cliIn(folder);
    for (const line of lines) {
      const ran = await cli(words(line));
      expect(ran.code, `${line}\n${ran.err}`).toBe(0);
    }
    const again = await cli(
      words('npx stemma append trip --id q1 --role user --text "Plan a day in Bergen."'),
    );
    expect(again.out).toContain('unchanged');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
