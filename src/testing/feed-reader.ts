import type { EventStore, FeedItem, FeedOptions, StoredEvent } from '../domain/event-store.js';

const PATIENCE_MS = 10_000;

/** A feed that is being read, and what came of it so far. */
export interface FeedReader {
  readonly items: readonly FeedItem[];
  readonly events: () => readonly StoredEvent[];
  /** Resolves once this holds. Throws when the feed ends or nothing comes for too long. */
  readonly until: (isEnough: (reader: FeedReader) => boolean) => Promise<void>;
  /** Aborts, and waits for the feed to end. Throws what the feed threw. */
  readonly stop: () => Promise<void>;
  /** Resolves when the feed has ended. */
  readonly ended: Promise<void>;
}

/** Starts to read a feed in the background. */
export const readFeed = (
  store: EventStore,
  options: Partial<Omit<FeedOptions, 'signal'>> = {},
): FeedReader => {
  const abort = new AbortController();
  const items: FeedItem[] = [];
  let wake = (): void => undefined;
  let hasEnded = false;
  const run = async (): Promise<void> => {
    const { categories = [], after = 'start' } = options;
    try {
      for await (const item of store.feed({ categories, after, signal: abort.signal })) {
        items.push(item);
        wake();
      }
    } finally {
      hasEnded = true;
      wake();
    }
  };
  const ended = run();
  // The case that waits is told; one that does not wait must not end the process.
  ended.catch(() => undefined);
  const events = (): readonly StoredEvent[] =>
    items.flatMap((item) => (item._tag === 'Events' ? item.events : []));
  const until = async (isEnough: (reader: FeedReader) => boolean): Promise<void> => {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isEnough(reader)) {
      if (hasEnded) throw new Error(`the feed ended after ${describe(items)}`);
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`nothing more came after ${describe(items)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  const reader: FeedReader = { items, events, until, stop, ended };
  return reader;
};

const describe = (items: readonly FeedItem[]): string =>
  `${String(items.length)} items, the last ${JSON.stringify(items[items.length - 1]?._tag)}`;

export const hasCaughtUp = ({ items }: FeedReader): boolean =>
  items.some((item) => item._tag === 'CaughtUp');

export const hasEvents =
  (count: number) =>
  ({ events }: FeedReader): boolean =>
    events().length >= count;
