import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, openStemma, type Branch } from '../../src/index.js';
import { refused, textsOf, watchBranch, type Watched } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch } = watched);
});

const rolesAndTexts = async (
  at: Branch = branch,
): Promise<readonly (readonly [string, unknown])[]> =>
  (await at.preview({ profile })).body.messages.map(
    ({ role, content }) => [role, content] as const,
  );

describe('instructions', () => {
  it('RL2 are versions of a slot, and the latest counts', async () => {
    expect(await branch.instructions('one')).toEqual({ version: 1 });
    expect(await branch.instructions('two')).toEqual({ version: 2 });
    await branch.append({ role: 'user', content: 'hi' });
    expect(await rolesAndTexts()).toEqual([
      ['system', 'two'],
      ['user', 'hi'],
    ]);
    const entries = (await branch.history()).entries.filter(({ kind }) => kind === 'instructions');
    expect(entries.map((entry) => 'effective' in entry && entry.effective)).toEqual([false, true]);
  });

  it('RL2 write nothing for the text that is in force', async () => {
    await branch.instructions('one');
    const before = await watched.image();
    expect(await branch.instructions('one')).toEqual({ version: 1 });
    expect(await watched.image()).toEqual(before);
    expect(await branch.instructions('one', { role: 'developer' })).toEqual({ version: 2 });
    expect(await branch.instructions('two')).toEqual({ version: 3 });
    expect(await branch.instructions('one')).toEqual({ version: 4 });
  });

  it('RL2 of two agents do not overwrite each other', async () => {
    await branch.instructions('of a', { name: 'agent-a', owner: 'team-a' });
    await branch.instructions('of b', { name: 'agent-b' });
    expect(await branch.instructions('of a, later', { name: 'agent-a' })).toEqual({ version: 2 });
    await branch.append({ role: 'user', content: 'hi' });
    const texts = (await rolesAndTexts()).map(([, text]) => text);
    expect(texts.join(' | ')).toContain('of a, later');
    expect(texts.join(' | ')).toContain('of b');
  });

  it('RL2 are recorded with the version that a call used', async () => {
    await branch.instructions('one');
    await branch.append({ role: 'user', content: 'hi' });
    const call = await branch.request({ profile });
    await call.complete({ blocks: [] });
    await branch.instructions('two');
    const [recorded] = (await branch.calls()).calls;
    expect(recorded?.instructions).toEqual([{ name: 'main', version: 1 }]);
    expect(await branch.context(call.modelCallId)).toMatchObject({ same: true });
  });

  it('OR2 are inherited by a fork, and its own ones stay its own', async () => {
    await branch.instructions('one');
    const fork = await branch.fork({ revision: 1 });
    expect(await fork.instructions('one')).toEqual({ version: 1 });
    expect(await fork.instructions('two')).toEqual({ version: 2 });
    await branch.append({ role: 'user', content: 'hi' });
    expect((await rolesAndTexts())[0]).toEqual(['system', 'one']);
  });
});

describe('messages that change', () => {
  beforeEach(async () => {
    await branch.append([
      { id: 'u-1', role: 'user', content: 'one' },
      { id: 'a-1', role: 'assistant', content: 'draft', status: 'draft' },
      { id: 'u-2', role: 'user', content: 'two' },
    ]);
  });

  const idsSent = async (at: Branch = branch): Promise<readonly string[]> =>
    (await at.preview({ profile })).sent;

  it('RL5 a draft is out of contexts until it is confirmed', async () => {
    expect(await idsSent()).toEqual(['u-1', 'u-2']);
    expect((await branch.session()).drafts.map(({ id }) => id)).toEqual(['a-1']);
    await branch.status('a-1', 'confirmed', { reason: 'checked' });
    expect(await idsSent()).toEqual(['u-1', 'a-1', 'u-2']);
    expect((await branch.session()).drafts).toEqual([]);
  });

  it.each(['blocked', 'superseded', 'interrupted'] as const)(
    'RL5 a message that is %s is out of contexts and still in history',
    async (status) => {
      await branch.status('u-1', status);
      expect(await idsSent()).toEqual(['u-2']);
      const [item] = (await branch.surface()).items;
      expect(item).toMatchObject({ status, out: { reason: status }, message: { id: 'u-1' } });
      await branch.status('u-1', 'confirmed');
      expect(await idsSent()).toEqual(['u-1', 'u-2']);
    },
  );

  it('refuses to make a draft of what is none, or to confirm calls that were blocked', async () => {
    expect(await refused(watched, () => branch.status('u-1', 'draft'))).toMatchObject({
      _tag: 'InvalidArgument',
    });
    await branch.append({ id: 'a-2', role: 'assistant', toolCalls: [{ name: 'f' }] });
    await branch.status('a-2', 'blocked');
    expect(await refused(watched, () => branch.status('a-2', 'confirmed'))).toMatchObject({
      _tag: 'InvalidArgument',
      reason: 'has_tool_calls',
    });
  });

  it('OR2 withdrawn messages are out of later contexts, not out of history', async () => {
    await branch.withdraw(['u-1', 'a-1'], { reason: 'pop' });
    expect(await idsSent()).toEqual(['u-2']);
    expect(await textsOf(branch)).toEqual(['one', 'draft', 'two']);
    const withdrawn = (await branch.surface()).items.map(({ out }) => out?.reason);
    expect(withdrawn).toEqual(['withdrawn', 'withdrawn', undefined]);
    expect(await refused(watched, () => branch.withdraw(['u-2', 'nobody']))).toEqual({
      _tag: 'NotFound',
      kind: 'message',
      ref: 'nobody',
    });
    expect(await idsSent()).toEqual(['u-2']);
  });

  it('withdrawing stays on its branch, a fork from before does not know it', async () => {
    const fork = await branch.fork({ after: 'u-2' });
    await branch.withdraw(['u-1']);
    expect(await idsSent(fork)).toEqual(['u-1', 'u-2']);
  });

  it('a redaction reaches every branch, whatever its fork point, and old revisions too', async () => {
    const early = await branch.fork({ after: 'u-1' });
    const late = await branch.fork({ after: 'u-2' });
    const of = await early.fork({ revision: 0 });
    await late.redact('u-1', { reason: 'asked for' });
    for (const at of [branch, early, late, of]) {
      expect(await idsSent(at)).not.toContain('u-1');
      const [item] = (await at.surface()).items;
      expect(item).toMatchObject({ out: { reason: 'redacted' }, message: { blocks: [] } });
    }
    expect((await branch.surface({ revision: 1 })).items[0]?.out?.reason).toBe('redacted');
    expect((await branch.preview({ profile })).text).not.toContain('one');
    expect((await watched.stemma.search('one')).hits).toEqual([]);
    expect((await watched.stemma.verify()).ok).toBe(true);
    // The event itself is as it was: only an erasure takes its bytes away.
    expect(JSON.stringify((await branch.events()).events[1])).toContain('one');
  });

  it('a redaction of a message of a sibling is not found', async () => {
    const fork = await branch.fork({ revision: 0 });
    expect(await refused(watched, () => fork.redact('u-1'))).toMatchObject({ _tag: 'NotFound' });
  });
});

