import * as E from 'fp-ts/lib/Either.js';
import { expectedPrev } from '../../src/domain/chain.js';
import { encodeMeta, hashEvent, idFromHash, type Meta } from '../../src/domain/envelope.js';
import type { EventStore, NewEvent, Page, StoredEvent } from '../../src/domain/event-store.js';
import { readStored } from '../../src/domain/recorded.js';
import { directoryStream } from '../../src/domain/stream-name.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { openStemma, type Branch, type Stemma } from '../../src/index.js';
import { watch, type Watched } from './support.js';

/** What a stored page is seen as; undefined: as it is. */
export type Lens = (page: Page, stream: string) => Page | undefined;

/** Stores whose events are seen through a lens that a test puts in later. */
export interface Lensed extends Watched {
  readonly look: (lens: Lens | undefined) => void;
  /** Another engine on the same stores, which remembers nothing. */
  readonly reopened: () => Promise<Stemma>;
}

const lensedEvents = (events: EventStore, lens: () => Lens | undefined): EventStore => ({
  ...events,
  read: (options) => async () => {
    const page = await events.read(options)();
    return E.map((seen: Page) => lens()?.(seen, options.stream) ?? seen)(page);
  },
  feed: async function* (options) {
    for await (const item of events.feed(options)) {
      if (item._tag !== 'Events') {
        yield item;
        continue;
      }
      yield {
        ...item,
        events: item.events.flatMap((event) => {
          const page = { events: [event], exists: true };
          return (lens()?.(page, event.stream) ?? page).events;
        }),
      };
    }
  },
});

export const lensed = async (): Promise<Lensed> => {
  let lens: Lens | undefined;
  let seen: EngineStores | undefined;
  const watched = await watch({
    wrap: (stores) => {
      seen = { ...stores, events: lensedEvents(stores.events, () => lens) };
      return seen;
    },
  });
  return {
    ...watched,
    look: (wanted) => {
      lens = wanted;
    },
    reopened: () => openStemma(seen === undefined ? {} : { store: seen }),
  };
};

/** A lens that changes one event of one stream. */
export const changing =
  (
    stream: string,
    revision: number,
    change: (event: StoredEvent) => StoredEvent | undefined,
  ): Lens =>
  (page, of) =>
    of === stream
      ? {
          ...page,
          events: page.events.flatMap((event) => {
            const changed = event.revision === revision ? change(event) : event;
            return changed === undefined ? [] : [changed];
          }),
        }
      : undefined;

/** What another writer puts into an event. */
export interface Foreign {
  readonly type?: string;
  readonly data?: string;
  readonly meta?: Partial<Record<keyof Meta, string>>;
  /** The whole text of the envelope. */
  readonly metaText?: string;
}

/** The event that another writer would append next to a stream: well-formed and rightly chained. */
export const foreignEvent = async (
  { stores }: Watched,
  stream: string,
  foreign: Foreign = {},
): Promise<NewEvent> => {
  const page = await stores.events.read({
    stream,
    from: 'end',
    direction: 'backwards',
    limit: 1,
    maxBytes: 1,
  })();
  const last = E.isRight(page) ? page.right.events[0] : undefined;
  const before = last && readStored(last);
  if (before === undefined || E.isLeft(before)) throw new Error('the stream has no readable head');
  const { meta, revision } = before.right;
  const next: Meta = {
    fmt: meta.fmt,
    sv: '1',
    compat: 'must',
    conv: meta.conv,
    branch: meta.branch,
    prev: expectedPrev(before.right, before.right),
    part: '1/1',
    at: meta.at,
    actor: 'another build',
    via: 'another/9.9.9',
    ...(foreign.meta as Partial<Meta>),
  };
  const [metaText, data] = [foreign.metaText ?? encodeMeta(next), foreign.data ?? '{}'];
  const type = foreign.type ?? 'SomethingNew';
  const hash = hashEvent({ ...next, revision: revision + 1 }, type, metaText, data);
  return { id: idFromHash(hash), hash, type, meta: metaText, data };
};

/** Appends it; gives its revision. */
export const foreignWrite = async (
  watched: Watched,
  stream: string,
  foreign: Foreign = {},
): Promise<number> => {
  const event = await foreignEvent(watched, stream, foreign);
  const all = (await watched.events()).filter((stored) => stored.stream === stream);
  const written = await watched.stores.events.append(stream, all.length - 1, [event])();
  if (E.isLeft(written)) throw new Error(JSON.stringify(written.left));
  return written.right.last;
};

/** Names of the streams of a branch and of its conversation's directory. */
export const streamsOf = async (
  watched: Watched,
  branch: Branch,
): Promise<{ readonly own: string; readonly directory: string }> => {
  const streams = (await watched.events()).map(({ stream }) => stream);
  const own = streams.find((stream) => stream.endsWith(`.${branch.branch}`)) ?? '';
  const [, tenant = ''] = /^branch-([\w-]{22})\./.exec(own) ?? [];
  return { own, directory: directoryStream(tenant as never, branch.conversation) };
};

/** All lines of an export. */
export const exported = async (
  stemma: Stemma,
  conversation: string,
): Promise<readonly string[]> => {
  const lines: string[] = [];
  for await (const line of stemma.export(conversation)) lines.push(line);
  return lines;
};
