import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { encodeStemmaJson, isStemmaJson, parseStemmaJson } from '../../src/domain/stemma-json.js';

/** Any UTF-16 units, well-formed or not. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom('"', '\\', '\0', '\n', '\u2028', '\u007f', '\ud800', '\udc00', '\ufeff', '😀'),
  ),
});

const storedKey = fc
  .string({ unit: 'grapheme-ascii', maxLength: 8 })
  .filter((name) => !/^(?:0|[1-9]\d*)$/.test(name) && name !== '__proto__');

const storedValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -1, 2 ** 53 - 1),
    fc.maxSafeInteger(),
    anyText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(storedKey, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

const damaged = E.left({ _tag: 'Damaged', check: 'payload' });

describe('MS4 stored JSON', () => {
  it('MS4 comes back to the byte for any value that a schema may accept', () => {
    fc.assert(
      fc.property(storedValue, (value) => {
        const text = encodeStemmaJson(value);
        expect(isStemmaJson(text)).toBe(true);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        expect(parseStemmaJson(text)).toEqual(E.right(value));
      }),
      { numRuns: 1_000 },
    );
  });

  it('MS4 what is accepted is the identity of JSON.parse and JSON.stringify, over any JSON', () => {
    const spaced = fc
      .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 0, 1, '\t'))
      .map(([value, indent]) => JSON.stringify(value, undefined, indent));
    fc.assert(
      fc.property(fc.oneof(spaced, fc.json(), anyText), (text) => {
        const parsed = parseStemmaJson(text);
        if (E.isLeft(parsed)) return;
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        expect(encodeStemmaJson(parsed.right)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('MS4 carries hostile foreign JSON verbatim inside a string', () => {
    const hostile =
      '{"__proto__":1,"a":9007199254740993,"a":1e400,"2":0,"1":-0,"\\ud800":"\ud800"}';
    const text = encodeStemmaJson({ arguments: hostile });
    expect(parseStemmaJson(text)).toEqual(E.right({ arguments: hostile }));
  });
});

describe('MS4 what is no stored JSON', () => {
  it.each([
    ['white space', '{ "a":1}'],
    ['white space at the end', '{"a":1}\n'],
    ['a fraction', '{"a":0.5}'],
    ['an exponent that prints as it is', '{"a":1e+21}'],
    ['an exponent', '{"a":1e2}'],
    ['a fraction of zero', '{"a":1.0}'],
    ['negative zero', '{"a":-0}'],
    ['an unsafe integer', '{"a":9007199254740993}'],
    ['an unsafe integer that prints as it is', '{"a":9007199254740992}'],
    ['a duplicate key', '{"a":1,"a":1}'],
    ['an integer-like key', '{"1":1}'],
    ['an integer-like key 0', '{"0":1}'],
    ['integer-like keys out of order', '{"b":1,"2":2}'],
    ['an integer-like key beyond 2^32', '{"99999999999":1}'],
    ['__proto__', '{"__proto__":1}'],
    ['__proto__ in a list', '[[{"a":{"__proto__":{}}}]]'],
    ['a key that is not ASCII', '{"é":1}'],
    ['a control character in a key', '{"a\\n":1}'],
    ['an escape that is not needed', '{"a":"\\u0041"}'],
    ['an escaped slash', '{"a":"\\/"}'],
    ['an upper-case escape', '{"a":"\\uD800"}'],
    ['a raw half surrogate pair', '{"a":"\ud800"}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['a cut text', '{"a":1'],
    ['nothing', ''],
    ['depth 65', '['.repeat(65) + ']'.repeat(65)],
  ])('MS4 refuses %s', (_name, text) => {
    expect(parseStemmaJson(text)).toEqual(damaged);
    expect(isStemmaJson(text)).toBe(false);
  });

  it.each([
    '{"01":1,"-1":2,"1.5":3,"":4,"$correlationId":"x","a b":[]}',
    '"\\ud800"',
    '"\u2028"',
    '0',
  ])('MS4 accepts %s', (text) => {
    expect(isStemmaJson(text)).toBe(true);
  });
});

describe('MS2 a schema that let too much through', () => {
  it.each([
    ['a fraction', { a: 0.5 }],
    ['negative zero', { a: [-0] }],
    ['NaN', NaN],
    ['undefined', { a: undefined }],
    ['undefined itself', undefined],
    ['an integer-like key', { 7: 1 }],
    ['a key that is not ASCII', { 键: 1 }],
    ['__proto__', JSON.parse('{"__proto__":1}')],
    ['a function', { a: () => 1 }],
    ['depth 65', JSON.parse('['.repeat(65) + ']'.repeat(65))],
  ])('MS2 does not encode %s', (_name, value) => {
    expect(() => encodeStemmaJson(value)).toThrow(TypeError);
  });

  it('MS2 does not encode a cycle', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => encodeStemmaJson(cycle)).toThrow(TypeError);
  });

  it('MS4 depth 64 can be written and read', () => {
    const text = '['.repeat(64) + ']'.repeat(64);
    expect(encodeStemmaJson(JSON.parse(text))).toBe(text);
    expect(isStemmaJson(text)).toBe(true);
  });
});
