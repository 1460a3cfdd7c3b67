import { takeIn } from '../building.js';
import { messageBack } from '../canonical.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import type { CaseMessage } from '../input-shape.js';
import { callIdsIn } from '../call-ids.js';
import type { Operate, Started } from '../run.js';
import { refuse, type Fields } from '../shape.js';
import { appendTo, openTalk, rowsOf, type Talk } from '../talk.js';
import { openWorld } from '../world.js';

/** The n-th generated message; each has an id of its own. */
const generated = (message: CaseMessage, index: number): CaseMessage => ({
  ...message,
  id: `${message.id ?? 'm'}-${String(index + 1)}`,
});

/** Appends messages one by one, and compacts in between when the case says so. */
export const appendMany = async (
  talk: Talk,
  message: CaseMessage,
  count: number,
  every: number | null,
): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    const next = generated(message, index);
    await appendTo(talk, [next], {}, true);
    const done = index + 1;
    if (every === null || done % every !== 0 || next.id === undefined) continue;
    const summary = `Summary of the first ${String(done - 1)} messages.`;
    await talk.branch.compact({ strategy: 'summary', summary, keepFrom: next.id });
  }
};

const perfOf = ({ input }: Started) => {
  const {
    append,
    read_after_messages: points = [],
    compactions_every: every = null,
  } = input.params;
  return append === undefined
    ? refuse('/input/params', 'perf needs append')
    : { ...append, points, every };
};

/** The history as it was when it had this many messages. */
const historyAt = async (talk: Talk, count: number): Promise<readonly Fields[]> => {
  const rows = await rowsOf(talk);
  const revision = rows[count - 1]?.entry.place.revision;
  if (revision === undefined) return [];
  const { items } = await talk.branch.surface({ revision });
  return items.map(({ message }) => messageBack(message, talk.given.get(message.id)));
};

/** Bytes that a store of this kind keeps for so many messages, after it was closed. */
export const bytesFor = async (started: Started, count: number): Promise<number> => {
  const { message, every } = perfOf(started);
  const world = await openWorld(started.world.store);
  try {
    const talk = await openTalk(world, callIdsIn(started.input));
    await appendMany(talk, message, count, every);
    return await world.closedBytes();
  } finally {
    await world.dispose();
  }
};

/** Appends the generated messages, measures the store, and reads at the points of the case. */
export const perf: Operate = async (started) => {
  const { talk, profile } = started;
  const { message, count, points, every } = perfOf(started);
  await takeIn(started);
  const before = await started.mark();
  await appendMany(talk, message, count, every);
  const reads = await Promise.all(points.map((point) => historyAt(talk, point)));
  return {
    facts: { ...historyFacts(talk), ...eventFacts(talk, () => before.events) },
    roots: {
      ...readRoot(talk),
      reads: () => Promise.resolve(reads),
    },
    report: [],
    evidence: { profile },
  };
};
