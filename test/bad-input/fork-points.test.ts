import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, type Branch } from '../../src/index.js';
import { loose, refused, textsOf, watchBranch, type Watched } from './support.js';

const profile = openaiChat({ model: 'm' });
let watched: Watched & { readonly branch: Branch };
let branch: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch } = watched);
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

  it.each([-1, 0.5, Number.NaN, 2 ** 53, '1', null])(
    'B57 refuses the revision %s',
    async (revision) => {
      expect(await refused(watched, () => branch.fork(loose({ revision })))).toMatchObject({
        _tag: 'InvalidArgument',
        name: 'revision',
      });
    },
  );

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
