import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../../src/domain/errors.js';
import { engineContext, type EngineContext } from '../../src/engine/engine-context.js';
import type { EngineStores, Runtime, Task } from '../../src/engine/runtime.js';
import { openTenant, tenantUid } from '../../src/engine/tenant.js';
import { memoryStores, type MemoryStores } from '../../src/infra/stores/memory-store.js';
import type { KeyStore } from '../../src/domain/key-store.js';
import type { Random } from './random.js';

/** A clock that stands still but for one second a reading: the same in every run. */
export const steadyClock = (start = Date.UTC(2026, 0, 1)): (() => string) => {
  let readings = 0;
  return () => new Date(start + 1000 * readings++).toISOString();
};

/** Secrets that are the same in every run. */
const fixedKeys: KeyStore = {
  secret: () => () => Promise.resolve(E.right(new Uint8Array(32).fill(7))),
  create: () => () => Promise.resolve(E.right(new Uint8Array(32).fill(7))),
};

/** Memory stores whose every byte follows from what is written. */
export const repeatableStores = (): MemoryStores => ({ ...memoryStores(), keyStore: fixedKeys });

export const runtimeOf = (
  stores: EngineStores,
  random: Random,
  now: () => string = steadyClock(),
): Runtime => ({
  ...stores,
  now,
  random: random.bytes,
  sleep: () => Promise.resolve(),
  upcasts: {},
  via: 'prove',
});

/** The value of a task that must succeed. */
export const value = async <A>(task: Task<A>): Promise<A> => {
  const result = await task();
  if (E.isLeft(result)) throw new Error(`unexpected fault: ${JSON.stringify(result.left)}`);
  return result.right;
};

/** The fault of a task; undefined when it succeeded. */
export const faultOf = async <A>(task: Task<A>): Promise<StemmaFault | undefined> => {
  const result = await task();
  return E.isLeft(result) ? result.left : undefined;
};

/** A new engine, with nothing in its memory, over stores that may have been used before. */
export const coldEngine = async (runtime: Runtime, tenant = 'prove'): Promise<EngineContext> =>
  engineContext(runtime, await value(openTenant(runtime, tenantUid(tenant), false)));
