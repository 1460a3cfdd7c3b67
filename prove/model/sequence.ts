import type { EngineStores } from '../../src/engine/runtime.js';
import type { MemoryStores } from '../../src/infra/stores/memory-store.js';
import { randomOf, type Random } from '../support/random.js';
import { compareAll, compareBranch, type Difference } from './compare.js';
import { openSide, restart } from './engine-side.js';
import { nextStep, type Choosing } from './generate.js';
import { newWorld, type World } from './naive.js';
import { perform } from './perform.js';
import { predict } from './predict.js';
import { agrees, canRace, race } from './race.js';
import type { Step } from './steps.js';

/** A sequence where the two sides do not say the same: at which step, and what each says. */
export interface Divergence {
  readonly seed: number;
  readonly step: number;
  readonly given: unknown;
  readonly difference: Difference;
}

export interface SequenceResult {
  readonly steps: number;
  /** How often each kind of command was given, and each answer to it came. */
  readonly counts: ReadonlyMap<string, number>;
  readonly divergence?: Divergence;
}

const purposeIn =
  (world: World) =>
  (call: number): string => {
    for (const { log } of world.branches) {
      for (const { entry } of log) {
        if (entry.is === 'requested' && entry.call === call) return entry.purpose;
      }
    }
    return 'turn';
  };

const LEAST_STEPS = 30;

/** Stops and releases the index of ids now and then: what it does not know is read from the log. */
const laggingIndex = (stores: EngineStores | MemoryStores, random: Random): (() => void) => {
  let release: (() => void) | undefined;
  return () => {
    if (!('holdKeys' in stores) || !random.chance(8)) return;
    if (release === undefined) release = stores.holdKeys();
    else {
      release();
      release = undefined;
    }
  };
};

/**
 * One sequence: each step is given to the engine and to the naive side, and what they answer and how
 * things then stand is compared. Handles restart in between, with nothing in memory.
 */
export const runSequence = async (
  stores: EngineStores | MemoryStores,
  seed: number,
  id = `c${seed}`,
): Promise<SequenceResult> => {
  const random = randomOf(seed);
  const side = await openSide(stores, randomOf(seed + 1), id);
  const world = newWorld();
  const choosing: Choosing = {
    random,
    world,
    get runs(): readonly [string, string] {
      return [side.handles[0].run, side.handles[1].run];
    },
    given: [],
    made: 0,
  };
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const steps = LEAST_STEPS + random.below(20);
  const lag = laggingIndex(stores, randomOf(seed + 2));
  const diverged = (step: number, given: unknown, difference: Difference): SequenceResult => ({
    steps: step + 1,
    counts,
    divergence: { seed, step, given, difference },
  });
  for (let at = 0; at < steps; at += 1) {
    lag();
    if (random.chance(6)) {
      const handle = random.chance(50) ? 0 : 1;
      const run = random.chance(50) ? side.handles[handle].run : `run-${at}`;
      await restart(side, handle, run);
      count('restart');
    }
    if (random.chance(8)) {
      const pair = [
        { ...nextStep(choosing), handle: 0 },
        { ...nextStep(choosing), handle: 1 },
      ] as const;
      if (canRace(pair)) {
        count('two at once');
        const different =
          (await race(side, world, pair, purposeIn(world))) ??
          (await compareBranch(side, world, 0, pair[0].branch));
        if (different !== undefined) return diverged(at, pair, different);
        continue;
      }
    }
    const step: Step = nextStep(choosing);
    const { run } = side.handles[step.handle];
    // Before the naive side takes the step: what a call was made for is known to its caller.
    const purposeOf = purposeIn(world);
    const got = await perform(side, step, purposeOf);
    const expected = predict(world, step, run);
    count(
      `${step.do} ${got.kind === 'fault' ? got.tag : got.replayed === true ? 'replayed' : 'done'}`,
    );
    if (!agrees(expected, got)) {
      return diverged(at, step, { what: 'answer', naive: expected, engine: got });
    }
    const different = await compareBranch(side, world, step.handle, step.branch);
    if (different !== undefined) return diverged(at, step, different);
  }
  const different = await compareAll(side, world);
  return different === undefined ? { steps, counts } : diverged(steps, 'the end', different);
};
