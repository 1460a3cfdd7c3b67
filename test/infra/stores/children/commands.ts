// One process of a test: `commands.ts COMMAND FOLDER ARGUMENT ...`, which prints JSON lines.
import { setTimeout as delay } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { EventStore } from '../../../../src/domain/event-store.js';
import {
  sqliteStores,
  type SqliteStores,
} from '../../../../src/infra/stores/sqlite/sqlite-store.js';
import { valueOf } from '../../../../src/testing/answers.js';
import { sampleBatch } from '../../../../src/testing/sample-events.js';

const print = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

const headOf = async (events: EventStore, stream: string): Promise<number> => {
  const page = await valueOf(
    events.read({ stream, from: 'end', direction: 'backwards', limit: 1, maxBytes: 1 }),
  );
  return page.events[0]?.revision ?? -1;
};

/** Appends `count` batches to a stream that others want too, and counts what it was answered. */
const compete = async (stores: SqliteStores, name: string, count: number): Promise<void> => {
  const { events } = stores;
  const refused: Record<string, number> = {};
  const longest = { waitMs: 0 };
  let appended = 0;
  while (appended < count) {
    const head = await headOf(events, 'branch-shared');
    const batch = sampleBatch('branch-shared', head + 1, 1, { data: JSON.stringify(name) });
    const began = performance.now();
    const answer = await events.append('branch-shared', head < 0 ? 'none' : head, batch)();
    longest.waitMs = Math.max(longest.waitMs, performance.now() - began);
    if (E.isRight(answer)) appended += 1;
    else refused[answer.left._tag] = (refused[answer.left._tag] ?? 0) + 1;
  }
  print({ appended, refused, longestMs: longest.waitMs });
};

/** Appends for ever and names each revision that was acknowledged, until it is killed. */
const append = async ({ events }: SqliteStores, stream: string): Promise<void> => {
  for (let revision = (await headOf(events, stream)) + 1; ; revision += 3) {
    const batch = sampleBatch(stream, revision, 3);
    await valueOf(events.append(stream, revision === 0 ? 'none' : revision - 1, batch));
    print({ acknowledged: revision + 2 });
  }
};

const run = async (command: string, folder: string, rest: readonly string[]): Promise<void> => {
  const stores = await valueOf(sqliteStores({ path: folder }));
  const [name = 'x', count = '1'] = rest;
  print({ opened: await valueOf(stores.events.identity()) });
  if (command === 'compete') await compete(stores, name, Number(count));
  if (command === 'append') await append(stores, name);
  if (command === 'secret') {
    const secret = await valueOf(stores.keyStore.create(name));
    print({ secret: Buffer.from(secret).toString('hex') });
  }
  if (command === 'stay') await delay(Number(name));
  if (command !== 'leave') await valueOf(stores.events.close());
};

const [command = '', folder = '', ...rest] = process.argv.slice(2);
await run(command, folder, rest);
