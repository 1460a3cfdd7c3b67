import { nodeBefore, type Links, type Node } from './links.js';
import type { SourceFile, SourceRecord } from './records.js';

/** What the parent links of a file say, read as they stand. */
export interface Chains {
  readonly activeLeaf: string | undefined;
  /** Uuids from the active leaf along the parents to a root, root first. */
  readonly context: readonly string[];
  /** The same, across compact boundaries. */
  readonly full: readonly string[];
  readonly crossings: number;
  readonly hasCycle: boolean;
  readonly missing: number;
  /** Uuids off the full chain: parts of its API messages, and results of their calls. */
  readonly offChain: readonly string[];
}

/** The last record of the main thread that someone said; of a subagent's file, of its thread. */
const activeLeafOf = (file: SourceFile): SourceRecord | undefined => {
  const said = file.records.filter(({ isConversational }) => isConversational);
  const main = said.filter(({ isSidechain }) => !isSidechain);
  return main[main.length - 1] ?? said[said.length - 1];
};

interface Walk {
  readonly nodes: readonly Node[];
  readonly crossings: number;
  readonly hasCycle: boolean;
  readonly missing: number;
}

const walk = (links: Links, leaf: Node | undefined, crosses: boolean): Walk => {
  const seen = new Set<Node>();
  let [crossings, missing, hasCycle] = [0, 0, false];
  let at = leaf;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const { parentUuid, logicalParentUuid } = at.record;
    if (parentUuid !== undefined || logicalParentUuid === undefined || !crosses) {
      at = links.byUuid.get(parentUuid ?? '');
      continue;
    }
    const target = links.byUuid.get(logicalParentUuid);
    const isCycle = target !== undefined && seen.has(target);
    crossings += 1;
    if (isCycle) hasCycle = true;
    if (target === undefined) missing += 1;
    at = target === undefined || isCycle ? nodeBefore(links.nodes, at) : target;
  }
  return { nodes: [...seen].reverse(), crossings, hasCycle, missing };
};

const uuidsOf = (nodes: readonly Node[]): readonly string[] =>
  nodes.map(({ record }) => record.uuid ?? '');

const offChainOf = (links: Links, chain: readonly Node[]): readonly Node[] => {
  const on = new Set(chain);
  const messages = new Set(chain.flatMap(({ record }) => record.apiMessageId ?? []));
  const isPart = ({ apiMessageId }: SourceRecord): boolean =>
    apiMessageId !== undefined && messages.has(apiMessageId);
  const calls = new Set(
    links.nodes.filter(({ record }) => isPart(record)).flatMap(({ record }) => record.callIds),
  );
  return links.nodes.filter(
    (node) =>
      !on.has(node) && (isPart(node.record) || node.record.answeredIds.some((id) => calls.has(id))),
  );
};

/** Follows the links of the file from its active leaf. */
export const chainsOf = (file: SourceFile, links: Links): Chains => {
  const leaf = activeLeafOf(file);
  const node = leaf?.uuid === undefined ? undefined : links.byUuid.get(leaf.uuid);
  const context = walk(links, node, false);
  const full = walk(links, node, true);
  return {
    activeLeaf: leaf?.uuid,
    context: uuidsOf(context.nodes),
    full: uuidsOf(full.nodes),
    crossings: full.crossings,
    hasCycle: full.hasCycle,
    missing: full.missing,
    offChain: uuidsOf(offChainOf(links, full.nodes)),
  };
};

/** Records with several children, told apart. */
export interface Forks {
  /** Records with several children of which at most one goes on. */
  readonly parallel: number;
  /** Uuids of the records from which several go on. */
  readonly branching: readonly string[];
}

/** Forks of the file: parts, results and records that no model reads are no branches. */
export const forksOf = (links: Links): Forks => {
  const children = new Map<Node, Node[]>();
  const apiOf = new Map<Node, string>();
  const callers = new Map<string, string>();
  for (const node of links.nodes) {
    const { apiMessageId, callIds, answeredIds, parentUuid } = node.record;
    const answered = answeredIds.map((id) => callers.get(id)).find((api) => api !== undefined);
    const api = apiMessageId ?? answered;
    if (api !== undefined) apiOf.set(node, api);
    if (apiMessageId !== undefined) for (const id of callIds) callers.set(id, apiMessageId);
    const parent = parentUuid === undefined ? undefined : links.byUuid.get(parentUuid);
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [node]);
    else siblings.push(node);
  }
  const forks = [...children].filter(([, nodes]) => nodes.length > 1);
  const branching = forks.filter(([parent, nodes]) => {
    const api = apiOf.get(parent);
    const ahead = nodes.filter(
      (child) =>
        child.record.isConversational &&
        child.record.isSidechain === parent.record.isSidechain &&
        (api === undefined || apiOf.get(child) !== api),
    );
    // Children that are parts or results of one API message go on together.
    return new Set(ahead.map((child) => apiOf.get(child) ?? child)).size > 1;
  });
  return {
    parallel: forks.length - branching.length,
    branching: uuidsOf(branching.map(([parent]) => parent)),
  };
};
