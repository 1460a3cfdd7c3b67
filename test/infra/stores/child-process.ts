import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { compiledCommands } from './children/compile.js';

/** A line that a child printed. */
export type Line = Readonly<Record<string, unknown>>;

export interface Child {
  readonly process: ChildProcess;
  readonly lines: readonly Line[];
  /** Resolves with the first line that has this key. */
  readonly line: (key: string) => Promise<Line>;
  /** Resolves with the exit code, or the signal; throws for what it wrote to its error output. */
  readonly exited: Promise<number | string>;
}

/** Starts a process of its own on a store (children/commands.ts). */
export const startChild = (command: string, folder: string, ...rest: readonly string[]): Child => {
  const child = spawn(process.execPath, [compiledCommands(), command, folder, ...rest], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  const waiting: (() => void)[] = [];
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Line);
    for (const wake of waiting.splice(0)) wake();
  });
  const exited = new Promise<number | string>((resolve, reject) => {
    child.on('close', (code, signal) => {
      for (const wake of waiting.splice(0)) wake();
      if (errors === '') resolve(signal ?? code ?? 0);
      else reject(new Error(errors));
    });
  });
  exited.catch(() => undefined);
  const line = async (key: string): Promise<Line> => {
    for (;;) {
      const found = lines.find((each) => key in each);
      if (found !== undefined) return found;
      if (child.exitCode !== null || child.signalCode !== null) await exited;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  return { process: child, lines, line, exited };
};
