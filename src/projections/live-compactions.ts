import type { EventRef, Run } from '../domain/events/references.js';
import type { CompactionDraft, HistoryDraft } from './history-fold.js';
import { redactionOf } from './history-fold.js';

/** A compaction in force, by its index in the draft, with the messages that it stands for. */
export interface LiveRange {
  readonly index: number;
  /** Ids of messages of history, in surface order, through summaries that it covers. */
  readonly covered: readonly string[];
  /** Those that changed after the text that stands for them was made. */
  readonly changed: readonly string[];
}

const redactionOfId = (draft: HistoryDraft, id: string): EventRef | undefined => {
  const slotted = draft.byId.get(id);
  const item = slotted === undefined ? undefined : draft[slotted.list][slotted.index];
  return item === undefined ? undefined : redactionOf(draft, item.stamp.place, id);
};

/** Whether `id` is not any more what `by` was made from. */
const isChanged = (draft: HistoryDraft, id: string, by: CompactionDraft): boolean => {
  const slotted = draft.byId.get(id);
  const item = slotted === undefined ? undefined : draft[slotted.list][slotted.index];
  if ((item?.fate.changedAt ?? -1) > by.stamp.sequence) return true;
  const redaction = redactionOfId(draft, id);
  if (redaction === undefined) return false;
  // The directory is another stream: only the call that made the summary tells which of its events
  // were known. Where that is not recorded, the summary counts as made from what is now hidden.
  const known = by.data.madeBy === undefined ? -1 : draft.knownRevisions.get(by.data.madeBy);
  return redaction.revision > (known ?? -1);
};

/** What a compaction stands for. */
interface Expansion {
  readonly covered: readonly string[];
  readonly changed: readonly string[];
  /** Compactions whose replacement is covered. */
  readonly through: readonly number[];
}

/** Follows covered summaries to the messages that they were made from. */
const expand = (draft: HistoryDraft, index: number): Expansion => {
  const covered = new Set<string>();
  const changed = new Set<string>();
  const through = new Set<number>();
  const todo: { readonly id: string; readonly by: number }[] = [];
  const push = (by: number): void => {
    const ids = draft.compactions[by]?.data.covered ?? [];
    for (let at = ids.length - 1; at >= 0; at -= 1) todo.push({ id: ids[at] ?? '', by });
  };
  push(index);
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const by = draft.compactions[next.by];
    if (by !== undefined && isChanged(draft, next.id, by)) changed.add(next.id);
    const slotted = draft.byId.get(next.id);
    if (slotted?.list !== 'compactions') covered.add(next.id);
    else if (!through.has(slotted.index)) {
      through.add(slotted.index);
      push(slotted.index);
    }
  }
  return { covered: [...covered], changed: [...changed], through: [...through] };
};

const holdsRun = (outer: readonly Run[], inner: Run): boolean =>
  outer.some((run) => run.branch === inner.branch && run.from <= inner.from && inner.to <= run.to);

/** Whether everything that `inner` stands for lies in the range of `outer`. */
const contains = (
  outer: { readonly covers: readonly Run[]; readonly ids: ReadonlySet<string> },
  inner: { readonly covers: readonly Run[]; readonly ids: readonly string[] },
): boolean =>
  (inner.ids.length > 0 && inner.ids.every((id) => outer.ids.has(id))) ||
  (inner.covers.length > 0 && inner.covers.every((run) => holdsRun(outer.covers, run)));

/**
 * The compactions in force, oldest first: neither reverted nor within the range of a later one that
 * is in force. Reverting the later one brings the earlier one back (CX5).
 */
export const liveRanges = (draft: HistoryDraft): readonly LiveRange[] => {
  const live: LiveRange[] = [];
  // Later compactions in force or hidden: what lies within a hidden one is hidden with it.
  const outer: { readonly covers: readonly Run[]; readonly ids: ReadonlySet<string> }[] = [];
  const summarised = new Set<number>();
  for (let index = draft.compactions.length - 1; index >= 0; index -= 1) {
    const compaction = draft.compactions[index];
    if (compaction === undefined || compaction.reverted !== undefined) continue;
    const { covers } = compaction.data;
    if (summarised.has(index)) {
      // Its messages are those of a later one: chains of summaries are followed once.
      outer.push({ covers, ids: new Set() });
      continue;
    }
    const { covered, changed, through } = expand(draft, index);
    for (const inner of through) summarised.add(inner);
    const isHidden = outer.some((later) => contains(later, { covers, ids: covered }));
    if (!isHidden) live.push({ index, covered, changed });
    outer.push({ covers, ids: new Set(covered) });
  }
  return live.reverse();
};

/** Id of a message or summary to the compactions (by index) that name it as covered. */
export type CoverIndex = ReadonlyMap<string, readonly number[]>;

/** Compactions that stand for `id`, by themselves or through summaries of it. */
export const standingFor = (
  cover: CoverIndex,
  summaryOf: (index: number) => string | undefined,
  id: string,
): ReadonlySet<number> => {
  const found = new Set(cover.get(id));
  // A set grows while it is walked: summaries of summaries are reached without recursion.
  for (const index of found) {
    for (const outer of cover.get(summaryOf(index) ?? '') ?? []) found.add(outer);
  }
  return found;
};

/** The message at the beginning of the range; undefined where a summary there stands for none. */
const firstCovered = (draft: HistoryDraft, index: number): string | undefined => {
  let first = draft.compactions[index]?.data.covered[0];
  for (let steps = draft.compactions.length; first !== undefined && steps > 0; steps -= 1) {
    const slotted = draft.byId.get(first);
    if (slotted?.list !== 'compactions') return first;
    first = draft.compactions[slotted.index]?.data.covered[0];
  }
  return undefined;
};

/**
 * The compactions in force (by index) once the newest one came: those of before that do not lie
 * within it, and itself. The same as `liveRanges` tells, without following what did not change.
 */
export const liveWith = (
  draft: HistoryDraft,
  cover: CoverIndex,
  live: readonly number[],
): readonly number[] => {
  const newest = draft.compactions.length - 1;
  const { covers = [] } = draft.compactions[newest]?.data ?? {};
  const summaryOf = (index: number) => draft.compactions[index]?.data.replacement?.id;
  const isWithin = (id: string): boolean => standingFor(cover, summaryOf, id).has(newest);
  const isHidden = (index: number): boolean => {
    const own = draft.compactions[index]?.data;
    if (own === undefined || isWithin(summaryOf(index) ?? '')) return true;
    if (own.covers.length > 0 && own.covers.every((run) => holdsRun(covers, run))) return true;
    // Most do not meet: one message outside tells, before all are followed.
    const first = firstCovered(draft, index);
    if (first !== undefined && !isWithin(first)) return false;
    const ids = expand(draft, index).covered;
    return ids.length > 0 && ids.every(isWithin);
  };
  return [...live.filter((index) => !isHidden(index)), newest];
};
