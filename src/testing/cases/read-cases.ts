import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import type { EventStore, Page, ReadOptions } from '../../domain/event-store.js';
import type { Revision } from '../../domain/ids.js';
import { valueOf } from '../answers.js';
import type { StoreCase } from '../opened-stores.js';
import {
  countTo,
  fill,
  idsOf,
  readAll,
  revisionsOf,
  sampleBatch,
  sampleEvent,
} from '../sample-events.js';

const AMPLE = 1_000_000_000;

const read = (
  events: EventStore,
  options: Partial<ReadOptions> & Pick<ReadOptions, 'from' | 'direction'>,
): Promise<Page> =>
  valueOf(events.read({ stream: 'branch-a', limit: 1_000, maxBytes: AMPLE, ...options }));

/** The sizes of the pages, and the revisions of all of them. */
const pagesOf = async (
  events: EventStore,
  options: Pick<ReadOptions, 'direction'> & Partial<ReadOptions>,
): Promise<{ readonly sizes: readonly number[]; readonly revisions: readonly Revision[] }> => {
  const sizes: number[] = [];
  const revisions: Revision[] = [];
  let from: ReadOptions['from'] | undefined = options.direction === 'forwards' ? 'start' : 'end';
  while (from !== undefined) {
    const page: Page = await read(events, { ...options, from });
    sizes.push(page.events.length);
    revisions.push(...revisionsOf(page.events));
    from = page.next;
  }
  return { sizes, revisions };
};

