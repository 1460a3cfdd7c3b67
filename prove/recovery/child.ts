// A process that works on a store until it is killed: by itself behind an append, or by its parent.
import fs from 'node:fs';
import path from 'node:path';
import { openStemma } from '../../src/index.js';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { value } from '../support/engine.js';
import { scripts } from './scripts.js';
import { faultyStore, fuseOf, withEvents, type Orders } from './world.js';

const orders = JSON.parse(process.env['STEMMA_PROVE_ORDERS'] ?? '{}') as Orders;
const stores = await value(sqliteStores({ path: path.join(orders.folder, 'store') }));
const fuse = fuseOf(orders.killAfter);
/** Written at once: what the parent has read was acknowledged. */
const ack = (label: string): void => {
  fs.writeSync(1, `${label}\n`);
};

const events = faultyStore(stores.events, orders, fuse, () => {
  ack('lost');
});
const stemma = await openStemma({ store: withEvents(stores, events) });

ack('open');
await scripts[orders.row]?.({ orders, stemma, fuse, ack });
await stemma.close();
ack('end');
