import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { EventStore, StoredEvent } from '../../domain/event-store.js';
import { valueOf } from '../answers.js';
import { hasCaughtUp, hasEvents, readFeed } from '../feed-reader.js';
import { abilityOf, type StoreCase } from '../opened-stores.js';
import { countTo, fill, sampleBatch } from '../sample-events.js';

/** `a 0`, `a 1`: where each event stands. */
const placesOf = (events: readonly StoredEvent[]): readonly string[] =>
  events.map(({ stream, revision }) => `${stream} ${revision}`);

const expectOrdered = (store: EventStore, events: readonly StoredEvent[]): void => {
  const positions = events.map((event) => event.position);
  const wrong = positions.filter(
    (position, index) => index > 0 && store.compare(positions[index - 1] ?? '', position) !== -1,
  );
  expect(wrong).toEqual([]);
};

const expectEachOnce = (events: readonly StoredEvent[], streams: number, each: number): void => {
  expect(events).toHaveLength(streams * each);
  for (const stream of countTo(streams)) {
    const own = events.filter((event) => event.stream === `branch-${stream}`);
    expect(own.map((event) => event.revision)).toEqual(countTo(each));
  }
};

/** Some streams, written in turns: `turns` events in `streams` of them. */
const fillInTurns = async (store: EventStore, streams: number, turns: number): Promise<void> => {
  for (const turn of countTo(turns)) {
    await fill(store, `branch-${turn % streams}`, 1, Math.floor(turn / streams));
  }
};

