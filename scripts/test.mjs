// npm test [-- VITEST ARGUMENTS]. The last line is `N passed, N failed, N skipped`.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compileIfChanged, library, root } from './compile.mjs';

/**
 * The part of vitest's JSON report that is counted here.
 * @typedef {{ status: string, assertionResults: { status: string }[] }} FileResult
 * @typedef {{ testResults: FileResult[] }} Report
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/** @type {(file: string) => Report | undefined} */
const readReport = (file) => {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
};

/**
 * A file that failed without a failed test of its own (it did not load, or a hook threw) counts
 * as one failure.
 * @type {(report: Report) => Counts}
 */
const count = (report) => {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
    const statuses = file.assertionResults.map((test) => test.status);
    const failed = statuses.filter((status) => status === 'failed').length;
    const passed = statuses.filter((status) => status === 'passed').length;
    counts.failed += file.status === 'failed' ? Math.max(1, failed) : failed;
    counts.passed += passed;
    counts.skipped += statuses.length - passed - failed;
  }
  return counts;
};

/** @type {(args: string[]) => { status: number, counts: Counts }} */
const runVitest = (args) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stemma-test-'));
  const file = path.join(folder, 'report.json');
  try {
    const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const result = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...args], {
      cwd: root,
      stdio: 'inherit',
    });
    const report = readReport(file);
    const none = { passed: 0, failed: 0, skipped: 0 };
    return { status: result.status ?? 1, counts: report === undefined ? none : count(report) };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
};

const isBuilt = compileIfChanged(library);
const { status, counts } = runVitest(process.argv.slice(2));
const { passed, skipped } = counts;
const hasRun = passed + counts.failed > 0;
if (!isBuilt) process.stdout.write('The build reported errors (see above): this run fails.\n');
if (!hasRun) process.stdout.write('No test ran: this run fails.\n');
if (status !== 0 && hasRun && counts.failed === 0) {
  process.stdout.write('An error outside any test (see above) counts as one failure.\n');
}
const failed = status !== 0 ? Math.max(1, counts.failed) : counts.failed;
process.stdout.write(
  `${String(passed)} passed, ${String(failed)} failed, ${String(skipped)} skipped\n`,
);
process.exitCode = isBuilt && hasRun && failed === 0 ? 0 : 1;
