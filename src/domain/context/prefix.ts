import type { EventRef } from '../events/references.js';
import type { Surface } from '../surface.js';
import type { Candidate, Exclusion } from './candidates.js';

export interface PrefixInput {
  readonly list: readonly Candidate[];
  readonly chosen: ReadonlyMap<number, unknown>;
  readonly left: ReadonlyMap<number, Exclusion>;
  readonly surface: Surface;
}

// Events of one line of history are comparable by branch order and revision; an event of another
// branch of the line came before the fork, so it is older.
const isOlder = (event: EventRef | undefined, than: EventRef, branch: string): boolean => {
  if (event === undefined) return false;
  if (event.branch === than.branch) return event.revision < than.revision;
  return than.branch === branch;
};

/**
 * Assistant messages whose prefix is not the one that they were made behind: something before them
 * is left out, was replaced, cut or revised after they were made (A12). What was already so when
 * they were made is part of their prefix.
 */
export const changedPrefixes = (input: PrefixInput): ReadonlySet<string> => {
  const { list, chosen, left, surface } = input;
  const changed = new Set<string>();
  const causes: (EventRef | undefined)[] = surface.instructions.map(({ place }) => place);
  list.forEach((candidate, index) => {
    const { message, place, out, cause, kind, shortened } = candidate;
    if (message.role === 'assistant' && chosen.has(index)) {
      const isChanged = causes.some((event) => !isOlder(event, place, surface.branch));
      if (isChanged) changed.add(message.id);
    }
    if (out !== undefined) {
      if (out.disposition !== 'orphan_result') causes.push(out.cause);
    } else if (left.has(index)) causes.push(undefined);
    else if (kind === 'summary' || shortened === true || cause !== undefined) causes.push(cause);
  });
  return changed;
};
