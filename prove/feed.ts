import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { categoryOf } from '../src/domain/stream-name.js';
import { openEngine } from '../src/open.js';
import { atLeast, exactly, say, type Claim } from './claim.js';
import {
  newReader,
  readInPieces,
  readInProcesses,
  readOn,
  type Reader,
  type Seen,
} from './fault/feed-readers.js';
import { writeInProcesses, type WriterCount } from './fault/killed-writers.js';
import { rawEvents, type RawEvent } from './fault/stored-events.js';
import { value } from './support/engine.js';
import { randomOf, seedOf, type Random } from './support/random.js';
import { withTempFolder } from './support/temp.js';

const EVENTS = 100_000;
const WRITERS = 4;
/** Readers may be so late behind the last event. */
const PATIENCE_MS = 60_000;

interface Verdict {
  readonly skipped: number;
  readonly repeated: number;
  /** Given out of order, or with another id than the file holds. */
  readonly wrong: number;
}

/** Compares what a reader was given with what the file holds. */
const judge = (events: readonly RawEvent[], seen: readonly Seen[]): Verdict => {
  const ids = new Map(events.map(({ position, id }) => [String(position), id]));
  const given = new Set(seen.map(({ position }) => position));
  const outOfOrder = seen.filter(
    ({ position }, at) => at > 0 && Number(position) <= Number(seen[at - 1]?.position),
  );
  return {
    skipped: [...ids.keys()].filter((position) => !given.has(position)).length,
    repeated: seen.length - given.size,
    wrong: outOfOrder.length + seen.filter(({ position, id }) => ids.get(position) !== id).length,
  };
};

const wantedBy = ({ categories }: Reader, events: readonly RawEvent[]): readonly RawEvent[] =>
  categories.length === 0
    ? events
    : events.filter(({ stream }) => categories.includes(categoryOf(stream)));

interface Tailing {
  readonly readers: readonly Reader[];
  readonly writers: WriterCount;
  readonly events: readonly RawEvent[];
}

const hasCaughtUp = (readers: readonly Reader[], last: number): boolean =>
  readers.every(({ at, faults }) => Number(at) >= last || faults.length > 0);

const tail = async (store: string, seed: number, total: number): Promise<Tailing> => {
  const random = (at: number): Random => randomOf(seedOf(seed, at));
  const [on, pieces, filtered, processes] = [
    newReader('without a break'),
    newReader('in pieces'),
    newReader('one category, in pieces', ['conversation']),
    newReader('in processes that are killed'),
  ] as const;
  const [stopWriters, stopReaders] = [new AbortController(), new AbortController()];
  const writers: WriterCount = { kills: 0, errors: [] };
  const reading = Promise.all([
    readOn(on, store, stopReaders.signal),
    readInPieces(pieces, store, stopReaders.signal, random(1)),
    readInPieces(filtered, store, stopReaders.signal, random(2)),
    readInProcesses(processes, store, stopReaders.signal, random(3)),
  ]);
  const writing = Promise.all(
    Array.from({ length: WRITERS }, (_item, at) =>
      writeInProcesses(store, `writer-${at}`, random(10 + at), stopWriters.signal, writers),
    ),
  );
  while (on.seen.length < total && on.faults.length === 0) await delay(20);
  stopWriters.abort();
  await writing;
  const events = rawEvents(path.join(store, 'store.db'));
  const readers = [on, pieces, filtered, processes];
  const deadline = performance.now() + PATIENCE_MS;
  while (!hasCaughtUp(readers, events.length) && performance.now() < deadline) await delay(20);
  stopReaders.abort();
  await reading;
  return { readers, writers, events };
};

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** How many of two wrong feeds, one event left out and one given twice, are noticed. */
const noticed = (events: readonly RawEvent[], seen: readonly Seen[]): number => {
  const middle = Math.floor(seen.length / 2);
  const skipping = judge(events, seen.toSpliced(middle, 1));
  const repeating = judge(events, [...seen.slice(0, middle), ...seen.slice(middle - 1)]);
  return Number(skipping.skipped === 1) + Number(repeating.repeated === 1);
};

/** G11: readers of the feed miss nothing and are given nothing twice, whoever is killed. */
export const claim: Claim = {
  id: 'feed',
  run: ({ seed, n = EVENTS }) =>
    withTempFolder('feed', async (folder) => {
      const store = path.join(folder, 'store');
      const engine = await value(openEngine({ store }));
      await value(engine.runtime.events.close());
      const { readers, writers, events } = await tail(store, seed, n);
      const verdicts = readers.map((reader) => judge(wantedBy(reader, events), reader.seen));
      for (const [at, { name, seen, restarts, faults }] of readers.entries()) {
        const verdict = JSON.stringify(verdicts[at]);
        const ended = faults.slice(0, 2).join(' ');
        say(`${name}: ${seen.length} events, ${restarts} restarts, ${verdict} ${ended}`);
      }
      for (const error of writers.errors.slice(0, 3)) say(error);
      const seen = readers[0]?.seen ?? [];
      return {
        measures: [
          atLeast('events', events.length, n),
          atLeast('writers killed', writers.kills, 2),
          exactly('events skipped', sum(verdicts.map(({ skipped }) => skipped)), 0),
          exactly('events given twice', sum(verdicts.map(({ repeated }) => repeated)), 0),
          exactly('events out of order or changed', sum(verdicts.map(({ wrong }) => wrong)), 0),
          exactly(
            'readers that ended with a fault',
            readers.filter((one) => one.faults.length > 0).length,
            0,
          ),
          exactly('writers that failed', writers.errors.length, 0),
          exactly('sensitivity: wrong feeds noticed', noticed(events, seen), 2),
        ],
      };
    }),
};
