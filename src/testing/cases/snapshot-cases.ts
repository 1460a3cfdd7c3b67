import { expect } from 'vitest';
import { valueOf } from '../answers.js';
import { hasCaughtUp, readFeed } from '../feed-reader.js';
import type { StoreCase } from '../opened-stores.js';
import { countTo, fill, readAll } from '../sample-events.js';

/** ST130 to ST135: texts that may be lost at any time. */
export const snapshotCases: readonly StoreCase[] = [
  {
    title: 'ST130 gives back what was put, and nothing for another name',
    run: async ({ stores: { snapshots } }) => {
      await valueOf(snapshots.put('state/a', '{"n":1}'));
      expect(await valueOf(snapshots.get('state/a'))).toBe('{"n":1}');
      expect(await valueOf(snapshots.get('state/b'))).toBeUndefined();
    },
  },
  {
    title: 'ST131 gives the newest value of a name',
    run: async ({ stores: { snapshots } }) => {
      for (const value of ['one', 'two', '', 'three']) {
        await valueOf(snapshots.put('state/a', value));
        expect(await valueOf(snapshots.get('state/a'))).toBe(value);
      }
    },
  },
  {
    title: 'ST132 keeps texts exactly, also long ones',
    run: async ({ stores: { snapshots } }) => {
      const texts = ['{"t":"中文 \\ud800 \u0000 👩‍👩‍👧‍👦"}', 'x'.repeat(300_000), '\ufeff '];
      for (const [index, text] of texts.entries()) {
        await valueOf(snapshots.put(`state/${index}`, text));
        expect(await valueOf(snapshots.get(`state/${index}`))).toBe(text);
      }
    },
  },
  {
    title: 'ST133 drops the names with a prefix and no other',
    run: async ({ stores: { snapshots } }) => {
      const names = ['a/1', 'a/2', 'a', 'A/1', 'b/1', 'a%/1', 'a_/1', 'ab/1'];
      for (const name of names) await valueOf(snapshots.put(name, name));
      const left = async (): Promise<readonly string[]> => {
        const found = await Promise.all(names.map((name) => valueOf(snapshots.get(name))));
        return found.filter((name) => name !== undefined);
      };
      await valueOf(snapshots.drop('a/'));
      expect(await left()).toEqual(['a', 'A/1', 'b/1', 'a%/1', 'a_/1', 'ab/1']);
      await valueOf(snapshots.drop('a_'));
      expect(await left()).toEqual(['a', 'A/1', 'b/1', 'a%/1', 'ab/1']);
      await valueOf(snapshots.drop('nothing'));
      await valueOf(snapshots.drop('a'));
      expect(await left()).toEqual(['A/1', 'b/1']);
    },
  },
  {
    title: 'ST134 takes no place in the order of the events',
    run: async ({ stores: { snapshots, events } }) => {
      await fill(events, 'branch-a', 1);
      for (const turn of countTo(5)) await valueOf(snapshots.put('state/a', String(turn)));
      await fill(events, 'branch-a', 1, 1);
      const feed = readFeed(events, { categories: ['branch', 'conversation', 'governance'] });
      await feed.until(hasCaughtUp);
      await feed.stop();
      expect(feed.events()).toEqual(await readAll(events, 'branch-a'));
    },
  },
  {
    title: 'ST135 can be put by many at the same moment',
    run: async ({ stores: { snapshots } }) => {
      await Promise.all(
        countTo(20).map((writer) => valueOf(snapshots.put(`state/${writer % 4}`, String(writer)))),
      );
      for (const name of countTo(4)) {
        const value = Number(await valueOf(snapshots.get(`state/${name}`)));
        expect(value % 4).toBe(name);
      }
    },
  },
];
