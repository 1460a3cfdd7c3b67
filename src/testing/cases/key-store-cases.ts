import { expect } from 'vitest';
import { valueOf } from '../answers.js';
import { abilityOf, type StoreCase } from '../opened-stores.js';
import { countTo } from '../sample-events.js';

const TENANT = 'AAAAAAAAAAAAAAAAAAAAAA';

/** ST140 to ST145: secrets of tenants. */
export const keyStoreCases: readonly StoreCase[] = [
  {
    title: 'ST140 has no secret before one was made',
    run: async ({ stores: { keyStore } }) => {
      expect(await valueOf(keyStore.secret(TENANT))).toBeUndefined();
    },
  },
  {
    title: 'ST141 makes a secret of 32 bytes and gives the same one ever after',
    run: async ({ stores: { keyStore } }) => {
      const made = await valueOf(keyStore.create(TENANT));
      expect(made).toHaveLength(32);
      expect(new Set(made).size).toBeGreaterThan(8);
      expect(await valueOf(keyStore.secret(TENANT))).toEqual(made);
      expect(await valueOf(keyStore.create(TENANT))).toEqual(made);
    },
  },
  {
    title: 'ST142 gives all the same secret who ask for it at the same moment',
    run: async ({ stores: { keyStore } }) => {
      const made = await Promise.all(countTo(8).map(() => valueOf(keyStore.create(TENANT))));
      for (const secret of made) expect(secret).toEqual(made[0]);
    },
  },
  {
    title: 'ST143 gives every tenant a secret of its own, whatever its name',
    run: async ({ stores: { keyStore } }) => {
      const tenants = [
        TENANT,
        TENANT.toLowerCase(),
        '-aaaaaaaaaaaaaaaaaaaaa',
        '../escape',
        '.',
        '',
      ];
      const secrets: string[] = [];
      for (const tenant of tenants) {
        secrets.push(Buffer.from(await valueOf(keyStore.create(tenant))).toString('hex'));
      }
      expect(new Set(secrets).size).toBe(tenants.length);
    },
  },
  {
    title: 'ST144 shares no memory with its callers',
    run: async ({ stores: { keyStore } }) => {
      const made = await valueOf(keyStore.create(TENANT));
      const copy = made.slice();
      made.fill(0);
      const taken = await valueOf(keyStore.secret(TENANT));
      expect(taken).toEqual(copy);
      taken?.fill(0);
      expect(await valueOf(keyStore.secret(TENANT))).toEqual(copy);
    },
  },
  {
    title: 'ST145 shows a secret to every handle on the same data',
    needs: 'another',
    run: async (opened) => {
      const other = await abilityOf(opened, 'another')();
      const made = await valueOf(opened.stores.keyStore.create(TENANT));
      expect(await valueOf(other.keyStore.secret(TENANT))).toEqual(made);
      expect(await valueOf(other.keyStore.create(TENANT))).toEqual(made);
    },
  },
];
