import { spawn } from 'node:child_process';
import type { Random } from '../support/random.js';
import type { AppendOrders } from './append-worker.js';
import { ordersEnv } from './orders.js';
import { workerArguments } from './worker.js';

export interface WriterCount {
  kills: number;
  /** What writers wrote to their error output. */
  readonly errors: string[];
}

const ENDLESS = 1_000_000_000;

const writeUntilKilled = (
  orders: AppendOrders,
  lifeMs: number,
  stop: AbortSignal,
  count: WriterCount,
): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, workerArguments('append-worker'), {
      env: { ...process.env, ...ordersEnv(orders) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = (): void => void child.kill('SIGKILL');
    stop.addEventListener('abort', kill, { once: true });
    let timer: NodeJS.Timeout | undefined;
    // The first line says that it is open; the others are of no use here.
    child.stdout.on('data', () => (timer ??= setTimeout(kill, lifeMs)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => count.errors.push(text));
    child.on('close', (_code, signal) => {
      clearTimeout(timer);
      stop.removeEventListener('abort', kill);
      if (signal === 'SIGKILL') count.kills += 1;
      resolve();
    });
  });

/** A writer of its own stream that is killed and started again until it is told to stop. */
export const writeInProcesses = async (
  store: string,
  name: string,
  random: Random,
  stop: AbortSignal,
  count: WriterCount,
): Promise<void> => {
  while (!stop.aborted) {
    const orders: AppendOrders = {
      store,
      name,
      kind: random.chance(50) ? 'branch' : 'conversation',
      seed: random.below(1_000_000_000),
      appends: ENDLESS,
      contended: 0,
      mostEvents: 20,
      pauseMs: 6,
      hides: false,
      linesAtOnce: 1,
    };
    await writeUntilKilled(orders, 100 + random.below(900), stop, count);
  }
};
