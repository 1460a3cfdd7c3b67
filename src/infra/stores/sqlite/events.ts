import * as E from 'fp-ts/lib/Either.js';
import * as TE from 'fp-ts/lib/TaskEither.js';
import { STORE_LIMITS, type Appended, type EventStore } from '../../../domain/event-store.js';
import { appendBytes, appendRefusal } from '../append-rules.js';
import type { ChangeSignal } from '../change-signal.js';
import { comparePositions, feedLoop, type FeedSource } from '../feed-loop.js';
import { appendEvents } from './append.js';
import type { Calls } from './calls.js';
import { feedPage, lastPosition } from './feed.js';
import type { NameTable } from './names.js';
import { readPage } from './read.js';

export interface EventParts {
  readonly calls: Calls;
  readonly storeId: string;
  readonly streams: NameTable;
  readonly conversations: NameTable;
  readonly changes: ChangeSignal;
  readonly close: () => Promise<void>;
}

const append =
  ({ calls, streams, conversations }: EventParts): EventStore['append'] =>
  (stream, expected, events) => {
    const refusal = appendRefusal(stream, events);
    if (refusal !== undefined) return TE.left(refusal);
    return calls.writing<Appended>(() => ({
      bytes: appendBytes(events),
      unknown: { _tag: 'OutcomeUnknown', stream, expected, ids: events.map((event) => event.id) },
      run: () => appendEvents({ db: calls.db, streams, conversations }, stream, expected, events),
    }));
  };

const feed =
  ({ calls, storeId, streams, changes }: EventParts): EventStore['feed'] =>
  (options) => {
    const categories = new Set(options.categories);
    const source: FeedSource = {
      storeId,
      page: (after) => calls.reading(() => feedPage(calls.db, streams, categories, after))(),
      last: calls.reading(() => E.right(lastPosition(calls.db))),
      changes,
    };
    return feedLoop(source, options);
  };

/** The event store of one connection. */
export const sqliteEvents = (parts: EventParts): EventStore => {
  const { calls, storeId, streams, close } = parts;
  return {
    identity: () => calls.reading(() => E.right({ storeId })),
    append: append(parts),
    read: (options) => calls.reading(() => readPage(calls.db, streams, options)),
    feed: feed(parts),
    compare: comparePositions,
    limits: STORE_LIMITS,
    close: () => async () => {
      await close();
      return E.right(undefined);
    },
  };
};
