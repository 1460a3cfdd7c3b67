import { describe, expect, it } from 'vitest';
import type { MessageInput } from '../../src/index.js';
import { faultOf, loose, refused, tagOf, textsOf, utf8, watch, watchBranch } from './support.js';

const SECRET = 'words nobody may read';

const message: MessageInput = {
  id: 'm-1',
  role: 'assistant',
  content: [
    { type: 'text', text: SECRET },
    { type: 'image', mediaType: 'image/png', data: 'AAAA', width: 1, height: 2 },
  ],
  name: 'helper',
  toolCalls: [{ id: 'c-1', name: 'f', arguments: '{"a":1}' }],
};

/** The same value with the keys of every object in the opposite order. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turned(item)]),
  );
};

describe('message ids', () => {
  it.each<[string, unknown]>([
    ['the very same', message],
    ['keys in another order', turned(message)],
    ['other metadata', { ...message, metadata: { seen: true } }],
    ['another time', { ...message, createdAt: '2026-01-01T00:00:00Z' }],
    ['another origin', { ...message, author: { agent: 'x' } }],
    ['pinned now', { ...message, pinned: true }],
  ])('B34 answers %s as a replay', async (_what, again) => {
    const { branch, image } = await watchBranch();
    const [first] = await branch.append(message);
    const before = await image();
    expect(await branch.append(loose(again))).toEqual([{ ...first, status: 'replayed' }]);
    expect(await branch.append([loose(again)])).toEqual([{ ...first, status: 'replayed' }]);
    expect(await image()).toEqual(before);
  });

  it('B34 answers arguments given as an object with other key order as a replay', async () => {
    const { branch, image } = await watchBranch();
    const call = (args: object): MessageInput => ({
      id: 'a-1',
      role: 'assistant',
      toolCalls: [{ id: 'c', name: 'f', arguments: { ...args } }],
    });
    await branch.append(call({ a: 1, b: { c: 2, d: [3] } }));
    const before = await image();
    const [again] = await branch.append(call({ b: { d: [3], c: 2 }, a: 1 }));
    expect(again?.status).toBe('replayed');
    expect(await image()).toEqual(before);
  });

  it.each<[string, object]>([
    ['one space more', { content: [{ type: 'text', text: `${SECRET} ` }] }],
    ['another case', { content: [{ type: 'text', text: SECRET.toUpperCase() }] }],
    ['another role', { role: 'user', toolCalls: [] }],
    ['another name', { name: 'Helper' }],
    ['a block less', { content: [{ type: 'text', text: SECRET }] }],
    ['no content', { content: [] }],
    ['a call more', { toolCalls: [{ name: 'f' }, { name: 'f' }] }],
    ['other arguments', { toolCalls: [{ id: 'c-1', name: 'f', arguments: '{"a": 1}' }] }],
    ['another call id', { toolCalls: [{ id: 'c-2', name: 'f', arguments: '{"a":1}' }] }],
    ['a decomposed letter', { content: 'e\u0301' }],
  ])('B35 refuses %s under a known id, and gives both digests', async (_what, change) => {
    const watched = await watchBranch();
    const [first] = await watched.branch.append(message);
    const append = () => watched.branch.append({ ...message, ...change });
    const fault = await refused(watched, append, [SECRET, SECRET.toUpperCase()]);
    expect(fault).toMatchObject({
      _tag: 'MessageIdConflict',
      id: 'm-1',
      place: { branch: watched.branch.branch, revision: first?.place.revision },
    });
    const { digest, storedDigest } = fault as unknown as Readonly<Record<string, string>>;
    expect(digest).toMatch(/^c1\.s1:[\w-]{43}$/);
    expect(storedDigest).toMatch(/^c1\.s1:[\w-]{43}$/);
    expect(digest).not.toBe(storedDigest);
  });

  it('B35 refuses a batch for one known id with other content, and stores none of it', async () => {
    const watched = await watchBranch();
    await watched.branch.append(message);
    const batch: readonly MessageInput[] = [
      { id: 'n-1', role: 'user', content: 'x' },
      { ...message, content: 'y' },
    ];
    expect((await refused(watched, () => watched.branch.append(batch), [SECRET]))._tag).toBe(
      'MessageIdConflict',
    );
  });

  it('B35 refuses one id with two contents in one batch', async () => {
    const watched = await watchBranch();
    const batch: readonly MessageInput[] = [
      { id: 'm', role: 'user', content: SECRET },
      { id: 'm', role: 'user', content: `${SECRET}!` },
    ];
    expect((await refused(watched, () => watched.branch.append(batch), [SECRET]))._tag).toBe(
      'MessageIdConflict',
    );
  });

  it('B36 keeps equal ids of two conversations and of siblings apart', async () => {
    const { stemma, branch } = await watchBranch();
    const other = await stemma.start({ id: 'other' });
    const [left, right] = [await branch.fork({ revision: 0 }), await branch.fork({ revision: 0 })];
    const each = [branch, other, left, right];
    for (const [index, at] of each.entries()) {
      const [appended] = await at.append({ id: 'm', role: 'user', content: String(index) });
      expect(appended?.status).toBe('written');
    }
    expect(await Promise.all(each.map(textsOf))).toEqual([['0'], ['1'], ['2'], ['3']]);
  });

  it('B36 counts the lineage of a child: replay, conflict, and what came after its fork', async () => {
    const watched = await watchBranch();
    const { branch } = watched;
    const [first] = await branch.append({ id: 'm-1', role: 'user', content: 'one' });
    const child = await branch.fork({ after: 'm-1' });
    const grandchild = await child.fork({ revision: 0 });
    await branch.append({ id: 'm-2', role: 'user', content: 'two' });
    for (const at of [child, grandchild]) {
      const [again] = await at.append({ id: 'm-1', role: 'user', content: 'one' });
      expect(again).toEqual({ ...first, status: 'replayed' });
      const other = () => at.append({ id: 'm-1', role: 'user', content: 'other' });
      expect(await refused(watched, other)).toMatchObject({
        _tag: 'MessageIdConflict',
        place: { branch: branch.branch },
      });
      const [new_] = await at.append({ id: 'm-2', role: 'user', content: 'another two' });
      expect(new_?.status).toBe('written');
    }
  });
});

describe('expected revisions', () => {
  it.each([
    ['stale', 0],
    ['ahead', 2],
    ['far ahead', Number.MAX_SAFE_INTEGER],
  ])('B38 refuses a %s revision with the current one', async (_what, expectedRevision) => {
    const watched = await watchBranch();
    await watched.branch.append({ role: 'user', content: 'x' });
    const append = () =>
      watched.branch.append({ role: 'user', content: SECRET }, { expectedRevision });
    expect(await refused(watched, append, [SECRET])).toEqual({
      _tag: 'RevisionConflict',
      expected: expectedRevision,
      actual: 1,
    });
  });

  it.each<[unknown, string]>([
    [-1, 'out_of_range'],
    [-1e9, 'out_of_range'],
    [2 ** 53, 'out_of_range'],
    [1e300, 'out_of_range'],
    [Number.NaN, 'out_of_range'],
    [Number.POSITIVE_INFINITY, 'out_of_range'],
    [0.5, 'not_an_integer'],
    ['1', 'wrong_type'],
    ['', 'wrong_type'],
    [null, 'wrong_type'],
    [true, 'wrong_type'],
    [1n, 'wrong_type'],
    [[1], 'wrong_type'],
    [{ revision: 1 }, 'wrong_type'],
  ])('B38 refuses the revision %s', async (expectedRevision, reason) => {
    const watched = await watchBranch();
    const append = () =>
      watched.branch.append(
        { role: 'user', content: SECRET },
        loose({ expectedRevision: expectedRevision }),
      );
    expect(await refused(watched, append, [SECRET])).toEqual({
      _tag: 'InvalidArgument',
      name: 'expectedRevision',
      reason,
    });
  });

  it('B38 takes the exact head, and a replay whatever revision it names', async () => {
    const { branch } = await watchBranch();
    const append = (expectedRevision: number) =>
      branch.append({ id: 'm', role: 'user', content: 'x' }, { expectedRevision });
    expect((await append(0))[0]?.status).toBe('written');
    for (const revision of [0, 1, 99]) {
      expect((await append(revision))[0]?.status).toBe('replayed');
    }
  });
});

describe('batches', () => {
  it('B39 refuses an empty batch', async () => {
    const watched = await watchBranch();
    expect(await refused(watched, () => watched.branch.append([]))).toMatchObject({
      _tag: 'InvalidShape',
      path: '',
    });
  });

  it.each<[string, unknown, string]>([
    ['an unknown role', { role: 'root', content: SECRET }, 'UnknownRole'],
    ['a missing role', { content: SECRET }, 'InvalidShape'],
    ['a number', 37, 'InvalidShape'],
    ['null', null, 'InvalidShape'],
    ['a bad block', { role: 'user', content: [{ type: 'text' }] }, 'InvalidShape'],
    ['no call id', { role: 'tool', content: SECRET }, 'MissingToolCallId'],
  ])('B39 names the place of %s among fifty items', async (_what, bad, tag) => {
    const watched = await watchBranch();
    const items: unknown[] = Array.from({ length: 50 }, (_, index) => ({
      id: `m-${String(index)}`,
      role: 'user',
      content: SECRET,
    }));
    items[37] = bad;
    expect(
      await refused(watched, () => watched.branch.append(loose(items)), [SECRET]),
    ).toMatchObject({ _tag: tag, index: 37 });
  });

  it('B39 refuses more than 2,000 events in one append', async () => {
    const watched = await watchBranch();
    const items = Array.from({ length: 2_001 }, () => ({ role: 'user' as const }));
    const fault = await refused(watched, () => watched.branch.append(items));
    expect(fault).toMatchObject({ _tag: 'AppendTooLarge', events: 2_001 });
  });

  it('B39 refuses more than 1,000,000 bytes after spill, and leaves no blob behind', async () => {
    const watched = await watchBranch();
    const items: MessageInput[] = Array.from({ length: 20 }, () => ({
      role: 'user',
      content: SECRET + 'x'.repeat(60_000),
    }));
    items.push({ role: 'user', content: SECRET + 'x'.repeat(70_000) });
    const fault = await refused(watched, () => watched.branch.append(items), [SECRET]);
    expect(fault).toMatchObject({ _tag: 'AppendTooLarge', events: 21, limit: 1_000_000 });
    expect('bytes' in fault && (fault.bytes ?? 0) > 1_000_000).toBe(true);
  });

  it('B39 takes as much in blobs: only what is left after spill counts', async () => {
    const { branch } = await watchBranch();
    const items: MessageInput[] = Array.from({ length: 20 }, (_, index) => ({
      role: 'user',
      content: String(index) + 'x'.repeat(100_000),
    }));
    expect(await branch.append(items)).toHaveLength(20);
  });

  it('B39 refuses a batch whose known items are not its beginning', async () => {
    const watched = await watchBranch();
    await watched.branch.append({ id: 'm-2', role: 'user', content: 'two' });
    const batch: readonly MessageInput[] = [
      { id: 'm-1', role: 'user', content: 'one' },
      { id: 'm-2', role: 'user', content: 'two' },
    ];
    expect(await refused(watched, () => watched.branch.append(batch))).toEqual({
      _tag: 'BatchPartlyKnown',
      index: 1,
      ids: ['m-2'],
    });
  });

  it('B39 refuses more than 1,000 open calls', async () => {
    const watched = await watchBranch();
    const toolCalls = Array.from({ length: 1_001 }, (_, i) => ({ id: `c${String(i)}`, name: 'f' }));
    const append = () => watched.branch.append({ role: 'assistant', toolCalls });
    expect(await refused(watched, append)).toEqual({
      _tag: 'TooManyOpen',
      open: 1_001,
      limit: 1_000,
    });
  });
});

describe('timestamps', () => {
  it.each([
    '2024-02-30T00:00:00Z',
    '2024-02-30',
    '2023-02-29T00:00:00Z',
    '2024-01-01T00:00:00',
    '2024-01-01 00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:61Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01T00:00Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00+2:00',
    '2024-01-01T00:00:00+24:00',
    '24-01-01T00:00:00Z',
    '+02024-01-01T00:00:00Z',
    '1704067200000',
    'Mon, 01 Jan 2024 00:00:00 GMT',
    'now',
    '',
  ])('B52 refuses %j as a time', async (text) => {
    const watched = await watchBranch();
    const { branch } = watched;
    await branch.append([{ role: 'user' }, { role: 'assistant', toolCalls: [{ name: 'f' }] }]);
    const append = () => branch.append({ role: 'user', content: SECRET, createdAt: text });
    expect(await refused(watched, append, [SECRET])).toEqual({
      _tag: 'InvalidTimestamp',
      path: '/createdAt',
    });
    const [call] = await branch.openCalls();
    const ask = () => call?.askApproval({ expiresAt: text });
    expect(await refused(watched, ask)).toEqual({ _tag: 'InvalidTimestamp', path: '/expiresAt' });
    expect(await faultOf(() => branch.history({ time: text }))).toEqual({
      _tag: 'InvalidTimestamp',
      path: '/time',
    });
    for (const read of [branch.timeline, branch.calls, branch.usage, branch.toolExchanges]) {
      expect(await tagOf(() => read({ time: text }))).toBe('InvalidTimestamp');
    }
  });

  it.each([
    '2999-12-31T23:59:59Z',
    '1969-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
    '2024-02-29T12:00:00.123456789+05:45',
    '2016-12-31T23:59:60Z',
    '2024-01-01t00:00:00z',
  ])('B52 keeps %j as claimed, and orders by place all the same', async (createdAt) => {
    const now = Date.parse('2026-01-01T00:00:00.000Z');
    const { branch } = await watchBranch({ now: () => now });
    await branch.append({ id: 'm-1', role: 'user', content: '1', createdAt });
    await branch.append({ id: 'm-2', role: 'user', content: '2' });
    const { items } = await branch.surface();
    expect(items.map(({ message }) => message.id)).toEqual(['m-1', 'm-2']);
    expect(items[0]?.message.claimedAt).toBe(createdAt);
    expect(items[0]?.at).toBe('2026-01-01T00:00:00.000Z');
    // As a point to read at it is compared as a moment, not as a text.
    const { entries } = await branch.history({ time: createdAt });
    expect(entries.length).toBe(createdAt.startsWith('2999') ? 2 : 0);
  });

  it('B52 reads a time with an offset as the moment that it names', async () => {
    const now = Date.parse('2026-01-01T00:00:00.000Z');
    const { branch } = await watchBranch({ now: () => now });
    await branch.append({ id: 'm-1', role: 'user', content: '1' });
    const at = async (time: string) => (await branch.history({ time })).entries.length;
    expect(await at('2026-01-01T02:00:00+02:00')).toBe(1);
    expect(await at('2026-01-01T01:59:59+02:00')).toBe(0);
    expect(await at('2025-12-31T19:00:00-05:00')).toBe(1);
  });

  it('B52 takes a time of a foreign file only when it is one', async () => {
    const { stemma } = await watch();
    const text =
      '{"type":"user","uuid":"u-1","parentUuid":null,"sessionId":"s","timestamp":"2024-02-30T00:00:00Z","message":{"role":"user","content":"hi"}}\n';
    const { conversations } = await stemma.import(utf8(text));
    const branch = await stemma.open(conversations[0]?.conversation ?? '');
    const [item] = (await branch.surface()).items;
    expect(item?.message.claimedAt).toBeUndefined();
  });
});
