import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main as firstScreen } from '../../examples/first-screen.js';
import { main as investigate } from '../../examples/investigate.js';
import { main as retry } from '../../examples/retry.js';
import { main as runForWeeks } from '../../examples/run-for-weeks.js';

let store: string;
beforeEach(async () => {
  store = await mkdtemp(join(tmpdir(), 'stemma-walkthrough-'));
});
afterEach(() => rm(store, { recursive: true, force: true }));

describe('walk-throughs of the three users', () => {
  it('DC6 a platform runs a conversation over several processes and compacts it', async () => {
    // One version of the instructions, and per day: question, call, result, answer.
    expect(await runForWeeks(store)).toBe(1 + 3 * 4);
  });

  it('DC6 an investigator finds what the last call read, and that nothing changed', async () => {
    await runForWeeks(store);
    const findings = await investigate(store, 'support-17');
    expect(findings.bytesAreTheSame).toBe(true);
    expect(findings.storeIsSound).toBe(true);
    expect(findings.whyFirstQuestion).toBe('covered_by_compaction');
    expect(findings.sentIds.length).toBeGreaterThan(2);
    // The answer to the last question came after the call.
    expect(findings.messagesBeforeTheCall).toBe(12);
  });

  it('DC6 a retry from an earlier version stands beside the first attempt', async () => {
    const { difference, before, after, delivered } = await retry(store);
    expect(before).toBe('The order is not known.');
    expect(after).toBe('The order is paid on Monday.');
    expect(delivered).toBe(true);
    expect(difference.onlyA).toContain('m-1');
    expect(difference.onlyB).toContain('m-1b');
  });
});

describe('the first screen', () => {
  it('DC6 runs as the README shows it', async () => {
    const { difference, reason } = await firstScreen(store);
    expect(difference.onlyA).toContain('m-1');
    expect(difference.onlyB).toContain('m-1b');
    expect(reason).toMatchObject({ in: true, disposition: 'must_keep' });
  });

  it.each(['README.md', 'README.zh-CN.md'])(
    'DC6 %s shows the code that is run here',
    async (page) => {
      const code = await readFile('examples/first-screen.ts', 'utf8');
      expect(await readFile(page, 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
    },
  );
});

describe('the pages of the walk-throughs', () => {
  const pages = ['run-for-weeks', 'investigate', 'retry'];
  it.each(pages)('DC6 the page %s shows the code that is run here', async (page) => {
    const code = await readFile(`examples/${page}.ts`, 'utf8');
    const text = await readFile(`docs/how-to/${page}.md`, 'utf8');
    expect(text).toContain(`\`\`\`ts\n${code}\`\`\``);
  });
});
