import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../errors.js';
import type { Candidate, Exclusion } from './candidates.js';
import { mustKeepOf } from './must-keep.js';
import type { Disposition } from './plan.js';
import type { ContextPolicy } from './policy.js';
import type { RecordedDecision } from './selection-runs.js';
import type { Unit } from './units.js';

/** A candidate of a unit that may be made smaller: its index, and the fewest tokens it can have. */
export type Shrink = (unit: Unit, overBy: number) => number;

export interface SelectionInput {
  readonly list: readonly Candidate[];
  readonly units: readonly Unit[];
  readonly policy: ContextPolicy;
  readonly requireUserStart: boolean;
  /** Tokens for messages; undefined: no limit. */
  readonly available?: number;
  /** Tokens of a unit, with the results that the engine adds. */
  readonly tokensOf: (unit: Unit) => number;
  /** Makes results of the unit smaller by at least so many tokens, and says by how many. */
  readonly shrink?: Shrink;
  /** What a recorded selection said of a candidate. */
  readonly recorded?: (index: number) => RecordedDecision | undefined;
}

export interface Selection {
  /** Candidates that are sent, with the reason. */
  readonly chosen: ReadonlyMap<number, Disposition>;
  /** Candidates that the policy left out, with the reason. */
  readonly left: ReadonlyMap<number, Exclusion>;
  /** A first turn has to be made, since the conversation does not begin with one of a user. */
  readonly needsOpening: boolean;
}

interface Work {
  readonly input: SelectionInput;
  readonly chosen: Map<number, Disposition>;
  readonly left: Map<number, Exclusion>;
  used: number;
}

const reasonIn = (candidate: Candidate | undefined): Disposition => {
  if (candidate?.kind === 'summary') return 'summary';
  return candidate?.shortened === true ? 'shortened' : 'window';
};

const take = (work: Work, unit: Unit, must?: ReadonlyMap<number, Disposition>): void => {
  for (const index of unit.members) {
    work.chosen.set(index, must?.get(index) ?? reasonIn(work.input.list[index]));
  }
};

const leave = (work: Work, unit: Unit, out: Exclusion): void => {
  for (const index of unit.members) {
    work.chosen.delete(index);
    work.left.set(index, out);
  }
};

/** Whether a unit fits, cut if it may be; `question`: tokens of what it answers, kept free if so. */
const fits = (work: Work, unit: Unit, question: number): boolean => {
  const { available, tokensOf, shrink } = work.input;
  let tokens = tokensOf(unit);
  if (available === undefined) return true;
  const overBy = work.used + tokens - available;
  if (overBy > 0 && shrink !== undefined) {
    tokens -= shrink(unit, overBy + question);
    if (work.used + tokens > available) tokens -= shrink(unit, overBy);
  }
  return work.used + tokens <= available;
};

/** By unit: tokens of the units between it and the user turn that it answers, that one included. */
const questionsOf = (work: Work, units: readonly Unit[]): ReadonlyMap<Unit, number> => {
  const { list, tokensOf, shrink } = work.input;
  const questions = new Map<Unit, number>();
  if (shrink === undefined) return questions;
  let since = 0;
  for (const unit of units) {
    const isUser = list[unit.members[0] ?? -1]?.message.role === 'user';
    if (isUser) since = 0;
    questions.set(unit, since);
    since += tokensOf(unit);
  }
  return questions;
};

type Impossible = FaultOf<'BudgetImpossible'>;

