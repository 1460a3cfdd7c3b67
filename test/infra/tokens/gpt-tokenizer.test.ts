import * as E from 'fp-ts/lib/Either.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutLongRuns, gptTokenizer } from '../../../src/infra/tokens/gpt-tokenizer.js';

const counter = async () => {
  const loaded = await gptTokenizer()();
  if (E.isLeft(loaded)) throw new Error(loaded.left.ref);
  return loaded.right;
};

const longestRun = (text: string): number =>
  Math.max(
    0,
    ...[...text.matchAll(/[\p{L}\p{M}]+|\s+|[^\s\p{L}\p{M}\p{N}]+/gu)].map(
      ([run]) => Array.from(run).length,
    ),
  );

describe('gpt-tokenizer', () => {
  it('counts like the model and says so', async () => {
    const { name, exact, count } = await counter();
    expect([name, exact]).toEqual(['gpt-tokenizer o200k_base', true]);
    expect(count('hello world')).toBe(2);
    expect(count('')).toBe(0);
    expect(count('订单 8812 想退款')).toBe(7);
  });

  it('takes words that look like special tokens as text', async () => {
    const { count } = await counter();
    expect(count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('cuts runs at 256 code points, never inside a surrogate pair', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom('a', '汉', '𠮷', ' ', '\n', '=', '😀', 'é', '7'),
            fc.integer({ min: 1, max: 700 }),
          ),
          { maxLength: 6 },
        ),
        (runs) => {
          const text = runs.map(([char, times]) => char.repeat(times)).join('');
          const pieces = cutLongRuns(text);
          expect(pieces.join('')).toBe(text);
          for (const piece of pieces) {
            expect(longestRun(piece)).toBeLessThanOrEqual(256);
            expect(/\p{Surrogate}/u.test(piece)).toBe(false);
          }
        },
      ),
    );
  });

  it.each(['a', '汉', '=', ' '])(
    'P12 counts 100,000 unbroken %j without standing still',
    async (char) => {
      const { count } = await counter();
      count('warm up');
      const start = performance.now();
      expect(count(char.repeat(100_000))).toBeGreaterThan(0);
      expect(performance.now() - start).toBeLessThan(1_500);
    },
  );
});
