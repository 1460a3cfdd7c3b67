import * as E from 'fp-ts/lib/Either.js';
import { expect } from 'vitest';
import { buildContext } from '../../../src/domain/context/build.js';
import type { ContextInput } from '../../../src/domain/context/input.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { ContextPolicy } from '../../../src/domain/context/policy.js';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import type { AnthropicBody } from '../../../src/domain/profiles/anthropic-wire.js';
import type { Capabilities, Facts, Violation } from '../../../src/domain/profiles/profile.js';
import { estimator } from '../../../src/domain/tokens.js';
import { surfaceOf, type Spec } from '../context/surface-builder.js';

export const claude = anthropic({ model: 'model-a', maxTokens: 1_000 });

export const found = (
  messages: readonly unknown[],
  options: {
    readonly body?: Readonly<Record<string, unknown>>;
    readonly capabilities?: Capabilities;
    readonly facts?: Facts;
  } = {},
): readonly Violation[] =>
  claude
    .configure(options.capabilities ?? {})
    .validate({ model: 'model-a', max_tokens: 1, messages, ...options.body }, options.facts);

export const rules = (...given: Parameters<typeof found>): readonly string[] =>
  found(...given).map(({ rule }) => rule);

type Extra = Partial<Pick<ContextInput<AnthropicBody>, 'params' | 'surface'>>;

export const attempt = (
  specs: readonly Spec[],
  policy: Partial<ContextPolicy> = {},
  extra: Extra = {},
) =>
  buildContext({
    surface: surfaceOf(specs),
    profile: claude,
    policy,
    counter: estimator,
    ...extra,
  });

export const plan = (
  specs: readonly Spec[],
  policy: Partial<ContextPolicy> = {},
  extra: Extra = {},
): ContextPlan<AnthropicBody> => {
  const built = attempt(specs, policy, extra);
  if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
  const { body, facts } = built.right;
  expect(claude.configure(policy.capabilities ?? {}).validate(body, facts)).toEqual([]);
  return built.right;
};

export const user = { role: 'user', content: 'hi' };
export const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
export const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
export const says = (...content: readonly unknown[]) => ({ role: 'assistant', content });
export const gives = (...content: readonly unknown[]) => ({ role: 'user', content });
export const text = (words: string) => ({ type: 'text', text: words });
export const thinking = (words: string, signature = 'c2ln') => ({
  type: 'thinking',
  thinking: words,
  signature,
});
export const thought = (words: string, signature = 'c2ln') => ({
  type: 'reasoning' as const,
  text: words,
  signature,
  provider: 'anthropic',
});
