import path from 'node:path';
import { atLeast, atMost, exactly, say, type Claim } from './claim.js';
import type { Acks, AckTime } from './fault/acks.js';
import { inspect, type Inspection } from './fault/inspect.js';
import { killDriver, killTime } from './fault/killed-driver.js';
import { makeLargeStore } from './fault/large-store.js';
import { inParallel, partsOf } from './fault/parallel.js';
import { randomOf, seedOf } from './support/random.js';
import { withTempFolder } from './support/temp.js';

const KILLS = 1_000;
/** A store is made anew after so many, to keep the check of all its events short. */
const KILLS_OF_STORE = 25;
const SHARE_OF_EARLY = 20;
const LARGE_EVENTS = 100_000;
const LARGE_KILLS = 20;
const ENDLESS = 1_000_000;

interface Series {
  readonly store: string;
  readonly seed: number;
  readonly kills: number;
  readonly ackTime: AckTime;
  /** False for a store that is too large to check all of it after each kill. */
  readonly isWhole: boolean;
}

interface Kill extends Inspection {
  readonly isKilled: boolean;
}

/** Kills one driver after the other on the same store, and looks at it after each. */
const killInSeries = async (series: Series): Promise<readonly Kill[]> => {
  const { store, seed, kills, ackTime, isWhole } = series;
  const found: Kill[] = [];
  let acks: Acks = new Map();
  for (let kill = 0; kill < kills; kill += 1) {
    const random = randomOf(seedOf(seed, kill));
    const orders = {
      store,
      seed: random.below(1_000_000_000),
      name: `k${kill}`,
      steps: ENDLESS,
      sync: 'full',
      ackTime,
    } as const;
    const killed = await killDriver(orders, killTime(random), acks);
    // What was told too early and is lost would be missed again after each later kill.
    if (ackTime === 'answered') acks = killed.acks;
    const inspection = await inspect(store, killed.acks, { isWhole });
    const broken = killed.errors === '' ? [] : [`the application failed: ${killed.errors}`];
    found.push({
      ...inspection,
      isKilled: killed.isKilled,
      wrong: [...inspection.wrong, ...broken],
    });
  }
  return found;
};

const manySeries = async (
  folder: string,
  seed: number,
  kills: number,
  ackTime: AckTime,
): Promise<readonly Kill[]> => {
  const ofStore = ackTime === 'answered' ? KILLS_OF_STORE : 1;
  const tasks = partsOf(kills, ofStore).map((count, at) => async () => {
    const store = path.join(folder, `${ackTime}-${at}`);
    const options = { store, seed: seedOf(seed, at), kills: count, ackTime, isWhole: true };
    const found = await killInSeries(options);
    if (ofStore > 1) say(`store ${at}: ${found.filter(isWrong).length} of ${count} flagged`);
    return found;
  });
  return (await inParallel(tasks)).flat();
};

const isWrong = ({ wrong }: Kill): boolean => wrong.length > 0;

const countOf = (kills: readonly Kill[], pattern: RegExp): number =>
  kills.filter(({ wrong }) => wrong.some((text) => pattern.test(text))).length;

const percentLost = (kills: readonly Kill[]): number =>
  Math.round((100 * countOf(kills, /^lost/)) / kills.length);

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const seconds = (ms: number): number => Math.round(ms) / 1_000;

/** Kills on a store of many events: how long it takes to open it again. */
const killLarge = async (folder: string, seed: number, n: number): Promise<readonly Kill[]> => {
  const store = path.join(folder, 'large');
  await makeLargeStore(store, Math.ceil(LARGE_EVENTS * Math.min(1, n / KILLS)));
  const kills = Math.min(LARGE_KILLS, n);
  return killInSeries({ store, seed, kills, ackTime: 'answered', isWhole: false });
};

/** G2: what was acknowledged survives a killed process, without a gap; the store opens at once. */
export const claim: Claim = {
  id: 'kills',
  run: ({ seed, n = KILLS }) =>
    withTempFolder('kills', async (folder) => {
      const large = await killLarge(folder, seed, n);
      const kills = [...large, ...(await manySeries(folder, seed, n, 'answered'))];
      for (const { wrong } of kills.filter(isWrong).slice(0, 5)) say(wrong.join('\n  '));
      const early = await manySeries(
        folder,
        seed,
        Math.max(10, Math.ceil(n / SHARE_OF_EARLY)),
        'asked',
      );
      const openMs = large.map((kill) => kill.openMs);
      say(`slowest opening of the large store: ${seconds(Math.max(...openMs))} s`);
      return {
        measures: [
          atLeast('processes killed', kills.filter(({ isKilled }) => isKilled).length, n),
          exactly('kills that lost what was acknowledged', countOf(kills, /^lost/), 0),
          exactly('kills with a gap, a broken chain or a refusal', countOf(kills, /^[^l]/), 0),
          atMost('seconds to open the large store, median', seconds(median(openMs)), 1),
          atLeast(
            'sensitivity: percent flagged when told before the commit',
            percentLost(early),
            20,
          ),
        ],
      };
    }),
};
