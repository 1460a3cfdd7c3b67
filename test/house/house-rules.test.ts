import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface SourceFile {
  readonly name: string;
  readonly text: string;
}

interface HouseRule {
  readonly title: string;
  /** Whether the rule speaks about this file; absent: about all. */
  readonly appliesTo?: (name: string) => boolean;
  /** What is wrong with the file, in a few words each. */
  readonly faults: (text: string) => readonly string[];
  /** A file that breaks the rule, so that the rule itself is tested. */
  readonly bad: string;
  /** A file near the border that keeps it. */
  readonly good: string;
}

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((match) => match[0].trim());

const importsOf = (text: string): readonly string[] =>
  [
    ...withoutComments(text).matchAll(
      /^(?:import|export|\})[^;'"]*?(?:from\s+)?['"]([^'"\n]+)['"];/gm,
    ),
    ...withoutComments(text).matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]/g),
  ].map((match) => match[1] ?? '');

const isPure = (name: string): boolean => /^src\/(domain|projections)\//.test(name);

const rules: readonly HouseRule[] = [
  {
    title: 'no file has more than 400 lines',
    faults: (text) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > 400 ? [`${lines} lines`] : [];
    },
    bad: 'x\n'.repeat(401),
    good: 'x\n'.repeat(400),
  },
  {
    title: 'nothing is left to do later',
    faults: (text) => matches(text, /\b(TODO|FIXME)\b/g),
    bad: '// TODO: later',
    good: 'const todos = 1;',
  },
  {
    title: 'no value is cast to any',
    faults: (text) => matches(withoutComments(text), /\bas any\b|<any>/g),
    bad: 'const x = y as any;',
    good: '// as any reader knows\nconst x = y as unknown;',
  },
  {
    title: 'fp-ts and io-ts are imported by files that plain Node finds',
    faults: (text) =>
      importsOf(text).filter(
        (name) =>
          name === 'fp-ts' ||
          (/^(fp-ts|io-ts)\//.test(name) && !/^(fp-ts|io-ts)\/lib\/\w+\.js$/.test(name)),
      ),
    bad: "import * as E from 'fp-ts/Either';",
    good: "import * as E from 'fp-ts/lib/Either.js';\nimport * as t from 'io-ts';",
  },
  {
    title: 'a relative import ends with .js',
    faults: (text) =>
      importsOf(text).filter((name) => /^\.\.?\//.test(name) && !name.endsWith('.js')),
    bad: "import {\n  a,\n} from './a';",
    good: "export type { A } from '../a.js';",
  },
  {
    title: 'domain and projections read no clock and draw no random number',
    appliesTo: isPure,
    faults: (text) =>
      matches(
        withoutComments(text),
        /\bDate\.now\b|\bDate\(\s*\)|\bnew Date\b(?!\s*\()|\bperformance\.now\b|\bMath\.random\b|\brandomUUID\b|\bgetRandomValues\b/g,
      ),
    bad: 'const now = new Date();',
    good: '/* never Date.now */ const day = new Date(milliseconds);',
  },
  {
    title: 'domain and projections import nothing of Node',
    appliesTo: isPure,
    faults: (text) => importsOf(text).filter((name) => /^(node:|fs$|path$|crypto$)/.test(name)),
    bad: "import { createHash } from 'node:crypto';",
    good: "import { sha256 } from '@noble/hashes/sha2';",
  },
];

const sources: readonly SourceFile[] = fs
  .readdirSync(path.join(root, 'src'), { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.startsWith('__'))
  .map((entry) => path.join(entry.parentPath, entry.name))
  .map((file) => ({
    name: path.relative(root, file).split(path.sep).join('/'),
    text: fs.readFileSync(file, 'utf8'),
  }));

describe('the house rules', () => {
  it('have sources to look at', () => {
    expect(sources.length).toBeGreaterThan(0);
  });

  it.each(rules)('keep: $title', ({ appliesTo, faults }) => {
    const found = sources
      .filter(({ name }) => appliesTo?.(name) ?? true)
      .flatMap(({ name, text }) => faults(text).map((fault) => `${name}: ${fault}`));
    expect(found).toEqual([]);
  });

  it.each(rules)('can see a breach of: $title', ({ faults, bad, good }) => {
    expect(faults(bad)).not.toEqual([]);
    expect(faults(good)).toEqual([]);
  });
});
