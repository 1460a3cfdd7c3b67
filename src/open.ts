import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from './domain/errors.js';
import type { Upcasts } from './domain/events/catalog.js';
import { actorFault, argumentFault, optionsFault } from './engine/arguments.js';
import { engineContext, type Actor, type EngineContext } from './engine/engine-context.js';
import type { EngineStores, Runtime, Task } from './engine/runtime.js';
import { openTenant, tenantUid } from './engine/tenant.js';
import { memoryStores } from './infra/stores/memory-store.js';
import { sqliteStores } from './infra/stores/sqlite/sqlite-store.js';

/** How to open an engine. */
export interface OpenOptions {
  /** A folder or `.db` file for the embedded store, `memory:`, or stores of your own. */
  readonly store?: string | EngineStores;
  /** Whose conversations; every stream, key and blob is kept apart by it. */
  readonly tenant?: string;
  /** Who gives commands when none says so; drives who may write which role. */
  readonly as?: Actor;
  readonly readOnly?: boolean;
  /** Opens what is left of a store whose write-ahead log is gone, read-only. */
  readonly salvage?: boolean;
  readonly allowUnsafeFilesystem?: boolean;
  /** Turns stored data of older versions into the present one: `Type@version` to a function. */
  readonly upcasts?: Upcasts;
  /** The clock, for tests: milliseconds since 1970. */
  readonly now?: () => number;
  /** Randomness, for tests: this many bytes. */
  readonly random?: (bytes: number) => Uint8Array;
}

const kinds = {
  store: 'any',
  tenant: 'any',
  as: 'any',
  readOnly: 'flag',
  salvage: 'flag',
  allowUnsafeFilesystem: 'flag',
  upcasts: 'object',
  now: 'any',
  random: 'any',
} as const;

const ports = ['events', 'blobs', 'snapshots', 'keys', 'keyStore'] as const;

const storeFault = (store: unknown): StemmaFault | undefined => {
  if (store === undefined || (typeof store === 'string' && store !== '')) return undefined;
  if (store === '') return argumentFault('store', 'missing');
  const isWhole =
    typeof store === 'object' &&
    store !== null &&
    ports.every((port) => typeof (store as Partial<EngineStores>)[port] === 'object');
  return isWhole ? undefined : argumentFault('store', 'wrong_type');
};

const optionFault = (options: OpenOptions): StemmaFault | undefined => {
  const fault = optionsFault(options, kinds) ?? storeFault(options.store) ?? actorFault(options.as);
  if (fault !== undefined) return fault;
  const called = (['now', 'random'] as const).find(
    (name) => options[name] !== undefined && typeof options[name] !== 'function',
  );
  if (called !== undefined) return argumentFault(called, 'wrong_type');
  const { tenant } = options;
  // A scope that is given but names nobody opens nothing: it must not fall back to the default.
  return 'tenant' in options && (typeof tenant !== 'string' || tenant.trim() === '')
    ? { _tag: 'Forbidden', action: 'open' }
    : undefined;
};

const storesOf =
  ({
    store = './.stemma',
    readOnly,
    salvage,
    allowUnsafeFilesystem,
  }: OpenOptions): Task<EngineStores> =>
  async () => {
    if (typeof store !== 'string') return E.right(store);
    if (store === 'memory:') return E.right(memoryStores());
    return sqliteStores({
      path: store,
      ...(readOnly === undefined ? {} : { readOnly }),
      ...(salvage === undefined ? {} : { salvage }),
      ...(allowUnsafeFilesystem === undefined ? {} : { allowUnsafeFilesystem }),
    })();
  };

const runtimeOf = (stores: EngineStores, options: OpenOptions): Runtime => ({
  ...stores,
  now: () => new Date((options.now ?? Date.now)()).toISOString(),
  random: options.random ?? ((bytes) => new Uint8Array(randomBytes(bytes))),
  sleep: async (ms) => {
    await sleep(ms);
  },
  upcasts: options.upcasts ?? {},
  via: 'stemma/0.0.0',
});

/** Opens stores and tenant; what both faces of the package stand on. */
export const openEngine =
  (options: OpenOptions = {}): Task<EngineContext> =>
  async () => {
    const fault = optionFault(options);
    if (fault !== undefined) return E.left(fault);
    const stores = await storesOf(options)();
    if (E.isLeft(stores)) return stores;
    const runtime = runtimeOf(stores.right, options);
    const readOnly = options.readOnly === true || options.salvage === true;
    const tenant = await openTenant(runtime, tenantUid(options.tenant ?? 'default'), readOnly)();
    if (E.isLeft(tenant)) {
      await stores.right.events.close()();
      return tenant;
    }
    return E.right(engineContext(runtime, tenant.right));
  };
