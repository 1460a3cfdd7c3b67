import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { StemmaFault } from '../../src/domain/errors.js';
import { parseJson } from '../../src/domain/json-scan.js';
import { refused, utf8, watchBranch, type Watched } from './support.js';

/** The border that takes the text of one JSON document. */
const parsed = (text: string): StemmaFault | 'taken' => {
  const result = parseJson(text);
  return E.isLeft(result) ? result.left : 'taken';
};

/** A store with a conversation, and its exchange lines. */
const withExport = async (): Promise<Watched & { readonly lines: readonly string[] }> => {
  const watched = await watchBranch();
  await watched.branch.append({ id: 'm-1', role: 'user', content: 'kept' });
  const lines: string[] = [];
  for await (const line of watched.stemma.export('conversation')) lines.push(line);
  return { ...watched, lines };
};

/** The fault of a file of exchange lines whose second line is this text. */
const imported = async (text: string, secrets: readonly string[] = []): Promise<StemmaFault> => {
  const watched = await withExport();
  const [header = '', , ...rest] = watched.lines;
  const file = utf8([header, text, ...rest].join('\n'));
  return refused(watched, () => watched.stemma.import(file), secrets);
};

describe('JSON text at the border', () => {
  it.each([
    ['{"role":"user","content":', 25],
    ['{"role":"user" "content":1}', 15],
    ["{'role':'user'}", 1],
    ['{"role":"user",}', 15],
    ['{"a":1}{"b":2}', 7],
    ['[1,2', 4],
    ['{"a":"x\ny"}', 7],
    ['{"a":"\\x41"}', 6],
    ['{"a":01}', 6],
    ['{"a":+1}', 5],
    ['{"a":.5}', 5],
    ['{"a":NaN}', 5],
    ['{"a":Infinity}', 5],
    ['undefined', 0],
    ['\uFEFF{}', 0],
    ['// a comment\n{}', 0],
    ['{"a":tru}', 5],
  ])('B01 refuses %j at offset %d', (text, offset) => {
    expect(parsed(text)).toEqual({ _tag: 'InvalidJson', offset });
  });

  it('B01 refuses a broken line of an import with its offset, and takes nothing of the file', async () => {
    expect(await imported('{"role":"user","content":"secret words"', ['secret words'])).toEqual({
      _tag: 'InvalidJson',
      offset: 39,
    });
  });

  it.each(['null', '[]', '"x"', '5', 'true', '{}'])(
    'B02 refuses the line %s of an import as no event',
    async (text) => {
      expect((await imported(text))._tag).toBe('InvalidShape');
    },
  );

  it.each(['', ' ', '\n\n', '\t \r\n', 'null', '[]', '"x"', '{}', '0'])(
    'B02 refuses %j as a file',
    async (text) => {
      const watched = await watchBranch();
      const fault = await refused(watched, () => watched.stemma.import(utf8(text)));
      expect(fault).toMatchObject({ _tag: 'InvalidShape', path: '' });
    },
  );

  it.each([
    ['lists', '['.repeat(65) + ']'.repeat(65), 65],
    ['objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), 65],
    ['both', '[{"a":'.repeat(33) + '1' + '}]'.repeat(33), 65],
    ['100,000 levels', '['.repeat(100_000), 65],
    ['100,000 objects', '{"a":'.repeat(100_000), 65],
  ])('B05 refuses %s that are nested too deep', (_what, text, depth) => {
    const before = performance.now();
    expect(parsed(text)).toEqual({ _tag: 'TooDeep', depth, limit: 64 });
    expect(performance.now() - before).toBeLessThan(50);
  });

  it('B05 refuses a deep line of an import', async () => {
    const fault = await imported('{"type":"x","data":' + '['.repeat(100_000));
    expect(fault).toEqual({ _tag: 'TooDeep', depth: 65, limit: 64 });
  });

  it('B05 takes 64 levels', () => {
    expect(parsed('['.repeat(64) + ']'.repeat(64))).toBe('taken');
  });

  it('B06 refuses two million keys before they are parsed', () => {
    const keys = Array.from({ length: 2_000_000 }, (_, index) => `"k${String(index)}":0`);
    const text = `{${keys.join(',')}}`;
    const heap = process.memoryUsage().heapUsed;
    const before = performance.now();
    expect(parsed(text)).toEqual({ _tag: 'TooManyKeys', limit: 100_000 });
    // A parse of this takes seconds and hundreds of megabytes.
    expect(performance.now() - before).toBeLessThan(1_500);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(100_000_000);
  });

  it('B06 counts the keys of all objects of a line together', async () => {
    const many = '{"a":0},'.repeat(100_001);
    expect(await imported(`{"list":[${many}0]}`)).toEqual({
      _tag: 'TooManyKeys',
      limit: 100_000,
    });
  });

  it.each([
    ['{"role":"user","role":"system"}', '/role'],
    ['{"a":{"b":1,"b":2}}', '/a/b'],
    ['[{"x":1},{"x":1,"x":1}]', '/1/x'],
    ['{"role":"user","\\u0072ole":"system"}', '/role'],
    ['{"":1,"":2}', '/'],
  ])('B07 refuses %s', (text, path) => {
    expect(parsed(text)).toEqual({ _tag: 'DuplicateKey', path });
  });

  it('B07 refuses an import line that says its type twice', async () => {
    const fault = await imported('{"type":"A","type":"secret type"}', ['secret type']);
    expect(fault).toEqual({ _tag: 'DuplicateKey', path: '/type' });
  });

  it.each([
    ['{"__proto__":{"admin":true}}', '/__proto__'],
    ['{"a":[{"__proto__":1}]}', '/a/0/__proto__'],
    ['{"\\u005f_proto__":1}', '/__proto__'],
    ['{"constructor":{"prototype":{"admin":true}}}', '/constructor/prototype'],
  ])('B09 refuses %s and pollutes nothing', async (text, path) => {
    expect(parsed(text)).toEqual({ _tag: 'ForbiddenKey', path });
    expect(await imported(text)).toEqual({ _tag: 'ForbiddenKey', path });
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it.each([
    ['{"revision":9007199254740993}', '/revision'],
    ['{"revision":-9007199254740993}', '/revision'],
    ['{"revision":9007199254740992}', '/revision'],
    ['[1e400]', '/0'],
    ['[-1e400]', '/0'],
    ['{"a":{"b":123456789012345678901234567890}}', '/a/b'],
    ['[1e20]', '/0'],
  ])('B12 B13 refuses the number in %s', async (text, path) => {
    expect(parsed(text)).toEqual({ _tag: 'UnsafeNumber', path });
    expect(await imported(text)).toEqual({ _tag: 'UnsafeNumber', path });
  });

  it('B13 reads negative zero as zero', () => {
    const result = parseJson('{"a":-0,"b":[-0.0,-0e5]}');
    expect(E.isRight(result) && JSON.stringify(result.right)).toBe('{"a":0,"b":[0,0]}');
    const { a } = (E.isRight(result) ? result.right : {}) as { readonly a: number };
    expect(Object.is(a, 0)).toBe(true);
  });

  it.each(['{"a\\ud800":1}', '[{"\\udfff":1}]', '{"\\ude00\\ud83d":1}'])(
    'B16 refuses half a surrogate pair in the key of %s',
    async (text) => {
      expect(parsed(text)).toMatchObject({ _tag: 'IllFormedUnicode' });
      expect(await imported(text)).toMatchObject({ _tag: 'IllFormedUnicode' });
    },
  );
});
