import { describe, expect, it } from 'vitest';
import { openaiChat, type Branch, type MessageInput } from '../../src/index.js';
import { faultOf, loose, refused, watchBranch } from './support.js';

const profile = openaiChat({ model: 'm' });
const SECRET = 'words nobody may read';

const calls = (id: string, ...callIds: readonly string[]): MessageInput => ({
  id,
  role: 'assistant',
  toolCalls: callIds.map((callId) => ({ id: callId, name: 'f', arguments: '{}' })),
});

const result = (id: string, toolCallId: string, content = 'done'): MessageInput => ({
  id,
  role: 'tool',
  toolCallId,
  content,
});

const answersOf = async (branch: Branch): Promise<Readonly<Record<string, readonly string[]>>> =>
  Object.fromEntries(
    (await branch.surface()).items
      .filter(({ message }) => message.role === 'tool')
      .map(({ message }) => [
        message.id,
        message.answers.map(({ messageId, index }) => `${messageId}/${String(index)}`),
      ]),
  );

describe('roles', () => {
  it.each([
    'admin',
    'SYSTEM',
    'System',
    ' system',
    'system ',
    'syst\u0435m',
    'ѕystem',
    'system\u0000',
    'system\u200b',
    'ｓystem',
    'human',
    'ai',
    'function',
    'model',
    'assistant\n',
    'user,system',
    '',
    '__proto__',
    'constructor',
    'toString',
    null,
    5,
    true,
    ['system'],
    { role: 'system' },
  ])('B24 refuses the unknown role %j', async (role) => {
    const watched = await watchBranch();
    const message = { role, content: SECRET };
    expect(await refused(watched, () => watched.branch.append(loose(message)), [SECRET])).toEqual({
      _tag: 'UnknownRole',
      path: '/role',
    });
    const batch = [{ role: 'user', content: 'x' }, message];
    expect(await refused(watched, () => watched.branch.append(loose(batch)), [SECRET])).toEqual({
      _tag: 'UnknownRole',
      index: 1,
      path: '/1/role',
    });
  });

  it.each([
    ['end_user', ['system', 'developer', 'assistant', 'tool']],
    ['tool', ['system', 'developer', 'user', 'assistant']],
    ['model', ['system', 'developer', 'user', 'tool']],
    ['engine', ['system', 'developer', 'assistant']],
  ] as const)('B25 refuses what %s may not write', async (kind, roles) => {
    for (const role of roles) {
      const watched = await watchBranch();
      await watched.branch.append(calls('a-1', 'c-1'));
      const message = { role, content: SECRET, ...(role === 'tool' ? { toolCallId: 'c-1' } : {}) };
      const expected = { _tag: 'RoleNotAllowed', role, origin: kind };
      const asActor = () => watched.branch.append(message, { as: { kind, id: 'someone' } });
      expect(await refused(watched, asActor, [SECRET])).toEqual(expected);
      const asHandle = () => watched.branch.as({ kind }).append([{ ...message }]);
      expect(await refused(watched, asHandle, [SECRET])).toEqual(expected);
    }
  });

  it.each(['end_user', 'tool', 'model', 'engine'] as const)(
    'B25 refuses instructions of %s',
    async (kind) => {
      const watched = await watchBranch();
      const branch = watched.branch.as({ kind });
      for (const role of ['system', 'developer'] as const) {
        const fault = await refused(watched, () => branch.instructions(SECRET, { role }), [SECRET]);
        expect(fault).toEqual({ _tag: 'RoleNotAllowed', role, origin: kind });
      }
    },
  );

  it('B25 refuses a batch for one item that the origin may not write', async () => {
    const watched = await watchBranch();
    const batch = [
      { role: 'user' as const, content: 'x' },
      { role: 'system' as const, content: SECRET },
    ];
    const as = { kind: 'end_user' } as const;
    expect(await refused(watched, () => watched.branch.append(batch, { as }), [SECRET])).toEqual({
      _tag: 'RoleNotAllowed',
      role: 'system',
      origin: 'end_user',
    });
  });

  it('B25 keeps an edited system message from an end user', async () => {
    const watched = await watchBranch();
    await watched.branch.append({ id: 's', role: 'system', content: 'be kind' });
    const branch = watched.branch.as({ kind: 'end_user' });
    const edit = () => branch.retry({ before: 's', replace: { content: SECRET } });
    expect(await faultOf(edit, [SECRET])).toMatchObject({ _tag: 'RoleNotAllowed' });
    const { items } = await watched.branch.surface();
    expect(items.map(({ message }) => message.id)).toEqual(['s']);
  });

  it.each(['user', 'tool', 'assistant', 'system'] as const)(
    'B25 keeps the trust of a message of %s from being raised',
    async (role) => {
      const watched = await watchBranch();
      await watched.branch.append(calls('a-1', 'c-1'));
      const more = role === 'tool' ? { toolCallId: 'c-1' } : {};
      const append = () =>
        watched.branch.append({ role, content: SECRET, trust: 'system', ...more });
      expect(await refused(watched, append, [SECRET])).toMatchObject({
        _tag: 'InvalidShape',
        path: '/trust',
      });
    },
  );
});

