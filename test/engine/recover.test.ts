import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, openStemma, type Branch, type MessageInput } from '../../src/index.js';
import { loose, refused, textsOf, watchBranch, type Watched } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });

let watched: Watched & { readonly branch: Branch };
let dead: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  dead = watched.branch.as({ kind: 'app' }, 'dead');
  await dead.append({ id: 'u-1', role: 'user', content: 'go' });
});

/** The branch as a new process finds it. */
const next = async (run = 'next'): Promise<Branch> => {
  const stemma = await openStemma({ store: watched.stores });
  const branch = await stemma.open('conversation', { run });
  await branch.claim();
  return branch;
};

const asks = (...callIds: readonly string[]): MessageInput => ({
  id: 'a-1',
  role: 'assistant',
  toolCalls: callIds.map((id) => ({ id, name: 'f', arguments: '{}' })),
});

const ref = (index: number) => ({ messageId: 'a-1', index });

describe('recover', () => {
  it('SE4 records a call that nobody finished as lost', async () => {
    const call = await dead.request({ profile });
    const branch = await next();
    expect(await branch.session()).toMatchObject({ next: 'recover' });
    const { lost, session } = await branch.recover();
    expect(lost).toEqual([call.modelCallId]);
    expect(session).toMatchObject({ next: 'model', modelCalls: [] });
    expect((await branch.calls()).calls[0]).toMatchObject({
      state: 'lost',
      failure: { error: { kind: 'lost', lost: true, retryable: true } },
    });
    expect((await branch.request({ profile, retryOf: call.modelCallId })).attempt).toBe(2);
  });

  it('SE4 finds nothing to do between the answer and its tools', async () => {
    const call = await dead.request({ profile });
    await call.complete({ blocks: [], toolCalls: [{ id: 'c-1', name: 'f', arguments: '{}' }] });
    const branch = await next();
    const before = await watched.image();
    const { lost, closed, expired, undecided, session } = await branch.recover();
    expect([lost, closed, expired, undecided]).toEqual([[], [], [], []]);
    expect(session).toMatchObject({ next: 'tools', toolCalls: [{ state: 'not_started' }] });
    expect(await watched.image()).toEqual(before);
  });

  it.each(['read_only', 'idempotent'] as const)(
    'SE4 lets a %s tool run again with its key',
    async (effect) => {
      await dead.append(asks('c-1'));
      const [started] = await dead.openCalls();
      const first = await started?.start({ effect, idempotencyKey: 'k' });
      const branch = await next();
      expect((await branch.recover()).undecided).toEqual([]);
      const [call] = await branch.openCalls();
      expect(await call?.start({ effect })).toEqual({ attempt: 2, idempotencyKey: 'k' });
      expect(first).toEqual({ attempt: 1, idempotencyKey: 'k' });
    },
  );

  it('SE4 leaves a harmful tool to the caller, who may say that nobody knows', async () => {
    await dead.append(asks('c-1', 'c-2', 'c-3', 'c-4'));
    for (const call of await dead.openCalls()) await call.start();
    const branch = await next();
    const first = await branch.recover();
    expect(first.undecided).toEqual([ref(0), ref(1), ref(2), ref(3)]);
    expect(first.session.next).toBe('recover');
    const { closed, undecided } = await branch.recover({
      tools: [
        { call: ref(0), do: 'unknown' },
        { call: ref(1), do: 'result', content: 'it was paid' },
        { call: ref(2), do: 'abandon', reason: 'never mind' },
      ],
    });
    expect(closed).toEqual([ref(0), ref(1), ref(2)]);
    expect(undecided).toEqual([ref(3)]);
    const { exchanges } = await branch.toolExchanges();
    expect(exchanges.map(({ state, outcome }) => [state, outcome])).toEqual([
      ['answered', 'unknown'],
      ['answered', 'ok'],
      ['abandoned', undefined],
      ['started', undefined],
    ]);
    expect((await textsOf(branch)).at(-1)).toBe('it was paid');
    // The truth of the first one comes later, for audit.
    await branch.append({ role: 'tool', call: ref(0), content: 'it was not paid', late: true });
  });

  it('SE4 can be repeated, by the same process and by another', async () => {
    const call = await dead.request({ profile });
    const branch = await next();
    const choices = { endTurn: 'lost' } as const;
    expect((await branch.recover(choices)).lost).toEqual([call.modelCallId]);
    const before = await watched.image();
    expect((await branch.recover(choices)).lost).toEqual([]);
    expect((await (await next('third')).recover(choices)).lost).toEqual([]);
    expect(await watched.image()).toEqual(before);
    expect((await branch.session()).turn).toBeUndefined();
  });

  it('SE4 passes by what the caller says about calls that are not open', async () => {
    await dead.append(asks('c-1'));
    const [call] = await dead.openCalls();
    await call?.result('done');
    const branch = await next();
    const before = await watched.image();
    const { closed } = await branch.recover({
      tools: [
        { call: ref(0), do: 'unknown' },
        { call: { messageId: 'nobody', index: 7 }, do: 'unknown' },
      ],
    });
    expect(closed).toEqual([]);
    expect(await watched.image()).toEqual(before);
  });

  it('SE4 works on ids of any length and kind', async () => {
    const id = `${'\u8ba2'.repeat(85)}/`;
    await dead.append({ id, role: 'assistant', toolCalls: [{ id, name: 'f' }] });
    const [call] = await dead.openCalls();
    await call?.start();
    await call?.askApproval({ requestId: 'x'.repeat(256), expiresAt: '2020-01-01T00:00:00Z' });
    const branch = await next('r'.repeat(256));
    const { expired, closed } = await branch.recover({
      tools: [{ call: { messageId: id, index: 0 }, do: 'abandon' }],
    });
    expect([expired.length, closed.length]).toEqual([1, 1]);
  });

  it('SE4 is refused by the turn of another run until it is claimed', async () => {
    await dead.request({ profile });
    const stemma = await openStemma({ store: watched.stores });
    const other = await stemma.open('conversation', { run: 'other' });
    expect((await refused(watched, () => other.recover()))._tag).toBe('TurnOpen');
  });

  it('refuses choices that are none', async () => {
    await dead.append(asks('c-1'));
    const branch = await next();
    for (const choices of [
      { tools: 5 },
      { tools: [{ call: ref(0), do: 'forget' }] },
      { tools: [{ do: 'unknown' }] },
      { tools: [{ call: ref(0), do: 'result' }] },
      { tools: [null] },
      { tool: [] },
      { endTurn: 'done' },
    ]) {
      const fault = await refused(watched, () => branch.recover(loose(choices)));
      expect(['InvalidArgument', 'InvalidShape']).toContain(fault._tag);
    }
  });
});
