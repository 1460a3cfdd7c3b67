import { openStemma } from '../../src/index.js';
import { branchOn, eventsOf, same, type Reopened } from './reopened.js';
import { repeatable } from './scripts.js';
import type { Check } from './checks.js';
import type { Stemma } from '../../src/face/stemma-face.js';

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
  (await eventsOf(reopened)).map(
    ({ stream, event }) => `${stream.slice(0, 6)} ${event?.type ?? ''}`,
  );

const nothing = (): void => undefined;

/** The types of the events that an export carries, in order. */
const exportedTypes = async (stemma: Stemma): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const line of stemma.export('c')) {
    const { type } = JSON.parse(line) as { readonly type?: string };
    types.push(type ?? 'no event');
  }
  return types;
};

const soundTypes = async (): Promise<readonly string[]> => {
  const stemma = await openStemma({ store: 'memory:' });
  await repeatable({ stemma, ack: nothing });
  const types = await exportedTypes(stemma);
  await stemma.close();
  return types;
};

let sound: Promise<readonly string[]> | undefined;

/** The whole turn given again is the whole turn once: nothing is there twice, nothing is missing. */
const isOnce = async ({ stemma, wrong }: Reopened): Promise<void> => {
  sound ??= soundTypes();
  const [got, must] = [[...(await exportedTypes(stemma))].sort(), [...(await sound)].sort()];
  if (got.join() !== must.join()) wrong.push(`exported ${got.join(' ')} and not ${must.join(' ')}`);
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
