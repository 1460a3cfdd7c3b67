import * as E from 'fp-ts/lib/Either.js';
import { expect } from 'vitest';
import type { EngineStores } from '../../engine/runtime.js';
import { refusalOf, valueOf } from '../answers.js';
import { hasCaughtUp, hasEvents, readFeed } from '../feed-reader.js';
import { abilityOf, type StoreCase } from '../opened-stores.js';
import { countTo, fill, idsOf, readAll, sampleBatch, sampleEvent } from '../sample-events.js';

const bytes = new TextEncoder().encode('bytes of a blob');

/** One call of everything, for stores that must refuse all of it. */
const everyCall = ({
  events,
  blobs,
  snapshots,
  keys,
}: EngineStores): readonly Promise<unknown>[] => [
  refusalOf(events.identity()),
  refusalOf(events.append('branch-a', 'none', sampleBatch('branch-a', 0, 1))),
  refusalOf(
    events.read({
      stream: 'branch-a',
      from: 'start',
      direction: 'forwards',
      limit: 1,
      maxBytes: 1,
    }),
  ),
  refusalOf(blobs.put('tenant', 'name', bytes)),
  refusalOf(blobs.get('tenant', 'name')),
  refusalOf(blobs.has('tenant', ['name'])),
  refusalOf(snapshots.get('name')),
  refusalOf(snapshots.put('name', 'value')),
  refusalOf(snapshots.drop('name')),
  refusalOf(keys.lookup('conversation', [{ stream: 'branch-a', upTo: 0 }], ['k'])),
];

