// npm run mutants [-- FOLDER]: plants one fault after the other, and says which test notices it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyProject, removeCopy } from './copy.js';
import { planted, readPlanted, type Planted } from './planted.js';
import { runTests, type FailedTest } from './tests.js';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const rootAbove = (folder: string): string =>
  fs.existsSync(path.join(folder, 'package.json')) ? folder : rootAbove(path.dirname(folder));

const root = rootAbove(path.dirname(fileURLToPath(import.meta.url)));

interface Place {
  readonly copy: string;
  /** Test files that fail without any fault: what they say of one means nothing. */
  readonly unsound: readonly string[];
}

// Tests of whole programs: slow, and seldom the only ones to notice.
const broad = ['test/e2e', 'test/fault', 'test/harness', 'test/house', 'test/walkthroughs'];
// Random histories: slow too, and they notice much.
const thorough = ['test/properties', 'test/prove'];

const below = (folders: readonly string[]): readonly string[] =>
  folders.map((folder) => `${folder}/**`);

/** The first test that a fault breaks: of those that import its file, then of all. */
const firstToNotice = ({ copy, unsound }: Place, file: string): FailedTest | undefined => {
  const near = [...unsound, ...below(broad), ...below(thorough)];
  const related = runTests(copy, ['related', file, '--run', '--bail', '1'], near);
  if (related.failed[0] !== undefined) return related.failed[0];
  const random = runTests(copy, ['run', ...thorough, '--bail', '1'], unsound);
  if (random.failed[0] !== undefined) return random.failed[0];
  spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: copy, stdio: 'ignore' });
  const rest = [...unsound, ...below(thorough)];
  return runTests(copy, ['run', '--bail', '1'], rest).failed[0];
};

type Verdict = 'caught' | 'survived' | 'equivalent';

const tryOut = (place: Place, one: Planted): Verdict => {
  const { name, file, equivalent } = one;
  const target = path.join(place.copy, file);
  const sound = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : '';
  const faulty = planted(sound, one);
  if (typeof faulty === 'number') {
    say(`ERROR ${name}: what it replaces stands ${String(faulty)} times in ${file}`);
    return 'survived';
  }
  if (equivalent !== undefined) {
    say(`equivalent ${name}: ${equivalent}`);
    return 'equivalent';
  }
  fs.writeFileSync(target, faulty);
  try {
    const test = firstToNotice(place, file);
    say(test === undefined ? `SURVIVED ${name}` : `caught ${name} by ${test.file}: ${test.name}`);
    return test === undefined ? 'survived' : 'caught';
  } finally {
    fs.writeFileSync(target, sound);
  }
};

/** The whole suite without a fault: it must run, or no fault would mean anything. */
const soundPlace = (copy: string): Place | undefined => {
  spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: copy, stdio: 'ignore' });
  const { failed, passed } = runTests(copy, ['run']);
  if (passed === 0) return undefined;
  const unsound = [...new Set(failed.map(({ file }) => file))];
  for (const file of unsound) process.stderr.write(`fails without a fault: ${file}\n`);
  return { copy, unsound };
};

const main = (folder: string): number => {
  const faults = readPlanted(folder);
  const copy = copyProject(root);
  try {
    const place = soundPlace(copy);
    if (place === undefined) {
      process.stderr.write('no test passes without a fault\n');
      return 1;
    }
    const verdicts = faults.map((one) => tryOut(place, one));
    const count = (wanted: Verdict): number => verdicts.filter((found) => found === wanted).length;
    say(`${String(count('caught'))} passed, ${String(count('survived'))} failed`);
    return faults.length > 0 && count('survived') === 0 ? 0 : 1;
  } finally {
    removeCopy(copy);
  }
};

const [folder, ...rest] = process.argv.slice(2);
if (rest.length > 0) {
  process.stderr.write('usage: npm run mutants [-- FOLDER]\n');
  process.exitCode = 2;
} else {
  try {
    process.exitCode = main(folder ?? path.join(root, 'mutants'));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
