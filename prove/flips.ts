import fs from 'node:fs';
import path from 'node:path';
import { atLeast, exactly, say, type Claim } from './claim.js';
import { withFastFolder } from './fault/fast-folder.js';
import type { Flip, FlipOrders, NamedFault } from './fault/flip-worker.js';
import { inspect } from './fault/inspect.js';
import { inParallel, partsOf } from './fault/parallel.js';
import { doStep, startWork } from './fault/workload.js';
import { runReporter } from './fault/worker.js';
import { randomOf, seedOf } from './support/random.js';

const FLIPS = 10_000;
const FLIPS_OF_STORE = 500;
const STEPS_OF_STORE = 30;
const STEPS_OF_CLEAN = 4;
/** Clean runs, in which nothing may be found, to flips. */
const CLEAN_SHARE = 10;

/** Makes a store as an application leaves it behind. */
const makeStore = async (store: string, seed: number, steps: number): Promise<void> => {
  const work = await startWork({
    path: store,
    random: randomOf(seed),
    name: 'w',
    around: (events) => events,
  });
  for (let step = 0; step < steps; step += 1) await doStep(work);
  await work.stemma.close();
};

const flipAll = async (folder: string, seed: number, total: number): Promise<readonly Flip[]> => {
  const tasks = partsOf(total, FLIPS_OF_STORE).map((flips, at) => async () => {
    const store = path.join(folder, `store-${at}`);
    const copies = path.join(folder, `copies-${at}`);
    fs.mkdirSync(copies);
    await makeStore(store, seedOf(seed, at), STEPS_OF_STORE);
    const orders: FlipOrders = { store, folder: copies, seed: seedOf(seed, at), flips };
    const found = await runReporter<Flip>('flip-worker', orders);
    say(`store ${at}: ${found.filter(isMissed).length} of ${found.filter(isChange).length} missed`);
    return found;
  });
  return (await inParallel(tasks)).flat();
};

const isChange = ({ truth, isUnreadable, derived }: Flip): boolean =>
  truth.length > 0 || (isUnreadable && derived.length === 0);

const isFound = ({ faults }: Flip): boolean => faults.length > 0;

const countFound = (flips: readonly Flip[]): number => flips.filter(isFound).length;

const isMissed = (flip: Flip): boolean => isChange(flip) && !isFound(flip);

const isPlaced = ({ stream }: NamedFault): boolean => stream !== undefined;

/** A damaged event may also show in the link of the one behind it, or as the first one missing. */
const isNear = (fault: NamedFault, { places }: Flip): boolean =>
  places.some(
    ({ stream, revision }) =>
      stream === fault.stream && Math.abs(revision - (fault.revision ?? revision)) <= 1,
  );

const hasRevision = ({ revision = -1 }: NamedFault): boolean => revision >= 0;

/** Named the stream of what changed, but not the event. */
const isVague = (flip: Flip): boolean =>
  flip.faults.some(isPlaced) && !flip.faults.some((fault) => isPlaced(fault) && hasRevision(fault));

/** Named a place, and none of those that changed. */
const isElsewhere = (flip: Flip): boolean => {
  const placed = flip.faults.filter((fault) => isPlaced(fault) && hasRevision(fault));
  if (flip.places.length === 0 || placed.length === 0) return false;
  return !placed.some((fault) => isNear(fault, flip));
};

/** Without a place there must be a reason: the file, or a page of it, cannot be read. */
const isWithoutPlace = (flip: Flip): boolean =>
  isChange(flip) && isFound(flip) && !flip.faults.some(isPlaced);

const show = (title: string, flips: readonly Flip[]): void => {
  for (const { byte, bit, truth, faults, raw } of flips.slice(0, 5)) {
    const told = raw ?? JSON.stringify(faults.slice(0, 2));
    say(`${title}: byte ${byte} bit ${bit}: ${truth.slice(0, 3).join('; ')}: ${told}`);
  }
};

const falseAlarms = async (folder: string, seed: number, runs: number): Promise<number> => {
  let alarms = 0;
  for (let run = 0; run < runs; run += 1) {
    const store = path.join(folder, `clean-${run}`);
    await makeStore(store, seedOf(seed, 1_000_000 + run), STEPS_OF_CLEAN);
    const { wrong } = await inspect(store, new Map());
    if (wrong.length > 0) say(`false alarm: ${wrong.join('\n  ')}`);
    alarms += Number(wrong.length > 0);
    fs.rmSync(store, { recursive: true, force: true });
  }
  return alarms;
};

const percent = (some: number, all: number): number => Math.round((100 * some) / Math.max(1, all));

/** G13: a bit that changes is found, and named by stream and revision; nothing else is. */
export const claim: Claim = {
  id: 'flips',
  run: ({ seed, n = FLIPS }) =>
    withFastFolder('flips', async (folder) => {
      const flips = await flipAll(folder, seed, n);
      const changes = flips.filter(isChange);
      const [missed, raw] = [
        flips.filter(isMissed),
        flips.filter((flip) => flip.raw !== undefined),
      ];
      const elsewhere = changes.filter(isElsewhere);
      const vague = changes.filter(isVague);
      const derived = flips.filter((flip) => !isChange(flip) && flip.derived.length > 0);
      show('missed', missed);
      show('elsewhere', elsewhere);
      show('without a revision', vague);
      show('raw', raw);
      say(`${changes.length} of ${n} flips changed what is read`);
      say(
        `found without a place (page or file unreadable): ${changes.filter(isWithoutPlace).length}`,
      );
      say(
        `only derived or unread changed: ${derived.length}, of them found: ${countFound(derived)}`,
      );
      const clean = Math.ceil(n / CLEAN_SHARE);
      const alarms = await falseAlarms(folder, seed, clean);
      const unseen = changes.filter(({ isFoundBySqlite }) => !isFoundBySqlite).length;
      return {
        measures: [
          atLeast('flips that changed content', changes.length, Math.ceil(n / 4)),
          exactly('of them found by nobody', missed.length, 0),
          exactly('of them named at another place', elsewhere.length, 0),
          exactly('of them named by stream alone', vague.length, 0),
          exactly('errors of no known kind', raw.length, 0),
          exactly(`false alarms in ${clean} clean runs`, alarms, 0),
          atLeast(
            'sensitivity: percent missed by the check of SQLite',
            percent(unseen, changes.length),
            50,
          ),
        ],
      };
    }),
};
