import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { atLeast, exactly, say, type Claim, type Outcome } from './claim.js';
import { withFastFolder } from './fault/fast-folder.js';
import { makeControlFile, type IoFault } from './fault/io-control.js';
import type { IoOrders, IoRun } from './fault/io-worker.js';
import { inParallel } from './fault/parallel.js';
import { buildShim } from './fault/shim.js';
import { runReporter } from './fault/worker.js';
import { seedOf } from './support/random.js';

const LAST_CALL = 300;
const FAULTS_OF_WORKER = 100;
/** About so many of the faults are tried on a store that hides them, from where it is open on. */
const HIDDEN = 150;
const OPEN_FROM_CALL = 100;

const errors = ['ENOSPC', 'EIO', 'EROFS'] as const;

/** Each error, once and sticky, at so many of the calls, evenly from the first to the last. */
const faultsAt = (places: number): readonly IoFault[] =>
  Array.from({ length: places }, (_item, at) =>
    errors.flatMap((error) =>
      [false, true].map((isSticky): IoFault => ({
        nth: 1 + Math.floor((at * LAST_CALL) / places),
        error,
        isSticky,
      })),
    ),
  ).flat();

const chunked = <A>(items: readonly A[], size: number): readonly (readonly A[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_item, at) =>
    items.slice(at * size, (at + 1) * size),
  );

interface Rig {
  readonly shim: string;
  readonly folder: string;
  readonly seed: number;
}

const runAll = async (
  { shim, folder, seed }: Rig,
  faults: readonly IoFault[],
  hides: boolean,
): Promise<readonly IoRun[]> => {
  const tasks = chunked(faults, FAULTS_OF_WORKER).map((some, at) => async () => {
    const control = path.join(folder, `control-${String(hides)}-${at}`);
    const root = path.join(folder, `root-${String(hides)}-${at}`);
    makeControlFile(control);
    const orders: IoOrders = { folder: root, control, seed: seedOf(seed, at), faults: some, hides };
    const env = {
      LD_PRELOAD: shim,
      STEMMA_IO_ROOT: root,
      STEMMA_IO_CONTROL: control,
      UV_USE_IO_URING: '0',
    };
    const runs = await runReporter<IoRun>('io-worker', orders, { env });
    if (!hides)
      say(`calls ${some[0]?.nth ?? 0} and on: ${countOf(runs, /./)} of ${runs.length} flagged`);
    return runs;
  });
  return (await inParallel(tasks)).flat();
};

const countOf = (runs: readonly IoRun[], pattern: RegExp): number =>
  runs.filter(({ wrong }) => wrong.some((text) => pattern.test(text))).length;

const hasStruck = ({ failedWrites, failedSyncs, failedSyncsElsewhere }: IoRun): boolean =>
  failedWrites + failedSyncs + failedSyncsElsewhere > 0;

const failCalls = async (rig: Rig, places: number): Promise<Outcome> => {
  const faults = faultsAt(places);
  const runs = await runAll(rig, faults, false);
  for (const { fault, wrong } of runs.filter((run) => run.wrong.length > 0).slice(0, 8)) {
    say(`${JSON.stringify(fault)}:\n  ${wrong.join('\n  ')}`);
  }
  const behindOpening = faults.filter(({ nth }) => nth > OPEN_FROM_CALL);
  const step = Math.ceil(behindOpening.length / HIDDEN);
  const some = behindOpening.filter((_fault, at) => at % step === 0);
  const hidden = await runAll(rig, some, true);
  const struck = hidden.filter(hasStruck);
  const noticed = Math.round((100 * countOf(struck, /^lost/)) / struck.length);
  say(
    `runs with a failed sync of the database: ${runs.filter((run) => run.failedSyncs > 0).length}`,
  );
  return {
    measures: [
      exactly('runs in which the fault struck', runs.filter(hasStruck).length, faults.length),
      exactly('runs with a false acknowledgement', countOf(runs, /^lost/), 0),
      exactly('runs that left damage', countOf(runs, /^(verify|not|refuses)/), 0),
      exactly('runs with an append refused and stored', countOf(runs, /^stored/), 0),
      exactly('runs with an append accepted behind a failed sync', countOf(runs, /^accepted/), 0),
      exactly('runs with an error of no known kind', countOf(runs, /^raw/), 0),
      atLeast('sensitivity: percent flagged of a store that hides faults', noticed, 50),
    ],
  };
};

/** G4: an error of the disk is reported, never acknowledged; a failed sync stops the store. */
export const claim: Claim = {
  id: 'io-faults',
  run: ({ seed, n = LAST_CALL }) =>
    withFastFolder('io-faults', async (folder) => {
      const shim = buildShim('io-fail', folder);
      if (E.isLeft(shim)) return { measures: [], skipped: shim.left };
      return failCalls({ shim: shim.right, folder, seed }, n);
    }),
};