const takeMandatory = (
  work: Work,
  units: readonly Unit[],
  must: ReadonlyMap<number, Disposition>,
): Impossible | undefined => {
  const { available, tokensOf, shrink, list } = work.input;
  const total = (): number => units.reduce((sum, unit) => sum + tokensOf(unit), 0);
  let needed = total();
  if (available !== undefined && shrink !== undefined) {
    for (const unit of [...units].sort((a, b) => tokensOf(b) - tokensOf(a))) {
      if (needed > available) needed -= shrink(unit, needed - available);
    }
  }
  // What was sent once is built again as it was, whatever the count says now.
  const isRefused = available !== undefined && needed > available;
  if (isRefused && work.input.recorded === undefined) {
    const parts = units
      .flatMap(({ members }) => members)
      .sort((a, b) => a - b)
      .map((index) => list[index]?.message.id ?? '');
    return { _tag: 'BudgetImpossible', needed, available, parts };
  }
  for (const unit of units) take(work, unit, must);
  work.used = needed;
  return undefined;
};

// Newest whole units while they fit; the first that does not ends the window unless gaps may be.
const takeWindow = (work: Work, units: readonly Unit[]): void => {
  const { policy, tokensOf } = work.input;
  const questions = questionsOf(work, units);
  let isFull = false;
  for (const unit of [...units].reverse()) {
    if (isFull || !fits(work, unit, questions.get(unit) ?? 0)) {
      isFull = !policy.gaps;
      leave(work, unit, { disposition: 'budget' });
      continue;
    }
    take(work, unit);
    work.used += tokensOf(unit);
  }
};

// The units of a recorded selection, newest first like the window, so that results are cut alike.
const takeRecorded = (
  work: Work,
  units: readonly Unit[],
  recorded: NonNullable<SelectionInput['recorded']>,
): void => {
  const questions = questionsOf(work, units);
  for (const unit of [...units].reverse()) {
    const decisions = unit.members.map(recorded);
    if (decisions.some((decision) => decision?.in === true)) {
      fits(work, unit, questions.get(unit) ?? 0);
      take(work, unit);
      work.used += work.input.tokensOf(unit);
    } else {
      const disposition = decisions[0]?.disposition ?? 'policy';
      leave(work, unit, { disposition });
    }
  }
};

const isInstruction = (candidate: Candidate): boolean =>
  candidate.kind === 'instructions' ||
  candidate.message.role === 'system' ||
  candidate.message.role === 'developer';

// A context that has to begin with a user drops the leading units that were cut off from their
// question; the true beginning of a conversation is kept, and an opening turn stands before it.
const openWithUser = (work: Work, must: ReadonlyMap<number, Disposition>): boolean => {
  const { list, units } = work.input;
  const unitOf = new Map<number, Unit>();
  for (const unit of units) for (const index of unit.members) unitOf.set(index, unit);
  let isCutOff = false;
  for (const [index, candidate] of list.entries()) {
    const isUser = candidate.message.role === 'user';
    if (work.left.has(index)) isCutOff ||= isUser;
    if (!work.chosen.has(index) || isInstruction(candidate)) continue;
    if (isUser) return false;
    const unit = unitOf.get(index);
    if (!isCutOff || must.has(index) || unit === undefined) return true;
    leave(work, unit, { disposition: 'policy', note: 'a context begins with a user turn' });
  }
  return false;
};

/**
 * Which units are sent (CX2): the irreducible set first, then the newest whole units that fit. Never
 * half a unit. Refuses with `BudgetImpossible` when the irreducible set alone is too big (B53).
 */
export const select = (input: SelectionInput): E.Either<Impossible, Selection> => {
  const { list, units, policy } = input;
  const work: Work = { input, chosen: new Map(), left: new Map(), used: 0 };
  const must = mustKeepOf(list, units, policy);
  const isMandatory = (unit: Unit): boolean => unit.members.some((index) => must.has(index));
  const fault = takeMandatory(work, units.filter(isMandatory), must);
  if (fault !== undefined) return E.left(fault);
  const others = units.filter((unit) => !isMandatory(unit));
  if (input.recorded === undefined) takeWindow(work, others);
  else takeRecorded(work, others, input.recorded);
  const needsOpening = input.requireUserStart && openWithUser(work, must);
  return E.right({ chosen: work.chosen, left: work.left, needsOpening });
};
