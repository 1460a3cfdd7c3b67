import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

interface Report {
  readonly testResults: readonly FileResult[];
}

/** A test that failed: its file, and its name unless the file did not even load. */
export interface FailedTest {
  readonly file: string;
  readonly name: string;
}

export interface TestRun {
  readonly failed: readonly FailedTest[];
  /** Tests that passed. */
  readonly passed: number;
}

const failedIn = (copy: string, { name, status, assertionResults }: FileResult) => {
  const file = path.relative(copy, name);
  const failed = assertionResults
    .filter((test) => test.status === 'failed')
    .map((test): FailedTest => ({ file, name: test.fullName }));
  return failed.length > 0 || status !== 'failed' ? failed : [{ file, name: 'does not load' }];
};

const readReport = (file: string): Report => {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Report;
  } catch {
    return { testResults: [] };
  }
};

const TIMEOUT_MS = 15 * 60_000;

/** Runs vitest in the copy; files in `excluded` are left out. */
export const runTests = (
  copy: string,
  args: readonly string[],
  excluded: readonly string[] = [],
): TestRun => {
  const output = path.join(path.dirname(copy), 'report.json');
  fs.rmSync(output, { force: true });
  spawnSync(
    process.execPath,
    [
      path.join(copy, 'node_modules', 'vitest', 'vitest.mjs'),
      ...args,
      '--reporter=json',
      `--outputFile=${output}`,
      ...excluded.flatMap((file) => ['--exclude', file]),
    ],
    { cwd: copy, stdio: 'ignore', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' },
  );
  const { testResults } = readReport(output);
  return {
    failed: testResults.flatMap((result) => failedIn(copy, result)),
    passed: testResults
      .flatMap((result) => result.assertionResults)
      .filter(({ status }) => status === 'passed').length,
  };
};
