import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, type Branch, type MessageInput } from '../../src/index.js';
import type { ToolCallHandle } from '../../src/index.js';
import { refused, textsOf, watchBranch, type Watched } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
let now: number;

const asks = (id: string, ...callIds: readonly string[]): MessageInput => ({
  id,
  role: 'assistant',
  toolCalls: callIds.map((callId) => ({ id: callId, name: 'pay', arguments: '{"eur":5}' })),
});

beforeEach(async () => {
  now = Date.parse('2026-01-01T00:00:00.000Z');
  watched = await watchBranch({ now: () => now });
  ({ branch } = watched);
  await branch.append([{ id: 'u-1', role: 'user', content: 'go' }, asks('a-1', 'c-1')]);
});

const openCall = async (at: Branch = branch): Promise<ToolCallHandle> => {
  const [call] = await at.openCalls();
  if (call === undefined) throw new Error('no call is open');
  return call;
};

const stateOf = async (at: Branch = branch): Promise<object | undefined> => {
  const [call] = (await at.session()).toolCalls;
  if (call === undefined) return undefined;
  const { state, attempt, approved, inherited } = call;
  return { state, attempt, approved, inherited };
};

const typesOf = async (at: Branch = branch): Promise<readonly string[]> =>
  (await at.events()).events.map(({ type }) => type);

