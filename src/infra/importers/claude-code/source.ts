import { countNames } from '../foreign.js';
import { chainsOf, forksOf } from './chains.js';
import type { Fan } from './fan.js';
import { namesParents, type Links } from './links.js';
import type { SourceFile } from './records.js';

const count = <T>(items: readonly T[], test: (item: T) => boolean): number =>
  items.filter(test).length;

const linesOf = ({ records, malformedLines, lines }: SourceFile): Record<string, unknown> => ({
  records: records.length,
  malformed_lines: malformedLines,
  no_final_newline: !lines.finalNewline,
  types: countNames(records.map(({ type }) => type)),
});

const namesOf = ({ records }: SourceFile, links: Links): Record<string, unknown> => {
  const again = links.entries.flatMap((entry) => (entry.kind === 'again' ? [entry] : []));
  return {
    records_without_uuid: count(records, ({ uuid }) => uuid === undefined),
    unique_uuids: links.byUuid.size,
    duplicate_uuid_identical: count(again, ({ isEqual }) => isEqual),
    duplicate_uuid_conflicting: count(again, ({ isEqual }) => !isEqual),
    sessions: new Set(records.flatMap(({ sessionId }) => sessionId ?? [])).size,
    summary_lines: count(records, ({ type }) => type === 'summary'),
  };
};

const isRoot =
  (links: Links) =>
  (node: Links['nodes'][number]): boolean => {
    const { parentUuid } = node.record;
    const parent = parentUuid === undefined ? undefined : links.byUuid.get(parentUuid);
    return node.record.isSidechain && parent?.record.isSidechain !== true;
  };

const treeOf = (file: SourceFile, links: Links): Record<string, unknown> => {
  const chains = chainsOf(file, links);
  const forks = forksOf(links);
  const { nodes, byUuid } = links;
  const said = file.records.filter(({ isConversational }) => isConversational);
  const sidechains = nodes.filter(({ record }) => record.isSidechain);
  return {
    roots: count(nodes, ({ record }) => record.parentUuid === undefined),
    dangling_parents: count(
      nodes,
      ({ record }) => record.parentUuid !== undefined && !byUuid.has(record.parentUuid),
    ),
    forks_parallel_or_aux: forks.parallel,
    true_branch_points: forks.branching.length,
    true_branch_point_uuids: forks.branching,
    sidechain_records: sidechains.length,
    sidechain_threads: count(sidechains, isRoot(links)),
    subagent_file: said.length > 0 && said.every(({ isSidechain }) => isSidechain),
    compact_boundaries: count(nodes, ({ record }) => record.isBoundary),
    active_leaf: chains.activeLeaf ?? null,
    context_chain: chains.context,
    full_chain: chains.full,
    boundary_crossings: chains.crossings,
    logical_parent_cycle: chains.hasCycle,
    logical_parent_missing: chains.missing,
    off_chain: chains.offChain,
  };
};

/** The order of a fan is that of the file; its parents lead past nearly all of it. */
const fanFigures = (file: SourceFile, links: Links, fan: Fan): Record<string, unknown> => ({
  dialect: 'iflow',
  active_branch_is: 'file order (every assistant record has the user prompt as parent)',
  tool_use_blocks: fan.callBlocks,
  repeated_blocks_identical: fan.isFaithful,
  naive_parent_chain_records: chainsOf(file, links).context.length,
});

/** What describes the file alone, whatever an importer makes of it. */
export const describeSource = (
  file: SourceFile,
  links: Links,
): Readonly<Record<string, unknown>> => ({
  ...linesOf(file),
  ...namesOf(file, links),
  ...(links.fan === undefined ? {} : fanFigures(file, links, links.fan)),
  ...(links.isList ? {} : treeOf(file, links)),
  ...(namesParents(file) ? {} : { linear_fallback: true }),
});
