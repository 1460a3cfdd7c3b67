import os from 'node:os';
import { exactly, say, type Claim, type Measure } from './claim.js';
import {
  approving,
  aroundModelCall,
  beforeTools,
  duringTool,
  forking,
  recovering,
  summarizing,
  type Check,
} from './recovery/checks.js';
import { runChild, type Ended } from './recovery/killed.js';
import { checkAlways, holds, reopen } from './recovery/reopened.js';
import { replyLost, replyLostAlive } from './recovery/resent.js';
import type { Orders } from './recovery/world.js';
import { randomOf, seedOf, type Random } from './support/random.js';
import { withTempFolder } from './support/temp.js';

const TIMES = 100;

/** A row of the recovery table of session.md: what dies where, and what must then hold. */
interface Row {
  readonly name: string;
  readonly script: string;
  readonly check: Check;
  /** The append behind which the child dies; 0: its parent kills it at a random instant. */
  readonly killAfter: (random: Random, variant: number) => number;
  /** The line of the child from which on the parent counts. */
  readonly killFrom?: string;
  readonly effect?: Orders['effect'];
  /** The child lives on: only the reply of one of its appends is lost. */
  readonly loses?: (random: Random) => Pick<Orders, 'loseReplyOf' | 'loseRequest'>;
}

const first = (): number => 1;
const never = (): number => 0;

const rows: readonly Row[] = [
  { name: 'around a model call', script: 'model call', check: aroundModelCall, killAfter: first },
  {
    name: 'after the model, before tools',
    script: 'before tools',
    check: beforeTools,
    killAfter: first,
  },
  ...(['read_only', 'idempotent', 'non_idempotent'] as const).map((effect): Row => ({
    name: `during a tool, ${effect}`,
    script: 'tool',
    check: duringTool,
    killAfter: first,
    effect,
  })),
  {
    name: 'reply lost, alive',
    script: 'reply lost',
    check: replyLostAlive,
    killAfter: never,
    loses: (random) => ({ loseReplyOf: 2 + random.below(12), loseRequest: random.chance(50) }),
  },
  {
    name: 'reply lost, dead',
    script: 'reply lost',
    check: replyLost,
    killAfter: (random, variant) => (variant % 3 === 0 ? 0 : 1 + random.below(13)),
  },
  { name: 'during compaction', script: 'compaction', check: summarizing, killAfter: first },
  { name: 'approval pending', script: 'approval', check: approving, killAfter: never },
  { name: 'fork inside an exchange', script: 'fork', check: forking, killAfter: first },
  {
    name: 'in recover itself',
    script: 'recover',
    check: recovering,
    killAfter: (random, variant) => (variant % 4 === 3 ? 0 : 1 + random.below(6)),
    killFrom: 'ready',
  },
];

const MOST_MS = 60;

const wasAsWanted = (row: Row, { killAfter }: Orders, { killed, acks }: Ended): boolean => {
  if (row.loses !== undefined) return !killed && acks.includes('lost') && acks.includes('end');
  // Killed at a random instant, the child may have come to its end before.
  return killed || (killAfter === 0 && acks.includes('end'));
};

const runOnce = (row: Row, variant: number, seed: number): Promise<readonly string[]> =>
  withTempFolder('recovery', async (folder) => {
    const random = randomOf(seed);
    const killAfter = row.killAfter(random, variant);
    const orders: Orders = {
      row: row.script,
      folder,
      killAfter,
      loseReplyOf: 0,
      loseRequest: false,
      ...row.loses?.(random),
      effect: row.effect ?? 'non_idempotent',
      variant,
    };
    const isKilled = killAfter === 0 && row.loses === undefined;
    const kill = { line: row.killFrom ?? 'open', afterMs: random.below(MOST_MS) };
    const ended = await runChild(orders, isKilled ? kill : undefined);
    const reopened = await reopen(folder);
    try {
      holds(
        reopened,
        `the child ended otherwise: ${ended.stderr}`,
        wasAsWanted(row, orders, ended),
      );
      const hasStarted = await reopened.stemma.conversations();
      if (hasStarted.length > 0) {
        await checkAlways(reopened, ended.acks);
        await row.check(reopened, orders, ended.acks);
        await checkAlways(reopened, ended.acks);
      } else holds(reopened, 'what was acknowledged is gone', ended.acks.length <= 1);
    } catch (error) {
      reopened.wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    await reopened.stemma.close();
    return reopened.wrong;
  });

/** Runs tasks, as many at once as there are processors. */
const inParallel = async <A>(tasks: readonly (() => Promise<A>)[]): Promise<readonly A[]> => {
  const results: A[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < tasks.length; at = next++) {
      const task = tasks[at];
      if (task !== undefined) results[at] = await task();
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, work));
  return results;
};

const runRow = async (row: Row, times: number, seed: number): Promise<Measure> => {
  const tasks = Array.from(
    { length: times },
    (_item, at) => () => runOnce(row, at, seedOf(seed, at)),
  );
  const results = await inParallel(tasks);
  const failed = results.flatMap((wrong, at) => (wrong.length > 0 ? [[at, wrong] as const] : []));
  for (const [at, wrong] of failed.slice(0, 3)) say(`${row.name} ${at}:\n  ${wrong.join('\n  ')}`);
  say(`${row.name}: ${times - failed.length} of ${times}`);
  return exactly(row.name, times - failed.length, times);
};

/** SE4: every row of the recovery table, with real processes and real kills. */
export const claim: Claim = {
  id: 'recovery',
  run: async ({ seed, n = TIMES }) => {
    const measures: Measure[] = [];
    for (const row of rows) measures.push(await runRow(row, n, seed));
    return { measures };
  },
};
