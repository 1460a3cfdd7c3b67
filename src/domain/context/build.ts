import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import type { Encoded, Profile, Violation } from '../profiles/profile.js';
import { violationFault } from '../profiles/violation-fault.js';
import { arrange } from './arrange.js';
import { comparePlans } from './compare.js';
import type { ContextInput } from './input.js';
import { placedViolation } from './layout.js';
import type { ContextPlan } from './plan.js';
import { completePolicy, type ContextPolicy } from './policy.js';
import { changedPrefixes } from './prefix.js';
import { choose, type Chosen } from './prepare.js';
import { planOf } from './report.js';
import { turnsOf } from './turns.js';
import { sentCalls, wireNames, wireTools } from './wire-names.js';

type Built<Body extends object> = E.Either<StemmaFault, ContextPlan<Body>>;

const brokenRule = <Body extends object>(
  profile: Profile<Body>,
  encoded: Encoded<Body>,
): Violation | undefined => {
  const violation = profile.validate(encoded.body, encoded.facts)[0];
  if (violation !== undefined) return placedViolation(violation, encoded.layout);
  const isEmpty = encoded.layout.every(({ ids, path }) => ids.length === 0 || path.length < 2);
  const isOpened = encoded.added.some(({ kind }) => kind === 'opening');
  // A turn that the engine made is no reason to call a model.
  return isEmpty && isOpened
    ? { rule: 'first_role', code: 'OrderViolation', reason: 'first_role', ids: [] }
    : undefined;
};

const encodeChosen = <Body extends object>(
  input: ContextInput<Body>,
  policy: ContextPolicy,
  profile: Profile<Body>,
  chosen: Chosen,
): Built<Body> => {
  const { surface, counter, tools = [], literals = [] } = input;
  const { exchanges, units, selection, size } = chosen;
  const { list, calls } = exchanges;
  const arranged = arrange({
    list,
    units,
    chosen: new Set(selection.chosen.keys()),
    policy,
    profile,
    literals,
    needsOpening: selection.needsOpening,
  });
  if (E.isLeft(arranged)) return arranged;
  const { entries, repairs } = arranged.right;
  const names = wireNames(sentCalls(entries, list, calls), tools, profile, policy.strict);
  const turns = turnsOf({ entries, list, calls, names, policy, profile });
  const encoded = profile.encode(turns.turns, {
    tools: wireTools(tools, names.tools),
    params: input.params ?? {},
    thinking: policy.thinking,
    systemPolicy: policy.systemPolicy,
    onTrailingAssistant: policy.onTrailingAssistant,
    prefixChanged: changedPrefixes({ list, ...selection, surface }),
    strict: policy.strict,
  });
  if (E.isLeft(encoded)) return encoded;
  const broken = brokenRule(profile, encoded.right);
  if (broken !== undefined) return E.left(violationFault(profile, broken));
  return E.right(
    planOf({
      ...chosen,
      surface,
      profile,
      policy,
      counter,
      literals,
      toolNames: new Map(tools.map(({ name }) => [names.tools.get(name) ?? name, name])),
      entries,
      turns: turns.turns,
      size,
      encoded: encoded.right,
      repairs: [...chosen.repairs, ...repairs, ...names.repairs, ...turns.repairs],
      warnings: turns.warnings,
    }),
  );
};

/**
 * The context of one call: candidates, units, selection, encoding, validation. Pure: equal input
 * gives equal bytes. Refuses what the policy does not let it repair; never half a unit, never over
 * the budget.
 */
export const buildContext = <Body extends object>(input: ContextInput<Body>): Built<Body> => {
  const completed = completePolicy(input.policy);
  if (E.isLeft(completed)) return completed;
  const policy = completed.right;
  const profile =
    policy.capabilities === undefined
      ? input.profile
      : input.profile.configure(policy.capabilities);
  const chosen = choose(input, policy, profile);
  if (E.isLeft(chosen)) return chosen;
  const built = encodeChosen(input, policy, profile, chosen.right);
  if (E.isLeft(built) || input.previous === undefined) return built;
  return E.right({ ...built.right, prefix: comparePlans(input.previous, built.right) });
};
