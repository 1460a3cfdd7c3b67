import { beforeEach, describe, expect, it } from 'vitest';
import { anthropic, openaiChat, type Branch, type MessageInput } from '../../src/index.js';
import { faultOf, loose, refused, textsOf, watchBranch, type Watched } from './support.js';

const profile = openaiChat({ model: 'm' });
const SECRET = 'words nobody may read';

const long = (id: string, role: 'user' | 'assistant' = 'user', words = 100): MessageInput => ({
  id,
  role,
  content: `${SECRET} `.repeat(words),
});

const call = (id: string, callId: string): MessageInput => ({
  id,
  role: 'assistant',
  toolCalls: [{ id: callId, name: 'f', arguments: '{}' }],
});

const result = (id: string, toolCallId: string): MessageInput => ({
  id,
  role: 'tool',
  toolCallId,
  content: 'done',
});

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch } = watched);
});

describe('budgets', () => {
  it('B53 refuses a budget below what has to be sent, with the numbers and the parts', async () => {
    await branch.instructions(`${SECRET} `.repeat(50));
    await branch.append([long('u-1'), long('a-1', 'assistant'), long('u-2')]);
    const fault = await refused(
      watched,
      () => branch.request({ profile, budgetTokens: 100 }),
      [SECRET],
    );
    expect(fault._tag).toBe('BudgetImpossible');
    const { needed, available, parts } = fault as unknown as {
      readonly needed: number;
      readonly available: number;
      readonly parts: readonly string[];
    };
    expect(available).toBe(100);
    expect(needed).toBeGreaterThan(100);
    expect(parts).toContain('u-2');
    expect(parts).not.toContain('u-1');
    // With exactly that much it can be built, and everything irreducible is in.
    const plan = await branch.preview({ profile, budgetTokens: needed });
    expect(plan.tokens).toBeLessThanOrEqual(needed);
    expect(plan.body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(await faultOf(() => branch.preview({ profile, budgetTokens: needed - 1 }))).toEqual({
      ...fault,
      available: needed - 1,
    });
  });

  it('B53 never sends half an exchange, whatever the budget', async () => {
    await branch.append([long('u-0'), { id: 'u-1', role: 'user', content: 'go' }]);
    for (const index of [1, 2, 3, 4, 5, 6]) {
      await branch.append([call(`a-${String(index)}`, `c-${String(index)}`), result(`t-${String(index)}`, `c-${String(index)}`)]);
    }
    await branch.append({ id: 'u-2', role: 'user', content: 'and?' });
    for (let budgetTokens = 1; budgetTokens < 400; budgetTokens += 7) {
      const plan = await branch.preview({ profile, budgetTokens }).catch((error: unknown) => error);
      if (plan instanceof Error) {
        expect(plan).toMatchObject({ code: 'BudgetImpossible' });
        continue;
      }
      const { body, tokens } = plan as Awaited<ReturnType<typeof branch.preview>>;
      const { messages } = body as { readonly messages: readonly { readonly role: string }[] };
      expect(tokens).toBeLessThanOrEqual(budgetTokens);
      const count = (role: string): number => messages.filter((m) => m.role === role).length;
      expect(count('tool')).toBe(count('assistant'));
    }
  });

  it('B53 counts tools and instructions into what has to fit', async () => {
    await branch.append({ id: 'u-1', role: 'user', content: 'go' });
    const tools = { f: { description: 'x'.repeat(4_000), run: () => '' } };
    const fault = await refused(watched, () => branch.request({ profile, tools, budgetTokens: 200 }));
    expect(fault).toMatchObject({ _tag: 'BudgetImpossible' });
  });

  it.each<[string, unknown, string]>([
    ['0', 0, 'out_of_range'],
    ['-1', -1, 'out_of_range'],
    ['NaN', Number.NaN, 'not_an_integer'],
    ['Infinity', Number.POSITIVE_INFINITY, 'not_an_integer'],
    ['a fraction', 0.5, 'not_an_integer'],
    ['2^53', 2 ** 53, 'out_of_range'],
    ['a text', '1000', 'wrong_type'],
    ['null', null, 'wrong_type'],
    ['a list', [1], 'wrong_type'],
  ])('B54 refuses the budget %s', async (_what, budgetTokens, reason) => {
    await branch.append({ role: 'user', content: SECRET });
    for (const use of [
      () => branch.request(loose({ profile, budgetTokens })),
      () => branch.preview(loose({ profile, budgetTokens })),
      () => branch.preview(loose({ profile, policy: { budgetTokens } })),
    ]) {
      expect(await refused(watched, use, [SECRET])).toEqual({
        _tag: 'InvalidArgument',
        name: 'budgetTokens',
        reason,
      });
    }
  });

  it('B54 cuts a huge budget to the window of the model', async () => {
    await branch.append({ role: 'user', content: 'x' });
    const model = openaiChat({ model: 'm', contextWindow: 8_000 });
    const plan = await branch.preview({ profile: model, budgetTokens: 1e12 });
    expect(plan.budget).toBe(8_000);
    expect((await branch.preview({ profile, budgetTokens: 1e12 })).budget).toBe(1e12);
  });

  it.each([
    ['maxItems', 0],
    ['maxItems', 1.5],
    ['reserveTokens', -1],
    ['maxToolResultTokens', 0],
    ['maxArgumentChars', 1],
    ['budget', 1],
    ['Strict', true],
  ])('B54 refuses the policy %s: %j', async (name, value) => {
    await branch.append({ role: 'user', content: 'x' });
    const use = () => branch.preview(loose({ profile, policy: { [name]: value } }));
    expect(await refused(watched, use)).toMatchObject({ _tag: 'InvalidArgument', name });
  });

  it('B60 refuses an answer of another provider, and leaves the call to be tried again', async () => {
    await branch.append({ role: 'user', content: 'x' });
    const answer = { role: 'assistant', type: 'message', content: [{ type: 'text', text: SECRET }] };
    const first = await branch.request({ profile });
    const fault = await faultOf(() => first.send(() => answer), [SECRET]);
    expect(fault).toMatchObject({ _tag: 'ProfileMismatch', profile: 'openai-chat' });
    const second = await branch.request({ profile, retryOf: first.modelCallId });
    expect(second.attempt).toBe(2);
    await second.fail({ kind: 'other' });
    const claude = anthropic({ model: 'm', maxTokens: 10 });
    const third = await branch.request({ profile: claude });
    const openai = { choices: [{ message: { role: 'assistant', content: SECRET } }] };
    expect(await faultOf(() => third.send(() => openai), [SECRET])).toMatchObject({
      _tag: 'ProfileMismatch',
      profile: 'anthropic',
    });
    expect(await textsOf(branch)).toEqual(['x']);
  });
});

describe('compactions', () => {
  const exchange = async (): Promise<void> => {
    await branch.append([
      { id: 'u-1', role: 'user', content: `${SECRET} one` },
      call('a-1', 'c-1'),
      result('t-1', 'c-1'),
      { id: 'a-2', role: 'assistant', content: 'first' },
      { id: 'u-2', role: 'user', content: 'two' },
      { id: 'a-3', role: 'assistant', content: 'second' },
      { id: 'u-3', role: 'user', content: 'three' },
    ]);
  };

  it('B55 refuses a cut between a call and its result, or moves it', async () => {
    await exchange();
    const cut = { strategy: 'summary', summary: 's', keepFrom: 't-1' } as const;
    const reject = () => branch.compact({ ...cut, onSplit: 'reject' });
    expect(await refused(watched, reject, [SECRET])).toEqual({
      _tag: 'CompactionInvalid',
      reason: 'splits_unit',
      ids: ['c-1'],
    });
    const { plan } = await branch.compact({ ...cut, onSplit: 'move' });
    expect(plan).toMatchObject({ covered: ['u-1'], moved: { from: 't-1', to: 'a-1' } });
    expect(await textsOf(branch)).toContain(`${SECRET} one`);
  });

  it('B55 refuses a range with an open call', async () => {
    await branch.append([{ id: 'u-1', role: 'user', content: 'one' }, call('a-1', 'c-1')]);
    const compact = () => branch.compact({ strategy: 'summary', summary: 's', keepFrom: null });
    expect(await refused(watched, compact)).toEqual({
      _tag: 'CompactionInvalid',
      reason: 'splits_unit',
      ids: ['c-1'],
    });
  });

  it('B55 refuses a range with a call that waits for an approval', async () => {
    await branch.append([{ id: 'u-1', role: 'user', content: 'one' }, call('a-1', 'c-1')]);
    const [open] = await branch.openCalls();
    await open?.askApproval({ requestId: 'r-1' });
    const compact = () => branch.compact({ strategy: 'summary', summary: 's', keepFrom: null });
    expect(await refused(watched, compact)).toMatchObject({
      _tag: 'CompactionInvalid',
      reason: 'pending_approval',
    });
  });

  it.each<[string, object, object]>([
    ['from an unknown message', { keepFrom: 'nobody' }, { reason: 'bad_range', ids: ['nobody'] }],
    ['that covers nothing', { keepFrom: 'u-1' }, { reason: 'empty' }],
    ['that keeps more than there is', { keepLast: 99 }, { reason: 'empty' }],
  ])('B55 refuses a range %s', async (_what, range, fault) => {
    await exchange();
    const compact = () => branch.compact({ strategy: 'summary', summary: 's', ...range });
    expect(await refused(watched, compact, [SECRET])).toMatchObject({
      _tag: 'CompactionInvalid',
      ...fault,
    });
  });

  it.each<[string, object, string, string]>([
    ['keepLast -1', { keepLast: -1 }, 'keepLast', 'out_of_range'],
    ['keepLast NaN', { keepLast: NaN }, 'keepLast', 'out_of_range'],
    ['keepLast as text', { keepLast: '2' }, 'keepLast', 'out_of_range'],
    ['no summary', { summary: undefined }, 'summary', 'missing'],
    ['an unknown strategy', { strategy: 'magic' }, 'strategy', 'unknown_value'],
    ['an unknown option', { from: 'u-1' }, 'from', 'unknown_option'],
  ])('B55 refuses %s', async (_what, change, name, reason) => {
    await exchange();
    const options = { strategy: 'summary', summary: 's', keepLast: 1, ...change };
    for (const use of [
      () => branch.compact(loose(options)),
      () => branch.planCompaction(loose(options)),
    ]) {
      expect(await refused(watched, use)).toEqual({ _tag: 'InvalidArgument', name, reason });
    }
  });

  it('B55 refuses what would not save anything, when nobody asked for it', async () => {
    await exchange();
    const compact = () =>
      branch.compact({
        strategy: 'summary',
        summary: SECRET.repeat(500),
        keepLast: 1,
        requireProgress: true,
      });
    const fault = await refused(watched, compact, [SECRET]);
    expect(fault._tag).toBe('CompactionNoProgress');
  });

  it('B55 refuses a given plan once a covered message changed, and takes it when only the head moved', async () => {
    await exchange();
    const options = { strategy: 'summary', summary: 's', keepLast: 1 } as const;
    const plan = await branch.planCompaction(options);
    await branch.append({ id: 'u-4', role: 'user', content: 'four' });
    const { plan: done } = await branch.compact({ ...options, plan });
    expect(done.covered).toEqual(plan.covered);
    const later = await branch.planCompaction({ ...options, keepLast: 1 });
    await branch.redact('u-3');
    expect(await refused(watched, () => branch.compact({ ...options, plan: later }))).toMatchObject({
      _tag: 'CompactionStale',
    });
  });

  it('B56 lets one of two compactions at the same time win', async () => {
    await exchange();
    const other = await watched.stemma.open('conversation');
    const outcomes = await Promise.allSettled([
      branch.compact({ strategy: 'summary', summary: 'left', keepLast: 1 }),
      other.compact({ strategy: 'summary', summary: 'right', keepLast: 3 }),
    ]);
    // Both ranges begin at the start: they are nested, or the later one finds the earlier one.
    const { live } = await branch.history();
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'RevisionConflict' });
      }
    }
    const covered = live.map((entry) => entry.covered);
    expect(new Set(covered.flat()).size).toBe(covered.flat().length);
    expect(await watched.stemma.verify()).toMatchObject({ ok: true });
    expect(await textsOf(branch)).toContain(`${SECRET} one`);
  });

  it('B55 knows no compaction to undo but its own, and undoes once', async () => {
    await exchange();
    const unknown = () => branch.undoCompaction('nothing');
    expect(await refused(watched, unknown)).toEqual({
      _tag: 'NotFound',
      kind: 'compaction',
      ref: 'nothing',
    });
    const { compaction } = await branch.compact({ strategy: 'keep-last', keepLast: 1 });
    await branch.undoCompaction(compaction);
    const before = await watched.image();
    await branch.undoCompaction(compaction);
    expect(await watched.image()).toEqual(before);
  });
});

