import { spawn } from 'node:child_process';
import { projectRoot } from './project.js';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Runs a program to its end. Nothing is thrown: how it ended is told. */
export const runProgram = (
  command: string,
  args: readonly string[],
  { cwd = projectRoot, env = {}, timeoutMs = 600_000 }: RunOptions = {},
): Promise<Finished> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { stdout: '', stderr: '' };
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      clearTimeout(timer);
      resolve({ code, signal, ...texts, timedOut });
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
    child.on('error', (error) => {
      texts.stderr += error.message;
      end(null, null);
    });
    child.on('close', end);
  });

/** Runs another compiled file of this tree with this Node. */
export const runNode = (
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> =>
  runProgram(process.execPath, ['--enable-source-maps', file, ...args], options);
