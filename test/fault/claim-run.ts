import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type TestContext } from 'vitest';
import { compileIfChanged, harness } from '../../scripts/compile.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Measure {
  readonly name: string;
  readonly value: number;
  readonly limit: string;
  readonly pass: boolean;
}

/** The line that a claim prints at its end. */
interface Line {
  readonly id: string;
  readonly pass: boolean;
  readonly measures: readonly Measure[];
  readonly skipped?: string;
}

export interface Ran {
  readonly line: Line;
  readonly code: number | null;
  readonly told: string;
}

/** Compiles the rigs, unless that was done. What does not compile elsewhere is no matter here. */
export const compileRigs = (): void => {
  compileIfChanged(harness);
};

/** Runs a claim as `npm run prove` does, with a small N. */
export const runClaim = (id: string, n: number, env: NodeJS.ProcessEnv = {}): Ran => {
  const file = path.join(root, '.build', 'prove', 'run.js');
  const args = ['--enable-source-maps', file, id, '--seed', '1', '--n', String(n)];
  const ended = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  const last = ended.stdout.trimEnd().split('\n').at(-1) ?? '';
  return { line: JSON.parse(last) as Line, code: ended.status, told: ended.stderr };
};

/** Every measure passes; a rig that this machine has no means for is skipped with its reason. */
export const expectClaim = (context: TestContext, id: string, n: number): void => {
  const { line, code, told } = runClaim(id, n);
  if (line.skipped !== undefined) context.skip(line.skipped);
  expect(
    line.measures.filter(({ pass }) => !pass),
    told,
  ).toEqual([]);
  expect(line.measures.some(({ name }) => name.startsWith('sensitivity'))).toBe(true);
  expect({ id: line.id, pass: line.pass, code }).toEqual({ id, pass: true, code: 0 });
};
