import * as E from 'fp-ts/lib/Either.js';
import type { Link } from '../domain/chain.js';
import type { StemmaFault } from '../domain/errors.js';
import type { EventRef } from '../domain/events/references.js';
import type { Revision } from '../domain/ids.js';
import type { Recorded } from '../domain/recorded.js';
import { branchStream, directoryStream } from '../domain/stream-name.js';
import type { Surface } from '../domain/surface.js';
import { history, type History } from '../projections/history.js';
import type { HistoryDraft } from '../projections/history-fold.js';
import { slotsOf, surfaceOf, unreadable } from '../projections/surface.js';
import { ancestorsOf, remember } from './branch-loader.js';
import { openSlots } from './content.js';
import { forkPointFault, readAll, readForward } from './event-reader.js';
import { checkedPoint, type ReadPoint } from './read-point.js';
import type { BranchKey, ConversationKey, Runtime, Task } from './runtime.js';

export type { ReadPoint } from './read-point.js';

interface CachedHistory {
  readonly draft: HistoryDraft;
  readonly own: Link | undefined;
  readonly directory: Link | undefined;
  readonly ancestors: readonly EventRef[];
}

/**
 * Histories of the branches read last; each is brought up to the head before it is shown. A draft
 * is folded in place, so one stream is advanced by one reader at a time.
 */
export interface HistoryCache {
  readonly drafts: Map<string, CachedHistory>;
  readonly busy: Map<string, Promise<unknown>>;
}

export const historyCache = (): HistoryCache => ({ drafts: new Map(), busy: new Map() });

const oneAtATime =
  <A>(busy: Map<string, Promise<unknown>>, name: string, task: Task<A>): Task<A> =>
  async () => {
    const turn = (busy.get(name) ?? Promise.resolve()).then(task, task);
    busy.set(name, turn);
    try {
      return await turn;
    } finally {
      if (busy.get(name) === turn) busy.delete(name);
    }
  };

const CACHED_HISTORIES = 32;

const streamOf = (key: ConversationKey, ref: Pick<EventRef, 'branch'>): string =>
  branchStream(key.tenant, key.conversation, ref.branch);

/** Fork points of a branch from the root down; empty for a branch that continues nothing. */
export const forkPoints =
  (runtime: Runtime, key: BranchKey): Task<readonly EventRef[]> =>
  async () => {
    const first = await readAll(runtime, streamOf(key, key), undefined, 0)();
    if (E.isLeft(first)) return first;
    const event = first.right[0]?.event;
    if (event?.type !== 'BranchForked') return E.right([]);
    const ancestors = await ancestorsOf(runtime, key, event.data.ancestors)();
    return E.isLeft(ancestors) ? ancestors : E.right([...ancestors.right].reverse());
  };

const feedLineage =
  (
    runtime: Runtime,
    key: BranchKey,
    ancestors: readonly EventRef[],
    step: (recorded: Recorded) => StemmaFault | undefined,
  ): Task<void> =>
  async () => {
    for (const ref of ancestors) {
      const stream = streamOf(key, ref);
      const read = await readForward(runtime, stream, undefined, ref.revision, step)();
      if (E.isLeft(read)) return read;
      const fault = forkPointFault(stream, ref, read.right);
      if (fault !== undefined) return E.left(fault);
    }
    return E.right(undefined);
  };

const begin =
  (runtime: Runtime, key: BranchKey): Task<CachedHistory> =>
  async () => {
    const ancestors = await forkPoints(runtime, key)();
    if (E.isLeft(ancestors)) return ancestors;
    const draft = history.start();
    const read = await feedLineage(runtime, key, ancestors.right, (recorded) => {
      history.apply(draft, recorded);
      return undefined;
    })();
    return E.isLeft(read)
      ? read
      : E.right({ draft, own: undefined, directory: undefined, ancestors: ancestors.right });
  };

const advance =
  (
    runtime: Runtime,
    key: BranchKey,
    from: CachedHistory,
    upTo: Revision,
    until: string | undefined,
  ): Task<CachedHistory> =>
  async () => {
    const { draft } = from;
    const own = await readForward(runtime, streamOf(key, key), from.own, upTo, (recorded) => {
      if (until === undefined || recorded.meta.at <= until) history.apply(draft, recorded);
      return undefined;
    })();
    if (E.isLeft(own)) return own;
    const directory = await readForward(
      runtime,
      directoryStream(key.tenant, key.conversation),
      from.directory,
      Number.MAX_SAFE_INTEGER,
      (recorded) => {
        history.apply(draft, recorded);
        return undefined;
      },
    )();
    return E.isLeft(directory)
      ? directory
      : E.right({ ...from, own: own.right, directory: directory.right });
  };

