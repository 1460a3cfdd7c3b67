import { beforeEach, describe, expect, it } from 'vitest';
import { type Branch, type MessageInput } from '../../src/index.js';
import { loose, refused, textsOf, watchBranch, type Watched } from './support.js';

const SECRET = 'words nobody may read';

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
    const all = { strategy: 'summary', summary: 's', keepFrom: null } as const;
    for (const action of [() => branch.compact(all), () => branch.planCompaction(all)]) {
      expect(await refused(watched, action)).toEqual({
        _tag: 'CompactionInvalid',
        reason: 'splits_unit',
        ids: ['c-1'],
      });
    }
  });

  it('B55 refuses a range with a call that waits for an approval', async () => {
    await branch.append([{ id: 'u-1', role: 'user', content: 'one' }, call('a-1', 'c-1')]);
    const [open] = await branch.openCalls();
    await open?.askApproval({ requestId: 'r-1' });
    const all = { strategy: 'summary', summary: 's', keepFrom: null } as const;
    for (const action of [() => branch.compact(all), () => branch.planCompaction(all)]) {
      expect(await refused(watched, action)).toMatchObject({
        _tag: 'CompactionInvalid',
        reason: 'pending_approval',
      });
    }
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
    expect(await refused(watched, () => branch.compact({ ...options, plan: later }))).toMatchObject(
      {
        _tag: 'CompactionStale',
      },
    );
  });

  it('B56 lets one of two compactions at the same time win', async () => {
    await exchange();
    const other = await watched.stemma.open('conversation');
    const outcomes = await Promise.allSettled([
      branch.compact({ strategy: 'summary', summary: 'left', keepLast: 1 }),
      other.compact({ strategy: 'summary', summary: 'right', keepLast: 3 }),
    ]);
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refusals).toHaveLength(1);
    expect(refusals[0]?.reason).toMatchObject({ code: 'RevisionConflict' });
    expect((await branch.history()).compactions).toHaveLength(1);
    expect(await watched.stemma.verify()).toMatchObject({ ok: true });
    expect(await textsOf(branch)).toContain(`${SECRET} one`);
  });

  it('B56 is not disturbed by a message that comes in meanwhile', async () => {
    await exchange();
    const other = await watched.stemma.open('conversation');
    const [{ plan }] = await Promise.all([
      branch.compact({ strategy: 'summary', summary: 's', keepLast: 1 }),
      other.append({ id: 'u-4', role: 'user', content: 'four' }),
    ]);
    expect(plan.covered).not.toContain('u-4');
    expect((await branch.history()).live).toHaveLength(1);
  });

  it.each<[string, (head: number) => object, string]>([
    ['that includes the future', (head) => ({ from: 1, to: head + 1 }), 'future'],
    ['from behind to before', () => ({ from: 3, to: 1 }), 'bad_range'],
    ['from before the beginning', () => ({ from: -1, to: 1 }), 'bad_range'],
  ])('B55 refuses a plan %s', async (_what, run, reason) => {
    await exchange();
    const plan = await branch.planCompaction({ strategy: 'keep-last', keepLast: 1 });
    const forged = { ...plan, covers: [{ branch: branch.branch, ...run(plan.plannedAt) }] };
    const compact = () => branch.compact({ strategy: 'keep-last', plan: loose(forged) });
    expect(await refused(watched, compact)).toMatchObject({ _tag: 'CompactionInvalid', reason });
  });

  it('B55 refuses a range that overlaps a former one partly', async () => {
    await exchange();
    await branch.compact({ strategy: 'summary', summary: 's', keepFrom: 'u-2' });
    const plan = await branch.planCompaction({ strategy: 'keep-last', keepLast: 1 });
    const forged = {
      ...plan,
      covers: [{ branch: branch.branch, from: 3, to: plan.plannedAt - 1 }],
    };
    const compact = () => branch.compact({ strategy: 'keep-last', plan: loose(forged) });
    expect(await refused(watched, compact)).toMatchObject({
      _tag: 'CompactionInvalid',
      reason: 'partial_overlap',
    });
  });

  it('B55 refuses a plan that is none', async () => {
    await exchange();
    const compact = () => branch.compact({ strategy: 'keep-last', plan: loose({ covered: [] }) });
    expect((await refused(watched, compact))._tag).toBe('InvalidShape');
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
