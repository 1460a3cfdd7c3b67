import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { plainJson } from '../../src/domain/json-value.js';

const faultOf = (value: unknown, path?: string): unknown => {
  const result = plainJson(value, path);
  return E.isLeft(result) ? result.left : undefined;
};

const copyOf = (value: unknown): unknown => {
  const result = plainJson(value);
  if (E.isLeft(result)) throw new Error(`refused: ${result.left._tag}`);
  return result.right;
};

const cycle = (): unknown => {
  const value: Record<string, unknown> = { a: 1 };
  value['self'] = [value];
  return value;
};

class Money {
  readonly cents = 1;
}

class Bag extends Array<number> {}

const withAccessor = (): unknown => ({
  get now(): number {
    throw new Error('ran code of the value');
  },
});

const withHidden = (): unknown => Object.defineProperty({}, 'x', { value: 1, enumerable: false });

// eslint-disable-next-line no-sparse-arrays -- the subject of the test
const sparse = (): unknown => [1, , 3];

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

describe('B14 values that JSON cannot carry', () => {
  it.each([
    ['undefined', undefined],
    ['function', () => 1],
    ['symbol', Symbol('x')],
    ['bigint', 1n],
    ['date', new Date(0)],
    ['collection', new Map([['a', 1]])],
    ['collection', new Set([1])],
    ['class_instance', new Money()],
    ['class_instance', /x/],
    ['class_instance', new Uint8Array(2)],
    ['class_instance', new Error('x')],
    ['class_instance', Object(1)],
    ['class_instance', Promise.resolve(1)],
    ['class_instance', Object.create({ inherited: 1 })],
    ['class_instance', Bag.from([1])],
    ['class_instance', runInNewContext('class A {}; new A()')],
    ['date', runInNewContext('new Date(0)')],
    ['sparse_array', sparse()],
    ['sparse_array', new Array(3)],
    ['array_property', Object.assign([1], { extra: 2 })],
    ['symbol_key', { [Symbol('x')]: 1 }],
    ['symbol_key', Object.assign([1], { [Symbol('x')]: 1 })],
  ])('B14 refuses %s with its place', (kind, value) => {
    expect(faultOf(value)).toEqual({ _tag: 'InvalidValue', path: '', kind });
    expect(faultOf({ a: [0, value] })).toEqual({ _tag: 'InvalidValue', path: '/a/1', kind });
  });

  it('B14 refuses a cycle where it closes', () => {
    expect(faultOf(cycle())).toEqual({ _tag: 'InvalidValue', path: '/self/0', kind: 'cycle' });
  });

  it('B14 refuses accessors without running them', () => {
    expect(faultOf(withAccessor())).toEqual({
      _tag: 'InvalidValue',
      path: '/now',
      kind: 'accessor',
    });
    const list = Object.defineProperty([0], 0, { get: () => 1, enumerable: true });
    expect(faultOf(list)).toMatchObject({ path: '/0', kind: 'accessor' });
  });

  it('B14 refuses what JSON.stringify would drop or call', () => {
    expect(faultOf({ a: undefined })).toMatchObject({ path: '/a', kind: 'undefined' });
    expect(faultOf(withHidden())).toMatchObject({ path: '/x', kind: 'hidden_property' });
    expect(faultOf({ toJSON: () => 'x' })).toMatchObject({ path: '/toJSON', kind: 'function' });
  });

  it('B14 refuses a hole that an extra property makes up for', () => {
    const odd = Object.assign(sparse() as object, { extra: 1 });
    expect(faultOf(odd)).toMatchObject({ path: '/1', kind: 'sparse_array' });
  });

  it('B14 never throws, not even for a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(faultOf({ a: proxy })).toMatchObject({ _tag: 'InvalidValue' });
  });

  it('B14 writes places below the pointer that it was given', () => {
    expect(faultOf({ 'a/b': undefined }, '/metadata')).toMatchObject({ path: '/metadata/a~1b' });
  });
});

