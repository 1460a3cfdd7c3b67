import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { Expected } from '../expected-shape.js';
import type { CaseInput } from '../read-case.js';
import type { Run } from '../run.js';
import type { StoreName } from '../words.js';

/** What another run of the same case differs in. */
export interface Change {
  readonly input?: (input: CaseInput) => CaseInput;
  readonly store?: StoreName;
}

/** A run with what it is judged by. */
export interface Judged {
  readonly run: Run;
  readonly expected: Expected;
  /** The same case once more, on a fresh store. */
  readonly again: (change?: Change) => Promise<Run>;
}

/** Nothing when it holds, else what is wrong. A check that has nothing to look at does not hold. */
export type Check = (judged: Judged) => string | undefined | Promise<string | undefined>;

export const NOTHING_TO_LOOK_AT = 'there is nothing to look at';

/** A check over the context that was built. */
export const ofPlan =
  (check: (plan: ContextPlan, judged: Judged) => ReturnType<Check>): Check =>
  (judged) => {
    const { plan, buildFaults } = judged.run.evidence;
    if (plan !== undefined) return check(plan, judged);
    const why = judged.run.fault ?? buildFaults?.[0];
    return why === undefined ? 'there is no context' : `there is no context: ${why.fault._tag}`;
  };

/** The first thing that is wrong with any of these. */
export const firstWrong = <T>(
  items: Iterable<T>,
  check: (item: T) => string | undefined,
): string | undefined => {
  for (const item of items) {
    const wrong = check(item);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
};
