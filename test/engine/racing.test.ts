import * as E from 'fp-ts/lib/Either.js';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EventStore } from '../../src/domain/event-store.js';
import type { AppendFault } from '../../src/domain/errors.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { openaiChat, openStemma, type Branch, type Stemma } from '../../src/index.js';
import { memoryStores, type MemoryStores } from '../../src/infra/stores/memory-store.js';
import { storedEvents, tagOf, textsOf } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });

let stores: MemoryStores;
let engines: readonly Stemma[];
beforeEach(async () => {
  stores = memoryStores();
  engines = await Promise.all([openStemma({ store: stores }), openStemma({ store: stores })]);
});

const [left, right] = [0, 1].map((index) => (): Stemma => {
  const engine = engines[index];
  if (engine === undefined) throw new Error('no engine');
  return engine;
}) as [() => Stemma, () => Stemma];

/** The same conversation as each engine has it. */
const both = async (): Promise<readonly [Branch, Branch]> => [
  await left().start({ id: 'shared' }),
  await right().start({ id: 'shared' }),
];

const revisionsOf = async (branch: Branch): Promise<readonly number[]> =>
  (await storedEvents(stores))
    .filter(({ stream }) => stream.endsWith(branch.branch))
    .map(({ revision }) => revision);

describe('two engines on one store', () => {
  it('ID4 start one conversation under one uid, together or one after the other', async () => {
    const started = await Promise.all([
      left().start({ id: 'same' }),
      right().start({ id: 'same' }),
      left().start({ id: 'same', title: 'with a title' }),
    ]);
    expect(new Set(started.map(({ conversation }) => conversation)).size).toBe(1);
    expect(new Set(started.map(({ branch }) => branch)).size).toBe(1);
    expect(await left().conversations()).toHaveLength(1);
    const events = await storedEvents(stores);
    expect(events.filter(({ type }) => type === 'ConversationStarted')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'BranchOpened')).toHaveLength(1);
  });

  it('OR4 keep every message of a user, whole batches at a time', async () => {
    const branches = await both();
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        branches[index % 2 === 0 ? 0 : 1].append([
          { id: `${String(index)}-a`, role: 'user', content: `${String(index)} a` },
          { id: `${String(index)}-b`, role: 'user', content: `${String(index)} b` },
        ]),
      ),
    );
    const texts = await textsOf(branches[0]);
    expect(texts).toHaveLength(80);
    texts.forEach((text, index) => {
      if (index % 2 === 0) expect(texts[index + 1]).toBe(text.replace('a', 'b'));
    });
    expect(await revisionsOf(branches[0])).toEqual(Array.from({ length: 81 }, (_, i) => i));
    expect(await textsOf(branches[1])).toEqual(texts);
  });

  it('OR4 let one of two writers of the same turn win', async () => {
    const branches = await both();
    await branches[0].append({ role: 'user', content: 'go' });
    const outcomes = await Promise.allSettled(
      branches.map((branch, index) =>
        branch.append({ role: 'assistant', content: `answer ${String(index)}` }),
      ),
    );
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refusals).toHaveLength(1);
    expect(refusals[0]?.reason).toMatchObject({ code: 'RevisionConflict' });
    expect(await textsOf(branches[1])).toHaveLength(2);
  });

  it('OR4 hold an expected revision, also for a message that could be rebased', async () => {
    const branches = await both();
    const outcomes = await Promise.allSettled(
      branches.map((branch) =>
        branch.append({ role: 'user', content: 'x' }, { expectedRevision: 0 }),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('OR4 open one turn, and tell the other run whose it is', async () => {
    const branches = await both();
    await branches[0].append({ role: 'user', content: 'go' });
    const outcomes = await Promise.allSettled(
      branches.map((branch) => branch.request({ profile })),
    );
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refusals).toHaveLength(1);
    expect(refusals[0]?.reason).toMatchObject({ code: 'TurnOpen' });
  });

  it('ID2 store one message once, whoever sends it how often', async () => {
    const branches = await both();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        branches[index % 2 === 0 ? 0 : 1].append({ id: 'm', role: 'user', content: 'once' }),
      ),
    );
    const places = new Set(answers.map((answer) => answer[0]?.place.revision));
    expect([...places]).toEqual([1]);
    expect(answers.filter((answer) => answer[0]?.status === 'written')).toHaveLength(1);
    expect(await textsOf(branches[0])).toEqual(['once']);
  });

  it('ID3 store one of two contents under one id, and refuse the other', async () => {
    const branches = await both();
    const outcomes = await Promise.allSettled(
      branches.map((branch, index) =>
        branch.append({ id: 'm', role: 'user', content: `content ${String(index)}` }),
      ),
    );
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refusals[0]?.reason).toMatchObject({ code: 'MessageIdConflict' });
    expect(await textsOf(branches[0])).toHaveLength(1);
  });

  it('ID4 find a known id though the index of keys lags behind', async () => {
    const [one, two] = await both();
    const release = stores.holdKeys();
    await one.append({ id: 'm', role: 'user', content: 'x' });
    expect((await two.append({ id: 'm', role: 'user', content: 'x' }))[0]?.status).toBe('replayed');
    expect(await tagOf(() => two.append({ id: 'm', role: 'user', content: 'y' }))).toBe(
      'MessageIdConflict',
    );
    release();
    expect(await textsOf(two)).toEqual(['x']);
  });

  it('CM1 answer one command once, from either', async () => {
    const [one, two] = await both();
    const command = { commandId: 'k' };
    const [a, b] = await Promise.all([
      one.append({ role: 'user', content: 'x' }, command),
      two.append({ role: 'user', content: 'x' }, command),
    ]);
    expect(a[0]?.id).toBe(b[0]?.id);
    expect(await textsOf(one)).toEqual(['x']);
    expect(await tagOf(() => two.append({ role: 'user', content: 'y' }, command))).toBe(
      'CommandConflict',
    );
  });

  it('complete a fork whose maker died between its two writes', async () => {
    const [one] = await both();
    await one.append({ id: 'u-1', role: 'user', content: 'one' });
    let isDead = false;
    const dying: EngineStores = {
      ...stores,
      events: {
        ...stores.events,
        append: (stream, expected, events) => {
          if (isDead)
            return () => Promise.resolve(E.left({ _tag: 'Unavailable', reason: 'closed' }));
          isDead = events.some(({ type }) => type === 'BranchRegistered');
          return stores.events.append(stream, expected, events);
        },
      },
    };
    const dead = await (await openStemma({ store: dying })).open('shared');
    expect(await tagOf(() => dead.fork({ after: 'u-1' }, { name: 'torn' }))).toBe('Unavailable');
    const found = await right().open('shared/torn');
    await found.append({ role: 'user', content: 'two' });
    expect(await textsOf(found)).toEqual(['one', 'two']);
  });
});

