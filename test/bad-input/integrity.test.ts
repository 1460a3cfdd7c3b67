import * as E from 'fp-ts/lib/Either.js';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Page, StoredEvent } from '../../src/domain/event-store.js';
import type { StoreFault } from '../../src/domain/errors.js';
import { openaiChat, openStemma, type Branch } from '../../src/index.js';
import { changing, foreignEvent, lensed, streamsOf, type Lens, type Lensed } from './tampering.js';
import { faultOf, tagOf, textsOf, utf8, watchBranch } from './support.js';

const profile = openaiChat({ model: 'm' });
const SECRET = 'words nobody may read';

let store: Lensed;
let main: Branch;
let own: string;
let directory: string;

beforeEach(async () => {
  store = await lensed();
  main = await store.stemma.start({ id: 'conversation' });
  for (const index of [1, 2, 3, 4]) {
    await main.append({
      id: `m-${String(index)}`,
      role: 'user',
      content: `${SECRET} ${String(index)}`,
    });
  }
  ({ own, directory } = await streamsOf(store, main));
});

/** The branch as an engine finds it that remembers nothing. */
const fresh = async (): Promise<Branch> => (await store.reopened()).open('conversation');

const flipped = (text: string, at: number): string =>
  text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);

const uses = (branch: Branch): readonly (() => unknown)[] => [
  () => branch.preview({ profile }),
  () => branch.request({ profile }),
  () => branch.history(),
  () => branch.append({ role: 'user', content: 'x' }),
];

describe('damaged events', () => {
  it.each<[string, (event: StoredEvent) => StoredEvent]>([
    ['content', (event) => ({ ...event, data: event.data.replace('words', 'wordt') })],
    [
      'the last bit of the data',
      (event) => ({ ...event, data: flipped(event.data, event.data.length - 2) }),
    ],
    [
      'a bit of the envelope',
      (event) => ({ ...event, meta: event.meta.replace('"app"', '"bpp"') }),
    ],
    ['white space', (event) => ({ ...event, data: `${event.data} ` })],
    ['the type', (event) => ({ ...event, type: 'MessagesWithdrawn' })],
    ['the id', (event) => ({ ...event, id: flipped(event.id, 0) })],
  ])(
    'B43 finds a change of %s at its place, and builds no context on it',
    async (_what, change) => {
      store.look(changing(own, 3, change));
      const branch = await fresh();
      for (const use of uses(branch)) {
        expect(await faultOf(use, [SECRET])).toMatchObject({
          _tag: 'Damaged',
          stream: own,
          revision: 3,
        });
      }
      const stemma = await store.reopened();
      const { ok, faults } = await stemma.verify('conversation');
      expect(ok).toBe(false);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatchObject({ stream: own, revision: 3 });
      expect((await branch.history({ revision: 2 })).entries).toHaveLength(2);
    },
  );

  it('B43 finds any flipped bit of any event', async () => {
    const all = (await store.events()).filter(({ stream }) => stream === own);
    for (const event of all) {
      for (let at = 3; at < event.data.length; at += 37) {
        store.look(changing(own, event.revision, (e) => ({ ...e, data: flipped(e.data, at) })));
        const { faults } = await store.stemma.verify('conversation');
        expect(faults[0]).toMatchObject({ stream: own, revision: event.revision });
      }
    }
  });

  it('B43 leaves what does not depend on the event as it was', async () => {
    const other = await store.stemma.start({ id: 'other' });
    await other.append({ role: 'user', content: 'sound' });
    const early = await main.fork({ after: 'm-2' }, { name: 'early' });
    store.look(changing(own, 3, (event) => ({ ...event, data: event.data.replace('w', 'v') })));
    const stemma = await store.reopened();
    expect(await textsOf(await stemma.open('other'))).toEqual(['sound']);
    expect(await textsOf(await stemma.open('conversation/early'))).toHaveLength(2);
    expect(early.name).toBe('early');
    expect((await stemma.search('sound')).hits).toHaveLength(1);
    expect((await stemma.conversations()).map(({ id }) => id).sort()).toEqual([
      'conversation',
      'other',
    ]);
  });

  it('B43 finds damage in the directory, and does not take the conversation for missing', async () => {
    store.look(changing(directory, 0, (event) => ({ ...event, data: flipped(event.data, 10) })));
    const stemma = await store.reopened();
    for (const use of [
      () => stemma.open('conversation'),
      () => stemma.branches('conversation'),
      () => stemma.start({ id: 'conversation' }),
    ]) {
      expect(await faultOf(use)).toMatchObject({ _tag: 'Damaged', stream: directory, revision: 0 });
    }
    expect((await stemma.verify()).faults[0]).toMatchObject({ stream: directory, revision: 0 });
  });

  it('B43 finds a changed or missing blob at the event that names it', async () => {
    await main.append({ id: 'big', role: 'user', content: 'y'.repeat(100_000) });
    const blobs = store.stores.blobs;
    for (const get of [
      () => () => Promise.resolve(E.right(undefined)),
      (tenant: string, name: string) => async () => {
        const bytes = await blobs.get(tenant, name)();
        return E.map((b: Uint8Array | undefined) =>
          b?.map((byte, i) => (i === 9 ? byte ^ 1 : byte)),
        )(bytes);
      },
      () => () => Promise.resolve(E.right(utf8('"another text, well-formed"'))),
    ]) {
      const stemma = await openStemma({ store: { ...store.stores, blobs: { ...blobs, get } } });
      const branch = await stemma.open('conversation');
      expect(await faultOf(() => branch.preview({ profile }))).toMatchObject({
        _tag: 'Damaged',
        check: 'blob',
      });
      expect((await stemma.verify()).faults).toEqual([
        expect.objectContaining({ stream: own, revision: 5, check: 'blob' }),
      ]);
    }
  });
});

