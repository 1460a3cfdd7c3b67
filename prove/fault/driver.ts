// A process that works on a store as an application would, and tells what was acknowledged. A rig
// watches its writes, or kills it.
import fs from 'node:fs';
import { randomOf } from '../support/random.js';
import { ackingStore } from './acks.js';
import { readOrders, type Orders } from './orders.js';
import { doStep, startWork } from './workload.js';

const orders = readOrders() as Orders;
const out = orders.acks === undefined ? 1 : fs.openSync(orders.acks, 'a');
/** Written at once and in one call: what the reader has was acknowledged. */
const tell = (line: string): void => {
  fs.writeSync(out, `${line}\n`);
};

tell('started');
const work = await startWork({
  path: orders.store,
  random: randomOf(orders.seed),
  name: orders.name,
  sync: orders.sync,
  around: (events) => ackingStore(events, tell, orders.ackTime),
});
tell('open');
for (let step = 0; step < orders.steps; step += 1) await doStep(work);
tell('closing');
await work.stemma.close();
tell('closed');
