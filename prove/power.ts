import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { atLeast, exactly, say, type Claim } from './claim.js';
import { inParallel, partsOf } from './fault/parallel.js';
import type { PowerOrders, State } from './fault/power-chain.js';
import { buildShim } from './fault/shim.js';
import { runReporter } from './fault/worker.js';
import { withFastFolder } from './fault/fast-folder.js';
import { seedOf } from './support/random.js';

const STATES = 5_000;
/** A run that must be noticed needs fewer. */
const SHARE_OF_STATES = 10;
const LEAST_STATES = 20;
const STATES_OF_RUN = 125;
/** Where losses are to be seen, more runs say more than more states of one. */
const RUNS_NOTICED = 5;
const GENERATIONS = 4;
const STEPS = 45;

interface Rig {
  readonly shim: string;
  readonly folder: string;
  readonly seed: number;
}

/** States of applications that ran with this sync level, each in its generations. */
const statesOf = async (
  { shim, folder, seed }: Rig,
  sync: PowerOrders['sync'],
  total: number,
): Promise<readonly State[]> => {
  // A state that lost what was acknowledged is no ground for another generation.
  const generations = sync === 'full' && total >= GENERATIONS * 10 ? GENERATIONS : 1;
  const most = sync === 'full' ? STATES_OF_RUN : Math.ceil(total / RUNS_NOTICED);
  const chains = partsOf(Math.ceil(total / generations), most);
  const tasks = chains.map((states, chain) => async () => {
    const own = path.join(folder, `${sync}-${chain}`);
    fs.mkdirSync(own);
    const orders: PowerOrders = {
      shim,
      folder: own,
      seed: seedOf(seed, chain),
      sync,
      generations,
      states,
      steps: STEPS,
    };
    const found = await runReporter<State>('power-worker', orders);
    fs.rmSync(own, { recursive: true, force: true });
    say(`sync ${sync}, run ${chain}: ${found.filter(isWrong).length} of ${found.length} flagged`);
    return found;
  });
  return (await inParallel(tasks)).flat();
};

const isWrong = ({ wrong }: State): boolean => wrong.length > 0;

const countOf = (states: readonly State[], pattern: RegExp): number =>
  states.filter(({ wrong }) => wrong.some((text) => pattern.test(text))).length;

const percentWrong = (states: readonly State[]): number =>
  Math.round((100 * states.filter(isWrong).length) / states.length);

const cutPower = async (rig: Rig, n: number) => {
  const least = Math.min(n, Math.max(LEAST_STATES, Math.ceil(n / SHARE_OF_STATES)));
  const states = await statesOf(rig, 'full', n);
  for (const { generation, cut, records, wrong } of states.filter(isWrong).slice(0, 5)) {
    say(`generation ${generation}, cut at ${cut} of ${records}:\n  ${wrong.join('\n  ')}`);
  }
  const normal = await statesOf(rig, 'normal', least);
  const off = await statesOf(rig, 'off', least);
  return {
    measures: [
      atLeast('states opened', states.length, n),
      exactly('states that lost what was acknowledged', countOf(states, /^lost/), 0),
      exactly('states damaged, refused or with part of a batch', countOf(states, /^[^l]/), 0),
      atLeast('sensitivity: percent flagged with sync normal', percentWrong(normal), 50),
      atLeast('sensitivity: percent flagged with sync off', percentWrong(off), 50),
    ],
  };
};

/** G1, G3: what was acknowledged survives a power cut, whole, on defaults. */
export const claim: Claim = {
  id: 'power',
  run: ({ seed, n = STATES }) =>
    withFastFolder('power', async (folder) => {
      const shim = buildShim('io-log', folder);
      if (E.isLeft(shim)) return { measures: [], skipped: shim.left };
      return cutPower({ shim: shim.right, folder, seed }, n);
    }),
};
