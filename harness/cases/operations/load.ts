import { parseStream } from '../../../src/domain/stream-name.js';
import { build, builtDone, unasked, viewOf } from '../building.js';
import { appendMessages, loadEvents, type Placement } from '../events.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import { attempt, caseFault, type FaultView } from '../fault.js';
import type { Done, Facts, Moment, Operate, Started } from '../run.js';
import { reopenTalk, rowsOf, type Talk } from '../talk.js';

/** Positions of a load count the events of the case (rule 6). */
const loadView = (talk: Talk, placement: Placement): FaultView => ({
  ...viewOf(talk),
  position: (revision) => {
    const at = placement.findIndex((revisions) => revisions.includes(revision));
    return at < 0 ? undefined : at;
  },
});

interface Line {
  readonly stream?: string;
  readonly revision?: number;
}

/** Revisions of the branch that are read as they are stored. */
const rawRevisions = async ({
  world,
  conversation,
  branch,
}: Talk): Promise<ReadonlySet<number>> => {
  const revisions = new Set<number>();
  for await (const text of world.engine().export(conversation)) {
    const { stream, revision } = JSON.parse(text) as Line;
    const name = stream === undefined ? undefined : parseStream(stream);
    const isOwn = name?.kind === 'branch' && name.branch === branch.branch;
    if (isOwn && revision !== undefined) revisions.add(revision);
  }
  return revisions;
};

/** Events of the case that are all there when the stream is read raw. */
const rawCount = async (talk: Talk, placement: Placement): Promise<number> => {
  const read = await rawRevisions(talk);
  return placement.filter((revisions) => revisions.every((revision) => read.has(revision))).length;
};

const bare = (
  { talk, profile }: Started,
  before: Moment,
  more: Partial<Done> & { readonly facts?: Facts },
): Done => ({
  roots: readRoot(talk),
  evidence: { profile },
  ...more,
  facts: { ...eventFacts(talk, () => before.events), ...more.facts },
});

const readHistory = async (
  started: Started,
  placement: Placement,
  before: Moment,
): Promise<Done> => {
  const { talk, input } = started;
  const read = await attempt(() => rowsOf(talk));
  if ('fault' in read) {
    return bare(started, before, { fault: await caseFault(read.fault, loadView(talk, placement)) });
  }
  const count = (): Promise<number> => rawCount(talk, placement);
  const built = await build(started, input.params);
  const asked = input.params.then === 'convert' ? built : unasked(built);
  return builtDone(started, asked, input.params, before.events, { facts: { count } });
};

/** Opens a stream that holds the events, and reads it. */
export const load: Operate = async (started) => {
  const { talk, input } = started;
  const placement = await loadEvents(talk, input, input.events);
  await appendMessages(talk, input.messages);
  const before = await started.mark();
  await reopenTalk(talk);
  if (input.params.project !== 'raw') return readHistory(started, placement, before);
  const count = await attempt(() => rawCount(talk, placement));
  if ('fault' in count) {
    return bare(started, before, {
      fault: await caseFault(count.fault, loadView(talk, placement)),
    });
  }
  const { value } = count;
  const facts: Facts = { ...historyFacts(talk), count: () => Promise.resolve(value) };
  return bare(started, before, { facts });
};
