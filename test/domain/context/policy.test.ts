import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import {
  budgetOf,
  completePolicy,
  defaultPolicy,
  policyOf,
  policyRuling,
  type ContextPolicy,
} from '../../../src/domain/context/policy.js';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';

const refusal = (given: unknown) => {
  const completed = completePolicy(given as Partial<ContextPolicy>);
  return E.isLeft(completed) ? completed.left : undefined;
};

const complete = (given: Partial<ContextPolicy>): ContextPolicy => {
  const completed = completePolicy(given);
  if (E.isLeft(completed)) throw new Error(completed.left.name);
  return completed.right;
};

describe('a policy', () => {
  it('is the default where nothing is given', () => {
    expect(completePolicy()).toEqual(E.right(defaultPolicy));
    expect(completePolicy({ budgetTokens: undefined } as never)).toEqual(E.right(defaultPolicy));
  });
  it.each([
    [0, 'out_of_range'],
    [-1, 'out_of_range'],
    [Number.NaN, 'not_an_integer'],
    [1.5, 'not_an_integer'],
    [Infinity, 'not_an_integer'],
    ['45', 'not_an_integer'],
    [2 ** 53, 'out_of_range'],
  ])('B54 refuses a budget of %s', (budgetTokens, reason) => {
    expect(refusal({ budgetTokens })).toEqual({
      _tag: 'InvalidArgument',
      name: 'budgetTokens',
      reason,
    });
  });
  it('B54 takes a budget of 1e12 and cuts it to the window of the model', () => {
    const policy = complete({ budgetTokens: 1e12 });
    expect(budgetOf(policy, openaiChat({ model: 'm' }))).toBe(1e12);
    expect(budgetOf(policy, openaiChat({ model: 'm', contextWindow: 8_000 }))).toBe(8_000);
  });
  it('refuses options and words that it does not know', () => {
    expect(refusal({ budget: 5 })).toMatchObject({ name: 'budget', reason: 'unknown_option' });
    expect(refusal({ adjacency: 'maybe' })).toMatchObject({
      name: 'adjacency',
      reason: 'unknown_value',
    });
    expect(refusal({ tokens: { m1: -3 } })).toMatchObject({ name: 'tokens' });
  });
  it('has the window less the output of the call as its budget, where none is given', () => {
    const profile = anthropic({ model: 'm', contextWindow: 10_000, maxTokens: 1_000 });
    expect(budgetOf(complete({}), profile)).toBe(9_000);
    expect(budgetOf(complete({ reserveTokens: 2_000 }), profile)).toBe(8_000);
    expect(budgetOf(complete({ budgetTokens: 500, reserveTokens: 100 }), profile)).toBe(400);
    expect(budgetOf(complete({}), openaiChat({ model: 'm' }))).toBeUndefined();
  });
  it('is recorded by what differs from the default, in one order, and read back', () => {
    const policy = complete({
      tokens: { b: 2, a: 1 },
      gaps: true,
      budgetTokens: 10,
      capabilities: { prefill: false },
    });
    const ruling = policyRuling(policy);
    expect(ruling).toEqual({
      name: 'default',
      version: 1,
      params:
        '{"budgetTokens":10,"gaps":true,"tokens":{"a":1,"b":2},"capabilities":{"prefill":false}}',
    });
    expect(policyOf(ruling)).toEqual(E.right(policy));
    expect(policyRuling(defaultPolicy)).toEqual({ name: 'default', version: 1 });
    expect(policyOf({ name: 'default', version: 2 })).toMatchObject(
      E.left({ _tag: 'InvalidArgument', name: 'policy' }),
    );
  });
});
