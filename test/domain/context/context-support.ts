import * as E from 'fp-ts/lib/Either.js';
import { expect } from 'vitest';
import { buildContext } from '../../../src/domain/context/build.js';
import type { ContextInput } from '../../../src/domain/context/input.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { ContextPolicy } from '../../../src/domain/context/policy.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import type { OpenAIChatBody } from '../../../src/domain/profiles/openai-chat-wire.js';
import type { Surface } from '../../../src/domain/surface.js';
import { estimator } from '../../../src/domain/tokens.js';
import { surfaceOf, type Spec } from './surface-builder.js';

export const chat = openaiChat({ model: 'model-o' });

type More = Partial<Omit<ContextInput<OpenAIChatBody>, 'surface' | 'policy'>>;

const asSurface = (given: Surface | readonly Spec[]): Surface =>
  'items' in given ? given : surfaceOf(given);

export const attempt = (
  given: Surface | readonly Spec[],
  policy: Partial<ContextPolicy> = {},
  more: More = {},
) =>
  buildContext({ surface: asSurface(given), profile: chat, policy, counter: estimator, ...more });

export const plan = (
  given: Surface | readonly Spec[],
  policy: Partial<ContextPolicy> = {},
  more: More = {},
): ContextPlan<OpenAIChatBody> => {
  const built = attempt(given, policy, more);
  if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
  expect(chat.validate(built.right.body)).toEqual([]);
  return built.right;
};

/** Disposition and cause of each message by id. */
export const reasons = ({ dispositions }: ContextPlan): Readonly<Record<string, string>> =>
  Object.fromEntries(
    dispositions.map(({ messageId, in: isIn, disposition }) => [
      messageId,
      `${isIn ? 'in' : 'out'} ${disposition}`,
    ]),
  );
