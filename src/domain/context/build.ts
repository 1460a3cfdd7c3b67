import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import type { SelectionRun } from '../events/model-call-events.js';
import type { CallRef } from '../message.js';
import type { Encoded, Profile } from '../profiles/profile.js';
import { violationFault } from '../profiles/violation-fault.js';
import type { Surface } from '../surface.js';
import type { TokenCounter } from '../tokens.js';
import type { ToolDefinition } from '../tool.js';
import { arrange } from './arrange.js';
import { badArguments } from './bad-arguments.js';
import { candidatesOf } from './candidates.js';
import { comparePlans } from './compare.js';
import { exchangesOf } from './exchanges.js';
import { openCallsFault, withoutUnanswered } from './open-calls.js';
import type { ContextPlan, InputLiteral } from './plan.js';
import { budgetOf, completePolicy, type ContextPolicy } from './policy.js';
import { changedPrefixes } from './prefix.js';
import { planOf } from './report.js';
import { select } from './selection.js';
import { recordedIn } from './selection-runs.js';
import { sizing } from './sizing.js';
import { turnsOf } from './turns.js';
import { unitsOf } from './units.js';
import { sentCalls, wireNames, wireTools } from './wire-names.js';
import { toolsTokens } from './costs.js';

/** Everything that a context is a function of (CX1). */
export interface ContextInput<Body extends object> {
  readonly surface: Surface;
  readonly profile: Profile<Body>;
  /** Fields that differ from the default policy. */
  readonly policy?: Partial<ContextPolicy>;
  readonly tools?: readonly ToolDefinition[];
  readonly params?: Readonly<Record<string, unknown>>;
  readonly literals?: readonly InputLiteral[];
  readonly counter: TokenCounter;
  /** Calls that wait for an approval: never repaired away. */
  readonly pending?: readonly CallRef[];
  /** The context of the call before, to report where the prefix changed. */
  readonly previous?: ContextPlan;
  /** A recorded selection, taken over instead of selecting again. */
  readonly selection?: readonly SelectionRun[];
}

type Built<Body extends object> = E.Either<StemmaFault, ContextPlan<Body>>;

const refused = <Body extends object>(
  profile: Profile<Body>,
  encoded: Encoded<Body>,
): StemmaFault | undefined => {
  const violation = profile.validate(encoded.body, encoded.facts)[0];
  return violation === undefined ? undefined : violationFault(profile, violation);
};

const buildWith = <Body extends object>(
  input: ContextInput<Body>,
  policy: ContextPolicy,
  profile: Profile<Body>,
): Built<Body> => {
  const { surface, counter, tools = [], literals = [] } = input;
  const found = candidatesOf(surface, policy, profile);
  if (E.isLeft(found)) return found;
  const bad = badArguments(policy, profile);
  const paired = exchangesOf(found.right.list, policy, bad.isDropped);
  const { exchanges, dropped } = withoutUnanswered(paired, policy, input.pending ?? []);
  const size = sizing(exchanges, { policy, profile, counter, literals });
  const units = unitsOf(size.exchanges);
  const waiting = openCallsFault(size.exchanges.list, units, policy, input.pending ?? []);
  if (waiting !== undefined) return E.left(waiting);
  const budget = budgetOf(policy, profile);
  const named = tools.map(({ name }) => name);
  const toolTokens = toolsTokens(wireTools(tools, new Map()), counter);
  const { list } = size.exchanges;
  const selected = select({
    list,
    units,
    policy,
    requireUserStart: policy.requireUserStart ?? profile.requireUserStart,
    ...(budget !== undefined && { available: budget - toolTokens - size.literalTokens }),
    tokensOf: size.tokensOf,
    ...(policy.truncateToolResults && { shrink: size.shrink }),
    ...(input.selection && { recorded: recordedIn(list, input.selection) }),
  });
  if (E.isLeft(selected)) return selected;
  const { chosen } = selected.right;
  const sized = { ...size.exchanges, list: size.current() };
  const refusal = bad.refusalOf(sized, chosen);
  if (refusal !== undefined) return E.left(refusal);
  const arranged = arrange({
    list: sized.list,
    units,
    chosen: new Set(chosen.keys()),
    policy,
    profile,
    literals,
    needsOpening: selected.right.needsOpening,
  });
  if (E.isLeft(arranged)) return arranged;
  const { entries } = arranged.right;
  const states = sentCalls(entries, sized.list, sized.calls);
  const names = wireNames(states, tools, profile, policy.strict);
  const turns = turnsOf({ entries, list: sized.list, calls: sized.calls, names, policy, profile });
  const encoded = profile.encode(turns.turns, {
    tools: wireTools(tools, names.tools),
    params: input.params ?? {},
    thinking: policy.thinking,
    systemPolicy: policy.systemPolicy,
    onTrailingAssistant: policy.onTrailingAssistant,
    prefixChanged: changedPrefixes({ list: sized.list, chosen, left: selected.right.left, surface }),
    strict: policy.strict,
  });
  if (E.isLeft(encoded)) return encoded;
  const fault = refused(profile, encoded.right);
  if (fault !== undefined) return E.left(fault);
  return E.right(
    planOf({
      surface,
      profile,
      policy,
      counter,
      literals,
      toolNames: new Map(named.map((name) => [names.tools.get(name) ?? name, name])),
      toolTokens,
      ...(budget !== undefined && { budget }),
      exchanges: sized,
      units,
      selection: selected.right,
      entries,
      turns: turns.turns,
      tokensOfCandidate: size.tokensOfCandidate,
      syntheticTokens: size.syntheticTokens,
      literalTokens: size.literalTokens,
      encoded: encoded.right,
      repairs: [
        ...found.right.repairs,
        ...dropped,
        ...bad.repairsOf(paired),
        ...arranged.right.repairs,
        ...names.repairs,
        ...turns.repairs,
        ...size.repairsOf(chosen),
      ],
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
  const policy = completePolicy(input.policy);
  if (E.isLeft(policy)) return policy;
  const { capabilities } = policy.right;
  const profile =
    capabilities === undefined ? input.profile : input.profile.configure(capabilities);
  const built = buildWith(input, policy.right, profile);
  if (E.isLeft(built) || input.previous === undefined) return built;
  const prefix = comparePlans(input.previous, built.right);
  return E.right({ ...built.right, prefix });
};
