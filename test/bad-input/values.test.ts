import { describe, expect, it } from 'vitest';
import { openaiChat, type Branch, type Stemma } from '../../src/index.js';
import { loose, refused, watchBranch, type Watched } from './support.js';

type Action = (at: { readonly branch: Branch; readonly stemma: Stemma }) => unknown;

const profile = openaiChat({ model: 'm' });

const SECRET = 'words nobody may read';

/** The fault of appending this value; nothing is stored, nothing of its content told. */
const appended = async (value: unknown) => {
  const watched = await watchBranch();
  return refused(watched, () => watched.branch.append(loose(value)), [SECRET]);
};

const nested = (levels: number): unknown => {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const cyclic = (): unknown => {
  const value: Record<string, unknown> = { text: SECRET };
  value['self'] = value;
  return value;
};

class Message {
  role = 'user';
  content = SECRET;
}

const user = (more: object): object => ({ role: 'user', content: SECRET, ...more });

describe('values that a caller hands in', () => {
  it.each([
    ['null', null],
    ['an empty list', []],
    ['a text', 'x'],
    ['an empty text', ''],
    ['a number', 5],
    ['true', true],
    ['a list in a list', [[]]],
    ['null in a list', [null]],
    ['an object without a role', { content: SECRET }],
    ['an unknown field', user({ contents: 1 })],
    ['a number as content', user({ content: 5 })],
    ['null as content', user({ content: null })],
    ['an object as content', user({ content: { text: SECRET } })],
    ['a number as a block', user({ content: [5] })],
    ['a block without a type', user({ content: [{ text: SECRET }] })],
    ['a block of an unknown type', user({ content: [{ type: 'input_text', text: SECRET }] })],
    ['a block with an unknown field', user({ content: [{ type: 'text', text: SECRET, x: 1 }] })],
    ['a block without its text', user({ content: [{ type: 'text' }] })],
    ['a number as id', user({ id: 5 })],
    ['a text as pinned', user({ pinned: 'yes' })],
    ['an unknown status', user({ status: 'done' })],
    ['an unknown trust', user({ trust: 'high' })],
    ['a trust above the role', user({ trust: 'operator' })],
    ['a list as metadata', user({ metadata: [] })],
    ['null as metadata', user({ metadata: null })],
    ['an outcome of a message', user({ outcome: 'ok' })],
    ['tool calls of a user', user({ toolCalls: [{ name: 'f' }] })],
    ['a call without a name', { role: 'assistant', toolCalls: [{ id: 'c' }] }],
    ['calls that are no list', { role: 'assistant', toolCalls: { name: 'f' } }],
    ['a call by a fraction', { role: 'tool', content: 'x', call: { messageId: 'm', index: 0.5 } }],
  ])('B02 refuses %s as a message', async (_what, value) => {
    expect((await appended(value))._tag).toBe('InvalidShape');
  });

  it.each([
    ['content', user({ content: nested(65) }), 65],
    ['metadata', user({ metadata: { deep: nested(64) } }), 65],
    ['the list itself', nested(100_000), 65],
    ['arguments', { role: 'assistant', toolCalls: [{ name: 'f', arguments: nested(70) }] }, 65],
  ])('B05 refuses %s nested too deep', async (_what, value, depth) => {
    expect(await appended(value)).toEqual({ _tag: 'TooDeep', depth, limit: 64 });
  });

  it('B06 refuses an object of too many keys', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 100_001 }, (_, i) => [`k${String(i)}`, 0]),
    );
    const fault = await appended(user({ metadata: many }));
    expect(fault).toEqual({ _tag: 'TooManyKeys', limit: 100_000 });
  });

  it.each([
    ['metadata', user({ metadata: JSON.parse('{"__proto__":{"x":1}}') as object }), '/metadata'],
    ['the message', JSON.parse('{"role":"user","__proto__":{"x":1}}') as object, ''],
    [
      'a deep constructor',
      user({ metadata: JSON.parse('{"a":{"constructor":{"prototype":1}}}') as object }),
      '/metadata/a/constructor',
    ],
    [
      'arguments',
      {
        role: 'assistant',
        toolCalls: [{ name: 'f', arguments: JSON.parse('{"__proto__":1}') as object }],
      },
      '/toolCalls/0/arguments',
    ],
  ])('B09 refuses a forbidden key in %s', async (_what, value, path) => {
    const fault = await appended(value);
    expect(fault._tag).toBe('ForbiddenKey');
    expect('path' in fault && fault.path.startsWith(path)).toBe(true);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each([
    ['metadata', user({ metadata: { 'a\ud800': 1 } }), '/metadata'],
    ['a deep value', user({ metadata: { a: [{ '\udc00': { b: 1 } }] } }), '/metadata/a/0'],
    [
      'arguments',
      { role: 'assistant', toolCalls: [{ name: 'f', arguments: { '\ude00\ud83d': 1 } }] },
      '/toolCalls/0/arguments',
    ],
  ])('B16 refuses half a surrogate pair in a key of %s', async (_what, value, path) => {
    const fault = await appended(value);
    expect(fault._tag).toBe('IllFormedUnicode');
    expect('path' in fault && fault.path.startsWith(path)).toBe(true);
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['2^53', 2 ** 53],
    ['-2^53', -(2 ** 53)],
    ['1e300', 1e300],
  ])('B12 B13 refuses the number %s', async (_what, value) => {
    expect(await appended(user({ metadata: { a: [0, value] } }))).toEqual({
      _tag: 'UnsafeNumber',
      path: '/metadata/a/1',
    });
    const result = { role: 'tool', toolCallId: 'c', content: SECRET, durationMs: value };
    expect(await appended(result)).toEqual({ _tag: 'UnsafeNumber', path: '/durationMs' });
  });

  it.each([1.5, -1, '1'])('B12 refuses %j as a duration', async (durationMs) => {
    const result = { role: 'tool', toolCallId: 'c', content: SECRET, durationMs };
    expect(await appended(result)).toMatchObject({ _tag: 'InvalidShape', path: '/durationMs' });
  });

  it('B13 stores negative zero as zero', async () => {
    const { branch } = await watchBranch();
    await branch.append({ role: 'user', content: 'x', metadata: { a: -0, b: 0.5 } });
    const [item] = (await branch.surface()).items;
    expect(item?.message.metadata).toBe('{"a":0,"b":0.5}');
    await branch.append([
      { role: 'assistant', toolCalls: [{ id: 'c', name: 'f' }] },
      { role: 'tool', toolCallId: 'c', content: 'y', durationMs: -0 },
    ]);
    const result = (await branch.history()).entries.at(-1);
    expect(Object.is((result as { durationMs?: number }).durationMs, 0)).toBe(true);
  });

  it.each<[string, unknown, string, string]>([
    ['undefined', user({ name: undefined }), '/name', 'undefined'],
    ['a function', user({ metadata: { f: () => SECRET } }), '/metadata/f', 'function'],
    ['a symbol', user({ metadata: { s: Symbol(SECRET) } }), '/metadata/s', 'symbol'],
    ['a symbol as key', user({ metadata: { [Symbol('k')]: SECRET } }), '/metadata', 'symbol_key'],
    ['a date', user({ metadata: { d: new Date(0) } }), '/metadata/d', 'date'],
    ['a date as time', user({ createdAt: new Date(0) }), '/createdAt', 'date'],
    ['a BigInt', user({ metadata: { n: 10n } }), '/metadata/n', 'bigint'],
    ['a cycle', user({ metadata: cyclic() }), '/metadata/self', 'cycle'],
    ['a map', user({ metadata: { m: new Map([['a', SECRET]]) } }), '/metadata/m', 'collection'],
    ['a set', user({ metadata: { m: new Set([SECRET]) } }), '/metadata/m', 'collection'],
    ['an instance', new Message(), '', 'class_instance'],
    ['bytes', user({ content: Buffer.from(SECRET) }), '/content', 'class_instance'],
    ['a boxed text', user({ content: new String(SECRET) }), '/content', 'class_instance'],
    ['an error', user({ metadata: { e: new Error(SECRET) } }), '/metadata/e', 'class_instance'],
    ['a promise', Promise.resolve(user({})), '', 'class_instance'],
    ['a hole in a list', user({ content: [, { type: 'text' }] }), '/content', 'sparse_array'], // eslint-disable-line no-sparse-arrays
    [
      'a getter',
      user({
        metadata: Object.defineProperty({}, 'g', { enumerable: true, get: () => SECRET }),
      }),
      '/metadata/g',
      'accessor',
    ],
    [
      'toJSON',
      user({ metadata: { toJSON: () => ({ other: SECRET }) } }),
      '/metadata/toJSON',
      'function',
    ],
    ['undefined in a batch', [user({}), undefined], '/1', 'undefined'],
  ])('B14 refuses %s with its place', async (_what, value, path, kind) => {
    const fault = await appended(value);
    // A message alone is looked at from its root, one of a batch from its place.
    expect(fault).toEqual({ _tag: 'InvalidValue', path, kind });
  });

  it.each<[string, string, Action]>([
    [
      'params',
      'InvalidValue',
      ({ branch }) => branch.preview({ profile, params: { a: undefined } }),
    ],
    ['params', 'InvalidValue', ({ branch }) => branch.request({ profile, params: { a: 1n } })],
    ['params', 'UnsafeNumber', ({ branch }) => branch.request({ profile, params: { a: NaN } })],
    ['tools', 'InvalidShape', ({ branch }) => branch.preview({ profile, tools: loose({ f: 5 }) })],
    [
      'parameters of a tool',
      'InvalidValue',
      ({ branch }) =>
        branch.request({ profile, tools: { f: { parameters: { a: 1n }, run: () => 1 } } }),
    ],
    ['labels', 'InvalidValue', ({ stemma }) => stemma.start({ labels: loose({ a: undefined }) })],
    ['labels', 'InvalidShape', ({ stemma }) => stemma.start({ labels: loose({ a: 5 }) })],
    ['title', 'InvalidArgument', ({ stemma }) => stemma.start({ title: loose(5) })],
    ['instructions', 'InvalidShape', ({ stemma }) => stemma.start({ instructions: loose(5) })],
    ['instructions', 'InvalidShape', ({ branch }) => branch.instructions(loose(null))],
    ['status', 'InvalidShape', ({ branch }) => branch.status('m', loose('done'))],
    ['id of a status', 'InvalidShape', ({ branch }) => branch.status(loose(5), 'draft')],
    ['ids', 'InvalidShape', ({ branch }) => branch.withdraw(loose('m'))],
    ['ids', 'InvalidShape', ({ branch }) => branch.withdraw([])],
    ['ids', 'InvalidShape', ({ branch }) => branch.withdraw(loose([5]))],
    ['reason', 'InvalidArgument', ({ branch }) => branch.close(loose({ why: 1 }))],
    ['reason', 'InvalidArgument', ({ branch }) => branch.redact('m', { reason: loose(5) })],
    ['name', 'InvalidShape', ({ branch }) => branch.label(loose(5))],
    ['place', 'InvalidArgument', ({ branch }) => branch.fork(loose(null))],
    ['place', 'InvalidArgument', ({ branch }) => branch.fork(loose({}))],
    [
      'reason of a fork',
      'InvalidShape',
      ({ branch }) => branch.fork({ revision: 0 }, loose({ reason: 'x' })),
    ],
    ['strategy', 'InvalidArgument', ({ branch }) => branch.compact(loose({ strategy: 'drop' }))],
    ['outcome', 'InvalidArgument', ({ branch }) => branch.endTurn(loose('done'))],
    ['actor', 'InvalidArgument', ({ branch }) => branch.as(loose({ kind: 'root' }))],
    ['actor', 'InvalidArgument', ({ stemma }) => stemma.start({ as: loose('app') })],
    ['options', 'InvalidArgument', ({ branch }) => branch.append({ role: 'user' }, loose(null))],
    [
      'misspelt option',
      'InvalidArgument',
      ({ branch }) => branch.append({ role: 'user' }, loose({ expectedVersion: 0 })),
    ],
    ['misspelt option', 'InvalidArgument', ({ stemma }) => stemma.start(loose({ titel: 'x' }))],
    ['reference', 'InvalidArgument', ({ stemma }) => stemma.open(loose(5))],
    ['text', 'InvalidArgument', ({ stemma }) => stemma.search(loose(undefined))],
    ['bytes', 'InvalidArgument', ({ stemma }) => stemma.import(loose('[]'))],
  ])('B14 refuses wrong %s as %s', async (_what, tag, action) => {
    const watched: Watched & { readonly branch: Branch } = await watchBranch();
    await watched.branch.append({ id: 'm', role: 'user', content: 'x' });
    expect((await refused(watched, () => action(watched)))._tag).toBe(tag);
  });

  it('B14 refuses an answer that cannot be stored, and leaves its call open', async () => {
    const watched = await watchBranch();
    await watched.branch.append({ role: 'user', content: 'x' });
    const call = await watched.branch.request({ profile });
    for (const answer of [
      null,
      {},
      { blocks: 'text' },
      { blocks: [{ type: 'text', text: 5 }] },
      { blocks: [], toolCalls: [{ name: 'f' }] },
      { blocks: [], usage: { input: 1.5 } },
      { blocks: [], finishReason: 5 },
      { blocks: [], id: 'a\u0000' },
      { blocks: [{ type: 'text', text: undefined }] },
    ]) {
      await refused(watched, () => call.complete(loose(answer)));
    }
    expect((await watched.branch.session()).modelCalls).toHaveLength(1);
    expect((await call.complete({ blocks: [{ type: 'text', text: 'y' }] })).text).toBe('y');
  });
});
