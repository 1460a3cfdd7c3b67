import * as E from 'fp-ts/lib/Either.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildContext } from '../../../src/domain/context/build.js';
import { checkMessages } from '../../../src/domain/context/check.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { ContextPolicy } from '../../../src/domain/context/policy.js';
import { rebuildContext } from '../../../src/domain/context/rebuild.js';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import { neutral } from '../../../src/domain/profiles/neutral.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import type { Profile } from '../../../src/domain/profiles/profile.js';
import type { Surface } from '../../../src/domain/surface.js';
import { estimator } from '../../../src/domain/tokens.js';
import { anySurface } from './arbitrary-surface.js';
import { surfaceOf, type Spec } from './surface-builder.js';

const profiles: readonly Profile[] = [
  openaiChat({ model: 'm' }),
  openaiChat({ model: 'm', capabilities: { developerRole: false, parsesArguments: true } }),
  anthropic({ model: 'm' }),
  anthropic({
    model: 'm',
    capabilities: { prefill: false, systemInMessages: true, prefixBoundThinking: true },
  }),
  neutral(),
];

/** A policy that repairs whatever can be repaired. */
const mending = fc
  .record(
    {
      budgetTokens: fc.integer({ min: 1, max: 400 }),
      gaps: fc.boolean(),
      interrupted: fc.constantFrom('leave_out' as const, 'keep_text' as const),
      onUnanswered: fc.constantFrom('synthesize' as const, 'drop_call' as const),
      onBadArguments: fc.constantFrom('empty_object' as const, 'drop_pair' as const),
      onErased: fc.constantFrom('placeholder' as const, 'leave_out' as const),
      onLateResult: fc.constantFrom('leave_out' as const, 'replace' as const),
      maxToolResultTokens: fc.integer({ min: 1, max: 40 }),
      maxArgumentChars: fc.integer({ min: 2, max: 200 }),
      truncateToolResults: fc.boolean(),
      systemPolicy: fc.constantFrom(
        'profile' as const,
        'coalesce_leading' as const,
        'labelled_user' as const,
      ),
      maxItems: fc.integer({ min: 1, max: 10 }),
    },
    { requiredKeys: ['onUnanswered', 'onBadArguments'] },
  )
  .map((policy): Partial<ContextPolicy> => ({ ...policy, onTrailingAssistant: 'append_continue' }));

const anyProfile = fc.constantFrom(...profiles);

const build = (surface: Surface, profile: Profile, policy: Partial<ContextPolicy>) =>
  buildContext({ surface, profile, policy, counter: estimator });

const hasTurn = (surface: Surface): boolean =>
  surface.items.some(({ message, out }) => out === undefined && message.role !== 'system');

const unitsOf = (plan: ContextPlan): ReadonlyMap<string, readonly boolean[]> => {
  const units = new Map<string, boolean[]>();
  for (const { unit, in: isIn, note, messageId } of plan.dispositions) {
    if (note === 'nothing of it can be sent') continue;
    units.set(unit, [...(units.get(unit) ?? []), isIn && messageId !== '']);
  }
  return units;
};

