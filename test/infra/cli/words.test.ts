import { describe, expect, it } from 'vitest';
import { commandPages } from './command-pages.js';
import { cliIn, newPlace } from './cli-run.js';
import { english, englishReasons } from '../../../src/infra/cli/words/en.js';
import { chinese, chineseReasons } from '../../../src/infra/cli/words/zh.js';

const HAN = /\p{Script=Han}/u;

describe('help', () => {
  const pages = commandPages;

  it('CLI9 has a page for every command of the reference', () => {
    expect(pages.length).toBe(48);
  });

  it.each(pages)(
    'CLI9 `%s --help` has a summary, words for each option, and examples',
    async (page) => {
      const { cli } = newPlace();
      const { code, out, err } = await cli([...page.split(' '), '--help']);
      expect([code, err]).toEqual([0, '']);
      const [usage = '', , summary = ''] = out.split('\n');
      expect(usage.startsWith(`Usage: stemma ${page}`)).toBe(true);
      expect(summary.trim()).not.toBe('');
      const options = out.split('\n').filter((line) => /^ {2}-/.test(line));
      for (const line of options)
        expect(line).toMatch(/^ {2}(-\w, )?--?[\w, -]+( <[^>]+>)? {2,}\S/);
      const examples = out.slice(out.indexOf('Examples:')).split('\n').slice(1);
      expect(examples.filter((line) => line.startsWith('  $ stemma ')).length).toBeGreaterThan(0);
      expect(examples.filter((line) => line.startsWith('  $ stemma ')).length).toBeLessThan(4);
    },
  );

  it.each(pages)('CLI9 `%s --help --lang zh` speaks Chinese', async (page) => {
    const { cli } = newPlace();
    const { code, out } = await cli([...page.split(' '), '--help', '--lang', 'zh']);
    expect(code).toBe(0);
    const [, , summary = ''] = out.split('\n');
    expect(summary).toMatch(HAN);
    expect(out).toContain('选项：');
    const options = out.split('\n').filter((line) => /^ {2}-/.test(line));
    for (const line of options) {
      if (!/--(text|role|outcome|status|kind|of|type)\b/.test(line))
        expect(line).toMatch(/\S {2,}\S/);
    }
  });

  it('CLI9 shows what there is when nothing is said', async () => {
    const { cli } = newPlace();
    const { code, out, err } = await cli([]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Usage: stemma [options] [command]');
    expect(out).toContain('history [options] <ref>');
  });

  it('CLI9 gives the help of a group to standard error and exits 2', async () => {
    const { cli } = newPlace();
    const { code, out, err } = await cli(['calls']);
    expect([code, out]).toEqual([2, '']);
    expect(err.startsWith('Usage: stemma calls [options] [command]\n')).toBe(true);
    expect(err).not.toContain('InvalidArgument');
  });

  it('CLI9 tells its version', async () => {
    expect(await cliIn('/')(['--version'])).toEqual({ code: 0, out: '0.0.0\n', err: '' });
  });
});

describe('words', () => {
  const calls: Readonly<Record<string, readonly unknown[]>> = {
    verified: [{ streams: '1', events: '2', bodies: '3', regressions: '4', unknown: '5' }],
    importCounts: [{ records: '1', mapped: '2', kept: '3', duplicates: '4' }],
    wouldMake: [{ conversations: '1', branches: '2', messages: '3', compactions: '4' }],
  };

  it.each(Object.keys(english))('CLI2 says %s in both languages', (key) => {
    const [en, zh] = [english, chinese].map((words) => {
      const value = words[key as keyof typeof english] as unknown;
      return typeof value === 'function'
        ? (value as (...args: readonly unknown[]) => string)(
            ...(calls[key] ?? ['1', '2', '3', '4', '5', '6']),
          )
        : value;
    });
    expect(typeof en).toBe('string');
    expect(typeof zh).toBe('string');
    expect(en).not.toBe('');
    expect(zh).not.toBe('');
    expect(en).not.toMatch(HAN);
  });

  it('CX3 has words for the same reasons in both languages', () => {
    expect(Object.keys(chineseReasons)).toEqual(Object.keys(englishReasons));
  });
});