describe('B13 numbers', () => {
  it.each([NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 1e300])('B13 refuses %d', (value) => {
    expect(faultOf({ a: value })).toEqual({ _tag: 'UnsafeNumber', path: '/a' });
  });

  it('B13 copies negative zero as 0', () => {
    expect(Object.is((copyOf([-0]) as readonly number[])[0], 0)).toBe(true);
  });

  it('B13 keeps fractions and the largest safe integers', () => {
    expect(copyOf([0.1, 2 ** 53 - 1, -(2 ** 53 - 1)])).toEqual([0.1, 2 ** 53 - 1, -(2 ** 53 - 1)]);
  });
});

describe('B05 B06 limits', () => {
  it('B05 accepts depth 64 and refuses 65', () => {
    expect(copyOf(nested(64))).toEqual(nested(64));
    expect(faultOf(nested(65))).toEqual({ _tag: 'TooDeep', depth: 65, limit: 64 });
  });

  it('B05 refuses depth 100,000 without recursion', () => {
    expect(faultOf(nested(100_000))).toMatchObject({ _tag: 'TooDeep' });
  });

  it('B06 refuses more keys than the limit', () => {
    const keys = (count: number): unknown =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    expect(faultOf(keys(100_000))).toBeUndefined();
    expect(faultOf(keys(100_001))).toEqual({ _tag: 'TooManyKeys', limit: 100_000 });
    expect(faultOf([keys(60_000), keys(60_000)])).toMatchObject({ _tag: 'TooManyKeys' });
  });

  it('B06 refuses a value that shares its parts into billions of items', () => {
    let value: unknown = 'lol';
    for (let level = 0; level < 40; level += 1) value = [value, value];
    expect(faultOf(value)).toEqual({ _tag: 'TooManyKeys', limit: 1_000_000 });
  });
});

describe('B09 B16 keys', () => {
  it('B09 refuses an own __proto__ and constructor.prototype', () => {
    expect(faultOf(JSON.parse('{"a":{"__proto__":{"x":1}}}'))).toEqual({
      _tag: 'ForbiddenKey',
      path: '/a/__proto__',
    });
    expect(faultOf({ constructor: { prototype: { x: 1 } } })).toEqual({
      _tag: 'ForbiddenKey',
      path: '/constructor/prototype',
    });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('B09 copies names that Object.prototype has as own properties', () => {
    const value = { toString: 'a', constructor: 'b', hasOwnProperty: 1, valueOf: null };
    const copy = copyOf(value) as object;
    expect(Object.entries(copy)).toEqual(Object.entries(value));
  });

  it('B16 refuses half a surrogate pair in a key, B15 keeps it in a string', () => {
    expect(faultOf({ 'a\ud800': 1 })).toEqual({ _tag: 'IllFormedUnicode', path: '/a\ufffd' });
    expect(copyOf({ a: 'a\ud800b' })).toEqual({ a: 'a\ud800b' });
  });
});

describe('MS2 copies', () => {
  it('MS2 copies any JSON value, sharing nothing with it', () => {
    const isSafe = (_key: string, part: unknown): unknown =>
      typeof part === 'number' && Number.isInteger(part) && !Number.isSafeInteger(part) ? 0 : part;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (drawn) => {
        const text = JSON.stringify(drawn, isSafe).replaceAll('__proto__', 'proto');
        const value: unknown = JSON.parse(text);
        const copy = copyOf(value);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
      }),
    );
  });

  it('MS2 accepts null prototypes, other realms and shared parts', () => {
    const shared = { b: 1 };
    const bare = Object.assign(Object.create(null) as object, { a: shared, c: shared });
    expect(copyOf(bare)).toEqual({ a: { b: 1 }, c: { b: 1 } });
    expect(copyOf(runInNewContext('({ a: [1, { b: null }] })'))).toEqual({ a: [1, { b: null }] });
  });
});
