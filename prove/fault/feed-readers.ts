import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore, FeedItem, Position } from '../../src/domain/event-store.js';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { value } from '../support/engine.js';
import type { Random } from '../support/random.js';
import { ordersEnv } from './orders.js';
import { workerArguments } from './worker.js';

/** An event as a reader was given it. */
export interface Seen {
  readonly position: Position;
  readonly id: string;
}

/** A reader of the feed, and all that it was given in the order in which it came. */
export interface Reader {
  readonly name: string;
  readonly categories: readonly string[];
  readonly seen: Seen[];
  /** What ended it that should not have. */
  readonly faults: string[];
  restarts: number;
  /** Place up to which it has read, events of other categories included. */
  at: Position | 'start';
}

export const newReader = (name: string, categories: readonly string[] = []): Reader => ({
  name,
  categories,
  seen: [],
  faults: [],
  restarts: 0,
  at: 'start',
});

const take = (reader: Reader, item: FeedItem): void => {
  if (item._tag === 'Fault') reader.faults.push(JSON.stringify(item.fault));
  if (item._tag === 'Checkpoint') reader.at = item.position;
  if (item._tag !== 'Events') return;
  for (const { position, id } of item.events) {
    reader.seen.push({ position, id });
    reader.at = position;
  }
};

const readUntil = async (
  reader: Reader,
  events: EventStore,
  signal: AbortSignal,
): Promise<void> => {
  const { categories, at: after } = reader;
  for await (const item of events.feed({ categories, after, signal })) take(reader, item);
};

/** Reads without a break. */
export const readOn = async (reader: Reader, store: string, stop: AbortSignal): Promise<void> => {
  const { events } = await value(sqliteStores({ path: store }));
  await readUntil(reader, events, stop);
  await value(events.close());
};

/** Breaks off at random and goes on where it was, over a new connection. */
export const readInPieces = async (
  reader: Reader,
  store: string,
  stop: AbortSignal,
  random: Random,
): Promise<void> => {
  while (!stop.aborted) {
    const { events } = await value(sqliteStores({ path: store, readOnly: true }));
    const pause = AbortSignal.timeout(50 + random.below(400));
    await readUntil(reader, events, AbortSignal.any([stop, pause]));
    await value(events.close());
    reader.restarts += 1;
  }
};

const takeLine = (reader: Reader, line: string): void => {
  const [position, id] = line.split(' ');
  if (position === undefined || id === undefined) return;
  reader.seen.push({ position, id });
  reader.at = position;
};

const readUntilKilled = (reader: Reader, store: string, kill: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, workerArguments('feed-worker'), {
      env: { ...process.env, ...ordersEnv({ store, after: reader.at }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let rest = '';
    kill.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) takeLine(reader, line);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => reader.faults.push(text));
    child.on('close', () => {
      resolve();
    });
  });

/** Reads in a process that is killed again and again, and goes on behind the last whole line. */
export const readInProcesses = async (
  reader: Reader,
  store: string,
  stop: AbortSignal,
  random: Random,
): Promise<void> => {
  while (!stop.aborted) {
    const killed = AbortSignal.timeout(600 + random.below(1_500));
    await readUntilKilled(reader, store, AbortSignal.any([stop, killed]));
    reader.restarts += 1;
    await delay(1);
  }
};
