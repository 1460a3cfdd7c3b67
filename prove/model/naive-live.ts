import { stateReason } from './naive-surface.js';
import { messagesOf, seenBy, type Entry, type Run, type World } from './naive.js';

type Compacted = Extract<Entry, { readonly is: 'compacted' }>;

export interface Live {
  readonly compaction: number;
  readonly id: string;
  /** Messages that it stands for; those of summaries that it covers are named, not the summaries. */
  readonly covered: readonly string[];
  /** Covered messages that are not what they were when the summary was made. */
  readonly changed: readonly string[];
  /** Whether its summary can still be read. */
  readonly stands: boolean;
}

export interface Made {
  readonly entry: Compacted;
  /** Place in what the branch sees. */
  readonly index: number;
}

export const madeOn = (world: World, branch: number): readonly Made[] => {
  const seen = seenBy(world, branch);
  const reverted = seen.flatMap(({ entry }) => (entry.is === 'reverted' ? [entry.compaction] : []));
  return seen.flatMap(({ entry }, index) =>
    entry.is === 'compacted' && !reverted.includes(entry.compaction) ? [{ entry, index }] : [],
  );
};

/** Ids through covered summaries down to messages. */
export const follow = (world: World, branch: number, ids: readonly string[]): readonly string[] =>
  ids.flatMap((id) => {
    const summary = seenBy(world, branch).find(
      ({ entry }) => entry.is === 'compacted' && entry.id === id,
    )?.entry;
    return summary?.is === 'compacted' ? follow(world, branch, summary.covered) : [id];
  });

export const holdsRun = (outer: readonly Run[], inner: Run): boolean =>
  outer.some((run) => run.branch === inner.branch && run.from <= inner.from && inner.to <= run.to);

const isWithin = (world: World, branch: number, inner: Compacted, outer: Compacted): boolean => {
  const ids = follow(world, branch, outer.covered);
  return (
    follow(world, branch, inner.covered).every((id) => ids.includes(id)) ||
    inner.runs.every((run) => holdsRun(outer.runs, run))
  );
};

/** Changed in status or withdrawn behind the compaction, or hidden at any time. */
const changedSince = (
  world: World,
  branch: number,
  { entry: by, index: at }: Made,
): readonly string[] => {
  const later = seenBy(world, branch).slice(at + 1);
  const messages = messagesOf(world, branch);
  return follow(world, branch, by.covered).filter(
    (id) =>
      messages.some((message) => message.id === id && message.redacted) ||
      later.some(
        ({ entry }) =>
          (entry.is === 'status' && entry.id === id) ||
          (entry.is === 'withdrawn' && entry.ids.includes(id)),
      ),
  );
};

/** Compactions that nobody took back and that no later one stands for. */
export const liveCompactions = (world: World, branch: number): readonly Live[] => {
  const made = madeOn(world, branch);
  const messages = messagesOf(world, branch);
  const live = made.filter(
    (inner) =>
      !made.some(
        (outer) => outer.index > inner.index && isWithin(world, branch, inner.entry, outer.entry),
      ),
  );
  return live.map((one) => {
    const { compaction, id, covered } = one.entry;
    const summary = messages.find((message) => message.id === id);
    return {
      compaction,
      id,
      covered: follow(world, branch, covered),
      changed: changedSince(world, branch, one),
      stands: summary !== undefined && stateReason(summary) === undefined,
    };
  });
};
