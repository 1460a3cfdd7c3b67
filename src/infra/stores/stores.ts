import type { BlobStore } from '../../domain/blob-store.js';
import type { EventStore } from '../../domain/event-store.js';
import type { KeyIndex } from '../../domain/key-index.js';
import type { KeyStore } from '../../domain/key-store.js';
import type { SnapshotCache } from '../../domain/snapshot-cache.js';

/** All that an engine needs from one store. `events.close` closes every one of them. */
export interface Stores {
  readonly events: EventStore;
  readonly blobs: BlobStore;
  readonly snapshots: SnapshotCache;
  readonly keys: KeyIndex;
  readonly keyStore: KeyStore;
}
