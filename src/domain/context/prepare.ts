import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import type { Profile } from '../profiles/profile.js';
import type { Repair } from '../profiles/repair.js';
import { badArguments, type BadArguments } from './bad-arguments.js';
import type { ContextInput } from './input.js';
import { candidatesOf } from './candidates.js';
import { toolsTokens } from './costs.js';
import { exchangesOf, type Exchanges } from './exchanges.js';
import { openCallsFault, withoutUnanswered } from './open-calls.js';
import { budgetOf, type ContextPolicy } from './policy.js';
import { recordedIn } from './selection-runs.js';
import { select, type Selection } from './selection.js';
import { sizing, type Sizing } from './sizing.js';
import { unitsOf, type Unit } from './units.js';
import { wireTools } from './wire-names.js';

/** What is sent and what is not, before anything is put in order or translated. */
export interface Chosen {
  /** Candidates as they are sent, results cut where they had to be. */
  readonly exchanges: Exchanges;
  readonly units: readonly Unit[];
  readonly selection: Selection;
  readonly size: Sizing;
  readonly toolTokens: number;
  readonly budget?: number;
  readonly repairs: readonly Repair[];
}

interface Paired {
  readonly exchanges: Exchanges;
  readonly bad: BadArguments;
  readonly repairs: readonly Repair[];
}

const pair = <Body extends object>(
  input: ContextInput<Body>,
  policy: ContextPolicy,
  profile: Profile<Body>,
): E.Either<StemmaFault, Paired> => {
  const found = candidatesOf(input.surface, policy, profile);
  if (E.isLeft(found)) return found;
  const bad = badArguments(policy, profile);
  const paired = exchangesOf(found.right.list, policy, bad.isDropped);
  const { exchanges, dropped } = withoutUnanswered(paired, policy, input.pending ?? []);
  const repairs = [...found.right.repairs, ...dropped, ...bad.repairsOf(paired)];
  return E.right({ exchanges, bad, repairs });
};

const chooseWith = <Body extends object>(
  input: ContextInput<Body>,
  policy: ContextPolicy,
  profile: Profile<Body>,
  size: Sizing,
  units: readonly Unit[],
): E.Either<StemmaFault, Omit<Chosen, 'repairs'>> => {
  const { list } = size.exchanges;
  const budget = budgetOf(policy, profile);
  const toolTokens = toolsTokens(wireTools(input.tools ?? [], new Map()), input.counter);
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
  return E.right({
    exchanges: { calls: size.exchanges.calls, list: size.current() },
    units,
    selection: selected.right,
    size,
    toolTokens,
    ...(budget !== undefined && { budget }),
  });
};

/**
 * The first half of a context: candidates, exchanges, units and selection. Refuses open calls, bad
 * arguments and budgets that nothing can meet.
 */
export const choose = <Body extends object>(
  input: ContextInput<Body>,
  policy: ContextPolicy,
  profile: Profile<Body>,
): E.Either<StemmaFault, Chosen> => {
  const paired = pair(input, policy, profile);
  if (E.isLeft(paired)) return paired;
  const { counter, literals = [], pending = [] } = input;
  const size = sizing(paired.right.exchanges, { policy, profile, counter, literals });
  const units = unitsOf(size.exchanges);
  const waiting = openCallsFault(size.exchanges.list, units, policy, pending);
  if (waiting !== undefined) return E.left(waiting);
  const chosen = chooseWith(input, policy, profile, size, units);
  if (E.isLeft(chosen)) return chosen;
  const { exchanges, selection } = chosen.right;
  const refusal = paired.right.bad.refusalOf(exchanges, selection.chosen);
  if (refusal !== undefined) return E.left(refusal);
  return E.right({
    ...chosen.right,
    repairs: [...paired.right.repairs, ...size.repairsOf(selection.chosen)],
  });
};
