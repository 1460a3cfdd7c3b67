import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { BlobStore } from '../domain/blob-store.js';
import type { StemmaFault } from '../domain/errors.js';
import type { EventStore } from '../domain/event-store.js';
import type { Upcasts } from '../domain/events/catalog.js';
import type { Uid } from '../domain/ids.js';
import type { KeyIndex } from '../domain/key-index.js';
import type { KeyStore } from '../domain/key-store.js';
import type { SnapshotCache } from '../domain/snapshot-cache.js';

/** The stores that an engine stands on. */
export interface EngineStores {
  readonly events: EventStore;
  readonly blobs: BlobStore;
  readonly snapshots: SnapshotCache;
  readonly keys: KeyIndex;
  readonly keyStore: KeyStore;
}

/** Everything that the engine takes from outside: stores, clock, randomness. */
export interface Runtime extends EngineStores {
  /** The time, as RFC 3339 in UTC with milliseconds. */
  readonly now: () => string;
  readonly random: (bytes: number) => Uint8Array;
  readonly sleep: (ms: number) => Promise<void>;
  readonly upcasts: Upcasts;
  /** Producer build, written into every event. */
  readonly via: string;
}

export type Task<A> = TE.TaskEither<StemmaFault, A>;

export interface ConversationKey {
  readonly tenant: Uid;
  readonly conversation: Uid;
}

export interface BranchKey extends ConversationKey {
  readonly branch: Uid;
}
