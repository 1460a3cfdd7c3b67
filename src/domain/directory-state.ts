import type { EventRef } from './events/references.js';
import type { BranchReason, BranchRegistered } from './events/directory-events.js';
import type { Recorded } from './recorded.js';
import type { Revision, Uid } from './ids.js';

export interface BranchEntry {
  readonly branch: Uid;
  readonly name: string;
  readonly reason: BranchReason;
  readonly depth: number;
  readonly ancestors: readonly EventRef[];
  readonly parent?: EventRef;
  readonly ofModelCall?: string;
  readonly replaces?: string;
}

/** What a decision on a conversation as a whole may know. Grows with its branches only. */
export interface DirectoryState {
  readonly head: Revision;
  readonly hash: string;
  readonly at: string;
  readonly main?: Uid;
  readonly branches: ReadonlyMap<Uid, BranchEntry>;
  readonly promoted?: Uid;
  readonly closed: boolean;
  readonly imports: ReadonlySet<string>;
}

export const emptyDirectory: DirectoryState = {
  head: -1,
  hash: '',
  at: '',
  branches: new Map(),
  closed: false,
  imports: new Set(),
};

const entryOf = (data: BranchRegistered): BranchEntry => ({
  branch: data.branch,
  name: data.name,
  reason: data.reason,
  depth: data.depth,
  ancestors: data.ancestors,
  ...(data.parent === undefined ? {} : { parent: data.parent }),
  ...(data.ofModelCall === undefined ? {} : { ofModelCall: data.ofModelCall }),
  ...(data.replaces === undefined ? {} : { replaces: data.replaces }),
});

/** State after `events` of the directory stream. */
export const foldDirectory = (
  start: DirectoryState,
  events: Iterable<Recorded>,
): DirectoryState => {
  const branches = new Map(start.branches);
  const imports = new Set(start.imports);
  let { main, promoted, closed, head, hash, at } = start;
  for (const { event, revision, hash: own, meta } of events) {
    if (event?.type === 'ConversationStarted') main = event.data.main;
    if (event?.type === 'BranchRegistered') branches.set(event.data.branch, entryOf(event.data));
    if (event?.type === 'BranchLabelled') {
      const entry = branches.get(event.data.branch);
      if (entry !== undefined) branches.set(entry.branch, { ...entry, name: event.data.name });
    }
    if (event?.type === 'BranchPromoted') promoted = event.data.branch;
    if (event?.type === 'ConversationClosed') closed = true;
    if (event?.type === 'ConversationReopened') closed = false;
    if (event?.type === 'ImportStarted') imports.add(event.data.import);
    if (event?.type === 'ImportCompleted') imports.delete(event.data.import);
    [head, hash, at] = [revision, own, meta.at];
  }
  return {
    head,
    hash,
    at,
    branches,
    closed,
    imports,
    ...(main === undefined ? {} : { main }),
    ...(promoted === undefined ? {} : { promoted }),
  };
};

/** The branch of this name; the newest when a name was given twice. */
export const branchNamed = (state: DirectoryState, name: string): BranchEntry | undefined =>
  [...state.branches.values()].findLast((entry) => entry.name === name);
