import * as E from 'fp-ts/lib/Either.js';
import { emptyBranch, foldBranch, inheritState, type BranchState } from '../domain/branch-state.js';
import { emptyDirectory, foldDirectory, type DirectoryState } from '../domain/directory-state.js';
import type { StemmaFault } from '../domain/errors.js';
import type { EventRef } from '../domain/events/references.js';
import type { LineagePart } from '../domain/key-index.js';
import { unknownFault, type Recorded } from '../domain/recorded.js';
import { branchStream, directoryStream } from '../domain/stream-name.js';
import { forkPointFault, readAll } from './event-reader.js';
import type { BranchKey, ConversationKey, Runtime, Task } from './runtime.js';
import { loadSnapshot, saveSnapshot, SNAPSHOT_EVERY } from './state-snapshots.js';

/** A stream's decision state, and the lineage on which its ids are looked up (own stream first). */
export interface Loaded<State> {
  readonly state: State;
  readonly lineage: readonly LineagePart[];
}

/** Decision states of the streams used last; each is brought up to the head before it decides. */
export interface StateCache {
  readonly branches: Map<string, BranchState>;
  readonly directories: Map<string, DirectoryState>;
  /** Revision of the last snapshot of a branch. */
  readonly kept: Map<string, number>;
  /** States at fork points by the hash of the event there: a chain of forks is folded once. */
  readonly forkPoints: Map<string, BranchState>;
  /** Fork points of a branch, nearest first; they never change. */
  readonly lineages: Map<string, readonly EventRef[]>;
}

export const stateCache = (): StateCache => ({
  branches: new Map(),
  directories: new Map(),
  kept: new Map(),
  forkPoints: new Map(),
  lineages: new Map(),
});

const CACHED_STATES = 256;

/** Keeps the newest entries of a map that is used as a cache. */
export const remember = <A>(cache: Map<string, A>, name: string, value: A, limit: number): void => {
  cache.delete(name);
  cache.set(name, value);
  const oldest = cache.keys().next().value;
  if (cache.size > limit && oldest !== undefined) cache.delete(oldest);
};

const streamOf = (key: ConversationKey, ref: Pick<EventRef, 'branch'>): string =>
  branchStream(key.tenant, key.conversation, ref.branch);

