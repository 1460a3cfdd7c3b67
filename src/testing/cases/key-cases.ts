import { expect } from 'vitest';
import type { EventStore } from '../../domain/event-store.js';
import type { KeyIndex, KeyLookup, LineagePart } from '../../domain/key-index.js';
import { refusalOf, valueOf } from '../answers.js';
import { abilityOf, type StoreCase } from '../opened-stores.js';
import { countTo, sampleEvent, type Batch } from '../sample-events.js';

const CONVERSATION = 'conversation';

/** A batch whose events carry these keys, one list an event. */
const keyed = (
  stream: string,
  from: number,
  lists: readonly (readonly string[])[],
  conversation = CONVERSATION,
): Batch => {
  const [first, ...rest] = lists.map((keys, index) =>
    sampleEvent(stream, from + index, { keys, conversation }),
  );
  if (first === undefined) throw new Error('no keys');
  return [first, ...rest];
};

const append = async (
  events: EventStore,
  stream: string,
  from: number,
  lists: readonly (readonly string[])[],
): Promise<void> => {
  await valueOf(events.append(stream, from === 0 ? 'none' : from - 1, keyed(stream, from, lists)));
};

const lookup = (
  keys: KeyIndex,
  lineage: readonly LineagePart[],
  wanted: readonly string[],
): Promise<KeyLookup> => valueOf(keys.lookup(CONVERSATION, lineage, wanted));

/** `k a 0`: what an index that may lag behind knows, sorted. */
const placesOf = ({ places }: KeyLookup): readonly string[] =>
  places.map(({ key, stream, revision }) => `${key} ${stream} ${revision}`).toSorted();

