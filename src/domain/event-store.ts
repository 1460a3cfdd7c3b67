import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { AppendFault, StoreFault } from './errors.js';
import type { Revision } from './ids.js';

/** Opaque place in the whole store. Never parsed or compared outside the adapter that made it. */
export type Position = string;

/** An event ready to be stored. `meta` and `data` are the exact stored texts; `hash` is base64url. */
export interface NewEvent {
  readonly id: string;
  readonly hash: string;
  readonly type: string;
  readonly meta: string;
  readonly data: string;
}

/** An event as the store gives it back. Nothing of it is trusted before it is decoded. */
export interface StoredEvent {
  readonly stream: string;
  readonly revision: Revision;
  readonly position: Position;
  readonly id: string;
  readonly type: string;
  readonly meta: string;
  readonly data: string;
}

/** The revision of the last event the writer knows, or `none` for a stream without events. */
export type ExpectedRevision = Revision | 'none';

export interface Appended {
  readonly first: Revision;
  readonly last: Revision;
  readonly position?: Position;
}

export interface ReadOptions {
  readonly stream: string;
  readonly from: Revision | 'start' | 'end';
  readonly direction: 'forwards' | 'backwards';
  /** At most this many events. */
  readonly limit: number;
  /** Stop after the event that passes this many bytes of meta + data; at least one event is given. */
  readonly maxBytes: number;
}

export interface Page {
  readonly events: readonly StoredEvent[];
  /** Where the next page begins; absent when nothing follows. */
  readonly next?: Revision;
  /** False for a stream that never had an event. */
  readonly exists: boolean;
}

export type FeedItem =
  | { readonly _tag: 'Events'; readonly events: readonly StoredEvent[] }
  | { readonly _tag: 'Checkpoint'; readonly position: Position }
  | { readonly _tag: 'CaughtUp' }
  | { readonly _tag: 'Fault'; readonly fault: StoreFault };

export interface StoreLimits {
  /** Sum of type, meta and data bytes of one append. */
  readonly appendBytes: number;
  readonly appendEvents: number;
}

export const STORE_LIMITS: StoreLimits = { appendBytes: 1_000_000, appendEvents: 2_000 };

/**
 * Append-only streams with exact expected revisions (store.md, Ports). All events of an append are
 * stored or none. A repeated append of the same ids at the same `expected` gets the first answer.
 */
export interface EventStore {
  readonly identity: () => TE.TaskEither<StoreFault, { readonly storeId: string }>;
  readonly append: (
    stream: string,
    expected: ExpectedRevision,
    events: readonly [NewEvent, ...NewEvent[]],
  ) => TE.TaskEither<AppendFault, Appended>;
  /** Pages, never an open cursor. A missing stream is an empty page with `exists: false`. */
  readonly read: (options: ReadOptions) => TE.TaskEither<StoreFault, Page>;
  /** All streams in position order, after an exclusive start; catches up, then stays live. Never throws. */
  readonly feed: (options: FeedOptions) => AsyncIterable<FeedItem>;
  readonly compare: (a: Position, b: Position) => -1 | 0 | 1;
  readonly limits: StoreLimits;
  readonly close: () => TE.TaskEither<StoreFault, void>;
}

export interface FeedOptions {
  /** Stream categories: the part of a stream's name before its first `-`. Empty: all. */
  readonly categories: readonly string[];
  readonly after: Position | 'start';
  readonly signal: AbortSignal;
}
