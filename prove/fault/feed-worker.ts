// A process that reads the feed of a store behind a position and prints what it saw, until killed.
import fs from 'node:fs';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { value } from '../support/engine.js';
import { readOrders } from './orders.js';

export interface FeedOrders {
  readonly store: string;
  readonly after: string;
}

const { store, after } = readOrders() as FeedOrders;
const { events } = await value(sqliteStores({ path: store, readOnly: true }));
const { signal } = new AbortController();
for await (const item of events.feed({ categories: [], after, signal })) {
  if (item._tag === 'Fault') throw new Error(`the feed ended: ${JSON.stringify(item.fault)}`);
  const seen = item._tag === 'Events' ? item.events : [];
  const lines = seen.map(({ position, id }) => `${position} ${id}\n`);
  if (lines.length > 0) fs.writeSync(1, lines.join(''));
}
