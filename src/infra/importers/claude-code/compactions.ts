import type { ImportedCompaction, ImportedItem } from '../../../domain/import-plan.js';
import { lowestTrust, type Trust } from '../../../domain/message.js';
import { isList, member, nameMember } from '../foreign.js';
import type { BranchDraft, Group } from './draft.js';
import type { Node } from './links.js';
import { messagesOf, type Sourced } from './messages.js';

/** Strategy names of the compactions that this format knows. */
const BOUNDARY_STRATEGY = 'claude-code/compact-boundary';
const SUMMARY_STRATEGY = 'claude-code/summary';

interface Place {
  readonly item: ImportedItem;
  readonly group: Group | undefined;
}

/** Items that a branch shows, newest first, back to the compaction before and with it. */
function* backFrom(branch: BranchDraft): Generator<Place> {
  let [on, at]: [BranchDraft | undefined, number] = [branch, branch.items.length - 1];
  while (on !== undefined) {
    for (; at >= 0; at -= 1) {
      const item = on.items[at];
      if (item === undefined) continue;
      yield { item, group: on.groups[at] };
      if (item.kind === 'compaction') return;
    }
    at = on.parent?.at ?? -1;
    on = on.parent?.branch;
  }
}

const sourceIdOf = (item: ImportedItem): string =>
  item.kind === 'message' ? (item.message.provenance.sourceId ?? item.record) : item.record;

/**
 * What the client carried over behind the summary, word for word: uuids it names, else all from the
 * head of a segment on.
 */
const preservedBy = (
  boundary: Node | undefined,
  places: readonly Place[],
): ((item: ImportedItem) => boolean) => {
  const metadata = member(boundary?.record.value, 'compactMetadata');
  const named = member(member(metadata, 'preservedMessages'), 'uuids');
  const head = nameMember(member(metadata, 'preservedSegment'), 'headUuid');
  const kept = new Set<string>();
  if (isList(named)) for (const uuid of named) if (typeof uuid === 'string') kept.add(uuid);
  const end = places.findIndex(({ item }) => sourceIdOf(item) === head);
  if (kept.size === 0) for (const { item } of places.slice(0, end + 1)) kept.add(sourceIdOf(item));
  return (item) => kept.has(sourceIdOf(item));
};

const trustOf = (item: ImportedItem): readonly Trust[] => {
  if (item.kind === 'message') return [item.message.trust];
  return item.kind === 'compaction' && item.replacement !== undefined
    ? [item.replacement.trust]
    : [];
};

/**
 * The compaction that a summary makes: it stands for all that its branch shows and that no earlier
 * compaction stands for, and for the summary of that one. What the client preserved stays, and with
 * it the whole exchange that it is a part of. Undefined where there is nothing to stand for.
 */
export const compactionOf = (
  summary: Sourced,
  boundary: Node | undefined,
  branch: BranchDraft,
): ImportedCompaction | undefined => {
  const places = [...backFrom(branch)].filter(({ item }) => item.kind !== 'record');
  const isPreserved = preservedBy(boundary, places);
  const kept = new Set(
    places.filter(({ item }) => isPreserved(item)).map(({ item, group }) => group ?? item),
  );
  const covered = places.filter(({ item, group }) => !kept.has(group ?? item)).reverse();
  const replacement = messagesOf(summary)[0]?.message;
  if (replacement === undefined || covered.length === 0) return undefined;
  const trust = lowestTrust(['model', ...covered.flatMap(({ item }) => trustOf(item))]);
  return {
    kind: 'compaction',
    record: summary.key,
    covers: covered.map(({ item }) => item.record),
    replacement: { ...replacement, trust },
    strategy: boundary === undefined ? SUMMARY_STRATEGY : BOUNDARY_STRATEGY,
  };
};
