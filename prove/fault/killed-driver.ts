import { spawn } from 'node:child_process';
import type { Random } from '../support/random.js';
import { acksOf, type Acks } from './acks.js';
import { ordersEnv, type Orders } from './orders.js';
import { workerArguments } from './worker.js';

export interface Killed {
  /** False when the driver ended by itself. */
  readonly isKilled: boolean;
  readonly acks: Acks;
  readonly errors: string;
}

/** The line of the driver from which on time is counted, and how long. */
export interface KillTime {
  readonly line: 'started' | 'open';
  readonly afterMs: number;
}

/** Mostly at work, sometimes while the store is being opened. */
export const killTime = (random: Random): KillTime =>
  random.chance(10)
    ? { line: 'started', afterMs: random.below(40) }
    : { line: 'open', afterMs: random.below(90) };

const OVERDUE_MS = 60_000;

/** Runs a driver and kills it. `before`: what was acknowledged to earlier ones. */
export const killDriver = (orders: Orders, time: KillTime, before: Acks): Promise<Killed> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, workerArguments('driver'), {
      env: { ...process.env, ...ordersEnv(orders) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors, isArmed] = ['', '', false];
    const kill = (): void => void child.kill('SIGKILL');
    const overdue = setTimeout(kill, OVERDUE_MS);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (isArmed || !output.includes(`${time.line}\n`)) return;
      isArmed = true;
      setTimeout(kill, time.afterMs);
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      clearTimeout(overdue);
      // What follows the last line end was cut off by the kill.
      const lines = output.split('\n').slice(0, -1);
      resolve({ isKilled: signal === 'SIGKILL', acks: acksOf(lines, before), errors });
    });
  });
