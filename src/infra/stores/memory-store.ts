import { randomBytes } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { BlobStore } from '../../domain/blob-store.js';
import type { StoreFault } from '../../domain/errors.js';
import type { KeyIndex, KeyPlace } from '../../domain/key-index.js';
import type { KeyStore } from '../../domain/key-store.js';
import type { SnapshotCache } from '../../domain/snapshot-cache.js';
import { metaKeys } from './append-rules.js';
import { memoryEvents, type MemoryLog } from './memory-events.js';
import type { Stores } from './stores.js';

/** Stores in memory, and a way to make the key index lag behind as that of a server does. */
export interface MemoryStores extends Stores {
  /** Stops the key index where it is; the result lets it go on. */
  readonly holdKeys: () => () => void;
}

type Guard = <A>(run: () => E.Either<StoreFault, A>) => TE.TaskEither<StoreFault, A>;

const guardOf =
  ({ closedFault }: MemoryLog): Guard =>
  (run) =>
  () => {
    const fault = closedFault();
    return Promise.resolve(fault === undefined ? run() : E.left(fault));
  };

const memoryBlobs = (guard: Guard): BlobStore => {
  const blobs = new Map<string, Uint8Array>();
  // The parts are joined with a character that neither a tenant's uid nor a blob's name can hold.
  const place = (tenant: string, name: string): string => `${tenant}\u0000${name}`;
  return {
    put: (tenant, name, bytes) =>
      guard<'stored' | 'already'>(() => {
        const stored = blobs.get(place(tenant, name));
        if (stored === undefined) {
          blobs.set(place(tenant, name), bytes.slice());
          return E.right('stored');
        }
        // A name is a digest of its bytes, so other bytes under it are damage, never a new version.
        return Buffer.compare(stored, bytes) === 0
          ? E.right('already')
          : E.left({ _tag: 'Damaged', check: 'blob' });
      }),
    get: (tenant, name) => guard(() => E.right(blobs.get(place(tenant, name))?.slice())),
    has: (tenant, names) =>
      guard(() => E.right(new Set(names.filter((name) => blobs.has(place(tenant, name)))))),
  };
};

const memorySnapshots = (guard: Guard): SnapshotCache => {
  const values = new Map<string, string>();
  return {
    get: (name) => guard(() => E.right(values.get(name))),
    put: (name, value) =>
      guard(() => {
        values.set(name, value);
        return E.right(undefined);
      }),
    drop: (prefix) =>
      guard(() => {
        for (const name of [...values.keys()]) if (name.startsWith(prefix)) values.delete(name);
        return E.right(undefined);
      }),
  };
};

/** An index that reads the log on its own, as the read model beside a server does. */
const memoryKeys = (
  { log }: MemoryLog,
  guard: Guard,
): { readonly keys: KeyIndex; readonly hold: () => () => void } => {
  const places = new Map<string, KeyPlace[]>();
  const heads = new Map<string, number>();
  let indexed = 0;
  let holds = 0;
  const entry = (conversation: string, key: string): string => `${conversation}\u0000${key}`;
  const catchUp = (): void => {
    for (let event = log[indexed]; event !== undefined; event = log[indexed]) {
      const { stream, revision } = event;
      const { conversation, keys } = metaKeys(event.meta);
      for (const key of keys) {
        const known = places.get(entry(conversation, key));
        if (known === undefined) places.set(entry(conversation, key), [{ key, stream, revision }]);
        else known.push({ key, stream, revision });
      }
      heads.set(stream, revision);
      indexed += 1;
    }
  };
  const keys: KeyIndex = {
    lookup: (conversation, lineage, wanted) =>
      guard(() => {
        if (holds === 0) catchUp();
        const upTo = new Map(lineage.map((part) => [part.stream, part.upTo]));
        const found = [...new Set(wanted)]
          .flatMap((key) => places.get(entry(conversation, key)) ?? [])
          .filter((place) => place.revision <= (upTo.get(place.stream) ?? -1));
        const validUpTo = new Map(
          lineage.map(({ stream, upTo: last }) => [
            stream,
            Math.min(last, heads.get(stream) ?? -1),
          ]),
        );
        return E.right({ places: found, validUpTo });
      }),
  };
  const hold = (): (() => void) => {
    catchUp();
    holds += 1;
    let isHeld = true;
    return () => {
      if (isHeld) holds -= 1;
      isHeld = false;
    };
  };
  return { keys, hold };
};

/** Tenant secrets in memory: lost with the process, as everything else of this store. */
export const memoryKeyStore = (): KeyStore => {
  const secrets = new Map<string, Uint8Array>();
  return {
    secret: (tenant) => () => Promise.resolve(E.right(secrets.get(tenant)?.slice())),
    create: (tenant) => () => {
      const secret = secrets.get(tenant) ?? Uint8Array.from(randomBytes(32));
      secrets.set(tenant, secret);
      return Promise.resolve(E.right(secret.slice()));
    },
  };
};

/** All stores in memory, for tests and short work: same contract as the others, gone at exit. */
export const memoryStores = (): MemoryStores => {
  const memory = memoryEvents();
  const guard = guardOf(memory);
  const { keys, hold } = memoryKeys(memory, guard);
  return {
    events: memory.events,
    blobs: memoryBlobs(guard),
    snapshots: memorySnapshots(guard),
    keys,
    keyStore: memoryKeyStore(),
    holdKeys: hold,
  };
};