describe('conversations that are closed', () => {
  it('take nothing on any branch, and open again', async () => {
    await branch.append({ id: 'u-1', role: 'user', content: 'one' });
    const fork = await branch.fork({ after: 'u-1' }, { name: 'other' });
    await branch.close('done');
    const closed = (at: Branch) => ({
      _tag: 'ConversationIsClosed',
      conversation: branch.conversation,
      branch: at.branch,
    });
    for (const at of [branch, fork]) {
      expect((await at.session()).next).toBe('closed');
      for (const write of [
        () => at.append({ role: 'user', content: 'x' }),
        () => at.request({ profile }),
        () => at.instructions('x'),
        () => at.withdraw(['u-1']),
        () => at.claim(),
      ]) {
        expect(await refused(watched, write)).toEqual(closed(at));
      }
    }
    expect(await refused(watched, () => branch.fork({ after: 'u-1' }))).toMatchObject({
      _tag: 'ConversationIsClosed',
    });
    expect(await textsOf(branch)).toEqual(['one']);
    const again = await branch.append({ id: 'u-1', role: 'user', content: 'one' });
    expect(again[0]?.status).toBe('replayed');
    const before = await watched.image();
    await fork.close('again');
    expect(await watched.image()).toEqual(before);
    await fork.reopen();
    for (const at of [branch, fork]) await at.append({ role: 'user', content: 'on' });
    expect((await watched.stemma.conversations({ closed: true })).length).toBe(0);
  });

  it('complete a close that broke off', async () => {
    await branch.fork({ revision: 0 }, { name: 'other' });
    let appends = 0;
    const stemma = await openStemma({
      store: {
        ...watched.stores,
        events: {
          ...watched.stores.events,
          append: (stream, expected, events) => {
            appends += 1;
            return appends === 2
              ? () => Promise.resolve({ _tag: 'Left', left: { _tag: 'StorageFull' } } as const)
              : watched.stores.events.append(stream, expected, events);
          },
        },
      },
    });
    const other = await stemma.open('conversation/other');
    await expect(other.close()).rejects.toMatchObject({ code: 'StorageFull' });
    await other.close();
    for (const name of ['conversation', 'conversation/other']) {
      expect((await (await stemma.open(name)).session()).next).toBe('closed');
    }
  });
});

describe('names of branches', () => {
  it('are labels that find them, and the last one counts', async () => {
    const { stemma } = watched;
    const fork = await branch.fork({ revision: 0 }, { name: 'try' });
    await fork.label('better');
    expect((await stemma.open('conversation/better')).branch).toBe(fork.branch);
    expect((await stemma.open(`conversation/${fork.branch}`)).branch).toBe(fork.branch);
    await expect(stemma.open('conversation/try')).rejects.toMatchObject({ code: 'NotFound' });
    const before = await watched.image();
    await fork.label('better');
    expect(await watched.image()).toEqual(before);
  });

  it('are made unique when a fork asks for one that is taken', async () => {
    const names = [];
    for (let count = 0; count < 3; count += 1) {
      names.push((await branch.fork({ revision: 0 }, { name: 'try' })).name);
    }
    expect(names).toEqual(['try', 'try-2', 'try-3']);
    expect((await branch.fork({ revision: 0 })).name).toBe('explore');
  });

  it('say which branch is the delivered one', async () => {
    const fork = await branch.fork({ revision: 0 });
    await fork.promote('it is better');
    expect((await watched.stemma.directory('conversation')).promoted).toBe(fork.branch);
    const before = await watched.image();
    await fork.promote('again');
    expect(await watched.image()).toEqual(before);
    await branch.promote();
    expect((await watched.stemma.directory('conversation')).promoted).toBe(branch.branch);
  });
});
