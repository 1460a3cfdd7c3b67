import type { Candidate } from './candidates.js';
import type { Disposition } from './plan.js';
import type { ContextPolicy } from './policy.js';
import type { Unit } from './units.js';

/** Index of the newest message that a user wrote; -1 when there is none. */
export const lastUserOf = (list: readonly Candidate[]): number =>
  list.findLastIndex(
    ({ message, out, kind }) => out === undefined && kind === 'message' && message.role === 'user',
  );

/** The newest assistant turn, when it made calls whose results no later turn has read. */
export const openExchangeOf = (
  list: readonly Candidate[],
  units: readonly Unit[],
): Unit | undefined => {
  const last = list.findLastIndex(
    ({ message, out }) => out === undefined && message.role === 'assistant',
  );
  const unit = units.find(({ members }) => members.includes(last));
  return unit !== undefined && unit.calls.length > 0 ? unit : undefined;
};

const reasonOf = (candidate: Candidate, policy: ContextPolicy): Disposition | undefined => {
  const { message, kind } = candidate;
  if (kind === 'instructions') return 'instructions';
  if (policy.pinRoles.includes(message.role)) {
    return message.role === 'system' || message.role === 'developer' ? 'system' : 'pinned';
  }
  if (message.pinned === true) return 'pinned';
  return policy.mustKeep.includes(message.id) ? 'must_keep' : undefined;
};

/**
 * The irreducible set: candidates that no budget drops, with the reason. A member of a unit that has
 * to stay takes the whole unit along.
 */
export const mustKeepOf = (
  list: readonly Candidate[],
  units: readonly Unit[],
  policy: ContextPolicy,
): ReadonlyMap<number, Disposition> => {
  const reasons = new Map<number, Disposition>();
  list.forEach((candidate, index) => {
    const reason = candidate.out === undefined ? reasonOf(candidate, policy) : undefined;
    if (reason !== undefined) reasons.set(index, reason);
  });
  const lastUser = policy.mustKeep.includes('$last_user') ? lastUserOf(list) : -1;
  if (lastUser >= 0 && !reasons.has(lastUser)) reasons.set(lastUser, 'must_keep');
  if (policy.mustKeep.includes('$open_unit')) {
    for (const index of openExchangeOf(list, units)?.members ?? []) {
      if (!reasons.has(index)) reasons.set(index, 'open_exchange');
    }
  }
  for (const { members } of units) {
    const first = members.map((index) => reasons.get(index)).find((reason) => reason !== undefined);
    if (first === undefined) continue;
    for (const index of members) if (!reasons.has(index)) reasons.set(index, first);
  }
  return reasons;
};
