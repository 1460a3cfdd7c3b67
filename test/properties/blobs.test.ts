import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { coldEngine, runtimeOf } from '../../prove/support/engine.js';
import { randomOf } from '../../prove/support/random.js';
import { readSurface } from '../../src/engine/histories.js';
import { append } from '../../src/engine/message-commands.js';
import { verifyConversation } from '../../src/engine/verification.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';
import { fault, mainBranch, right } from '../support/engine.js';

const LARGE = 'é'.repeat(50_000);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Stores whose blobs come back as `change` makes them. */
const changedBlobs = (change: (bytes: Uint8Array | undefined) => Uint8Array | undefined) => {
  const stores: EngineStores = memoryStores();
  let isChanged = false;
  const blobs: EngineStores['blobs'] = {
    ...stores.blobs,
    get: (tenant, name) => async () => {
      const got = await stores.blobs.get(tenant, name)();
      return isChanged ? E.map(change)(got) : got;
    },
  };
  return {
    stores: { ...stores, blobs },
    begin: () => {
      isChanged = true;
    },
  };
};

const cases: readonly (readonly [
  string,
  (bytes: Uint8Array | undefined) => Uint8Array | undefined,
])[] = [
  ['another text of the same form', () => bytesOf(JSON.stringify(JSON.stringify([])))],
  ['one byte less', (bytes) => bytes?.subarray(0, bytes.length - 1)],
  ['nothing at all', () => undefined],
];

describe('a body that stands in a blob', () => {
  it('B17 comes back as it was said', async () => {
    const stores = memoryStores();
    const main = await mainBranch(await coldEngine(runtimeOf(stores, randomOf(1))));
    await right(append(main, { id: 'm', role: 'user', content: LARGE }));
    const { items } = await right(readSurface(main.runtime, main.histories, main.key));
    expect(items[0]?.message.blocks).toEqual([{ type: 'text', text: LARGE }]);
  });

  it.each(cases)('B43 is never taken for what was said when it is %s', async (_name, change) => {
    const { stores, begin } = changedBlobs(change);
    const main = await mainBranch(await coldEngine(runtimeOf(stores, randomOf(1))));
    await right(append(main, { id: 'm', role: 'user', content: LARGE }));
    begin();
    const damaged = await fault(readSurface(main.runtime, main.histories, main.key));
    expect(damaged).toMatchObject({ _tag: 'Damaged', check: 'blob' });
    const { ok, faults } = await right(verifyConversation(main, main.key.conversation));
    expect([ok, faults[0]?.check]).toEqual([false, 'blob']);
  });
});
