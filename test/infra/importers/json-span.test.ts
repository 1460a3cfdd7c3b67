import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  itemSpans,
  memberSpans,
  rootSpan,
  sliceOf,
  spanOf,
} from '../../../src/infra/importers/json-span.js';

const parse = (text: string): unknown => JSON.parse(text);

describe('places of JSON values in a text', () => {
  it('MS4 give the source text of a value, word for word', () => {
    const text =
      ' { "a" : [ 1 , {"b": 12345678901234567890 , "c":"\\u00e9\\"}" } ] , "d":-0.10e+2}';
    const root = rootSpan(text);
    expect(sliceOf(text, spanOf(text, root, ['a', 1])!)).toBe(
      '{"b": 12345678901234567890 , "c":"\\u00e9\\"}" }',
    );
    expect(sliceOf(text, spanOf(text, root, ['d'])!)).toBe('-0.10e+2');
    expect(spanOf(text, root, ['a', 5])).toBeUndefined();
    expect(spanOf(text, root, ['a', 1, 'x', 'y'])).toBeUndefined();
  });

  it('B08 take the last value of a key that is there twice, as JSON.parse does', () => {
    const text = '{"a":1,"\\u0061":[2]}';
    expect(sliceOf(text, memberSpans(text, rootSpan(text)).get('a')!)).toBe('[2]');
    expect(parse(text)).toEqual({ a: [2] });
  });

  it('MS4 find each member and item of any document', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const root = rootSpan(text);
        expect(parse(sliceOf(text, root))).toEqual(parse(text));
        const parsed = parse(text);
        if (Array.isArray(parsed)) {
          const items = itemSpans(text, root).map((span) => parse(sliceOf(text, span)));
          expect(items).toEqual(parsed);
        } else if (typeof parsed === 'object' && parsed !== null) {
          const members = [...memberSpans(text, root)].map(
            ([key, span]) => [key, parse(sliceOf(text, span))] as const,
          );
          expect(new Map(members)).toEqual(new Map(Object.entries(parsed)));
        }
      }),
    );
  });

  it('B23 pass a text of 10 MB with a million quotes in a moment', () => {
    const text = JSON.stringify({ a: '"'.repeat(1_000_000), b: 'x'.repeat(8_000_000), c: [1] });
    const start = performance.now();
    expect(sliceOf(text, spanOf(text, rootSpan(text), ['c', 0])!)).toBe('1');
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