/** Waits until the index knows a stream up to a revision: at once, or when it has caught up. */
const known = async (
  keys: KeyIndex,
  lineage: readonly LineagePart[],
  wanted: readonly string[],
): Promise<KeyLookup> => {
  for (const _ of countTo(400)) {
    const found = await lookup(keys, lineage, wanted);
    const isKnown = lineage.every(
      ({ stream, upTo }) => (found.validUpTo.get(stream) ?? -1) >= upTo,
    );
    if (isKnown) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the key index does not catch up');
};

/** ST95 to ST110: where the lookup keys of an envelope stand. */
export const keyCases: readonly StoreCase[] = [
  {
    title: 'ST95 finds a key at the event that carries it',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k0'], ['k1'], ['k2']]);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 2 }], ['k1']);
      expect(placesOf(found)).toEqual(['k1 branch-a 1']);
    },
  },
  {
    title: 'ST96 finds nothing for a key that nobody used',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k0']]);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 0 }], ['k', 'k00', 'K0', '']);
      expect(found.places).toEqual([]);
    },
  },
  {
    title: 'ST97 finds every key of an event and every event of a key',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k0', 'k1', 'k2'], ['k1'], ['k2', 'k1']]);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 2 }], ['k0', 'k1']);
      expect(placesOf(found)).toEqual([
        'k0 branch-a 0',
        'k1 branch-a 0',
        'k1 branch-a 1',
        'k1 branch-a 2',
      ]);
    },
  },
  {
    title: 'ST98 gives no place beyond the revision that the lineage sees',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k'], ['k'], ['k'], ['k']]);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 1 }], ['k']);
      expect(placesOf(found)).toEqual(['k branch-a 0', 'k branch-a 1']);
      const none = await lookup(keys, [{ stream: 'branch-a', upTo: -1 }], ['k']);
      expect(none.places).toEqual([]);
    },
  },
  {
    title: 'ST99 gives no place in a stream that is not of the lineage',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k']]);
      await append(events, 'branch-b', 0, [['k']]);
      const found = await known(keys, [{ stream: 'branch-b', upTo: 0 }], ['k']);
      expect(placesOf(found)).toEqual(['k branch-b 0']);
    },
  },
  {
    title: 'ST100 gives no place of another conversation',
    run: async ({ stores: { events, keys } }) => {
      const batch = keyed('branch-a', 0, [['k']], 'another conversation');
      await valueOf(events.append('branch-a', 'none', batch));
      await append(events, 'branch-a', 1, [['other']]);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 1 }], ['k', 'other']);
      expect(placesOf(found)).toEqual(['other branch-a 1']);
    },
  },
  {
    title: 'ST101 finds keys over a lineage of forks, each up to its fork point',
    run: async ({ stores: { events, keys } }) => {
      for (const stream of ['branch-a', 'branch-b', 'branch-c']) {
        await append(events, stream, 0, [['k'], [`of ${stream}`.replace(' ', '-')], ['k']]);
      }
      const lineage = [
        { stream: 'branch-a', upTo: 0 },
        { stream: 'branch-b', upTo: 1 },
        { stream: 'branch-c', upTo: 2 },
      ];
      const found = await known(keys, lineage, ['k', 'of-branch-a', 'of-branch-b', 'of-branch-c']);
      expect(placesOf(found)).toEqual([
        'k branch-a 0',
        'k branch-b 0',
        'k branch-c 0',
        'k branch-c 2',
        'of-branch-b branch-b 1',
        'of-branch-c branch-c 1',
      ]);
    },
  },
  {
    title: 'ST102 says of every stream of the lineage how far it knows it',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k'], [], ['k']]);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 2 }], ['k']);
      expect(found.validUpTo.get('branch-a')).toBeGreaterThanOrEqual(2);
      const missing = await lookup(keys, [{ stream: 'branch-none', upTo: 7 }], ['k']);
      expect(missing.validUpTo.get('branch-none')).toBe(-1);
      const beyond = await lookup(keys, [{ stream: 'branch-a', upTo: 9 }], ['k']);
      expect(beyond.validUpTo.get('branch-a')).toBe(2);
    },
  },
  {
    title: 'ST103 knows no key of an append that was refused',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k0']]);
      await refusalOf(events.append('branch-a', 'none', keyed('branch-a', 0, [['x'], ['y']])));
      await Promise.all([
        refusalOf(events.append('branch-a', 4, keyed('branch-a', 5, [['x'], ['y']]))),
        append(events, 'branch-b', 0, [['k1']]),
      ]);
      const lineage = [
        { stream: 'branch-a', upTo: 0 },
        { stream: 'branch-b', upTo: 0 },
      ];
      const found = await known(keys, lineage, ['x', 'y', 'k0', 'k1']);
      expect(placesOf(found)).toEqual(['k0 branch-a 0', 'k1 branch-b 0']);
    },
  },
  {
    title: 'ST104 has one place for a repeated append, and for a key named twice',
    run: async ({ stores: { events, keys } }) => {
      const batch = keyed('branch-a', 0, [['k', 'k', 'k'], ['k1']]);
      for (const _ of countTo(3)) await valueOf(events.append('branch-a', 'none', batch));
      const found = await known(keys, [{ stream: 'branch-a', upTo: 1 }], ['k', 'k1', 'k']);
      expect(placesOf(found)).toEqual(['k branch-a 0', 'k1 branch-a 1']);
    },
  },
  {
    title: 'ST105 indexes every event by its envelope, also one of an unknown type',
    run: async ({ stores: { events, keys } }) => {
      const strange = sampleEvent('branch-a', 0, {
        type: 'FromTheFuture',
        keys: ['k'],
        data: 'no JSON',
      });
      const empty = sampleEvent('branch-a', 1, { keys: [] });
      const broken = sampleEvent('branch-a', 2, { meta: '{"keys":"k"' });
      await valueOf(events.append('branch-a', 'none', [strange, empty, broken]));
      const found = await known(keys, [{ stream: 'branch-a', upTo: 2 }], ['k', '']);
      expect(placesOf(found)).toEqual(['k branch-a 0']);
    },
  },
  {
    title: 'ST106 takes any text for a key',
    run: async ({ stores: { events, keys } }) => {
      const texts = [
        'AAAAAAAAAAAAAAAAAAAAAA',
        'AAAAAAAAAAAAAAAAAAAAAB',
        'a',
        'ключ',
        '键',
        "'--",
        '%',
        '_',
      ];
      await append(
        events,
        'branch-a',
        0,
        texts.map((text) => [text]),
      );
      const found = await known(keys, [{ stream: 'branch-a', upTo: texts.length - 1 }], texts);
      expect(placesOf(found)).toEqual(
        texts.map((text, index) => `${text} branch-a ${index}`).toSorted(),
      );
    },
  },
  {
    title: 'ST107 looks up many keys in a long stream at once',
    run: async ({ stores: { events, keys } }) => {
      await append(
        events,
        'branch-a',
        0,
        countTo(2_000).map((index) => [`k${index}`]),
      );
      const wanted = countTo(500).map((index) => `k${index * 4}`);
      const found = await known(keys, [{ stream: 'branch-a', upTo: 1_999 }], wanted);
      expect(placesOf(found)).toEqual(
        wanted.map((key, index) => `${key} branch-a ${index * 4}`).toSorted(),
      );
    },
  },
  {
    title: 'ST108 asks nothing and finds nothing',
    run: async ({ stores: { events, keys } }) => {
      await append(events, 'branch-a', 0, [['k']]);
      expect((await lookup(keys, [{ stream: 'branch-a', upTo: 0 }], [])).places).toEqual([]);
      const found = await lookup(keys, [], ['k']);
      expect([found.places, found.validUpTo.size]).toEqual([[], 0]);
    },
  },
  {
    title: 'ST109 says, while it is held back, that it knows only what came before',
    needs: 'holdKeys',
    run: async (opened) => {
      const { events, keys } = opened.stores;
      await append(events, 'branch-a', 0, [['k'], ['k']]);
      await known(keys, [{ stream: 'branch-a', upTo: 1 }], ['k']);
      const release = abilityOf(opened, 'holdKeys')();
      await append(events, 'branch-a', 2, [['k'], ['k']]);
      await append(events, 'branch-b', 0, [['k']]);
      const lineage = [
        { stream: 'branch-a', upTo: 3 },
        { stream: 'branch-b', upTo: 0 },
      ];
      const held = await lookup(keys, lineage, ['k']);
      expect(placesOf(held)).toEqual(['k branch-a 0', 'k branch-a 1']);
      expect([held.validUpTo.get('branch-a'), held.validUpTo.get('branch-b')]).toEqual([1, -1]);
      release();
      const found = await known(keys, lineage, ['k']);
      expect(found.places).toHaveLength(5);
    },
  },
  {
    title: 'ST110 never leaves out a key up to where it says it is valid',
    run: async ({ stores: { events, keys } }) => {
      const check = async (upTo: number): Promise<void> => {
        const found = await lookup(keys, [{ stream: 'branch-a', upTo }], ['k']);
        const valid = Math.min(upTo, found.validUpTo.get('branch-a') ?? -1);
        const revisions = new Set(found.places.map((place) => place.revision));
        expect(countTo(valid + 1).filter((revision) => !revisions.has(revision))).toEqual([]);
      };
      for (const revision of countTo(40)) {
        const written = append(events, 'branch-a', revision, [['k']]);
        await check(revision);
        await written;
        await check(revision);
      }
    },
  },
];
