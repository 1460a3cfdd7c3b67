import { compareBranch } from '../../prove/model/compare.js';
import { openSide, restart, type EngineSide } from '../../prove/model/engine-side.js';
import { nextStep, type Choosing } from '../../prove/model/generate.js';
import { newWorld, type World } from '../../prove/model/naive.js';
import { perform } from '../../prove/model/perform.js';
import { predict } from '../../prove/model/predict.js';
import type { Outcome, Step } from '../../prove/model/steps.js';
import { randomOf } from '../../prove/support/random.js';
import type { EventStore } from '../../src/domain/event-store.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';

/** A step that was given, and what the engine answered. */
export interface Given {
  readonly step: Step;
  readonly outcome: Outcome;
}

export interface Walk {
  readonly side: EngineSide;
  readonly choosing: Choosing;
  /** Gives the next random step. */
  readonly next: () => Promise<Given>;
  /** Gives a step of the caller's own. */
  readonly give: (step: Step) => Promise<Outcome>;
}

const purposeIn =
  ({ branches }: World) =>
  (call: number): string => {
    const entries = branches.flatMap(({ log }) => log.map(({ entry }) => entry));
    const found = entries.find((entry) => entry.is === 'requested' && entry.call === call);
    return found?.is === 'requested' ? found.purpose : 'turn';
  };

/** Random commands by two handles, one after the other. */
export const startWalk = async (
  seed: number,
  stores: EngineStores = memoryStores(),
): Promise<Walk> => {
  const side = await openSide(stores, randomOf(seed + 1), `c${String(seed)}`);
  const choosing: Choosing = {
    random: randomOf(seed),
    world: newWorld(),
    get runs(): readonly [string, string] {
      return [side.handles[0].run, side.handles[1].run];
    },
    given: [],
    made: 0,
  };
  const give = async (step: Step): Promise<Outcome> => {
    const { run } = side.handles[step.handle];
    const outcome = await perform(side, step, purposeIn(choosing.world));
    predict(choosing.world, step, run);
    // Also takes note of the ids that the engine made.
    await compareBranch(side, choosing.world, step.handle, step.branch);
    return outcome;
  };
  return {
    side,
    choosing,
    give,
    next: async () => {
      if (choosing.random.chance(5)) await restart(side, 1, side.handles[1].run);
      const step = nextStep(choosing);
      return { step, outcome: await give(step) };
    },
  };
};

/** Events of the whole store. */
export const eventCount = async (store: EventStore): Promise<number> => {
  let events = 0;
  const stop = new AbortController();
  const options = { categories: [], after: 'start' as const, signal: stop.signal };
  for await (const item of store.feed(options)) {
    if (item._tag === 'Events') events += item.events.length;
    if (item._tag === 'CaughtUp' || item._tag === 'Fault') break;
  }
  stop.abort();
  return events;
};
