import { randomBytes } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { AppendFault, StoreFault } from '../../domain/errors.js';
import {
  STORE_LIMITS,
  type Appended,
  type EventStore,
  type ExpectedRevision,
  type FeedItem,
  type FeedOptions,
  type NewEvent,
  type Page,
  type ReadOptions,
  type StoredEvent,
} from '../../domain/event-store.js';
import { categoryOf } from '../../domain/stream-name.js';
import { appendRefusal, firstRevision, headName, isResend } from './append-rules.js';
import { changeSignal, type ChangeSignal } from './change-signal.js';
import { comparePositions, feedLoop, type FeedPage, type FeedSource } from './feed-loop.js';

const PAGE_EVENTS = 500;

/** The log and what else the neighbours of the event store in memory look at. */
export interface MemoryLog {
  readonly events: EventStore;
  /** All events in position order. */
  readonly log: readonly StoredEvent[];
  readonly head: (stream: string) => number;
  /** A fault once the store is closed. */
  readonly closedFault: () => StoreFault | undefined;
}

const closed: StoreFault = { _tag: 'Unavailable', reason: 'closed' };

const pageOf = (all: readonly StoredEvent[], options: ReadOptions): Page => {
  const { from, direction, limit, maxBytes } = options;
  const step = direction === 'forwards' ? 1 : -1;
  const end = step === 1 ? all.length : all.length - 1;
  const start = from === 'start' ? 0 : from === 'end' ? end : from;
  const events: StoredEvent[] = [];
  let bytes = 0;
  let at = start;
  for (let event = all[at]; event !== undefined; event = all[at]) {
    if (events.length >= limit || bytes > maxBytes) {
      return { events, next: at, exists: true };
    }
    events.push(event);
    bytes += Buffer.byteLength(event.meta) + Buffer.byteLength(event.data);
    at += step;
  }
  return { events, exists: all.length > 0 };
};

interface Memory {
  readonly storeId: string;
  readonly streams: Map<string, StoredEvent[]>;
  readonly log: StoredEvent[];
  readonly changes: ChangeSignal;
  isClosed: boolean;
}

const append = (
  { streams, log, changes }: Memory,
  stream: string,
  expected: ExpectedRevision,
  events: readonly [NewEvent, ...NewEvent[]],
): E.Either<AppendFault, Appended> => {
  const refusal = appendRefusal(stream, events);
  if (refusal !== undefined) return E.left(refusal);
  const all = streams.get(stream) ?? [];
  const first = firstRevision(expected);
  const last = first + events.length - 1;
  if (all.length !== first) {
    const stored = all.slice(first, last + 1);
    const ids = stored.map((event) => event.id);
    const position = stored[stored.length - 1]?.position;
    return isResend(ids, events) && position !== undefined
      ? E.right({ first, last, position })
      : E.left({ _tag: 'WrongRevision', expected, actual: headName(all.length - 1) });
  }
  for (const { id, type, meta, data } of events) {
    const position = String(log.length + 1);
    const event = Object.freeze({ stream, revision: all.length, position, id, type, meta, data });
    all.push(event);
    log.push(event);
  }
  streams.set(stream, all);
  changes.announce();
  return E.right({ first, last, position: String(log.length) });
};

const feedPage = (
  { log, isClosed }: Memory,
  categories: ReadonlySet<string>,
  after: number,
): E.Either<StoreFault, FeedPage> => {
  if (isClosed) return E.left(closed);
  const seen = log.slice(after, after + PAGE_EVENTS);
  const to = after + seen.length;
  const events = seen.filter(
    (event) => categories.size === 0 || categories.has(categoryOf(event.stream)),
  );
  return E.right({ events, to, atEnd: to >= log.length });
};

const feed = (memory: Memory, options: FeedOptions): AsyncIterable<FeedItem> => {
  const { storeId, changes, log } = memory;
  const categories = new Set(options.categories);
  const source: FeedSource = {
    storeId,
    page: (after) => Promise.resolve(feedPage(memory, categories, after)),
    last: () => Promise.resolve(memory.isClosed ? E.left(closed) : E.right(log.length)),
    changes,
  };
  return feedLoop(source, options);
};

/** The events in memory: one array per stream and one for the order of the whole store. */
export const memoryEvents = (): MemoryLog => {
  const storeId = randomBytes(16).toString('base64url');
  const changes = changeSignal();
  const memory: Memory = { storeId, streams: new Map(), log: [], changes, isClosed: false };
  const { streams, log } = memory;
  const guarded =
    <A, F>(run: () => E.Either<F | StoreFault, A>): TE.TaskEither<F | StoreFault, A> =>
    () =>
      Promise.resolve(memory.isClosed ? E.left(closed) : run());
  const events: EventStore = {
    identity: () => guarded(() => E.right({ storeId })),
    append: (stream, expected, batch) => guarded(() => append(memory, stream, expected, batch)),
    read: (options) => guarded(() => E.right(pageOf(streams.get(options.stream) ?? [], options))),
    feed: (options) => feed(memory, options),
    compare: comparePositions,
    limits: STORE_LIMITS,
    close: () => () => {
      memory.isClosed = true;
      changes.announce();
      return Promise.resolve(E.right(undefined));
    },
  };
  return {
    events,
    log,
    head: (stream) => (streams.get(stream)?.length ?? 0) - 1,
    closedFault: () => (memory.isClosed ? closed : undefined),
  };
};
