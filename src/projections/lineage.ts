import type { BranchReason, BranchRegistered } from '../domain/events/directory-events.js';
import type { EventRef } from '../domain/events/references.js';
import type { Revision, Uid } from '../domain/ids.js';
import type { Slot } from '../domain/slot.js';
import { handle, isDirectory, placeOf, type Handlers } from './places.js';
import type { Projection } from './projection.js';

/** A branch in the tree of its conversation. */
export interface BranchNode {
  readonly branch: Uid;
  readonly name: string;
  /** Names that it had before, oldest first. */
  readonly formerNames: readonly string[];
  /** Fork point; absent for a branch that continues nothing. */
  readonly parent?: EventRef;
  readonly depth: number;
  readonly reason: BranchReason;
  readonly ofModelCall?: string;
  readonly replaces?: string;
  readonly registered: EventRef;
  readonly at: string;
  readonly actor: string;
  readonly promoted: boolean;
  /** Of an import that is not completed: not to be shown yet. */
  readonly hidden: boolean;
  readonly children: readonly Uid[];
  /** Labels, notes and scores by name: the latest of each. */
  readonly annotations: ReadonlyMap<string, Slot>;
}

/** All branches of a conversation; parents stand before their forks. */
export interface Lineage {
  readonly main?: Uid;
  readonly promoted?: Uid;
  readonly branches: ReadonlyMap<Uid, BranchNode>;
}

interface NodeDraft {
  readonly data: BranchRegistered;
  readonly registered: EventRef;
  readonly at: string;
  readonly actor: string;
  readonly names: string[];
  readonly imports: readonly string[];
}

export interface LineageDraft {
  main?: Uid;
  promoted?: Uid;
  readonly nodes: Map<Uid, NodeDraft>;
  readonly openImports: Set<string>;
  /** Branch to its annotations by name; they may stand before the branch is known. */
  readonly annotations: Map<string, Map<string, Slot>>;
}

const annotate = (draft: LineageDraft, branch: string, name: string, value: Slot): void => {
  const found = draft.annotations.get(branch) ?? new Map<string, Slot>();
  found.set(name, value);
  draft.annotations.set(branch, found);
};

const handlers: Handlers<LineageDraft> = {
  ConversationStarted: (draft, data) => {
    draft.main ??= data.main;
  },
  BranchRegistered: (draft, data, recorded) => {
    // A branch is registered once; who finds a second registration keeps the first.
    if (draft.nodes.has(data.branch)) return;
    draft.nodes.set(data.branch, {
      data,
      registered: placeOf(recorded),
      at: recorded.meta.at,
      actor: recorded.meta.actor,
      names: [data.name],
      imports: data.reason === 'import' ? [...draft.openImports] : [],
    });
  },
  BranchLabelled: (draft, data) => {
    draft.nodes.get(data.branch)?.names.push(data.name);
  },
  BranchPromoted: (draft, data) => {
    draft.promoted = data.branch;
  },
  ImportStarted: (draft, data) => {
    draft.openImports.add(data.import);
  },
  ImportCompleted: (draft, data) => {
    draft.openImports.delete(data.import);
  },
  MetadataAnnotated: (draft, { target, name, value }) => {
    if (target.kind === 'branch') annotate(draft, target.ref, name, value);
  },
  FeedbackRecorded: (draft, { target, name, value }) => {
    if (target.kind === 'branch') annotate(draft, target.ref, name, value);
  },
};

const nodeOf = (
  draft: LineageDraft,
  { data, registered, at, actor, names, imports }: NodeDraft,
  children: readonly Uid[],
): BranchNode => {
  const { branch, parent, depth, reason, ofModelCall, replaces } = data;
  return {
    branch,
    name: names[names.length - 1] ?? data.name,
    formerNames: names.slice(0, -1),
    ...(parent === undefined ? {} : { parent }),
    depth,
    reason,
    ...(ofModelCall === undefined ? {} : { ofModelCall }),
    ...(replaces === undefined ? {} : { replaces }),
    registered,
    at,
    actor,
    promoted: draft.promoted === branch,
    hidden: imports.some((id) => draft.openImports.has(id)),
    children,
    annotations: new Map(draft.annotations.get(branch)),
  };
};

const viewOf = (draft: LineageDraft): Lineage => {
  const children = new Map<string, Uid[]>();
  for (const { data } of draft.nodes.values()) {
    if (data.parent === undefined) continue;
    const siblings = children.get(data.parent.branch);
    if (siblings === undefined) children.set(data.parent.branch, [data.branch]);
    else siblings.push(data.branch);
  }
  return {
    ...(draft.main === undefined ? {} : { main: draft.main }),
    ...(draft.promoted === undefined ? {} : { promoted: draft.promoted }),
    branches: new Map(
      [...draft.nodes].map(([branch, node]) => [
        branch,
        nodeOf(draft, node, children.get(branch) ?? []),
      ]),
    ),
  };
};

/** The tree of a conversation's branches, from its directory alone. */
export const lineage: Projection<LineageDraft, Lineage> = {
  name: 'lineage',
  version: 1,
  start: () => ({ nodes: new Map(), openImports: new Set(), annotations: new Map() }),
  apply: (draft, recorded) => {
    if (isDirectory(recorded)) handle(handlers, draft, recorded);
  },
  view: viewOf,
};

/** A branch together with its head, which its own stream tells. */
export interface BranchHead extends BranchNode {
  /** -1 for a branch whose first event is still missing. */
  readonly head: Revision;
}

/** All branches with the heads given, in the order of their registration. */
export const withHeads = (
  { branches }: Lineage,
  heads: ReadonlyMap<Uid, Revision>,
): readonly BranchHead[] =>
  [...branches.values()].map((node) => ({ ...node, head: heads.get(node.branch) ?? -1 }));

/** Other branches from the same fork point; for a branch without parent, those without one too. */
export const siblingsOf = ({ branches }: Lineage, branch: Uid): readonly BranchNode[] => {
  const node = branches.get(branch);
  if (node === undefined) return [];
  return [...branches.values()].filter(
    (other) =>
      other.branch !== branch &&
      other.parent?.branch === node.parent?.branch &&
      other.parent?.revision === node.parent?.revision,
  );
};

/** Branches that try a model call again, in the order of their registration. */
export const attemptsOf = ({ branches }: Lineage, modelCallId: string): readonly BranchNode[] =>
  [...branches.values()].filter((node) => node.ofModelCall === modelCallId);

/** The branch and its ancestors, nearest first. */
export const ancestryOf = ({ branches }: Lineage, branch: Uid): readonly BranchNode[] => {
  const path: BranchNode[] = [];
  const seen = new Set<Uid>();
  for (let node = branches.get(branch); node !== undefined && !seen.has(node.branch);) {
    seen.add(node.branch);
    path.push(node);
    node = node.parent === undefined ? undefined : branches.get(node.parent.branch);
  }
  return path;
};
