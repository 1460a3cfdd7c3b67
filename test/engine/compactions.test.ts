import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, type Branch } from '../../src/index.js';
import { faultOf, refused, textsOf, watchBranch, type Watched } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch } = watched);
  for (const index of [1, 2, 3, 4]) {
    await branch.append([
      { id: `u-${String(index)}`, role: 'user', content: `question ${String(index)}` },
      { id: `a-${String(index)}`, role: 'assistant', content: `answer ${String(index)}` },
    ]);
  }
  await branch.append({ id: 'u-5', role: 'user', content: 'question 5' });
});

const sent = async (at: Branch = branch): Promise<readonly string[]> =>
  (await at.preview({ profile })).sent;

describe('compactions', () => {
  it('CX5 stand for what they cover in later contexts; the originals stay readable', async () => {
    const { summaryId = '', plan } = await branch.compact({
      strategy: 'summary',
      summary: 'we talked',
      keepLast: 3,
      summaryId: 's-1',
    });
    expect(plan.covered).toEqual(['u-1', 'a-1', 'u-2', 'a-2', 'u-3', 'a-3']);
    expect(await sent()).toEqual([summaryId, 'u-4', 'a-4', 'u-5']);
    expect(await textsOf(branch)).toHaveLength(9);
    const { entries, compactions, live } = await branch.history();
    expect(entries).toHaveLength(9);
    expect([compactions.length, live[0]?.covered.length]).toEqual([1, 6]);
  });

  it('CX5 leave the contexts of earlier calls as they were', async () => {
    const call = await branch.request({ profile });
    await call.complete({ blocks: [{ type: 'text', text: 'answer 5' }] });
    await branch.compact({ strategy: 'summary', summary: 's', keepLast: 1 });
    expect(await branch.context(call.modelCallId)).toMatchObject({ same: true });
  });

  it('RL7 give a summary the lowest trust of what it covers, and never the word of the system', async () => {
    await branch.append({ id: 's-0', role: 'system', content: 'be kind' });
    const { plan } = await branch.compact({ strategy: 'summary', summary: 'hm', keepFrom: null });
    expect(plan.covered).not.toContain('s-0');
    const [live] = (await branch.surface()).compactions;
    expect(live).toMatchObject({ trust: 'model', replacement: { role: 'user', trust: 'model' } });
  });

  it('CX5 are undone by another event, once', async () => {
    const before = await sent();
    const { compaction } = await branch.compact({ strategy: 'summary', summary: 's', keepLast: 1 });
    expect(await sent()).not.toEqual(before);
    await branch.undoCompaction(compaction, 'it left too much out');
    expect(await sent()).toEqual(before);
    const { events } = await branch.events();
    expect(events.slice(-2).map(({ type }) => type)).toEqual([
      'ContextCompacted',
      'CompactionReverted',
    ]);
  });

  it('CX5 may be nested: the later one stands for the earlier summary too', async () => {
    await branch.compact({
      strategy: 'summary',
      summary: 'one',
      summaryId: 's-1',
      keepFrom: 'u-3',
    });
    const next = {
      strategy: 'summary',
      summary: 'two',
      summaryId: 's-2',
      keepFrom: 'u-5',
    } as const;
    // From the first message on: the range holds what the earlier summary stood for.
    const { covers } = await branch.planCompaction(next);
    expect(covers).toMatchObject([{ branch: branch.branch, from: 1 }]);
    const second = await branch.compact(next);
    expect(second.plan.covered).toEqual(['s-1', 'u-3', 'a-3', 'u-4', 'a-4']);
    expect(await sent()).toEqual(['s-2', 'u-5']);
    const { live } = await branch.history();
    expect(live.map(({ covered }) => covered.length)).toEqual([8]);
    await branch.undoCompaction(second.compaction);
    expect(await sent()).toEqual(['s-1', 'u-3', 'a-3', 'u-4', 'a-4', 'u-5']);
  });

  it('CX5 are fallen back from when a covered message is redacted', async () => {
    await branch.compact({
      strategy: 'summary',
      summary: 'u-2 said x',
      summaryId: 's-1',
      keepLast: 1,
    });
    await branch.redact('u-2');
    const { live } = await branch.history();
    expect(live[0]?.changed).toEqual(['u-2']);
    const { sent: ids, repairs } = await branch.preview({ profile });
    expect(repairs.map(({ code }) => code)).toContain('SUMMARY_COVERS_REDACTED');
    expect(ids).not.toContain('s-1');
    expect(ids).not.toContain('u-2');
    expect(ids).toContain('u-1');
    const keep = await branch.preview({ profile, policy: { onStaleSummary: 'keep' } });
    expect(keep.sent).toContain('s-1');
    const reject = () => branch.preview({ profile, policy: { onStaleSummary: 'reject' } });
    expect((await faultOf(reject))._tag).toBe('CompactionStale');
  });

  it('keep a message that came in while the summary was made', async () => {
    const options = { strategy: 'summary', summary: 's', keepLast: 1 } as const;
    const plan = await branch.planCompaction(options);
    await branch.append({ id: 'u-6', role: 'user', content: 'one more thing' });
    await branch.compact({ ...options, plan });
    expect((await sent()).slice(-2)).toEqual(['u-5', 'u-6']);
  });

  it('write nothing when they are only planned', async () => {
    const before = await watched.image();
    const plan = await branch.planCompaction({ strategy: 'summary', summary: 's', keepLast: 1 });
    expect(plan.tokensAfter).toBeLessThan(plan.tokensBefore);
    expect(await watched.image()).toEqual(before);
  });

  it('shorten results without a model, and keep the whole ones in history', async () => {
    await branch.append([
      { id: 'a-6', role: 'assistant', toolCalls: [{ id: 'c', name: 'f' }] },
      { id: 't-6', role: 'tool', toolCallId: 'c', content: 'x'.repeat(5_000) },
      { id: 'a-7', role: 'assistant', content: 'seen' },
      { id: 'u-7', role: 'user', content: 'and?' },
    ]);
    const { plan } = await branch.compact({ strategy: 'elide-tool-results', keepLast: 1 });
    expect(plan.covered).toEqual(['t-6']);
    const { text } = await branch.preview({ profile });
    expect(text).not.toContain('xxxxx');
    expect((await textsOf(branch)).join()).toContain('x'.repeat(5_000));
  });

  it('list a summary that was made and not used, until it is', async () => {
    const call = await branch.request({ profile, purpose: 'compaction' });
    await call.complete({ blocks: [{ type: 'text', text: 'a summary' }] });
    expect((await branch.session()).unusedSummaries).toEqual([call.modelCallId]);
    await branch.compact({
      strategy: 'summary',
      summary: 'a summary',
      keepLast: 1,
      madeBy: call.modelCallId,
    });
    expect((await branch.session()).unusedSummaries).toEqual([]);
  });

  it('CM1 are given again by their command id, with the first plan', async () => {
    const options = { strategy: 'summary', summary: 's', keepLast: 3, commandId: 'k' } as const;
    const first = await branch.compact(options);
    await branch.append({ role: 'user', content: 'later' });
    const before = await watched.image();
    expect(await branch.compact(options)).toEqual(first);
    expect(await watched.image()).toEqual(before);
    const other = () => branch.compact({ ...options, summary: 'other' });
    expect(await refused(watched, other)).toMatchObject({ _tag: 'CommandConflict' });
  });

  it('OR2 are seen by forks from behind them only', async () => {
    await branch.compact({ strategy: 'summary', summary: 's', summaryId: 's-1', keepLast: 1 });
    const before = await branch.fork({ after: 'u-5' });
    const behind = await branch.fork({ revision: (await branch.session()).head });
    expect(await sent(before)).toHaveLength(9);
    expect(await sent(behind)).toEqual(['s-1', 'u-5']);
  });
});
