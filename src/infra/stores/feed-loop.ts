import { setImmediate } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { StoreFault } from '../../domain/errors.js';
import type { FeedItem, FeedOptions, Position, StoredEvent } from '../../domain/event-store.js';
import type { ChangeSignal } from './change-signal.js';

/** A look at the order of the whole store: the wanted events up to `to`, all of it seen. */
export interface FeedPage {
  readonly events: readonly StoredEvent[];
  readonly to: number;
  /** True when nothing follows `to` yet. */
  readonly atEnd: boolean;
}

export interface FeedSource {
  readonly storeId: string;
  readonly page: (after: number) => Promise<E.Either<StoreFault, FeedPage>>;
  /** Position of the last event, 0 for an empty store. */
  readonly last: () => Promise<E.Either<StoreFault, number>>;
  readonly changes: ChangeSignal;
}

/** Positions are decimal ordinals from 1; undefined for a text that this store never gave out. */
export const parsePosition = (position: Position): number | undefined =>
  /^[1-9][0-9]{0,15}$/.test(position) ? Number(position) : undefined;

export const comparePositions = (a: Position, b: Position): -1 | 0 | 1 => {
  const [left, right] = [parsePosition(a) ?? 0, parsePosition(b) ?? 0];
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

/** A start that the store never reached: it was restored from an older copy, or is another store. */
const startOf = async (
  source: FeedSource,
  after: FeedOptions['after'],
): Promise<E.Either<StoreFault, number>> => {
  if (after === 'start') return E.right(0);
  const start = parsePosition(after);
  const last = await source.last();
  if (E.isLeft(last)) return last;
  return start === undefined || start > last.right
    ? E.left({ _tag: 'StoreChanged', storeId: source.storeId, position: after })
    : E.right(start);
};

/**
 * The loop behind every feed: exclusive start, pages until the end, `CaughtUp`, then live. A look
 * that found only events of other categories gives a checkpoint, so that a reader that rarely sees
 * an event does not scan them again. A fault ends the feed; an abort ends it in silence.
 */
export async function* feedLoop(
  source: FeedSource,
  options: FeedOptions,
): AsyncGenerator<FeedItem> {
  const { signal } = options;
  const isAborted = (): boolean => signal.aborted;
  const start = await startOf(source, options.after);
  if (E.isLeft(start)) {
    yield { _tag: 'Fault', fault: start.left };
    return;
  }
  let at = start.right;
  let isBehind = true;
  while (!isAborted()) {
    const seen = source.changes.version();
    const page = await source.page(at);
    if (E.isLeft(page)) {
      yield { _tag: 'Fault', fault: page.left };
      return;
    }
    const { events, to, atEnd } = page.right;
    if (events.length > 0) yield { _tag: 'Events', events };
    else if (to > at) yield { _tag: 'Checkpoint', position: String(to) };
    at = to;
    if (isAborted()) return;
    if (!atEnd) {
      isBehind = true;
      // A reader that never waits would otherwise keep the event loop for itself.
      await setImmediate();
      continue;
    }
    if (isBehind) yield { _tag: 'CaughtUp' };
    isBehind = false;
    await source.changes.changedSince(seen, signal);
  }
}
