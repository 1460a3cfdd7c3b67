import { expect } from 'vitest';
import { valueOf } from '../answers.js';
import { hasCaughtUp, readFeed } from '../feed-reader.js';
import type { StoreCase } from '../opened-stores.js';
import { countTo, fill } from '../sample-events.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Bytes without a pattern that a store could fold, the same on every run. */
const mixed = (length: number): Uint8Array => {
  let state = 12_345;
  return Uint8Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state >> 16;
  });
};

/** ST115 to ST124: bodies that are too large for an event. */
export const blobCases: readonly StoreCase[] = [
  {
    title: 'ST115 gives back the bytes that were put',
    run: async ({ stores: { blobs } }) => {
      expect(await valueOf(blobs.put('tenant', 'name', bytesOf('hello')))).toBe('stored');
      expect(await valueOf(blobs.get('tenant', 'name'))).toEqual(bytesOf('hello'));
    },
  },
  {
    title: 'ST116 has nothing under a name that was never put',
    run: async ({ stores: { blobs } }) => {
      await valueOf(blobs.put('tenant', 'name', bytesOf('hello')));
      for (const name of ['nam', 'name ', 'NAME', '']) {
        expect(await valueOf(blobs.get('tenant', name))).toBeUndefined();
      }
    },
  },
  {
    title: 'ST117 takes the same blob again and again',
    run: async ({ stores: { blobs } }) => {
      await valueOf(blobs.put('tenant', 'name', bytesOf('hello')));
      for (const _ of countTo(3)) {
        expect(await valueOf(blobs.put('tenant', 'name', bytesOf('hello')))).toBe('already');
      }
      expect(await valueOf(blobs.get('tenant', 'name'))).toEqual(bytesOf('hello'));
    },
  },
  {
    title: 'ST118 never puts other bytes in the place of stored ones',
    run: async ({ stores: { blobs } }) => {
      await valueOf(blobs.put('tenant', 'name', bytesOf('hello')));
      await blobs.put('tenant', 'name', bytesOf('other'))();
      expect(await valueOf(blobs.get('tenant', 'name'))).toEqual(bytesOf('hello'));
    },
  },
  {
    title: 'ST119 keeps tenants apart',
    run: async ({ stores: { blobs } }) => {
      await valueOf(blobs.put('one', 'name', bytesOf('of one')));
      expect(await valueOf(blobs.get('two', 'name'))).toBeUndefined();
      expect(await valueOf(blobs.has('two', ['name']))).toEqual(new Set());
      await valueOf(blobs.put('two', 'name', bytesOf('of two')));
      expect(await valueOf(blobs.get('one', 'name'))).toEqual(bytesOf('of one'));
      expect(await valueOf(blobs.get('two', 'name'))).toEqual(bytesOf('of two'));
    },
  },
  {
    title: 'ST120 says which of the names are there',
    run: async ({ stores: { blobs } }) => {
      for (const name of ['a', 'b', 'c']) await valueOf(blobs.put('tenant', name, bytesOf(name)));
      expect(await valueOf(blobs.has('tenant', ['c', 'x', 'a', 'y']))).toEqual(new Set(['a', 'c']));
      expect(await valueOf(blobs.has('tenant', []))).toEqual(new Set());
    },
  },
  {
    title: 'ST121 keeps bytes of any value and number: none, every value, 3 MB',
    run: async ({ stores: { blobs } }) => {
      const all = [new Uint8Array(0), Uint8Array.from(countTo(256)), mixed(3_000_000)];
      for (const [index, bytes] of all.entries()) {
        await valueOf(blobs.put('tenant', `blob-${index}`, bytes));
      }
      for (const [index, bytes] of all.entries()) {
        const stored = await valueOf(blobs.get('tenant', `blob-${index}`));
        expect(stored?.length).toBe(bytes.length);
        expect(Buffer.compare(stored ?? new Uint8Array(1), bytes)).toBe(0);
      }
    },
  },
  {
    title: 'ST122 shares no memory with its callers',
    run: async ({ stores: { blobs } }) => {
      const given = bytesOf('hello');
      await valueOf(blobs.put('tenant', 'name', given));
      given.fill(0);
      const taken = await valueOf(blobs.get('tenant', 'name'));
      expect(taken).toEqual(bytesOf('hello'));
      taken?.fill(0);
      expect(await valueOf(blobs.get('tenant', 'name'))).toEqual(bytesOf('hello'));
    },
  },
  {
    title: 'ST123 takes the same blob from many at the same moment',
    run: async ({ stores: { blobs } }) => {
      const bytes = mixed(100_000);
      const answers = await Promise.all(
        countTo(8).map(() => valueOf(blobs.put('tenant', 'name', bytes))),
      );
      expect(answers).toContain('stored');
      expect(await valueOf(blobs.get('tenant', 'name'))).toEqual(bytes);
    },
  },
  {
    title: 'ST124 shows no blob among the events',
    run: async ({ stores: { blobs, events } }) => {
      await valueOf(blobs.put('tenant', 'name', mixed(70_000)));
      await fill(events, 'branch-a', 1);
      const feed = readFeed(events, { categories: ['branch', 'conversation', 'governance'] });
      await feed.until(hasCaughtUp);
      await feed.stop();
      expect(feed.events().map((event) => event.stream)).toEqual(['branch-a']);
    },
  },
];
