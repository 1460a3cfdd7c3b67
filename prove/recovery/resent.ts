import { openStemma } from '../../src/index.js';
import { branchOn, eventsOf, same, type Reopened } from './reopened.js';
import { repeatable } from './scripts.js';
import type { Check } from './checks.js';

const historyOf = async (reopened: Reopened): Promise<string> => {
  const lines: unknown[] = [];
  for (const reference of ['c', 'c/other']) {
    const { entries } = await (await branchOn(reopened, 'look', reference)).history();
    for (const entry of entries) {
      lines.push(
        entry.kind === 'instructions'
          ? [entry.name, entry.version, entry.place.revision]
          : [entry.message.id.slice(0, 2), entry.status, entry.place.revision, entry.calls],
      );
    }
  }
  return JSON.stringify(lines);
};

const typesOf = async (reopened: Reopened): Promise<readonly string[]> =>
  (await eventsOf(reopened)).map(({ stream, event }) => `${stream.slice(0, 6)} ${event?.type ?? ''}`);

const nothing = (): void => undefined;

/** How many lines a run without any fault exports. */
const soundLines = async (): Promise<number> => {
  const stemma = await openStemma({ store: 'memory:' });
  await repeatable({ stemma, ack: nothing });
  let lines = 0;
  for await (const _line of stemma.export('c')) lines += 1;
  await stemma.close();
  return lines;
};

let sound: Promise<number> | undefined;

/** The whole turn given again is the whole turn once: nothing is there twice, nothing is missing. */
const isOnce = async (reopened: Reopened): Promise<void> => {
  sound ??= soundLines();
  let lines = 0;
  for await (const _line of reopened.stemma.export('c')) lines += 1;
  same(reopened, 'lines of the export', lines, await sound);
};

/** Dead: the same ids are given again by another process, and are replays of what is there. */
export const replyLost: Check = async (reopened) => {
  await repeatable({ stemma: reopened.stemma, ack: nothing });
  await isOnce(reopened);
  const [types, history] = [await typesOf(reopened), await historyOf(reopened)];
  await repeatable({ stemma: reopened.stemma, ack: nothing });
  same(reopened, 'given once more', await typesOf(reopened), types);
  same(reopened, 'history', await historyOf(reopened), history);
};

/** Alive: the same bytes were sent again, and are there once. */
export const replyLostAlive: Check = async (reopened) => {
  await isOnce(reopened);
  const types = await typesOf(reopened);
  await repeatable({ stemma: reopened.stemma, ack: nothing });
  same(reopened, 'given once more', await typesOf(reopened), types);
};