describe('contexts of any history', () => {
  it('CX2 pass the validator, or are refused because nothing fits', () => {
    fc.assert(
      fc.property(anySurface, anyProfile, mending, (surface, profile, policy) => {
        const built = build(surface, profile, policy);
        if (E.isRight(built)) {
          const { body, facts } = built.right;
          expect(profile.validate(body, facts)).toEqual([]);
          return;
        }
        if (built.left._tag === 'OrderViolation' && built.left.rule === 'first_role') {
          // Nothing but instructions was left to send.
          expect(profile.id).toBe('anthropic');
          return;
        }
        expect(built.left._tag).toBe('BudgetImpossible');
        expect(policy.budgetTokens).toBeDefined();
      }),
      { numRuns: 1_500 },
    );
  });

  it('CX2 hold the budget, and every unit is in or out as a whole', () => {
    fc.assert(
      fc.property(anySurface, anyProfile, mending, (surface, profile, policy) => {
        const built = build(surface, profile, policy);
        if (E.isLeft(built)) return;
        const { tokens, budget } = built.right;
        if (budget !== undefined) expect(tokens).toBeLessThanOrEqual(budget);
        for (const members of unitsOf(built.right).values()) {
          expect(new Set(members).size).toBe(1);
        }
      }),
      { numRuns: 800 },
    );
  });

  it('CX1 have the same bytes each time, and when rebuilt from the recorded selection', () => {
    fc.assert(
      fc.property(anySurface, anyProfile, mending, (surface, profile, policy) => {
        const built = build(surface, profile, policy);
        expect(build(structuredClone(surface), profile, policy)).toEqual(built);
        if (E.isLeft(built)) return;
        const { selection, requestDigest } = built.right;
        const again = rebuildContext({
          surface,
          profile,
          policy,
          counter: estimator,
          selection,
          requestDigest,
        });
        if (E.isLeft(again)) throw new Error(JSON.stringify(again.left));
        expect(again.right.plan.text).toBe(built.right.text);
        expect(again.right.same).toBe(true);
      }),
      { numRuns: 600 },
    );
  });

  it('CX3 give a reason for every message, and name what left nothing on the wire', () => {
    fc.assert(
      fc.property(anySurface, anyProfile, mending, (surface, profile, policy) => {
        const built = build(surface, profile, policy);
        if (E.isLeft(built)) return;
        const { dispositions, sent } = built.right;
        const reasons = new Set(dispositions.map(({ messageId }) => messageId));
        for (const { message } of surface.items) expect(reasons.has(message.id)).toBe(true);
        const isIn = dispositions.filter((entry) => entry.in).map(({ messageId }) => messageId);
        expect([...sent].sort()).toEqual([...isIn].sort());
      }),
      { numRuns: 600 },
    );
  });

  it('OR3 are checked without being built, whatever they hold', () => {
    fc.assert(
      fc.property(anySurface, anyProfile, (surface, profile) => {
        const checked = checkMessages({ surface, profile });
        expect(E.isRight(checked)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('default policies refuse with a known fault, never by accident', () => {
    const known = [
      'BudgetImpossible',
      'OpenToolCalls',
      'ToolArgumentsInvalid',
      'OrderViolation',
      'ReasoningRequired',
    ];
    fc.assert(
      fc.property(anySurface, anyProfile, fc.boolean(), (surface, profile, thinking) => {
        const built = build(surface, profile, { thinking });
        if (E.isLeft(built)) expect(known).toContain(built.left._tag);
        else expect(hasTurn(surface) || built.right.sent.length >= 0).toBe(true);
      }),
      { numRuns: 600 },
    );
  });
});

describe('prefixes', () => {
  const spoken = fc.lorem({ maxCount: 3 });
  const turn = fc.oneof(
    spoken.map((text) => [
      { role: 'assistant' as const, text },
      { role: 'user' as const, text },
    ]),
    spoken.map((text) => [
      { role: 'assistant' as const, text, calls: ['same_id'] },
      { role: 'tool' as const, text, answers: 'same_id' },
      { role: 'assistant' as const, text: `done ${text}` },
      { role: 'user' as const, text },
    ]),
  );
  it('stay byte for byte while a history only grows', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), anyProfile, (turns, profile) => {
        const specs: readonly Spec[] = [
          { id: 's', role: 'system', text: 'S' },
          { id: 'u', role: 'user', text: 'first' },
          ...turns.flat().map((draft, index): Spec => ({ ...draft, id: `m${String(index)}` })),
        ];
        const last = turns.at(-1)?.length ?? 0;
        const before = build(surfaceOf(specs.slice(0, specs.length - last)), profile, {});
        const after = build(surfaceOf(specs), profile, {});
        if (E.isLeft(before) || E.isLeft(after)) throw new Error('refused');
        const listed = (plan: ContextPlan): readonly string[] =>
          (plan.body as { readonly messages: readonly unknown[] }).messages.map((message) =>
            JSON.stringify(message),
          );
        const [old, now] = [listed(before.right), listed(after.right)];
        expect(now.slice(0, old.length)).toEqual(old);
      }),
      { numRuns: 200 },
    );
  });
});
