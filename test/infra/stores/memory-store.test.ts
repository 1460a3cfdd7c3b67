import { memoryStores } from '../../../src/infra/stores/memory-store.js';
import { storeContract } from '../../../src/testing/store-contract.js';

storeContract('memory', () => {
  const stores = memoryStores();
  return Promise.resolve({
    stores,
    // What is in memory has one handle, which everybody in the process shares.
    another: () => Promise.resolve(stores),
    holdKeys: stores.holdKeys,
    dispose: async () => {
      await stores.events.close()();
    },
  });
});
