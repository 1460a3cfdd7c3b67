import path from 'node:path';
import { atLeast, exactly, say, type Claim } from './claim.js';
import { ackOf, type Ack } from './fault/acks.js';
import type { AppendOrders, AppendReport } from './fault/append-worker.js';
import { inspect } from './fault/inspect.js';
import { rawEvents } from './fault/stored-events.js';
import { judge, type Verdict } from './fault/winners.js';
import { runWorker } from './fault/worker.js';
import { seedOf } from './support/random.js';
import { withTempFolder } from './support/temp.js';

const PROCESSES = 4;
const APPENDS = 10_000;
const CONTENDED_PERCENT = 50;
const HIDDEN_APPENDS = 100;

interface Writer {
  readonly acks: readonly Ack[];
  readonly report: AppendReport;
}

interface Race {
  readonly verdict: Verdict;
  readonly writers: readonly Writer[];
  readonly events: number;
  readonly wrong: readonly string[];
}

const runWriter = async (orders: AppendOrders): Promise<Writer> => {
  const lines = await runWorker('append-worker', orders);
  return {
    acks: lines.map(ackOf).filter((ack) => ack !== undefined),
    report: JSON.parse(lines.at(-1) ?? '') as AppendReport,
  };
};

const race = async (
  store: string,
  seed: number,
  appends: number,
  hides: boolean,
): Promise<Race> => {
  const writers = await Promise.all(
    Array.from({ length: PROCESSES }, (_item, at) =>
      runWriter({
        store,
        name: `p${at}`,
        kind: 'branch',
        seed: seedOf(seed, at),
        appends,
        contended: CONTENDED_PERCENT,
        mostEvents: 1,
        pauseMs: 0,
        hides,
        linesAtOnce: 200,
      }),
    ),
  );
  const events = rawEvents(path.join(store, 'store.db'));
  const verdict = judge(
    events,
    writers.map(({ acks }) => acks),
  );
  const { wrong } = await inspect(store, new Map());
  return { verdict, writers, events: events.length, wrong };
};

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

const refusals = (writers: readonly Writer[], tag: string): number =>
  sum(writers.map(({ report }) => report.refused[tag] ?? 0));

const known = new Set(['WrongRevision', 'StoreLocked']);

/** G6: of several processes on one file exactly one wins each revision; none sees a raw error. */
export const claim: Claim = {
  id: 'processes',
  run: ({ seed, n = APPENDS }) =>
    withTempFolder('processes', async (folder) => {
      const began = performance.now();
      const { verdict, writers, events, wrong } = await race(
        path.join(folder, 'a'),
        seed,
        n,
        false,
      );
      const seconds = Math.round((performance.now() - began) / 1_000);
      const raw = writers.flatMap(({ report }) => report.raw);
      const tags = new Set(writers.flatMap(({ report }) => Object.keys(report.refused)));
      for (const text of [...raw, ...wrong].slice(0, 5)) say(text);
      for (const tag of tags) say(`${tag}: ${refusals(writers, tag)}`);
      say(`${events} events in ${seconds} s`);
      const hidden = await race(path.join(folder, 'b'), seed, Math.min(n, HIDDEN_APPENDS), true);
      return {
        measures: [
          exactly('events stored', events, PROCESSES * n),
          exactly('revisions with several winners', verdict.sharedWins, 0),
          exactly('acknowledged and not there', verdict.lost, 0),
          exactly('there and acknowledged to nobody', verdict.unclaimed, 0),
          exactly('gaps in positions and revisions', verdict.gaps, 0),
          exactly('errors of the driver', raw.length, 0),
          exactly(
            'kinds of refusal but the two',
            [...tags].filter((tag) => !known.has(tag)).length,
            0,
          ),
          exactly('faults found by verify', wrong.length, 0),
          atLeast('refused for another winner', refusals(writers, 'WrongRevision'), 1),
          atLeast(
            'sensitivity: several winners where refusals are hidden',
            hidden.verdict.sharedWins,
            1,
          ),
        ],
      };
    }),
};
