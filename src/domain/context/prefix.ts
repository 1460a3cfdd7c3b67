import type { EventRef } from '../events/references.js';
import type { Surface } from '../surface.js';
import type { Candidate, Exclusion } from './candidates.js';

export interface PrefixInput {
  readonly list: readonly Candidate[];
  readonly chosen: ReadonlyMap<number, unknown>;
  readonly left: ReadonlyMap<number, Exclusion>;
  readonly surface: Surface;
}

/** The latest changes seen so far, by branch; `always` once one has no event to be older than. */
interface Changes {
  readonly latest: Map<string, number>;
  always: boolean;
}

const note = (changes: Changes, event: EventRef | undefined): void => {
  if (event === undefined) changes.always = true;
  else {
    const known = changes.latest.get(event.branch) ?? -1;
    changes.latest.set(event.branch, Math.max(known, event.revision));
  }
};

/** Branches of the line of history, the eldest first: messages stand in that order. */
const ranksOf = ({ items, branch }: Surface): ReadonlyMap<string, number> => {
  const ranks = new Map<string, number>();
  for (const { place } of items) {
    if (!ranks.has(place.branch)) ranks.set(place.branch, ranks.size);
  }
  return ranks.set(branch, ranks.size);
};

// On one branch revisions tell what came first; what is on an elder branch came before the fork.
// An event elsewhere (a redaction in the directory) cannot be placed: it counts as later.
const cameAfter = (
  changes: Changes,
  place: EventRef,
  ranks: ReadonlyMap<string, number>,
): boolean => {
  if (changes.always) return true;
  const own = ranks.get(place.branch) ?? 0;
  for (const [of, revision] of changes.latest) {
    const rank = ranks.get(of);
    const isElder = rank !== undefined && rank < own;
    const isOlder = of === place.branch ? revision < place.revision : isElder;
    if (!isOlder) return true;
  }
  return false;
};

/**
 * Assistant messages whose prefix is not the one that they were made behind: something before them
 * is left out, was replaced, cut or revised after they were made (A12). What was already so when
 * they were made is part of their prefix.
 */
export const changedPrefixes = (input: PrefixInput): ReadonlySet<string> => {
  const { list, chosen, left, surface } = input;
  const changed = new Set<string>();
  const changes: Changes = { latest: new Map(), always: false };
  const ranks = ranksOf(surface);
  for (const { place } of surface.instructions) note(changes, place);
  list.forEach((candidate, index) => {
    const { message, place, out, cause, kind, shortened } = candidate;
    const isSent = message.role === 'assistant' && chosen.has(index);
    if (isSent && cameAfter(changes, place, ranks)) changed.add(message.id);
    // When content was erased is not told by the event that the reason names.
    const isErased = out?.disposition === 'erased' || candidate.note === 'erased';
    if (isErased || left.has(index)) note(changes, undefined);
    else if (out !== undefined) {
      if (out.disposition !== 'orphan_result') note(changes, out.cause);
    } else if (kind === 'summary' || shortened === true || cause !== undefined)
      note(changes, cause);
  });
  return changed;
};
