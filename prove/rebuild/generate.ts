import * as E from 'fp-ts/lib/Either.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import { compareBranch } from '../model/compare.js';
import { openSide, restart, type EngineSide } from '../model/engine-side.js';
import { nextStep, type Choosing } from '../model/generate.js';
import { newWorld, type World } from '../model/naive.js';
import { perform } from '../model/perform.js';
import { predict } from '../model/predict.js';
import type { Step } from '../model/steps.js';
import { repeatableStores } from '../support/engine.js';
import { randomOf } from '../support/random.js';

/** Everything that was stored for one conversation, in the order of the store. */
export interface Generated {
  readonly seed: number;
  readonly events: readonly StoredEvent[];
}

const LEAST_EVENTS = 50;
const MOST_STEPS = 400;

const allEvents = async ({ runtime }: EngineSide): Promise<readonly StoredEvent[]> => {
  const stop = new AbortController();
  const events: StoredEvent[] = [];
  const options = { categories: [], after: 'start' as const, signal: stop.signal };
  for await (const item of runtime.events.feed(options)) {
    if (item._tag === 'Events') events.push(...item.events);
    if (item._tag === 'CaughtUp' || item._tag === 'Fault') break;
  }
  stop.abort();
  return events;
};

const purposeIn =
  (world: World) =>
  (call: number): string => {
    const entries = world.branches.flatMap(({ log }) => log.map(({ entry }) => entry));
    const requested = entries.find((entry) => entry.is === 'requested' && entry.call === call);
    return requested?.is === 'requested' ? requested.purpose : 'turn';
  };

const advance = async (side: EngineSide, choosing: Choosing): Promise<boolean> => {
  const { world } = choosing;
  const step: Step = nextStep(choosing);
  // A step for a branch that only one of the two sides has is of no use here.
  if (side.names.branches[step.branch] === undefined) return false;
  const { run } = side.handles[step.handle];
  const got = await perform(side, step, purposeIn(world));
  const expected = predict(world, step, run);
  // Also takes note of the ids that the engine made.
  await compareBranch(side, world, step.handle, step.branch);
  return got.kind === expected.kind;
};

const conversationEvents = (events: readonly StoredEvent[]): number =>
  events.filter(({ stream }) => stream.startsWith('branch-')).length;

/** A random conversation through the engine: the same bytes for the same seed, everywhere. */
export const generate = async (seed: number): Promise<Generated> => {
  const stores = repeatableStores();
  const side = await openSide(stores, randomOf(seed + 1), `c${seed}`);
  const random = randomOf(seed);
  const choosing: Choosing = {
    random,
    world: newWorld(),
    get runs(): readonly [string, string] {
      return [side.handles[0].run, side.handles[1].run];
    },
    given: [],
    made: 0,
  };
  let events: readonly StoredEvent[] = [];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (random.chance(5)) await restart(side, 0, `run-${step}`);
    await advance(side, choosing);
    if (step % 10 === 9) events = await allEvents(side);
    if (conversationEvents(events) >= LEAST_EVENTS) break;
  }
  const closed = await stores.events.close()();
  if (E.isLeft(closed)) throw new Error(closed.left._tag);
  return { seed, events };
};
