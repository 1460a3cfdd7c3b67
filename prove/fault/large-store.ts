import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { openEngine } from '../../src/open.js';
import { value } from '../support/engine.js';
import { expectedOf, newChain, nextBatch, type Chain } from './chain.js';

const BATCH = 500;
const STREAMS = 20;

/** Makes a store with this many events in streams of its own. */
export const makeLargeStore = async (path: string, events: number): Promise<void> => {
  const engine = await value(openEngine({ store: path }));
  await value(engine.runtime.events.close());
  const stores = await value(sqliteStores({ path }));
  const chains: Chain[] = Array.from({ length: STREAMS }, (_item, at) => newChain(`large-${at}`));
  for (let done = 0; done < events; done += BATCH) {
    const at = (done / BATCH) % STREAMS;
    const chain = chains[at] ?? newChain('large-0');
    const { batch, chain: grown } = nextBatch(
      chain,
      Math.min(BATCH, events - done),
      'x'.repeat(200),
    );
    await value(stores.events.append(chain.stream, expectedOf(chain), batch));
    chains[at] = grown;
  }
  await value(stores.events.close());
};
