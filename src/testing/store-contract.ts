import { describe, it } from 'vitest';
import { appendCases } from './cases/append-cases.js';
import { blobCases } from './cases/blob-cases.js';
import { feedCases } from './cases/feed-cases.js';
import { keyCases } from './cases/key-cases.js';
import { keyStoreCases } from './cases/key-store-cases.js';
import { lifetimeCases } from './cases/lifetime-cases.js';
import { readCases } from './cases/read-cases.js';
import { resendCases } from './cases/resend-cases.js';
import { snapshotCases } from './cases/snapshot-cases.js';
import { textCases } from './cases/text-cases.js';
import type { OpenedStores, StoreCase } from './opened-stores.js';

/** Every case of the contract, in the order of docs/reference/store-contract.md. */
export const storeCases: readonly StoreCase[] = [
  ...appendCases,
  ...resendCases,
  ...readCases,
  ...textCases,
  ...feedCases,
  ...keyCases,
  ...blobCases,
  ...snapshotCases,
  ...keyStoreCases,
  ...lifetimeCases,
];

/**
 * What every store must do, as vitest cases. `open` makes a new, empty store for each of them; a
 * case that needs an ability which the store does not have is reported as skipped.
 */
export const storeContract = (name: string, open: () => Promise<OpenedStores>): void => {
  describe(`${name} keeps the store contract`, () => {
    for (const { title, needs, run } of storeCases) {
      it(title, async (context) => {
        const opened = await open();
        try {
          if (needs !== undefined && opened[needs] === undefined) {
            context.skip(`this adapter has no ${needs}`);
          }
          await run(opened);
        } finally {
          await opened.dispose();
        }
      });
    }
  });
};
