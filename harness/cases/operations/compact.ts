import type { CompactionEntry } from '../../../src/projections/history.js';
import { build, builtDone, takeIn, viewOf } from '../building.js';
import { appendMessages, beginCompaction, loadEvents, planCover } from '../events.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import { attempt, caseFault } from '../fault.js';
import type { Done, Facts, Moment, Operate, Started } from '../run.js';
import { refuse } from '../shape.js';
import { nameOf, nameSummaries, type Talk } from '../talk.js';
import { compactNow, compactOptions } from './compacting.js';

const compactionsOf = async (talk: Talk): Promise<readonly CompactionEntry[]> =>
  (await talk.branch.history()).compactions;

/** Summaries of earlier compactions over messages that the case does not tell of. */
const earlier = async ({ talk, input }: Started): Promise<void> => {
  for (const one of input.params.previous_summaries ?? []) {
    if (typeof one === 'string') await coverSetup(talk, one);
    else if (one.covers_ids === undefined) await coverSetup(talk, one.summary);
  }
};

/** Summaries of earlier compactions over messages of the case. */
const earlierCovering = async ({ talk, input }: Started): Promise<void> => {
  for (const one of input.params.previous_summaries ?? []) {
    if (typeof one === 'string' || one.covers_ids === undefined) continue;
    const { summary, covers_ids: covers } = one;
    const plan = await planCover(talk, covers, summary);
    await talk.branch.compact({ strategy: 'summary', summary, plan });
    await nameSummaries(talk);
  }
};

/** A summary of messages that the case does not tell of. */
const coverSetup = async (talk: Talk, summary: string): Promise<void> => {
  const id = `setup earlier ${String(talk.setup.size)}`;
  talk.setup.add(id);
  await talk.branch.append({ id, role: 'user', content: 'earlier' });
  await talk.branch.compact({ strategy: 'summary', summary, keepFrom: null });
};

/** What there is when a begun compaction is to be ended: its plan, and what happened since. */
const beforeFinish = async ({ talk, input, steps }: Started): Promise<void> => {
  const { finish } = input.params;
  if (finish === undefined) return;
  talk.started ??= await beginCompaction(talk, finish.covers_ids, finish.summary);
  await loadEvents(talk, input, steps.beforeFinish);
};

const perform = async (started: Started): Promise<void> => {
  const { talk, input } = started;
  const { finish, keep_from: keepFrom } = input.params;
  if (finish === undefined) {
    if (keepFrom === undefined) refuse('/input/params', 'compact needs keep_from');
    await compactNow(started, input.params, keepFrom ?? null);
    return;
  }
  const begun = talk.started?.plan;
  if (begun === undefined) return refuse('/input/params/finish', 'no compaction was begun');
  const { summary } = finish;
  const options = compactOptions(started, { ...input.params, summary }, null);
  await talk.branch.compact({ ...options, plan: { ...begun, summary } });
  await nameSummaries(talk);
};

const afterwards = async (started: Started): Promise<void> => {
  const { talk, steps, input } = started;
  await appendMessages(talk, steps.after?.append ?? []);
  const again = steps.after?.compact;
  if (again === undefined) return;
  const { keep_from: keepFrom, ...params } = again;
  const { policy } = input.params;
  await compactNow(started, { ...params, ...(policy === undefined ? {} : { policy }) }, keepFrom);
};

const coveredNames = (talk: Talk, entry: CompactionEntry | undefined): readonly string[] =>
  (entry?.data.covered ?? []).filter((id) => !talk.setup.has(id)).map((id) => nameOf(talk, id));

const refused = async (
  started: Started,
  fault: Parameters<typeof caseFault>[0],
  before: Moment,
): Promise<Done> => {
  const { talk, profile } = started;
  const told = await caseFault(fault, viewOf(talk));
  const facts: Facts = { ...historyFacts(talk), ...eventFacts(talk, () => before.events) };
  return { fault: told, facts, roots: readRoot(talk), evidence: { profile } };
};

/** Appends the input, compacts, and builds a context. */
export const compact: Operate = async (started) => {
  const { talk, input } = started;
  await earlier(started);
  await takeIn(started);
  await earlierCovering(started);
  await beforeFinish(started);
  const before = await started.mark();
  const known = (await compactionsOf(talk)).length;
  const done = await attempt(() => perform(started));
  if ('fault' in done) return refused(started, done.fault, before);
  await afterwards(started);
  const made = (await compactionsOf(talk)).slice(known);
  const [first] = made;
  const built = await build(started, input.params);
  const summaryId = first?.data.replacement?.id;
  const covered = coveredNames(talk, first);
  return builtDone(started, built, input.params, before.events, {
    facts: { covers_ids: () => Promise.resolve(covered) },
    evidence: {
      compaction: { covered, ...(summaryId === undefined ? {} : { summaryId }) },
    },
  });
};