/** What a history shows, and the own head that it was folded to. */
interface Folded {
  readonly view: History;
  readonly head: Revision;
}

const folded = ({ draft, own }: CachedHistory): Folded => ({
  view: history.view(draft),
  head: own?.revision ?? -1,
});

const atHead =
  (runtime: Runtime, cache: HistoryCache, key: BranchKey): Task<Folded> =>
  async () => {
    const stream = streamOf(key, key);
    const cached = cache.drafts.get(stream);
    const start =
      cached === undefined
        ? await begin(runtime, key)()
        : E.right<StemmaFault, CachedHistory>(cached);
    if (E.isLeft(start)) return start;
    const advanced = await advance(runtime, key, start.right, Number.MAX_SAFE_INTEGER, undefined)();
    if (E.isLeft(advanced)) {
      cache.drafts.delete(stream);
      return advanced;
    }
    remember(cache.drafts, stream, advanced.right, CACHED_HISTORIES);
    return E.right(folded(advanced.right));
  };

/** The prefix of a branch up to a read point, folded anew. */
const prefix =
  (runtime: Runtime, key: BranchKey, point: ReadPoint): Task<Folded> =>
  async () => {
    const ancestors = await forkPoints(runtime, key)();
    if (E.isLeft(ancestors)) return ancestors;
    const draft = history.start();
    const { time } = point;
    const read = await feedLineage(runtime, key, ancestors.right, (recorded) => {
      if (time === undefined || recorded.meta.at <= time) history.apply(draft, recorded);
      return undefined;
    })();
    if (E.isLeft(read)) return read;
    const start = { draft, own: undefined, directory: undefined, ancestors: ancestors.right };
    const upTo = point.revision ?? Number.MAX_SAFE_INTEGER;
    const advanced = await advance(runtime, key, start, upTo, time)();
    return E.isLeft(advanced) ? advanced : E.right(folded(advanced.right));
  };

const isHead = (point: ReadPoint): boolean =>
  point.revision === undefined && point.time === undefined;

/** Everything said on a branch up to a read point. `UnknownEvent` where a mandatory event is not known. */
export const readHistory =
  (runtime: Runtime, cache: HistoryCache, key: BranchKey, point: ReadPoint = {}): Task<History> =>
  async () => {
    const checked = checkedPoint(point);
    if (E.isLeft(checked)) return checked;
    const read = isHead(checked.right)
      ? await oneAtATime(cache.busy, streamOf(key, key), atHead(runtime, cache, key))()
      : await prefix(runtime, key, checked.right)();
    if (E.isLeft(read)) return read;
    const { revision } = checked.right;
    const { head, view } = read.right;
    // Whoever has a handle found the branch with its first event: it was deleted since (B69).
    if (head < 0) return E.left({ _tag: 'StreamDeleted', stream: streamOf(key, key) });
    if (revision !== undefined && revision > head) {
      return E.left({ _tag: 'RevisionInFuture', revision, head });
    }
    return view.fault === undefined ? E.right(view) : E.left(view.fault);
  };

/** A branch as contexts are built from it, with content at hand. */
export const readSurface =
  (runtime: Runtime, cache: HistoryCache, key: BranchKey, point: ReadPoint = {}): Task<Surface> =>
  async () => {
    const view = await readHistory(runtime, cache, key, point)();
    if (E.isLeft(view)) return view;
    const open = await openSlots(runtime, key, slotsOf(view.right))();
    if (E.isLeft(open)) return open;
    // A content that is there but is none must not pass for an erased one.
    const [damaged] = unreadable(view.right, open.right);
    if (damaged !== undefined) return E.left(damaged);
    const { head, directoryRevision } = view.right;
    return E.right(
      surfaceOf(view.right, open.right, {
        conversation: key.conversation,
        branch: key.branch,
        revision: head?.branch === key.branch ? head.revision : -1,
        directoryRevision,
      }),
    );
  };
