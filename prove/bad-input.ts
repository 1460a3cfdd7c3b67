import fs from 'node:fs';
import path from 'node:path';
import { exactly, say, type Claim } from './claim.js';
import { inProject } from './support/project.js';
import { runNode } from './support/processes.js';
import { withTempFolder } from './support/temp.js';

const span = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_item, at) => `B${String(from + at).padStart(2, '0')}`);

/** Rows of the bad-input catalogue that the engine, its stores, importers and CLI answer for. */
const rows: readonly string[] = [
  ...span(1, 3),
  ...span(5, 36),
  ...span(38, 43),
  'B46',
  ...span(52, 60),
  ...span(62, 64),
  'B66',
  ...span(69, 72),
];

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

const readReport = (file: string): Report | undefined => {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
};

/** Every row of the catalogue has a test that passes, by the row's id in its title. */
export const claim: Claim = {
  id: 'bad-input',
  run: () =>
    withTempFolder('bad-input', async (folder) => {
      const file = path.join(folder, 'report.json');
      const vitest = inProject('node_modules', 'vitest', 'vitest.mjs');
      const { stdout, stderr } = await runNode(
        vitest,
        ['run', 'test/bad-input', '--reporter=json', `--outputFile=${file}`],
        { cwd: inProject() },
      );
      const report = readReport(file);
      const tests = (report?.testResults ?? []).flatMap((one) => one.assertionResults);
      const titles = tests.filter(({ status }) => status === 'passed').map(({ title }) => title);
      const missing = rows.filter((row) => !titles.some((title) => title.includes(row)));
      const failed = tests.filter(({ status }) => status === 'failed');
      if (missing.length > 0) say(`rows without a test that passes: ${missing.join(', ')}`);
      for (const { title } of failed) say(`failed: ${title}`);
      if (report === undefined) say(stdout + stderr);
      return {
        measures: [
          exactly('rows with a test that passes', rows.length - missing.length, rows.length),
          exactly('tests failed', failed.length, 0),
        ],
      };
    }),
};