/** Events whose appends are answered as a test says; `undefined`: as the store does. */
const answering = (
  events: EventStore,
  answer: (attempt: number) => 'lost reply' | 'lost request' | AppendFault | undefined,
): { readonly events: EventStore; readonly attempts: () => number } => {
  let attempts = 0;
  return {
    attempts: () => attempts,
    events: {
      ...events,
      append: (stream, expected, batch) => async () => {
        attempts += 1;
        const said = answer(attempts);
        if (said === undefined) return events.append(stream, expected, batch)();
        if (typeof said === 'object') return E.left(said);
        if (said === 'lost reply') await events.append(stream, expected, batch)();
        return E.left({ _tag: 'OutcomeUnknown', stream, expected, ids: batch.map(({ id }) => id) });
      },
    },
  };
};

describe('unknown outcomes', () => {
  const opened = async (answer: Parameters<typeof answering>[1]) => {
    await left().start({ id: 'shared' });
    const faulty = answering(stores.events, answer);
    const stemma = await openStemma({ store: { ...stores, events: faulty.events } });
    return { branch: await stemma.open('shared'), attempts: faulty.attempts };
  };

  it.each([
    ['the reply was lost', 'lost reply'],
    ['the request was lost', 'lost request'],
  ] as const)('are resolved by sending the same bytes again when %s', async (_what, said) => {
    const { branch, attempts } = await opened((attempt) => (attempt <= 3 ? said : undefined));
    const [appended] = await branch.append({ id: 'm', role: 'user', content: 'x' });
    expect(appended).toMatchObject({ id: 'm', status: 'written', place: { revision: 1 } });
    expect(attempts()).toBe(4);
    expect(await textsOf(branch)).toEqual(['x']);
    expect(await revisionsOf(branch)).toEqual([0, 1]);
  });

  it('are told when they stay unknown, and the caller may send again', async () => {
    let isDown = true;
    const { branch } = await opened(() => (isDown ? 'lost reply' : undefined));
    const message = { id: 'm', role: 'user', content: 'x' } as const;
    const fault = await branch.append(message).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: 'OutcomeUnknown', data: { expected: 0 } });
    isDown = false;
    expect((await branch.append(message))[0]).toMatchObject({ status: 'replayed' });
    expect(await revisionsOf(branch)).toEqual([0, 1]);
  }, 30_000);

  it('end in a conflict when another writer came first', async () => {
    const { branch } = await opened((attempt) => (attempt === 1 ? 'lost request' : undefined));
    const other = await right().open('shared');
    const [mine] = await Promise.allSettled([
      branch.append({ role: 'assistant', content: 'mine' }),
      other.append({ role: 'user', content: 'theirs' }),
    ]);
    expect(mine.status).toBe('rejected');
    expect(mine.status === 'rejected' && mine.reason).toMatchObject({ code: 'RevisionConflict' });
    expect(await textsOf(branch)).toEqual(['theirs']);
  });

  it.each<AppendFault>([
    { _tag: 'StorageFull' },
    { _tag: 'ReadOnly' },
    { _tag: 'AccessDenied' },
    { _tag: 'Unavailable', reason: 'unreachable' },
    { _tag: 'StoreLocked' },
    { _tag: 'StreamDeleted', stream: 's' },
  ])('are none for $_tag, which is handed on; reading goes on', async (fault) => {
    const { branch, attempts } = await opened((attempt) => (attempt === 1 ? fault : undefined));
    expect(await tagOf(() => branch.append({ role: 'user', content: 'x' }))).toBe(fault._tag);
    expect(attempts()).toBe(1);
    expect(await textsOf(branch)).toEqual([]);
    await branch.append({ role: 'user', content: 'y' });
    expect(await textsOf(branch)).toEqual(['y']);
  });
});
