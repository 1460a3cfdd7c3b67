import type { Difference } from './compare.js';
import type { EngineSide } from './engine-side.js';
import { headOf, type World } from './naive.js';
import { perform } from './perform.js';
import { predict } from './predict.js';
import type { Expected, Outcome, Step } from './steps.js';

/** Whether an answer is one of those that must come. */
export const agrees = (expected: Expected, got: Outcome): boolean => {
  if (expected.kind === 'fault') return got.kind === 'fault' && expected.tags.includes(got.tag);
  if (got.kind === 'fault') return false;
  const isSame = JSON.stringify(expected.answer) === JSON.stringify(got.answer);
  const isComparable = expected.replayed !== undefined && got.replayed !== undefined;
  return isSame && (!isComparable || expected.replayed === got.replayed);
};

// Commands that are one append: what takes several can be cut between them, and is repeatable.
const single: ReadonlySet<Step['do']> = new Set<Step['do']>([
  'append',
  'instructions',
  'status',
  'withdraw',
  'redact',
  'complete',
  'fail',
  'claim',
  'endTurn',
  'startTool',
  'abandon',
  'ask',
  'resolve',
  'undo',
  'label',
  'promote',
  'annotate',
]);

/** Two steps that may be given at the same time, by the two handles. */
export const canRace = ([one, other]: readonly [Step, Step]): boolean =>
  single.has(one.do) && single.has(other.do);

/** A command that comes second and was made for an older head is refused, unless it can be moved. */
const mayLose = (step: Step): boolean => {
  if (['redact', 'label', 'promote', 'annotate'].includes(step.do)) return false;
  if (step.do !== 'append') return true;
  const isMovable = step.items.every(({ role }) => role === 'user' || role === 'tool');
  return step.expected !== undefined || !isMovable;
};

const adopt = (world: World, other: World): void => {
  world.branches.splice(0, world.branches.length, ...other.branches);
  world.directory.splice(0, world.directory.length, ...other.directory);
  const { calls, compactions } = other;
  // One more than either: what was worked out for the old world is not taken for the new one.
  const batches = Math.max(world.batches, other.batches) + 1;
  Object.assign(world, { calls, compactions, batches });
};

interface Racer {
  readonly step: Step;
  readonly run: string;
  readonly got: Outcome;
}

/** The world after both, if they can have come in this order; undefined if not. */
const inOrder = (world: World, [first, second]: readonly [Racer, Racer]): World | undefined => {
  const after = structuredClone(world);
  if (!agrees(predict(after, first.step, first.run), first.got)) return undefined;
  const { branch } = second.step;
  const hasLost = second.got.kind === 'fault' && second.got.tag === 'RevisionConflict';
  const isOvertaken = headOf(after, branch) !== headOf(world, branch);
  if (hasLost && isOvertaken && mayLose(second.step)) return after;
  return agrees(predict(after, second.step, second.run), second.got) ? after : undefined;
};

/**
 * Gives two steps at once: what comes of it must be what comes of the one and then the other, in one
 * of the two orders. The world is then the one after that order.
 */
export const race = async (
  side: EngineSide,
  world: World,
  steps: readonly [Step, Step],
  purposeOf: (call: number) => string,
): Promise<Difference | undefined> => {
  const runs = steps.map(({ handle }) => side.handles[handle].run);
  const [one, other] = await Promise.all([
    perform(side, steps[0], purposeOf),
    perform(side, steps[1], purposeOf),
  ]);
  const first: Racer = { step: steps[0], run: runs[0] ?? '', got: one };
  const second: Racer = { step: steps[1], run: runs[1] ?? '', got: other };
  const after = inOrder(world, [first, second]) ?? inOrder(world, [second, first]);
  if (after !== undefined) {
    adopt(world, after);
    return undefined;
  }
  const naive = (racer: Racer): unknown => predict(structuredClone(world), racer.step, racer.run);
  return {
    what: 'two at once',
    naive: [naive(first), naive(second)],
    engine: [one, other],
  };
};