/** ST45 to ST62: pages of one stream. */
export const readCases: readonly StoreCase[] = [
  {
    title: 'ST45 gives an empty page for a stream that is not there, and says so',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-b', 1);
      for (const direction of ['forwards', 'backwards'] as const) {
        for (const from of ['start', 'end', 3] as const) {
          expect(await read(events, { from, direction })).toEqual({ events: [], exists: false });
        }
      }
    },
  },
  {
    title: 'ST46 reads forwards from the start in order of revision',
    run: async ({ stores: { events } }) => {
      const batch = await fill(events, 'branch-a', 20);
      const page = await read(events, { from: 'start', direction: 'forwards' });
      expect(revisionsOf(page.events)).toEqual(countTo(20));
      expect(idsOf(page.events)).toEqual(idsOf(batch));
      expect(page.exists).toBe(true);
      expect(page.next).toBeUndefined();
    },
  },
  {
    title: 'ST47 reads backwards from the end in reverse order',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 20);
      const page = await read(events, { from: 'end', direction: 'backwards' });
      expect(revisionsOf(page.events)).toEqual(countTo(20).toReversed());
      expect(page.next).toBeUndefined();
    },
  },
  {
    title: 'ST48 begins at the revision that it is given, in both directions',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 6);
      const forwards = await read(events, { from: 2, direction: 'forwards' });
      expect(revisionsOf(forwards.events)).toEqual([2, 3, 4, 5]);
      const backwards = await read(events, { from: 2, direction: 'backwards' });
      expect(revisionsOf(backwards.events)).toEqual([2, 1, 0]);
    },
  },
  {
    title: 'ST49 gives no more events than the limit and says where to go on, forwards',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 10);
      const page = await read(events, { from: 'start', direction: 'forwards', limit: 3 });
      expect(revisionsOf(page.events)).toEqual([0, 1, 2]);
      expect(page.next).toBe(3);
      const pages = await pagesOf(events, { direction: 'forwards', limit: 3 });
      expect(pages).toEqual({ sizes: [3, 3, 3, 1], revisions: countTo(10) });
    },
  },
  {
    title: 'ST50 gives no more events than the limit and says where to go on, backwards',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 10);
      const page = await read(events, { from: 'end', direction: 'backwards', limit: 3 });
      expect(revisionsOf(page.events)).toEqual([9, 8, 7]);
      expect(page.next).toBe(6);
      const pages = await pagesOf(events, { direction: 'backwards', limit: 3 });
      expect(pages).toEqual({ sizes: [3, 3, 3, 1], revisions: countTo(10).toReversed() });
    },
  },
  {
    title: 'ST51 promises no further page when the last one is just full',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 6);
      for (const direction of ['forwards', 'backwards'] as const) {
        expect((await pagesOf(events, { direction, limit: 3 })).sizes).toEqual([3, 3]);
        expect((await pagesOf(events, { direction, limit: 6 })).sizes).toEqual([6]);
      }
    },
  },
  {
    title: 'ST52 stops after the event that passes the bytes asked for',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 10);
      const [first] = (await read(events, { from: 'start', direction: 'forwards' })).events;
      const bytes = Buffer.byteLength(`${first?.meta ?? ''}${first?.data ?? ''}`);
      const maxBytes = Math.floor(bytes * 2.5);
      const forwards = await read(events, { from: 'start', direction: 'forwards', maxBytes });
      expect(revisionsOf(forwards.events)).toEqual([0, 1, 2]);
      expect(forwards.next).toBe(3);
      const backwards = await read(events, { from: 'end', direction: 'backwards', maxBytes });
      expect(revisionsOf(backwards.events)).toEqual([9, 8, 7]);
      expect(backwards.next).toBe(6);
    },
  },
  {
    title: 'ST53 gives at least one event, however few bytes are asked for',
    run: async ({ stores: { events } }) => {
      const large = sampleEvent('branch-a', 0, { data: 'x'.repeat(500_000) });
      await valueOf(events.append('branch-a', 'none', [large]));
      await fill(events, 'branch-a', 4, 1);
      for (const direction of ['forwards', 'backwards'] as const) {
        const pages = await pagesOf(events, { direction, maxBytes: 1 });
        expect(pages.sizes).toEqual([1, 1, 1, 1, 1]);
      }
    },
  },
  {
    title: 'ST54 reads large events whole, whatever the pages are',
    run: async ({ stores: { events } }) => {
      for (const revision of countTo(8)) {
        const data = JSON.stringify(String(revision).repeat(300_000));
        const batch = sampleBatch('branch-a', revision, 1, { data });
        await valueOf(events.append('branch-a', revision === 0 ? 'none' : revision - 1, batch));
      }
      for (const limit of [1, 3, 100]) {
        const stored = await readAll(events, 'branch-a', limit);
        expect(stored.map((event) => event.data.slice(0, 2))).toEqual(
          countTo(8).map((revision) => `"${revision}`),
        );
        expect(stored.every((event) => event.data.length === 300_002)).toBe(true);
      }
    },
  },
  {
    title: 'ST55 has nothing to give forwards from the end',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      const page = await read(events, { from: 'end', direction: 'forwards' });
      expect(page).toEqual({ events: [], exists: true });
    },
  },
  {
    title: 'ST56 has nothing to give from beyond the end, and the stream exists all the same',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      for (const from of [3, 4, 1_000_000]) {
        const page = await read(events, { from, direction: 'forwards' });
        expect(page).toEqual({ events: [], exists: true });
      }
    },
  },
  {
    title: 'ST57 gives the first event alone, backwards from the start',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      for (const from of ['start', 0] as const) {
        const page = await read(events, { from, direction: 'backwards' });
        expect(revisionsOf(page.events)).toEqual([0]);
        expect(page.next).toBeUndefined();
      }
    },
  },
  {
    title: 'ST58 gives the last event alone, forwards from its revision',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      const page = await read(events, { from: 2, direction: 'forwards', limit: 5 });
      expect(revisionsOf(page.events)).toEqual([2]);
      expect(page.next).toBeUndefined();
    },
  },
  {
    title: 'ST59 names stream and revision in every event',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 3);
      await fill(events, 'branch-b', 2);
      const stored = await readAll(events, 'branch-b');
      expect(stored.map(({ stream, revision }) => [stream, revision])).toEqual([
        ['branch-b', 0],
        ['branch-b', 1],
      ]);
    },
  },
  {
    title: 'ST60 reads 6,000 events in pages of any size, none left out and none twice',
    run: async ({ stores: { events } }) => {
      for (const part of countTo(3)) await fill(events, 'branch-a', 2_000, part * 2_000);
      for (const limit of [999, 1_000, 6_000]) {
        const { revisions } = await pagesOf(events, { direction: 'forwards', limit });
        expect(revisions).toEqual(countTo(6_000));
      }
      const { revisions } = await pagesOf(events, { direction: 'backwards', limit: 777 });
      expect(revisions).toEqual(countTo(6_000).toReversed());
    },
  },
  {
    title: 'ST61 reads one stream out of many that were written in turns',
    run: async ({ stores: { events } }) => {
      for (const turn of countTo(60))
        await fill(events, `branch-${turn % 4}`, 1, Math.floor(turn / 4));
      for (const stream of countTo(4)) {
        const stored = await readAll(events, `branch-${stream}`, 4);
        expect(revisionsOf(stored)).toEqual(countTo(15));
        expect(new Set(stored.map((event) => event.stream))).toEqual(new Set([`branch-${stream}`]));
      }
    },
  },
  {
    title: 'ST62 never shows a part of a batch to a reader',
    run: async ({ stores: { events } }) => {
      let isWriting = true;
      const write = async (): Promise<void> => {
        for (const turn of countTo(20)) await fill(events, 'branch-a', 7, turn * 7);
        isWriting = false;
      };
      const lengths: number[] = [];
      const watch = async (): Promise<void> => {
        while (isWriting) {
          const page = await read(events, { from: 'end', direction: 'backwards', limit: 1 });
          lengths.push((page.events[0]?.revision ?? -1) + 1);
          await setImmediate();
        }
      };
      await Promise.all([write(), watch()]);
      expect(lengths.filter((length) => length % 7 !== 0)).toEqual([]);
    },
  },
];
