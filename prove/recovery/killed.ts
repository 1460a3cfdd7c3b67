import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Orders } from './world.js';

/** How a child ended, and what it had acknowledged before. */
export interface Ended {
  readonly killed: boolean;
  readonly acks: readonly string[];
  readonly stderr: string;
}

const file = fileURLToPath(new URL('./child.js', import.meta.url));

/** When a child is killed: so long after it has written a line. */
export interface KillTime {
  readonly line: string;
  readonly afterMs: number;
}

/** Runs a child to its end, or kills it at a time. */
export const runChild = (orders: Orders, kill?: KillTime): Promise<Ended> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file], {
      env: { ...process.env, STEMMA_PROVE_ORDERS: JSON.stringify(orders) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    let isArmed = false;
    const end = (): void => void child.kill('SIGKILL');
    const overdue = setTimeout(end, 60_000);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (kill === undefined || isArmed || !stdout.includes(`${kill.line}\n`)) return;
      isArmed = true;
      setTimeout(end, kill.afterMs);
    });
    child.on('close', (_code, signal) => {
      clearTimeout(overdue);
      const acks = stdout.split('\n').filter((line) => line !== '');
      resolve({ killed: signal === 'SIGKILL', acks, stderr });
    });
  });
