import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, type Branch, type MessageInput } from '../../src/index.js';
import { refused, watchBranch, type Watched } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });

let watched: Watched & { readonly branch: Branch };
let one: Branch;
let two: Branch;

beforeEach(async () => {
  watched = await watchBranch();
  one = watched.branch.as({ kind: 'app' }, 'run-1');
  two = watched.branch.as({ kind: 'app' }, 'run-2');
  await one.append({ id: 'u-1', role: 'user', content: 'go' });
});

const typesAfter = async (revision: number): Promise<readonly string[]> =>
  (await one.events()).events.slice(revision + 1).map(({ type }) => type);

const head = async (): Promise<number> => (await one.session()).head;

const call: MessageInput = {
  id: 'a-1',
  role: 'assistant',
  toolCalls: [{ id: 'c-1', name: 'f', arguments: '{}' }],
};

/** Everything that only the writer of a turn may do. */
const writes = (branch: Branch): readonly (() => unknown)[] => [
  () => branch.request({ profile }),
  () => branch.append({ role: 'assistant', content: 'x' }),
  () => branch.append({ role: 'system', content: 'x' }),
  () =>
    branch.append([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y' },
    ]),
  () => branch.instructions('x'),
  () => branch.status('u-1', 'blocked'),
  () => branch.withdraw(['u-1']),
  () => branch.compact({ strategy: 'summary', summary: 's', keepFrom: null }),
  () => branch.endTurn('completed'),
];

describe('turns', () => {
  it('opens one with the first request, in the same append, and continues it', async () => {
    const before = await head();
    const first = await one.request({ profile });
    expect(await typesAfter(before)).toEqual(['TurnStarted', 'ModelCallRequested']);
    expect((await one.session()).turn).toMatchObject({ run: 'run-1' });
    await first.complete({ blocks: [], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] });
    const [open] = await one.openCalls();
    await open?.result('done');
    await one.request({ profile });
    const types = await typesAfter(before);
    expect(types.filter((type) => type === 'TurnStarted')).toHaveLength(1);
    expect(types).not.toContain('TurnEnded');
  });

  it('ends one with an answer that calls no tool, in one append', async () => {
    const call_ = await one.request({ profile });
    const before = await head();
    await call_.complete({ blocks: [{ type: 'text', text: 'hi' }] });
    expect(await typesAfter(before)).toEqual([
      'MessageAppended',
      'ModelCallCompleted',
      'TurnEnded',
    ]);
    const parts = (await one.events()).events.slice(before + 1).map(({ meta }) => {
      const { part } = JSON.parse(meta) as { readonly part: string };
      return part;
    });
    expect(parts).toEqual(['1/3', '2/3', '3/3']);
    expect((await one.session()).turn).toBeUndefined();
  });

  it.each(['title', 'judge', 'other', 'compaction'] as const)(
    'opens none for a call made for %s',
    async (purpose) => {
      const before = await head();
      const made = await one.request({ profile, purpose });
      expect(await typesAfter(before)).toEqual(['ModelCallRequested']);
      await made.complete({ blocks: [{ type: 'text', text: 'a title' }] });
      expect(await typesAfter(before + 1)).toEqual(['ModelCallCompleted']);
      expect((await one.surface()).items).toHaveLength(1);
    },
  );

  it('OR4 lets another run write nothing of it but what a user says', async () => {
    await one.request({ profile });
    const { turn = { turn: '', run: '' } } = await one.session();
    for (const write of writes(two)) {
      expect(await refused(watched, write)).toEqual({ _tag: 'TurnOpen', ...turn });
    }
    expect((await two.append({ role: 'user', content: 'wait' }))[0]?.status).toBe('written');
  });

  it('OR4 takes a result from another run, wherever the tool ran', async () => {
    const made = await one.request({ profile });
    await made.complete({ blocks: [], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] });
    const result = { role: 'tool' as const, toolCallId: 'c', content: 'done' };
    expect((await two.append(result))[0]?.status).toBe('written');
  });

  it('OR4 refuses a run whose turn was claimed, and lets the claimer go on', async () => {
    const made = await one.request({ profile });
    const before = await head();
    await two.claim();
    expect(await typesAfter(before)).toEqual(['TurnClaimed']);
    const superseded = { _tag: 'RunSuperseded', run: 'run-1', currentRun: 'run-2' };
    for (const write of [
      ...writes(one),
      () => made.complete({ blocks: [{ type: 'text', text: 'x' }] }),
      () => made.fail({ kind: 'transport' }),
      () => made.interrupt(),
    ]) {
      expect(await refused(watched, write)).toEqual(superseded);
    }
    expect((await one.append({ role: 'user', content: 'I am still here' }))[0]?.status).toBe(
      'written',
    );
    const again = await two.recordedCall(made.modelCallId);
    await again.complete({ blocks: [{ type: 'text', text: 'from the claimer' }] });
    expect((await two.session()).turn).toBeUndefined();
    // With the turn over, the former run may open one of its own.
    await one.append({ role: 'user', content: 'next' });
    expect((await one.request({ profile })).attempt).toBe(1);
  });

  it('OR4 refuses a result of a run that lost its turn', async () => {
    const made = await one.request({ profile });
    await made.complete({ blocks: [], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] });
    await two.claim();
    const result = { role: 'tool' as const, toolCallId: 'c', content: 'done' };
    expect(await refused(watched, () => one.append(result))).toEqual({
      _tag: 'RunSuperseded',
      run: 'run-1',
      currentRun: 'run-2',
    });
    expect((await two.append(result))[0]?.status).toBe('written');
  });

  it('lets a run that was superseded claim the turn back', async () => {
    await one.request({ profile });
    await two.claim();
    await one.claim();
    expect(await refused(watched, () => two.endTurn('failed'))).toMatchObject({
      _tag: 'RunSuperseded',
      run: 'run-2',
      currentRun: 'run-1',
    });
    await one.endTurn('interrupted');
    expect((await one.session()).turn).toBeUndefined();
  });

  it('writes nothing for a claim or an end where there is nothing to claim or end', async () => {
    const before = await watched.image();
    await one.claim();
    await one.endTurn('completed');
    expect(await watched.image()).toEqual(before);
    await one.request({ profile });
    const during = await watched.image();
    await one.claim();
    expect(await watched.image()).toEqual(during);
  });

  it.each(['completed', 'interrupted', 'failed', 'lost'] as const)(
    'ends as %s',
    async (outcome) => {
      await one.request({ profile });
      await one.endTurn(outcome);
      const last = (await one.events()).events.at(-1);
      expect(last?.type).toBe('TurnEnded');
      expect(JSON.parse(last?.data ?? '{}')).toMatchObject({ outcome });
    },
  );

  it('closes the calls of a turn that was broken off, for later contexts', async () => {
    await one.request({ profile });
    await one.append(call);
    await one.endTurn('interrupted');
    await two.append({ role: 'user', content: 'never mind' });
    const plan = await two.preview({ profile });
    expect(plan.synthetic).toHaveLength(1);
    expect(plan.body.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('does not go on in a fork', async () => {
    await one.request({ profile });
    for (const place of [{ after: 'u-1' }, { revision: await head() }]) {
      const fork = await one.fork(place);
      expect((await fork.session()).turn).toBeUndefined();
      const other = fork.as({ kind: 'app' }, 'run-9');
      expect((await other.request({ profile })).attempt).toBe(1);
    }
  });
});
