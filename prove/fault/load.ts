import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Random } from '../support/random.js';
import { ackOf, noteAck, type Ack } from './acks.js';
import type { AppendOrders } from './append-worker.js';
import { ordersEnv } from './orders.js';
import { workerArguments } from './worker.js';

/** A process that appends to a store all the time, and what it was acknowledged so far. */
export interface Load {
  readonly acks: ReadonlyMap<string, Ack>;
  readonly errors: readonly string[];
  readonly stop: () => Promise<void>;
}

const ENDLESS = 1_000_000_000;

/** Begins to append; resolves once the process has opened the store. */
export const startLoad = (store: string, name: string, random: Random): Promise<Load> =>
  new Promise((resolve, reject) => {
    const orders: AppendOrders = {
      store,
      name,
      kind: 'branch',
      seed: random.below(1_000_000_000),
      appends: ENDLESS,
      contended: 20,
      mostEvents: 4,
      pauseMs: 12,
      hides: false,
      linesAtOnce: 1,
    };
    const child = spawn(process.execPath, workerArguments('append-worker'), {
      env: { ...process.env, ...ordersEnv(orders) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const acks = new Map<string, Ack>();
    const errors: string[] = [];
    const ended = new Promise<void>((end) => child.on('close', () => end()));
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
    };
    child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ack = ackOf(line);
      if (ack !== undefined) noteAck(acks, ack);
      else resolve({ acks, errors, stop });
    });
    child.on('error', reject);
    child.on('close', () => reject(new Error(`the load did not start: ${errors.join('')}`)));
  });