const swapped: Lens = (page, stream) => {
  if (stream !== own) return undefined;
  const [a, b] = [
    page.events.find((e) => e.revision === 2),
    page.events.find((e) => e.revision === 3),
  ];
  if (a === undefined || b === undefined) return undefined;
  const events = page.events.map((event) =>
    event === a ? { ...b, revision: 2 } : event === b ? { ...a, revision: 3 } : event,
  );
  return { ...page, events };
};

const without =
  (revisions: readonly number[]): Lens =>
  (page, stream) =>
    stream === own
      ? { ...page, events: page.events.filter(({ revision }) => !revisions.includes(revision)) }
      : undefined;

describe('events that are not where they were', () => {
  it.each<[string, Lens, number]>([
    ['two swapped events', swapped, 2],
    ['a deleted event', without([2]), 3],
    ['two deleted events', without([2, 3]), 4],
    [
      'an event that is there twice',
      (page, stream) =>
        stream === own
          ? { ...page, events: page.events.flatMap((e) => (e.revision === 2 ? [e, e] : [e])) }
          : undefined,
      2,
    ],
  ])('B44 finds %s', async (_what, lens, revision) => {
    store.look(lens);
    const branch = await fresh();
    for (const use of uses(branch)) {
      expect(await faultOf(use, [SECRET])).toMatchObject({
        _tag: 'Damaged',
        stream: own,
        revision,
      });
    }
    const { ok, faults } = await store.stemma.verify('conversation');
    expect(ok).toBe(false);
    expect(faults[0]).toMatchObject({ stream: own, revision });
  });

  it('B44 finds a last event that is not chained to the one before it', async () => {
    const prev = 'A'.repeat(43);
    const event = await foreignEvent(store, own, { meta: { prev } });
    const added: StoredEvent = { ...event, stream: own, revision: 5, position: 99 } as never;
    store.look((page, stream) =>
      stream === own && !page.events.some(({ revision }) => revision === 5)
        ? { ...page, events: [...page.events, added] }
        : undefined,
    );
    const chain = { _tag: 'Damaged', stream: own, revision: 5, check: 'chain' };
    expect(await faultOf(async () => (await fresh()).history())).toEqual(chain);
    expect((await store.stemma.verify('conversation')).faults[0]).toMatchObject({
      stream: own,
      revision: 5,
      check: 'chain',
    });
  });

  it('B44 finds a tail that was cut below a fork point', async () => {
    await main.fork({ after: 'm-4' }, { name: 'tip' });
    store.look(without([3, 4]));
    const stemma = await store.reopened();
    const tip = await stemma.open('conversation/tip');
    for (const use of [...uses(tip), () => tip.timeline(), () => tip.session()]) {
      expect(await faultOf(use)).toEqual({
        _tag: 'Damaged',
        stream: own,
        revision: 4,
        check: 'tail',
      });
    }
    expect((await stemma.verify('conversation')).ok).toBe(false);
  });

  it('B44 finds another past below a fork point', async () => {
    await main.fork({ after: 'm-4' }, { name: 'tip' });
    // The same place is taken by an event that another writer put there, rightly chained.
    const all = (await store.events()).filter(({ stream }) => stream === own).slice(0, 4);
    const cut = { ...store, events: () => Promise.resolve(all) };
    const stores = {
      ...store.stores,
      events: {
        ...store.stores.events,
        read: () => () => Promise.resolve(E.right({ events: all.slice(-1), exists: true })),
      },
    };
    const other = await foreignEvent({ ...cut, stores }, own, {
      type: 'TurnStarted',
      data: '{"turn":"t","run":"r"}',
    });
    store.look((page, of) =>
      of === own
        ? {
            ...page,
            events: page.events.map((event) =>
              event.revision === 4 ? { ...event, ...other, revision: 4 } : event,
            ),
          }
        : undefined,
    );
    const tip = await (await store.reopened()).open('conversation/tip');
    for (const use of uses(tip)) {
      expect(await faultOf(use)).toEqual({
        _tag: 'Damaged',
        stream: own,
        revision: 4,
        check: 'chain',
      });
    }
  });

  it('B44 finds, while it remembers them, that events are gone', async () => {
    await main.history();
    store.look((_page, stream) => (stream === own ? { events: [], exists: false } : undefined));
    for (const use of uses(main)) {
      expect(await faultOf(use)).toEqual({ _tag: 'StreamDeleted', stream: own });
    }
  });

  it('B69 writes nothing into a branch whose stream is gone, and shows no empty history', async () => {
    const stemma = await store.reopened();
    const branch = await stemma.open('conversation');
    store.look((_page, stream) => (stream === own ? { events: [], exists: false } : undefined));
    for (const use of uses(branch)) {
      expect(['StreamDeleted', 'NotFound']).toContain(await tagOf(use));
    }
  });
});