describe('fork points', () => {
  it.each<[string, object, object]>([
    ['ahead of the head', { revision: 2 }, { _tag: 'RevisionInFuture', revision: 2, head: 1 }],
    ['far ahead', { revision: Number.MAX_SAFE_INTEGER }, { _tag: 'RevisionInFuture', head: 1 }],
    ['of an unknown call', { beforeCall: 'nobody' }, { _tag: 'NotFound', kind: 'call' }],
    ['before an unknown message', { before: 'nobody' }, { _tag: 'NotFound', kind: 'message' }],
    ['after an unknown message', { after: 'nobody' }, { _tag: 'ParentNotFound', id: 'nobody' }],
  ])('B57 refuses a fork %s', async (_what, place, fault) => {
    await branch.append({ id: 'u-1', role: 'user', content: 'one' });
    expect(await refused(watched, () => branch.fork(loose(place)))).toMatchObject(fault);
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 53, '1', null])('B57 refuses the revision %s', async (revision) => {
    expect(await refused(watched, () => branch.fork(loose({ revision })))).toMatchObject({
      _tag: 'InvalidArgument',
      name: 'revision',
    });
  });

  it('B57 refuses a fork at a message of a sibling, and a retry of nothing', async () => {
    const fork = await branch.fork({ revision: 0 });
    await branch.append({ id: 'u-1', role: 'user', content: 'one' });
    expect((await refused(watched, () => fork.fork({ after: 'u-1' })))._tag).toBe('ParentNotFound');
    expect((await refused(watched, () => fork.retry({ before: 'u-1' })))._tag).toBe('NotFound');
    expect(await refused(watched, () => fork.retry({}))).toMatchObject({
      _tag: 'InvalidArgument',
      reason: 'missing',
    });
  });

  it('B57 refuses a place that says two things', async () => {
    await branch.append({ id: 'u-1', role: 'user', content: 'one' });
    const fork = () => branch.fork(loose({ revision: 0, after: 'u-1' }));
    expect(await refused(watched, fork)).toMatchObject({ _tag: 'InvalidArgument' });
  });

  it('B57 takes fork, read and write of a chain of a thousand forks', async () => {
    const before = performance.now();
    let tip = branch;
    for (let depth = 0; depth < 1_000; depth += 1) {
      await tip.append({ id: `m-${String(depth)}`, role: 'user', content: String(depth) });
      tip = await tip.fork({ after: `m-${String(depth)}` });
    }
    const texts = await textsOf(tip);
    expect(texts).toHaveLength(1_000);
    expect(texts[999]).toBe('999');
    const [known] = await tip.append({ id: 'm-0', role: 'user', content: '0' });
    expect(known).toMatchObject({ status: 'replayed', place: { branch: branch.branch } });
    const cold = await watched.stemma.open(`conversation/${tip.name}`);
    expect((await cold.append({ role: 'user', content: 'tip' }))[0]?.status).toBe('written');
    expect((await cold.preview({ profile })).body.messages).toHaveLength(1_001);
    expect(performance.now() - before).toBeLessThan(25_000);
  }, 60_000);
});
