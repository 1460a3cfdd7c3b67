import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { EngineStores } from '../../src/engine/runtime.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';
import { refusalOf, valueOf } from '../../src/testing/answers.js';
import { heldBackKeys } from '../../src/testing/held-back-keys.js';
import { sampleBatch, sampleEvent } from '../../src/testing/sample-events.js';
import { storeCases } from '../../src/testing/store-contract.js';

const page = fileURLToPath(new URL('../../docs/reference/store-contract.md', import.meta.url));

const idOf = (title: string): string => /^(?:[GB]\d+ )?(ST\d+) /.exec(title)?.[1] ?? title;

describe('the store contract', () => {
  it('has 120 cases and more, each with a number of its own', () => {
    const ids = storeCases.map(({ title }) => idOf(title));
    expect(ids.filter((id) => !/^ST\d+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(120);
  });

  it('is listed in the reference as it is', () => {
    const listed = [...fs.readFileSync(page, 'utf8').matchAll(/^\| (ST\d+) +\| (.*?) +\|/gm)];
    const titles = storeCases.map(({ title }) => title.replace(/^[GB]\d+ /, ''));
    expect(listed.map(([, id = '', text = '']) => `${id} ${text}`)).toEqual(titles);
  });
});

/** A store with one fault, made of one without. */
interface BrokenStore {
  readonly fault: string;
  readonly breakIt: (stores: EngineStores) => EngineStores;
}

const withEvents = (
  stores: EngineStores,
  change: (events: EngineStores['events']) => Partial<EngineStores['events']>,
): EngineStores => ({ ...stores, events: { ...stores.events, ...change(stores.events) } });

const brokenStores: readonly BrokenStore[] = [
  {
    fault: 'reads without an order',
    breakIt: (stores) =>
      withEvents(stores, ({ read }) => ({
        read: (options) => async () =>
          E.map((read: { readonly events: readonly unknown[] }) => ({
            ...read,
            events: read.events.toSorted((a, b) =>
              JSON.stringify(a) < JSON.stringify(b) ? 1 : -1,
            ),
          }))(await read(options)()) as never,
      })),
  },
  {
    fault: 'takes an expected revision that is one too low',
    breakIt: (stores) =>
      withEvents(stores, ({ append }) => ({
        append: (stream, expected, events) => async () => {
          const answer = await append(stream, expected, events)();
          if (E.isRight(answer) || answer.left._tag !== 'WrongRevision') return answer;
          const { actual } = answer.left;
          return typeof actual === 'number' && expected === actual - 1
            ? append(stream, actual, events)()
            : answer;
        },
      })),
  },
  {
    fault: 'takes any append at a known place for a repetition',
    breakIt: (stores) =>
      withEvents(stores, ({ append }) => ({
        append: (stream, expected, events) => async () => {
          const answer = await append(stream, expected, events)();
          const first = expected === 'none' ? 0 : expected + 1;
          return E.isLeft(answer) && answer.left._tag === 'WrongRevision'
            ? E.right({ first, last: first + events.length - 1 })
            : answer;
        },
      })),
  },
  {
    fault: 'stores the events of a batch one by one',
    breakIt: (stores) =>
      withEvents(stores, ({ append }) => ({
        append: (stream, expected, events) => async () => {
          let at = expected;
          let last = await append(stream, at, [events[0]])();
          for (const event of events.slice(1)) {
            if (E.isLeft(last)) return last;
            at = last.right.last;
            last = await append(stream, at, [event])();
          }
          const first = expected === 'none' ? 0 : expected + 1;
          return E.map((answer: { readonly last: number }) => ({ ...answer, first }))(last);
        },
      })),
  },
  {
    fault: 'forgets the keys of some events',
    breakIt: (stores) => ({
      ...stores,
      keys: {
        lookup: (conversation, lineage, keys) => async () =>
          E.map((found: { readonly places: readonly { readonly revision: number }[] }) => ({
            ...found,
            places: found.places.filter(({ revision }) => revision % 7 !== 3),
          }))(await stores.keys.lookup(conversation, lineage, keys)()) as never,
      },
    }),
  },
  {
    fault: 'says that its index knows everything',
    breakIt: (stores) => ({
      ...stores,
      keys: {
        lookup: (conversation, lineage, keys) => async () => {
          const found = await stores.keys.lookup(conversation, lineage, keys)();
          const validUpTo = new Map(lineage.map(({ stream, upTo }) => [stream, upTo]));
          return E.map((lookup: { readonly places: readonly never[] }) => ({
            ...lookup,
            validUpTo,
          }))(found as never);
        },
      },
    }),
  },
  {
    fault: 'leaves events out of its feed',
    breakIt: (stores) =>
      withEvents(stores, ({ feed }) => ({
        feed: (options) =>
          (async function* skipping() {
            for await (const item of feed(options)) {
              if (item._tag === 'Events' && item.events.length > 1) {
                yield { ...item, events: item.events.slice(1) };
              } else yield item;
            }
          })(),
      })),
  },
  {
    fault: 'begins its feed at the position that it is given',
    breakIt: (stores) =>
      withEvents(stores, ({ feed }) => ({
        feed: (options) => {
          const after = options.after === 'start' ? 0 : Number(options.after) - 1;
          return feed({ ...options, after: after < 1 ? 'start' : String(after) });
        },
      })),
  },
  {
    fault: 'drops more snapshots than it should',
    breakIt: (stores) => ({
      ...stores,
      snapshots: {
        ...stores.snapshots,
        drop: (prefix) => stores.snapshots.drop(prefix.slice(0, 1)),
      },
    }),
  },
  {
    fault: 'mixes the blobs of its tenants',
    breakIt: (stores) => ({
      ...stores,
      blobs: {
        put: (_, name, bytes) => stores.blobs.put('all', name, bytes),
        get: (_, name) => stores.blobs.get('all', name),
        has: (_, names) => stores.blobs.has('all', names),
      },
    }),
  },
];

/** Titles of the cases that fail on a store. */
const failuresOf = async (breakIt: BrokenStore['breakIt']): Promise<readonly string[]> => {
  const failed: string[] = [];
  for (const { title, needs, run } of storeCases) {
    const whole = memoryStores();
    const opened = {
      stores: breakIt(whole),
      holdKeys: whole.holdKeys,
      dispose: () => Promise.resolve(),
    };
    if (needs === 'reopen' || needs === 'another') continue;
    // A feed that leaves something out makes its cases wait; one failure is enough.
    if (failed.length > 0) break;
    await run(opened).catch(() => failed.push(title));
  }
  return failed;
};

describe('the store contract finds a store that', { timeout: 120_000 }, () => {
  for (const { fault, breakIt } of brokenStores) {
    it(fault, async () => {
      expect(await failuresOf(breakIt)).not.toEqual([]);
    });
  }

  it('is without a fault to be without one', async () => {
    expect(await failuresOf((stores) => stores)).toEqual([]);
  });
});

describe('an index made to lag behind', () => {
  it('knows nothing above its limit and says so, until it is let go', async () => {
    const stores = memoryStores();
    const { keys, hold } = heldBackKeys(stores.keys);
    const [first, ...rest] = [0, 1, 2].map((at) => sampleEvent('branch-a', at, { keys: ['k'] }));
    if (first === undefined) throw new Error('no event');
    await valueOf(stores.events.append('branch-a', 'none', [first, ...rest]));
    const lineage = [{ stream: 'branch-a', upTo: 2 }];
    hold('branch-a', 1);
    const held = await valueOf(keys.lookup('conversation', lineage, ['k']));
    expect([held.places.length, held.validUpTo.get('branch-a')]).toEqual([2, 1]);
    hold('branch-a', undefined);
    const free = await valueOf(keys.lookup('conversation', lineage, ['k']));
    expect([free.places.length, free.validUpTo.get('branch-a')]).toEqual([3, 2]);
  });
});

describe('the helpers of the suite', () => {
  it('throw with the fault in their words when an answer is another than they ask for', async () => {
    const { events } = memoryStores();
    const wrong = events.append('branch-a', 4, sampleBatch('branch-a', 5, 1));
    await expect(valueOf(wrong)).rejects.toThrow(/WrongRevision/);
    await expect(refusalOf(events.identity())).rejects.toThrow(/not refused/);
  });
});