/** What a store may answer to a read of the branch. */
const answering = async (answer: Page | StoreFault) => {
  const watched = await watchBranch();
  await watched.branch.append({ role: 'user', content: SECRET });
  const { own: stream } = await streamsOf(watched, watched.branch);
  const { events } = watched.stores;
  const stemma = await openStemma({
    store: {
      ...watched.stores,
      events: {
        ...events,
        read: (options) =>
          options.stream !== stream
            ? events.read(options)
            : () => Promise.resolve('_tag' in answer ? E.left(answer) : E.right(answer)),
      },
    },
  });
  return { stemma, stream };
};

describe('streams as a server may give them', () => {
  it.each<StoreFault>([
    { _tag: 'StreamDeleted', stream: 's' },
    { _tag: 'Unavailable', reason: 'not_leader' },
    { _tag: 'AccessDenied' },
    { _tag: 'Cancelled' },
  ])('B69 hands the fault $_tag on, never an empty history', async (fault) => {
    const { stemma } = await answering(fault);
    expect(await faultOf(() => stemma.open('conversation'))).toEqual(fault);
  });

  it('B69 takes a stream that was truncated to nothing for deleted', async () => {
    store.look((_page, stream) => (stream === own ? { events: [], exists: true } : undefined));
    const reopened = await store.reopened();
    expect(await faultOf(() => reopened.open('conversation'))).toEqual({
      _tag: 'StreamDeleted',
      stream: own,
    });
  });

  it.each([1, 2, 4])(
    'B69 takes a stream that begins at revision %d for truncated',
    async (from) => {
      store.look((page, stream) =>
        stream === own
          ? { ...page, events: page.events.filter(({ revision }) => revision >= from) }
          : undefined,
      );
      const reopened = await store.reopened();
      expect(await faultOf(() => reopened.open('conversation'))).toEqual({
        _tag: 'StreamDeleted',
        stream: own,
      });
      expect((await reopened.verify('conversation')).faults).toEqual([
        expect.objectContaining({ stream: own, revision: from, check: 'order' }),
      ]);
    },
  );

  it.each<[string, (event: StoredEvent) => StoredEvent]>([
    ['a redacted body', (event) => ({ ...event, data: '\ufffd'.repeat(event.data.length) })],
    ['a redacted event', (event) => ({ ...event, data: '\ufffd', meta: '\ufffd' })],
    ['a link event', (event) => ({ ...event, type: '$>', data: `3@${own}`, meta: '' })],
    [
      'a system event',
      (event) => ({ ...event, type: '$metadata', data: '{"$maxCount":1}', meta: '' }),
    ],
    ['a body without envelope', (event) => ({ ...event, meta: '' })],
  ])('B69 names the place of %s and shows the others', async (_what, change) => {
    store.look(changing(own, 3, change));
    const branch = await fresh();
    expect(await faultOf(() => branch.history())).toMatchObject({
      _tag: 'Damaged',
      stream: own,
      revision: 3,
    });
    const { events } = await branch.events();
    expect(events.map(({ state }) => state)).toEqual([
      'known',
      'known',
      'known',
      'damaged',
      'known',
    ]);
  });

  it('B69 reads an event that is larger than an append may be', async () => {
    const content = 'x'.repeat(2_000_000);
    const stored = JSON.parse((await main.events()).events[1]?.data ?? '{}') as {
      readonly message: object;
    };
    const blocks = { slot: 's', inline: JSON.stringify([{ type: 'text', text: content }]) };
    const data = JSON.stringify({ message: { ...stored.message, id: 'm-5', blocks } });
    const { id, type, meta } = await foreignEvent(store, own, { type: 'MessageAppended', data });
    const extra = { stream: own, revision: 5, position: '99', id, type, meta, data };
    store.look((page, stream) =>
      stream === own && page.events.length > 0 && page.next === undefined
        ? { ...page, events: [...page.events, extra] }
        : undefined,
    );
    expect((await textsOf(await fresh())).at(-1)).toBe(content);
  });
});