const mandatoryFault = (events: readonly Recorded[]): StemmaFault | undefined => {
  for (const recorded of events) {
    const fault = unknownFault(recorded);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/** Fork points from the nearest ancestor to the root; walks on where a branch names only the nearest 64. */
export const ancestorsOf =
  (
    runtime: Runtime,
    key: ConversationKey,
    nearest: readonly EventRef[],
  ): Task<readonly EventRef[]> =>
  async () => {
    const all = [...nearest];
    for (let last = all.at(-1); last !== undefined && all.length % 64 === 0; last = all.at(-1)) {
      const first = await readAll(runtime, streamOf(key, last), undefined, 0)();
      if (E.isLeft(first)) return first;
      const event = first.right[0]?.event;
      if (event?.type !== 'BranchForked') break;
      all.push(...event.data.ancestors);
    }
    return E.right(all);
  };

const linkOf = (state: { readonly head: number; readonly hash: string }) =>
  state.head < 0 ? undefined : { revision: state.head, hash: state.hash };

/** The state at a fork point where it is at hand: the branch still ends there, or another fork asked. */
const knownAt = (
  cache: StateCache,
  key: ConversationKey,
  ref: EventRef,
): BranchState | undefined => {
  const atHead = cache.branches.get(streamOf(key, ref));
  return atHead?.hash === ref.hash ? atHead : cache.forkPoints.get(ref.hash);
};

/** The state at a fork point: the ancestors folded one after the other, down from a known one. */
const inheritedState =
  (
    runtime: Runtime,
    cache: StateCache,
    key: ConversationKey,
    ancestors: readonly EventRef[],
  ): Task<BranchState> =>
  async () => {
    const known = ancestors.findIndex((ref) => knownAt(cache, key, ref) !== undefined);
    const nearest = ancestors[known];
    let state = nearest && knownAt(cache, key, nearest);
    for (const ref of ancestors.slice(0, known < 0 ? ancestors.length : known).reverse()) {
      const stream = streamOf(key, ref);
      const events = await readAll(runtime, stream, undefined, ref.revision)();
      if (E.isLeft(events)) return events;
      const fault =
        forkPointFault(stream, ref, events.right.at(-1)) ?? mandatoryFault(events.right);
      if (fault !== undefined) return E.left(fault);
      state = foldBranch(state === undefined ? emptyBranch : inheritState(state), events.right);
      remember(cache.forkPoints, ref.hash, state, CACHED_STATES);
    }
    return E.right(state === undefined ? emptyBranch : inheritState(state));
  };

/** The same where the lineage of the parent is known: a fork of a fork reads nothing twice. */
const ancestorsBehind = (
  runtime: Runtime,
  cache: StateCache,
  key: ConversationKey,
  nearest: readonly EventRef[],
): Task<readonly EventRef[]> => {
  const [parent] = nearest;
  const known = parent && cache.lineages.get(streamOf(key, parent));
  return parent === undefined || known === undefined
    ? ancestorsOf(runtime, key, nearest)
    : () => Promise.resolve(E.right([parent, ...known]));
};

const startState = async (
  runtime: Runtime,
  cache: StateCache,
  key: ConversationKey,
  first: Recorded | undefined,
): Promise<E.Either<StemmaFault, BranchState>> => {
  if (first?.event?.type !== 'BranchForked') return E.right(emptyBranch);
  const { ancestors: nearest } = first.event.data;
  const ancestors = await ancestorsBehind(runtime, cache, key, nearest)();
  return E.isLeft(ancestors) ? ancestors : inheritedState(runtime, cache, key, ancestors.right)();
};

const fromSnapshot = async (
  runtime: Runtime,
  cache: StateCache,
  stream: string,
): Promise<BranchState | undefined> => {
  const state = await loadSnapshot(runtime, stream);
  if (state !== undefined) remember(cache.kept, stream, state.head, CACHED_STATES);
  return state;
};

const lineageOf = async (
  runtime: Runtime,
  cache: StateCache,
  key: BranchKey,
  state: BranchState,
): Promise<E.Either<StemmaFault, readonly EventRef[]>> => {
  const stream = streamOf(key, key);
  const known = cache.lineages.get(stream);
  if (known !== undefined) return E.right(known);
  const ancestors = await ancestorsBehind(runtime, cache, key, state.ancestors)();
  if (E.isRight(ancestors) && state.head >= 0) {
    remember(cache.lineages, stream, ancestors.right, CACHED_STATES);
  }
  return ancestors;
};

/** Brings the decision state of a branch to its head. A branch without events has head -1. */
export const loadBranch =
  (runtime: Runtime, cache: StateCache, key: BranchKey): Task<Loaded<BranchState>> =>
  async () => {
    const stream = streamOf(key, key);
    const cached = cache.branches.get(stream) ?? (await fromSnapshot(runtime, cache, stream));
    const events = await readAll(runtime, stream, cached && linkOf(cached))();
    if (E.isLeft(events)) return events;
    const fault = mandatoryFault(events.right);
    if (fault !== undefined) return E.left(fault);
    const start =
      cached === undefined
        ? await startState(runtime, cache, key, events.right[0])
        : E.right<StemmaFault, BranchState>(cached);
    if (E.isLeft(start)) return start;
    const state = foldBranch(start.right, events.right);
    if (state.head >= 0) remember(cache.branches, stream, state, CACHED_STATES);
    const kept = cache.kept.get(stream) ?? -1;
    if (state.head - kept >= SNAPSHOT_EVERY) {
      // Noted first: a store that takes no snapshot is not asked again for every command.
      remember(cache.kept, stream, state.head, CACHED_STATES);
      await saveSnapshot(runtime, stream, state);
    }
    const ancestors = await lineageOf(runtime, cache, key, state);
    if (E.isLeft(ancestors)) return ancestors;
    const lineage = [
      { stream, upTo: state.head },
      ...ancestors.right.map((ref) => ({ stream: streamOf(key, ref), upTo: ref.revision })),
    ];
    return E.right({ state, lineage });
  };

const directoryAtHead =
  (
    runtime: Runtime,
    cache: StateCache,
    key: ConversationKey,
  ): Task<{ readonly state: DirectoryState; readonly fault: StemmaFault | undefined }> =>
  async () => {
    const stream = directoryStream(key.tenant, key.conversation);
    const cached = cache.directories.get(stream);
    const events = await readAll(runtime, stream, cached && linkOf(cached))();
    if (E.isLeft(events)) return events;
    const fault = mandatoryFault(events.right);
    const state = foldDirectory(cached ?? emptyDirectory, events.right);
    if (state.head >= 0 && fault === undefined) {
      remember(cache.directories, stream, state, CACHED_STATES);
    }
    return E.right({ state, fault });
  };

/** Brings the state of a conversation's directory to its head. */
export const loadDirectory =
  (runtime: Runtime, cache: StateCache, key: ConversationKey): Task<Loaded<DirectoryState>> =>
  async () => {
    const stream = directoryStream(key.tenant, key.conversation);
    const loaded = await directoryAtHead(runtime, cache, key)();
    if (E.isLeft(loaded)) return loaded;
    const { state, fault } = loaded.right;
    if (fault !== undefined) return E.left(fault);
    return E.right({ state, lineage: [{ stream, upTo: state.head }] });
  };

/**
 * What this build understands of a directory, for finding things and for showing them: unknown
 * mandatory events stop decisions and contexts, not the events view, verify and export (B40).
 */
export const lookIntoDirectory =
  (runtime: Runtime, cache: StateCache, key: ConversationKey): Task<DirectoryState> =>
  async () => {
    const loaded = await directoryAtHead(runtime, cache, key)();
    return E.isLeft(loaded) ? loaded : E.right(loaded.right.state);
  };