/** ST150 to ST162: identity, opening again, several handles, closing. */
export const lifetimeCases: readonly StoreCase[] = [
  {
    title: 'ST150 has one identity at every time',
    run: async ({ stores: { events } }) => {
      const first = await valueOf(events.identity());
      expect(first.storeId.length).toBeGreaterThanOrEqual(16);
      await fill(events, 'branch-a', 2);
      expect(await valueOf(events.identity())).toEqual(first);
    },
  },
  {
    title: 'ST151 keeps its identity when it is opened again',
    needs: 'reopen',
    run: async (opened) => {
      const first = await valueOf(opened.stores.events.identity());
      const { events } = await abilityOf(opened, 'reopen')();
      expect(await valueOf(events.identity())).toEqual(first);
    },
  },
  {
    title: 'ST152 keeps events, keys, blobs and secrets when it is opened again',
    needs: 'reopen',
    run: async (opened) => {
      const { stores } = opened;
      const batch = [
        sampleEvent('branch-a', 0, { keys: ['k'] }),
        sampleEvent('branch-a', 1),
      ] as const;
      await valueOf(stores.events.append('branch-a', 'none', batch));
      await valueOf(stores.blobs.put('tenant', 'name', bytes));
      const secret = await valueOf(stores.keyStore.create('tenant'));
      const before = await readAll(stores.events, 'branch-a');
      const again = await abilityOf(opened, 'reopen')();
      expect(await readAll(again.events, 'branch-a')).toEqual(before);
      expect(await valueOf(again.blobs.get('tenant', 'name'))).toEqual(bytes);
      expect(await valueOf(again.keyStore.secret('tenant'))).toEqual(secret);
      const found = await valueOf(
        again.keys.lookup('conversation', [{ stream: 'branch-a', upTo: 1 }], ['k']),
      );
      expect(found.places).toEqual([{ key: 'k', stream: 'branch-a', revision: 0 }]);
    },
  },
  {
    title: 'ST153 goes on with revisions and positions when it is opened again',
    needs: 'reopen',
    run: async (opened) => {
      await fill(opened.stores.events, 'branch-a', 3);
      const { events } = await abilityOf(opened, 'reopen')();
      const answer = await valueOf(events.append('branch-a', 2, sampleBatch('branch-a', 3, 1)));
      expect(answer).toMatchObject({ first: 3, last: 3 });
      const [, , third, fourth] = await readAll(events, 'branch-a');
      expect(events.compare(third?.position ?? '', fourth?.position ?? '')).toBe(-1);
    },
  },
  {
    title: 'ST154 resumes a feed from a position of the time before it was opened again',
    needs: 'reopen',
    run: async (opened) => {
      await fill(opened.stores.events, 'branch-a', 4);
      const after = (await readAll(opened.stores.events, 'branch-a'))[1]?.position ?? '';
      const { events } = await abilityOf(opened, 'reopen')();
      const feed = readFeed(events, { categories: ['branch'], after });
      await feed.until(hasEvents(2));
      await feed.until(hasCaughtUp);
      await feed.stop();
      expect(feed.events().map((event) => event.revision)).toEqual([2, 3]);
    },
  },
  {
    title: 'ST155 shows every handle what another has appended',
    needs: 'another',
    run: async (opened) => {
      const { events } = opened.stores;
      const other = await abilityOf(opened, 'another')();
      expect(await valueOf(other.events.identity())).toEqual(await valueOf(events.identity()));
      for (const turn of countTo(10)) {
        const [writer, reader] = turn % 2 === 0 ? [events, other.events] : [other.events, events];
        await fill(writer, 'branch-a', 2, turn * 2);
        expect(await readAll(reader, 'branch-a')).toHaveLength(turn * 2 + 2);
      }
    },
  },
  {
    title: 'ST156 lets exactly one of two handles have a revision',
    needs: 'another',
    run: async (opened) => {
      const other = await abilityOf(opened, 'another')();
      for (const revision of countTo(10)) {
        const answers = await Promise.all(
          [opened.stores, other].map(({ events }, handle) => {
            const batch = sampleBatch('branch-a', revision, 1, { data: String(handle) });
            return events.append('branch-a', revision === 0 ? 'none' : revision - 1, batch)();
          }),
        );
        expect(answers.filter(E.isRight)).toHaveLength(1);
        expect(answers.filter(E.isLeft).map(({ left }) => left._tag)).toEqual(['WrongRevision']);
      }
      expect(await readAll(other.events, 'branch-a')).toHaveLength(10);
    },
  },
  {
    title: 'ST157 answers on one handle a repetition of what another has appended',
    needs: 'another',
    run: async (opened) => {
      const other = await abilityOf(opened, 'another')();
      const batch = sampleBatch('branch-a', 0, 3);
      const first = await valueOf(opened.stores.events.append('branch-a', 'none', batch));
      expect(await valueOf(other.events.append('branch-a', 'none', batch))).toEqual(first);
    },
  },
  {
    title: 'ST158 finds on one handle the keys of what another has appended',
    needs: 'another',
    run: async (opened) => {
      const other = await abilityOf(opened, 'another')();
      const event = sampleEvent('branch-a', 0, { keys: ['k'] });
      await valueOf(opened.stores.events.append('branch-a', 'none', [event]));
      const found = await valueOf(
        other.keys.lookup('conversation', [{ stream: 'branch-a', upTo: 0 }], ['k']),
      );
      const isKnown = (found.validUpTo.get('branch-a') ?? -1) >= 0;
      expect(found.places).toHaveLength(isKnown ? 1 : 0);
    },
  },
  {
    title: 'ST159 refuses every call after it was closed, and throws nothing',
    run: async ({ stores }) => {
      await fill(stores.events, 'branch-a', 1);
      await valueOf(stores.events.close());
      for (const call of everyCall(stores)) {
        expect(await call).toMatchObject({ _tag: 'Unavailable', reason: 'closed' });
      }
    },
  },
  {
    title: 'ST160 can be closed again and again',
    run: async ({ stores: { events } }) => {
      await Promise.all([valueOf(events.close()), valueOf(events.close())]);
      await valueOf(events.close());
    },
  },
  {
    title: 'ST161 answers the appends that were under way when it was closed',
    needs: 'reopen',
    run: async (opened) => {
      const { events } = opened.stores;
      const writes = countTo(12).map((writer) => {
        const stream = `branch-${writer}`;
        return events.append(stream, 'none', sampleBatch(stream, 0, 1))();
      });
      const closed = valueOf(events.close());
      const answers = await Promise.all(writes);
      await closed;
      const again = await abilityOf(opened, 'reopen')();
      for (const [writer, answer] of answers.entries()) {
        const stored = await readAll(again.events, `branch-${writer}`);
        expect(idsOf(stored)).toHaveLength(E.isRight(answer) ? 1 : 0);
      }
    },
  },
  {
    title: 'ST162 ends its feeds when it is closed, without an error thrown',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      const feed = readFeed(events, { categories: ['branch'] });
      await feed.until(hasCaughtUp);
      await valueOf(events.close());
      await feed.ended;
      const faults = feed.items.filter((item) => item._tag === 'Fault');
      for (const { fault } of faults) {
        expect(fault).toMatchObject({ _tag: 'Unavailable', reason: 'closed' });
      }
    },
  },
];