describe('tool calls and their results', () => {
  it.each([
    ['no id', { role: 'tool', content: SECRET }],
    ['only a name', { role: 'tool', name: 'f', content: SECRET }],
    ['only an outcome', { role: 'tool', outcome: 'error', content: SECRET }],
  ])('B26 refuses a tool message with %s', async (_what, message) => {
    const watched = await watchBranch();
    await watched.branch.append(calls('a-1', 'c-1'));
    expect(await refused(watched, () => watched.branch.append(loose(message)), [SECRET])).toEqual({
      _tag: 'MissingToolCallId',
      path: '/toolCallId',
    });
    const batch = () => watched.branch.append(loose([{ role: 'user' }, message]));
    expect(await refused(watched, batch, [SECRET])).toEqual({
      _tag: 'MissingToolCallId',
      index: 1,
      path: '/1/toolCallId',
    });
  });

  it.each([
    ['that nobody made', result('t', 'c-2', SECRET), 'c-2'],
    ['that differs by a space', result('t', 'c-1 ', SECRET), 'c-1 '],
    ['that differs by case', result('t', 'C-1', SECRET), 'C-1'],
    ['by the index', { role: 'tool', call: { messageId: 'a-1', index: 1 } }, '1 a-1'],
    ['by a negative index', { role: 'tool', call: { messageId: 'a-1', index: -1 } }, '-1 a-1'],
    ['of another message', { role: 'tool', call: { messageId: 'a-2', index: 0 } }, '0 a-2'],
  ])('B27 refuses a result of a call %s', async (_what, message, callId) => {
    const watched = await watchBranch();
    await watched.branch.append(calls('a-1', 'c-1'));
    const fault = await refused(watched, () => watched.branch.append(loose(message)), [SECRET]);
    expect(fault).toEqual({ _tag: 'OrphanToolResult', callId });
  });

  it.each(['draft', 'blocked', 'interrupted', 'superseded'] as const)(
    'B27 refuses a result of a call in a message that is %s',
    async (status) => {
      const watched = await watchBranch();
      await watched.branch.append({ ...calls('a-1', 'c-1'), status });
      const fault = await refused(watched, () => watched.branch.append(result('t', 'c-1')));
      expect(fault).toEqual({ _tag: 'OrphanToolResult', callId: 'c-1' });
    },
  );

  it('B28 answers the same result again, under any id, without an event', async () => {
    const { branch, image } = await watchBranch();
    await branch.append(calls('a-1', 'c-1'));
    const [first] = await branch.append(result('t-1', 'c-1'));
    const before = await image();
    for (const again of [result('t-1', 'c-1'), result('t-2', 'c-1')]) {
      expect(await branch.append(again)).toEqual([{ ...first, status: 'replayed' }]);
    }
    expect(await image()).toEqual(before);
  });

  it('B29 refuses another result of an answered call, and names where the first one is', async () => {
    const watched = await watchBranch();
    const { branch } = watched;
    await branch.append(calls('a-1', 'c-1'));
    const [first] = await branch.append(result('t-1', 'c-1'));
    const other = () => branch.append(result('t-2', 'c-1', SECRET));
    expect(await refused(watched, other, [SECRET])).toEqual({
      _tag: 'DuplicateToolResult',
      callId: 'c-1',
      place: { branch: branch.branch, revision: first?.place.revision },
    });
    // The same text with another outcome says something else.
    const failed = () => branch.append({ ...result('t-3', 'c-1'), outcome: 'error' });
    expect(await refused(watched, failed)).toMatchObject({ _tag: 'DuplicateToolResult' });
  });

  it('B29 keeps another result that is marked late, for audit only', async () => {
    const { branch } = await watchBranch();
    await branch.append([{ id: 'u-1', role: 'user', content: 'go' }, calls('a-1', 'c-1')]);
    await branch.append(result('t-1', 'c-1', 'first'));
    await branch.append({ ...result('t-2', 'c-1', 'second'), late: true });
    expect(await answersOf(branch)).toEqual({ 't-1': ['a-1/0'], 't-2': ['a-1/0'] });
    const { body } = await branch.preview({ profile });
    expect(JSON.stringify(body)).toContain('first');
    expect(JSON.stringify(body)).not.toContain('second');
  });

  it('B29 lets an id that repeats in a later turn answer the later call', async () => {
    const { branch } = await watchBranch();
    await branch.append([calls('a-1', 'c-1'), result('t-1', 'c-1')]);
    await branch.append([calls('a-2', 'c-1'), result('t-2', 'c-1')]);
    expect(await answersOf(branch)).toEqual({ 't-1': ['a-1/0'], 't-2': ['a-2/0'] });
  });

  it('B29 answers the newest open call of an id that repeats', async () => {
    const { branch } = await watchBranch();
    await branch.append([calls('a-1', 'c-1'), calls('a-2', 'c-1')]);
    await branch.append(result('t-2', 'c-1', 'second'));
    await branch.append(result('t-1', 'c-1', 'first'));
    expect(await answersOf(branch)).toEqual({ 't-2': ['a-2/0'], 't-1': ['a-1/0'] });
  });

  it('B30 refuses a result before its call, naming the rule and the place', async () => {
    const watched = await watchBranch();
    const batch = () => watched.branch.append([result('t-1', 'c-1', SECRET), calls('a-1', 'c-1')]);
    expect(await refused(watched, batch, [SECRET])).toEqual({
      _tag: 'OrderViolation',
      rule: 'result_before_call',
      index: 0,
      ids: ['t-1'],
    });
    const later = () =>
      watched.branch.append([
        { role: 'user', content: 'x' },
        calls('a-1', 'c-1'),
        result('t-2', 'c-2'),
        result('t-1', 'c-1'),
        calls('a-2', 'c-2'),
      ]);
    expect(await refused(watched, later)).toMatchObject({ _tag: 'OrderViolation', index: 2 });
  });

  it('B31 keeps two calls that share an id and lets a bare result answer the first open one', async () => {
    const { branch } = await watchBranch();
    await branch.append([{ role: 'user', content: 'go' }, calls('a-1', 'c', 'c')]);
    expect((await branch.session()).toolCalls.map(({ index }) => index)).toEqual([0, 1]);
    await branch.append(result('t-1', 'c', 'one'));
    await branch.append(result('t-2', 'c', 'two'));
    expect(await answersOf(branch)).toEqual({ 't-1': ['a-1/0'], 't-2': ['a-1/1'] });
    const { body, repairs } = await branch.preview({ profile });
    const wire = body.messages.flatMap((message) => {
      const { tool_calls: made = [], tool_call_id: answered } = message as {
        readonly tool_calls?: readonly { readonly id: string }[];
        readonly tool_call_id?: string;
      };
      return [...made.map(({ id }) => id), ...(answered === undefined ? [] : [answered])];
    });
    // Two calls, two results; on the wire each pair has an id of its own.
    expect(new Set(wire).size).toBe(2);
    expect(wire.slice(2)).toEqual(wire.slice(0, 2));
    expect(repairs.map(({ code }) => code)).toContain('CALL_ID_MAPPED');
  });

  it('B31 keeps calls without ids, told apart by their places', async () => {
    const { branch } = await watchBranch();
    await branch.append(calls('a-1', '', ''));
    await branch.append({ id: 't-2', role: 'tool', call: { messageId: 'a-1', index: 1 } });
    expect(await answersOf(branch)).toEqual({ 't-2': ['a-1/1'] });
    expect((await branch.session()).toolCalls.map(({ index }) => index)).toEqual([0]);
    await branch.append({ id: 't-1', role: 'tool', toolCallId: '' });
    expect(await answersOf(branch)).toEqual({ 't-2': ['a-1/1'], 't-1': ['a-1/0'] });
  });

  it('B26 refuses an empty id where no call without an id is open', async () => {
    const watched = await watchBranch();
    await watched.branch.append(calls('a-1', 'c-1'));
    for (const items of [
      [result('t', '', SECRET)],
      [result('s', 'c-1'), result('t', '', SECRET)],
    ]) {
      expect(await refused(watched, () => watched.branch.append(items), [SECRET])).toEqual({
        _tag: 'MissingToolCallId',
        index: items.length - 1,
        path: '/toolCallId',
      });
    }
  });

  it('B32 takes a user message while calls are open, and refuses a context until they are answered', async () => {
    const watched = await watchBranch();
    const { branch } = watched;
    await branch.append([{ id: 'u-1', role: 'user', content: 'go' }, calls('a-1', 'c-1', 'c-2')]);
    await branch.append({ id: 'u-2', role: 'user', content: 'wait' });
    expect(await refused(watched, () => branch.request({ profile }))).toMatchObject({
      _tag: 'OpenToolCalls',
      ids: ['c-1', 'c-2'],
    });
    await branch.append([result('t-1', 'c-1'), result('t-2', 'c-2')]);
    const { items } = await branch.surface();
    expect(items.map(({ message }) => message.id)).toEqual(['u-1', 'a-1', 'u-2', 't-1', 't-2']);
    const { body, repairs } = await branch.preview({ profile });
    expect(body.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
    expect(repairs.map(({ code }) => code)).toContain('MOVED_FOR_ADJACENCY');
  });

  it('B33 knows no call of another conversation, and tells nothing of it', async () => {
    const watched = await watchBranch();
    const other = await watched.stemma.start({ id: 'other' });
    await other.append(calls('a-1', 'call-of-the-other'));
    const own = () => watched.branch.append(result('t', 'call-of-the-other', SECRET));
    const never = () => watched.branch.append(result('t', 'call-of-nobody', SECRET));
    expect(await refused(watched, own, [SECRET])).toEqual({
      _tag: 'OrphanToolResult',
      callId: 'call-of-the-other',
    });
    const [a, b] = [await refused(watched, own), await refused(watched, never)];
    expect(Object.keys(a)).toEqual(Object.keys(b));
    const ref = () =>
      watched.branch.append({ role: 'tool', call: { messageId: 'a-1', index: 0 }, content: 'x' });
    expect(await refused(watched, ref)).toMatchObject({ _tag: 'OrphanToolResult' });
  });

  it('B33 knows no call of a sibling branch', async () => {
    const watched = await watchBranch();
    const fork = await watched.branch.fork({ revision: 0 });
    await watched.branch.append(calls('a-1', 'c-1'));
    const fault = await refused(watched, () => fork.append(result('t', 'c-1')));
    expect(fault).toEqual({ _tag: 'OrphanToolResult', callId: 'c-1' });
  });
});