/** ST75 to ST92: the order of the whole store. */
export const feedCases: readonly StoreCase[] = [
  {
    title: 'G11 ST75 gives all events of all streams in the order of their positions',
    run: async ({ stores: { events } }) => {
      await fillInTurns(events, 3, 30);
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasCaughtUp);
      await feed.stop();
      expect(placesOf(feed.events())).toEqual(
        countTo(30).map((turn) => `branch-${turn % 3} ${Math.floor(turn / 3)}`),
      );
      expectOrdered(events, feed.events());
    },
  },
  {
    title: 'ST76 says when it has caught up: after what was there, before what comes',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasCaughtUp);
      await fill(events, 'branch-a', 1, 3);
      await feed.until(hasEvents(4));
      await feed.stop();
      const tags = feed.items.map((item) => item._tag).filter((tag) => tag !== 'Checkpoint');
      const caughtUp = tags.indexOf('CaughtUp');
      const before = feed.items
        .slice(
          0,
          feed.items.findIndex((item) => item._tag === 'CaughtUp'),
        )
        .flatMap((item) => (item._tag === 'Events' ? item.events : []));
      expect(placesOf(before)).toEqual(['branch-a 0', 'branch-a 1', 'branch-a 2']);
      expect(tags.slice(caughtUp + 1)).toContain('Events');
    },
  },
  {
    title: 'ST77 gives events live as they are appended',
    run: async ({ stores: { events } }) => {
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasCaughtUp);
      for (const revision of countTo(10)) {
        await fill(events, 'branch-a', 1, revision);
        await feed.until(hasEvents(revision + 1));
      }
      await feed.stop();
      expect(placesOf(feed.events())).toEqual(
        countTo(10).map((revision) => `branch-a ${revision}`),
      );
    },
  },
  {
    title: 'ST78 catches up with a store that is empty',
    run: async ({ stores: { events } }) => {
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasCaughtUp);
      await feed.stop();
      expect(feed.events()).toEqual([]);
    },
  },
  {
    title: 'ST79 begins behind the position that it is given',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 5);
      const whole = readFeed(events, { categories: ['branch'] });
      await whole.until(hasEvents(5));
      await whole.stop();
      const after = whole.events()[1]?.position ?? '';
      const feed = readFeed(events, { categories: ['branch'], after });
      await feed.until(hasEvents(3));
      await feed.until(hasCaughtUp);
      await feed.stop();
      expect(placesOf(feed.events())).toEqual(['branch-a 2', 'branch-a 3', 'branch-a 4']);
    },
  },
  {
    title: 'ST80 can be resumed from every position, nothing lost and nothing twice',
    run: async ({ stores: { events } }) => {
      await fillInTurns(events, 2, 12);
      const whole = readFeed(events, { categories: ['branch'] });
      await whole.until(hasEvents(12));
      await whole.stop();
      for (const [index, { position }] of whole.events().entries()) {
        const feed = readFeed(events, { categories: ['branch'], after: position });
        await feed.until(hasCaughtUp);
        await feed.stop();
        expect(placesOf(feed.events())).toEqual(placesOf(whole.events()).slice(index + 1));
      }
    },
  },
  {
    title: 'ST81 goes on live when it begins behind the last event',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      const whole = readFeed(events, { categories: ['branch'] });
      await whole.until(hasEvents(3));
      await whole.stop();
      const after = whole.events()[2]?.position ?? '';
      const feed = readFeed(events, { categories: ['branch'], after });
      await feed.until(hasCaughtUp);
      await fill(events, 'branch-a', 2, 3);
      await feed.until(hasEvents(2));
      await feed.stop();
      expect(placesOf(feed.events())).toEqual(['branch-a 3', 'branch-a 4']);
    },
  },
  {
    title: 'ST82 gives the categories that it is asked for and no other',
    run: async ({ stores: { events } }) => {
      const streams = ['branch-x', 'conversation-x', 'branchless-x', 'governance-x', 'branch'];
      for (const stream of streams) await fill(events, stream, 2);
      const read = async (categories: readonly string[]): Promise<readonly string[]> => {
        const feed = readFeed(events, { categories });
        await feed.until(hasCaughtUp);
        await feed.stop();
        return [...new Set(feed.events().map((event) => event.stream))];
      };
      expect(await read(['branch'])).toEqual(['branch-x', 'branch']);
      expect(await read(['governance', 'conversation'])).toEqual([
        'conversation-x',
        'governance-x',
      ]);
      expect(await read(['nothing'])).toEqual([]);
    },
  },
  {
    title: 'ST83 gives every category when it is asked for none',
    run: async ({ stores: { events } }) => {
      for (const stream of ['branch-x', 'conversation-x', 'governance-x'])
        await fill(events, stream, 1);
      const feed = readFeed(events);
      await feed.until(hasEvents(3));
      await feed.stop();
      const streams = feed.events().map((event) => event.stream);
      expect(streams).toEqual(
        expect.arrayContaining(['branch-x', 'conversation-x', 'governance-x']),
      );
    },
  },
  {
    title: 'ST84 can be resumed from every checkpoint, nothing lost',
    run: async ({ stores: { events } }) => {
      for (const turn of countTo(1_200)) {
        await fill(
          events,
          turn % 400 === 399 ? 'branch-a' : 'conversation-a',
          1,
          turnRevision(turn),
        );
      }
      const whole = readFeed(events, { categories: ['branch'] });
      await whole.until(hasEvents(3));
      await whole.until(hasCaughtUp);
      await whole.stop();
      let seen = 0;
      for (const item of whole.items) {
        if (item._tag === 'Events') seen += item.events.length;
        if (item._tag !== 'Checkpoint') continue;
        const feed = readFeed(events, { categories: ['branch'], after: item.position });
        await feed.until(hasCaughtUp);
        await feed.stop();
        expect(feed.events()).toHaveLength(3 - seen);
      }
    },
  },
  {
    title: 'ST85 ends in silence when it is given up, also before it began',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 2);
      const waiting = readFeed(events, { categories: ['branch'] });
      await waiting.until(hasCaughtUp);
      await waiting.stop();
      const items: unknown[] = [];
      const signal = AbortSignal.abort();
      for await (const item of events.feed({ categories: [], after: 'start', signal }))
        items.push(item);
      expect(items).toEqual([]);
      expect(waiting.items.filter((item) => item._tag === 'Fault')).toEqual([]);
    },
  },
  {
    title: 'ST86 can be left in the middle',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 10);
      const abort = new AbortController();
      const options = { categories: ['branch'], after: 'start', signal: abort.signal } as const;
      for await (const item of events.feed(options)) if (item._tag === 'Events') break;
      abort.abort();
      await fill(events, 'branch-a', 1, 10);
    },
  },
  {
    title: 'ST87 catches up over many pages while others append, every event once and in order',
    run: async ({ stores: { events } }) => {
      for (const stream of countTo(3)) await fill(events, `branch-${stream}`, 600);
      const feed = readFeed(events, { categories: ['branch'] });
      const write = async (stream: number): Promise<void> => {
        for (const turn of countTo(20)) {
          await fill(events, `branch-${stream}`, 5, 600 + turn * 5);
          await delay(1);
        }
      };
      await Promise.all(countTo(3).map(write));
      await feed.until(hasEvents(2_100));
      await feed.stop();
      expectEachOnce(feed.events(), 3, 700);
      expectOrdered(events, feed.events());
    },
  },
  {
    title: 'ST88 gives every event of many writers of the same moment once and in order',
    run: async ({ stores: { events } }) => {
      const feed = readFeed(events, { categories: ['branch'] });
      const write = async (stream: number): Promise<void> => {
        for (const revision of countTo(25)) await fill(events, `branch-${stream}`, 1, revision);
      };
      await Promise.all(countTo(12).map(write));
      await feed.until(hasEvents(300));
      await feed.stop();
      expectEachOnce(feed.events(), 12, 25);
      expectOrdered(events, feed.events());
    },
  },
  {
    title: 'ST89 serves several readers, each at its own pace',
    run: async ({ stores: { events } }) => {
      const abort = new AbortController();
      const slow: StoredEvent[] = [];
      const readSlowly = async (): Promise<void> => {
        const options = { categories: ['branch'], after: 'start', signal: abort.signal } as const;
        for await (const item of events.feed(options)) {
          if (item._tag === 'Events') slow.push(...item.events);
          if (slow.length >= 40) return;
          await delay(15);
        }
      };
      const fast = [
        readFeed(events, { categories: ['branch'] }),
        readFeed(events, { categories: ['branch'] }),
      ];
      const slowly = readSlowly();
      await fillInTurns(events, 4, 40);
      for (const feed of fast) await feed.until(hasEvents(40));
      await slowly;
      abort.abort();
      for (const feed of fast) await feed.stop();
      for (const feed of fast) expect(placesOf(feed.events())).toEqual(placesOf(slow));
    },
  },
  {
    title: 'ST90 does not give a repeated append again',
    run: async ({ stores: { events } }) => {
      const feed = readFeed(events, { categories: ['branch'] });
      const batch = sampleBatch('branch-a', 0, 2);
      for (const _ of countTo(3)) await valueOf(events.append('branch-a', 'none', batch));
      await fill(events, 'branch-b', 1);
      await feed.until(hasEvents(3));
      await feed.stop();
      expect(placesOf(feed.events())).toEqual(['branch-a 0', 'branch-a 1', 'branch-b 0']);
    },
  },
  {
    title: 'ST91 gives the same events as a read of their streams',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 5);
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasEvents(5));
      await feed.stop();
      const page = await valueOf(
        events.read({
          stream: 'branch-a',
          from: 'start',
          direction: 'forwards',
          limit: 9,
          maxBytes: 1e9,
        }),
      );
      expect(feed.events()).toEqual(page.events);
    },
  },
  {
    title: 'ST92 gives live what another handle on the same data appends',
    needs: 'another',
    run: async (opened) => {
      const { events } = opened.stores;
      const other = await abilityOf(opened, 'another')();
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasCaughtUp);
      for (const revision of countTo(5)) {
        await fill(other.events, 'branch-a', 1, revision);
        await feed.until(hasEvents(revision + 1));
      }
      await feed.stop();
      expect(placesOf(feed.events())).toEqual(countTo(5).map((revision) => `branch-a ${revision}`));
    },
  },
];

/** The revision of turn `turn` of ST84, where every 400th event goes to the other stream. */
const turnRevision = (turn: number): number => {
  const rare = Math.floor((turn + 1) / 400);
  return turn % 400 === 399 ? rare - 1 : turn - rare;
};
