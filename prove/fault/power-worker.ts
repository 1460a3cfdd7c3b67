// A process that rebuilds states after power cuts and opens them; one line of JSON for each.
import { readOrders } from './orders.js';
import { powerChain, type PowerOrders } from './power-chain.js';

await powerChain(readOrders() as PowerOrders, (state) => {
  process.stdout.write(`${JSON.stringify(state)}\n`);
});
