import fs from 'node:fs';
import path from 'node:path';
import { exactly, say, type Claim, type Measure } from './claim.js';
import { flipOneBit } from './start/damage.js';
import { projectRoot } from './support/project.js';
import { runProgram, type Finished } from './support/processes.js';
import { withTempFolder } from './support/temp.js';

/** What the first screen must show: each with the words that stand for it. */
const markers: readonly (readonly [name: string, words: RegExp])[] = [
  ['shows a history', /history/i],
  ['shows a context', /context/i],
  ['shows a difference', /diff/i],
  ['shows a verification', /verif/i],
  ['shows an import line', /import/i],
];

const yes = (name: string, holds: boolean): Measure => exactly(name, holds ? 1 : 0, 1);

const ended = (name: string, { code, stdout, stderr }: Finished): Measure => {
  if (code !== 0) say(`${name}:\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
  return yes(name, code === 0);
};

const storeBelow = (folder: string): string | undefined => {
  const found = fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .find((entry) => entry.name === 'store.db' && !entry.parentPath.includes('node_modules'));
  return found === undefined ? undefined : path.dirname(path.join(found.parentPath, found.name));
};

/** A copy of the store with one bit of one event flipped: verify must name the event. */
const damaged = async (clone: string, store: string): Promise<readonly Measure[]> => {
  const copy = path.join(clone, 'damaged');
  fs.cpSync(store, copy, { recursive: true });
  const verify = (): Promise<Finished> =>
    runProgram(process.execPath, ['dist/infra/cli/main.js', 'verify', '--store', copy, '--json'], {
      cwd: clone,
    });
  const before = await verify();
  const row = await flipOneBit(path.join(copy, 'store.db'));
  const after = await verify();
  if (row === undefined) return [yes('one bit of an event was flipped', false)];
  const isNamed = after.stdout.includes(row.id);
  if (!isNamed) say(`flipped ${row.id}; verify said ${after.stdout}${after.stderr}`);
  return [
    ended('verify finds the sound store sound', before),
    yes('verify refuses the damaged store', after.code === 6),
    yes('verify names the damaged event', isNamed),
  ];
};

/** From a fresh clone, two commands show what this is; and one flipped bit is found and named. */
export const claim: Claim = {
  id: 'start',
  run: () =>
    withTempFolder('start', async (folder) => {
      const clone = path.join(folder, 'clone');
      const cloned = await runProgram('git', ['clone', '--quiet', projectRoot, clone]);
      if (cloned.code !== 0) return { measures: [], skipped: 'this is no git repository' };
      const installed = await runProgram('npm', ['ci', '--no-audit', '--no-fund'], { cwd: clone });
      const started = await runProgram('npm', ['start', '--silent'], {
        cwd: clone,
        env: { CI: '1', NO_COLOR: '1' },
      });
      const store = storeBelow(clone);
      const shown = markers.map(([name, words]) => yes(name, words.test(started.stdout)));
      return {
        measures: [
          ended('npm ci', installed),
          ended('npm start', started),
          ...shown,
          yes('a store was made', store !== undefined),
          ...(store === undefined ? [] : await damaged(clone, store)),
        ],
      };
    }),
};
