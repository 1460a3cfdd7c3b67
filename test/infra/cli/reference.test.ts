import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandPages } from './command-pages.js';
import { newPlace } from './cli-run.js';

const page = readFileSync('docs/reference/cli.md', 'utf8');
const sections = new Map(
  page
    .split('\n### ')
    .slice(1)
    .map((section) => {
      const [, name = ''] = /^`stemma ([^`]*)`/.exec(section) ?? [];
      return [name.replaceAll(/ *[[<].*$/g, ''), section];
    }),
);

/** Commands that do something by themselves, and not only through others. */
const groups = new Set(['instructions', 'calls', 'call', 'tool', 'projections']);

describe('the reference of the command line', () => {
  it('CLI9 has a section for each command and no other', () => {
    expect([...sections.keys()].sort()).toEqual(
      commandPages.filter((name) => !groups.has(name)).sort(),
    );
  });

  it.each(commandPages.filter((name) => !groups.has(name)))(
    'CLI9 says of `%s` what its help says',
    async (name) => {
      const section = sections.get(name) ?? '';
      const { out } = await newPlace().cli([...name.split(' '), '--help']);
      const [own = ''] = out.split('\nGlobal Options:');
      const flags = [...own.matchAll(/^ {2}((?:-\w, )?--[a-z-]+(?: <[^>]+>)?)/gm)]
        .map(([, found = '']) => found)
        .filter((found) => !found.includes('--help'));
      const documented = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, found = '']) => found);
      expect(documented).toEqual(flags);
      const examples = [...out.matchAll(/^ {2}\$ (stemma .*)$/gm)].map(([, found]) => found);
      const shown = /```sh\n([^]*?)\n```/.exec(section)?.[1]?.split('\n');
      expect(shown).toEqual(examples);
      expect(section).toMatch(/Prints `stemma\.[a-z.]+\.v1`/);
    },
  );

  it('CLI1 names every variable that is read', () => {
    for (const name of ['STORE', 'TENANT', 'MODEL', 'RUN', 'LANG', 'JSON', 'DEBUG']) {
      expect(page).toContain(`STEMMA_${name}`);
    }
  });
});