describe('tool starts', () => {
  it('SE2 is on disk before the tool runs, and its result after', async () => {
    const call = await openCall();
    let during: readonly string[] = [];
    const outcome = await call.run({
      pay: {
        run: async ({ eur }, { attempt, idempotencyKey }) => {
          during = await typesOf();
          return { paid: eur, attempt, key: idempotencyKey !== '' };
        },
      },
    });
    expect(during.at(-1)).toBe('ToolExecutionStarted');
    expect((await typesOf()).at(-1)).toBe('ToolResultAttached');
    expect(outcome).toMatchObject({ outcome: 'ok', content: '{"paid":5,"attempt":1,"key":true}' });
    expect(await branch.session()).toMatchObject({ next: 'model', toolCalls: [] });
  });

  it.each([
    ['what a tool throws', { pay: { run: () => Promise.reject(new Error('no money')) } }, 'error'],
    ['a tool that is not there', {}, 'not_started'],
    ['a tool of another name', { toString: { run: () => '' } }, 'not_started'],
  ] as const)('records %s as a result', async (_what, tools, outcome) => {
    const call = await openCall();
    expect(await call.run(tools)).toMatchObject({ outcome });
    expect((await branch.session()).toolCalls).toEqual([]);
  });

  it.each(['toString', 'constructor', 'hasOwnProperty', '__proto__', 'pay'])(
    'finds no tool %s in what a toolbox inherits',
    async (name) => {
      await (await openCall()).result('done');
      await branch.append({ role: 'assistant', toolCalls: [{ id: 'c-2', name, arguments: '{}' }] });
      const tools = Object.create({ pay: { run: () => 'paid' } }) as Record<string, never>;
      expect(await (await openCall()).run(tools)).toMatchObject({
        outcome: 'not_started',
        content: 'There is no tool of this name.',
      });
    },
  );

  it('counts attempts of a harmless tool and keeps its idempotency key', async () => {
    const call = await openCall();
    const first = await call.start({ effect: 'idempotent' });
    expect(await stateOf()).toEqual({
      state: 'started',
      attempt: 1,
      approved: false,
      inherited: false,
    });
    expect((await branch.session()).next).toBe('tools');
    const second = await call.start({ effect: 'idempotent', idempotencyKey: 'another' });
    expect(second).toEqual({ attempt: 2, idempotencyKey: first.idempotencyKey });
    await call.result('done');
    const [exchange] = (await branch.toolExchanges()).exchanges;
    expect(exchange).toMatchObject({ state: 'answered', outcome: 'ok' });
    expect(exchange?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('takes the key that the caller gives with the first start', async () => {
    const call = await openCall();
    expect(await call.start({ idempotencyKey: 'mine' })).toEqual({
      attempt: 1,
      idempotencyKey: 'mine',
    });
  });

  it.each([undefined, 'non_idempotent'] as const)(
    'runs a tool of effect %s once, and then waits for a word',
    async (effect) => {
      const call = await openCall();
      await call.start(effect === undefined ? {} : { effect });
      for (const again of [
        () => call.start({}),
        // Whoever changes his mind about the effect does not get past it.
        () => call.start({ effect: 'read_only' }),
      ]) {
        expect(await refused(watched, again)).toEqual({
          _tag: 'InvalidArgument',
          name: 'call',
          reason: 'already_started',
        });
      }
      expect((await branch.session()).next).toBe('recover');
    },
  );

  it('refuses to start, ask about or abandon a call that is answered', async () => {
    const call = await openCall();
    const result = await call.result('done');
    const answered = {
      _tag: 'DuplicateToolResult',
      callId: '0 a-1',
      place: { branch: branch.branch, revision: result.place.revision },
    };
    expect(await refused(watched, () => call.start())).toEqual(answered);
    expect(await refused(watched, () => call.askApproval())).toEqual(answered);
    expect(await refused(watched, () => call.abandon())).toEqual(answered);
  });

  it('starts nothing of a message that is no longer confirmed', async () => {
    const call = await openCall();
    await branch.status('a-1', 'superseded');
    expect(await refused(watched, () => call.start())).toEqual({
      _tag: 'NotFound',
      kind: 'tool call',
      ref: '0 a-1',
    });
    expect((await branch.session()).toolCalls).toEqual([]);
  });

  it('opens the calls of a draft once it is confirmed', async () => {
    await branch.append({ ...asks('a-2', 'c-2'), status: 'draft' });
    expect((await branch.session()).toolCalls).toHaveLength(1);
    await branch.status('a-2', 'confirmed');
    expect((await branch.session()).toolCalls.map(({ callId }) => callId)).toEqual(['c-1', 'c-2']);
  });

  it('abandons a call once, for good, and says so in later contexts', async () => {
    const call = await openCall();
    await call.abandon('nobody wants it');
    const before = await watched.image();
    await call.abandon('again');
    expect(await watched.image()).toEqual(before);
    expect((await branch.session()).toolCalls).toEqual([]);
    await branch.append({ role: 'user', content: 'next' });
    const { synthetic } = await branch.preview({ profile });
    expect(synthetic).toHaveLength(1);
    const result = () => branch.append({ role: 'tool', toolCallId: 'c-1', content: 'late' });
    expect((await refused(watched, result))._tag).toBe('DuplicateToolResult');
    await branch.append({ role: 'tool', toolCallId: 'c-1', content: 'late', late: true });
  });
});

describe('approvals', () => {
  const held = (reason: string) => ({ _tag: 'InvalidArgument', name: 'call', reason });

  it('hold a call back until somebody says so', async () => {
    const call = await openCall();
    expect(await call.askApproval({ requestId: 'r-1' })).toEqual({ requestId: 'r-1' });
    expect(await stateOf()).toMatchObject({ state: 'awaiting_approval' });
    expect((await branch.session()).next).toBe('approval');
    expect(await refused(watched, () => call.start())).toEqual(held('awaiting_approval'));
    await branch.resolveApproval('r-1', 'approved', { approver: 'ann', reason: 'fine' });
    expect(await stateOf()).toEqual({
      state: 'not_started',
      attempt: 0,
      approved: true,
      inherited: false,
    });
    expect((await call.start()).attempt).toBe(1);
  });

  it('let a denied call run never, and wait for its result', async () => {
    const call = await openCall();
    await call.askApproval({ requestId: 'r-1' });
    await branch.resolveApproval('r-1', 'denied');
    expect(await refused(watched, () => call.start())).toEqual(held('denied'));
    expect((await branch.session()).next).toBe('tools');
    await call.result('You may not.', { outcome: 'denied' });
    expect((await branch.session()).next).toBe('model');
  });

  it('are resolved once: the same word again is a replay, another is refused', async () => {
    const call = await openCall();
    await call.askApproval({ requestId: 'r-1' });
    await branch.resolveApproval('r-1', 'approved');
    const before = await watched.image();
    await branch.resolveApproval('r-1', 'approved');
    await call.askApproval({ requestId: 'r-1' });
    expect(await watched.image()).toEqual(before);
    expect(await refused(watched, () => branch.resolveApproval('r-1', 'denied'))).toEqual({
      _tag: 'InvalidArgument',
      name: 'outcome',
      reason: 'already_resolved',
    });
  });

  it('name one call: the same request for another is refused', async () => {
    await branch.append(asks('a-2', 'c-2'));
    const [first, second] = await branch.openCalls();
    await first?.askApproval({ requestId: 'r-1' });
    expect(await refused(watched, () => second?.askApproval({ requestId: 'r-1' }))).toMatchObject({
      _tag: 'InvalidArgument',
      name: 'requestId',
    });
  });

  it('expire, and leave the call denied', async () => {
    const call = await openCall();
    await call.askApproval({ requestId: 'r-1', expiresAt: '2026-01-01T01:00:00Z' });
    expect((await branch.recover()).expired).toEqual([]);
    expect((await branch.session()).next).toBe('approval');
    now += 3_600_000;
    expect((await branch.recover()).expired).toEqual(['r-1']);
    expect(await refused(watched, () => call.start())).toEqual(held('denied'));
  });

  it('wait for weeks without being repaired away', async () => {
    const call = await openCall();
    await call.askApproval({ requestId: 'r-1' });
    now += 100 * 86_400_000;
    const { undecided, session } = await branch.recover({ endTurn: 'lost' });
    expect([undecided, session.next]).toEqual([[], 'approval']);
    for (const onUnanswered of ['synthesize', 'drop_call'] as const) {
      const preview = () => branch.preview({ profile, policy: { onUnanswered } });
      expect((await refused(watched, preview))._tag).toBe('OpenToolCalls');
    }
  });

  it('do not free a call that has started', async () => {
    const call = await openCall();
    await call.start();
    await call.askApproval({ requestId: 'r-1' }).catch(() => undefined);
    await branch.resolveApproval('r-1', 'approved').catch(() => undefined);
    expect((await refused(watched, () => call.start()))._tag).toBe('InvalidArgument');
  });

  it('are asked for by a tool that needs one, before it runs', async () => {
    const call = await openCall();
    let runs = 0;
    const tools = {
      pay: {
        needsApproval: true,
        run: () => {
          runs += 1;
          return 'paid';
        },
      },
    };
    expect((await call.run(tools)).outcome).toBe('awaiting_approval');
    const [approval] = (await branch.session()).approvals;
    expect((await call.run(tools)).outcome).toBe('awaiting_approval');
    expect([runs, (await branch.session()).approvals.length]).toEqual([0, 1]);
    await branch.resolveApproval(approval?.requestId ?? '', 'approved');
    expect(await (await openCall()).run(tools)).toMatchObject({ outcome: 'ok', content: 'paid' });
    expect(runs).toBe(1);
  });

  it('know no request that was not made', async () => {
    expect(await refused(watched, () => branch.resolveApproval('nobody', 'approved'))).toEqual({
      _tag: 'NotFound',
      kind: 'approval',
      ref: 'nobody',
    });
  });
});

describe('calls inherited by a fork', () => {
  it('carry neither start nor approval over: one approval must not pay twice', async () => {
    const call = await openCall();
    await call.askApproval({ requestId: 'r-1' });
    await branch.resolveApproval('r-1', 'approved');
    await call.start();
    const fork = await branch.fork({ after: 'a-1' });
    const late = await branch.fork({ revision: (await branch.session()).head });
    for (const at of [fork, late]) {
      expect(await stateOf(at)).toEqual({
        state: 'not_started',
        attempt: 0,
        approved: false,
        inherited: true,
      });
      const inherited = await openCall(at);
      expect(await refused(watched, () => inherited.start())).toEqual({
        _tag: 'InvalidArgument',
        name: 'call',
        reason: 'inherited',
      });
      await inherited.askApproval({ requestId: 'r-1' });
      await at.resolveApproval('r-1', 'approved');
      expect((await inherited.start()).attempt).toBe(1);
    }
    // The parent's own call is where it was.
    expect(await stateOf()).toMatchObject({ state: 'started', attempt: 1 });
  });

  it.each(['read_only', 'idempotent'] as const)(
    'may run again when they are %s',
    async (effect) => {
      const fork = await branch.fork({ after: 'a-1' });
      expect((await (await openCall(fork)).start({ effect })).attempt).toBe(1);
    },
  );

  it('are answered or abandoned on each branch for itself', async () => {
    const fork = await branch.fork({ after: 'a-1' });
    await (await openCall(fork)).result('on the fork');
    expect((await fork.session()).toolCalls).toEqual([]);
    expect((await branch.session()).toolCalls).toHaveLength(1);
    await (await openCall()).abandon();
    expect(await textsOf(fork)).toEqual(['go', 'on the fork']);
    expect(await textsOf(branch)).toEqual(['go']);
  });

  it('are answered when the fork stands behind the result', async () => {
    await (await openCall()).result('done');
    const fork = await branch.fork({ revision: (await branch.session()).head });
    expect((await fork.session()).toolCalls).toEqual([]);
    const again = () => fork.append({ role: 'tool', toolCallId: 'c-1', content: 'other' });
    expect(await refused(watched, again)).toMatchObject({
      _tag: 'DuplicateToolResult',
      place: { branch: branch.branch },
    });
  });
});
