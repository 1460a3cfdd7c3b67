import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import type { Profile, Violation } from '../profiles/profile.js';
import type { Surface } from '../surface.js';
import { arrange } from './arrange.js';
import { candidatesOf } from './candidates.js';
import { exchangesOf } from './exchanges.js';
import { entryAt } from './layout.js';
import { completePolicy, type ContextPolicy } from './policy.js';
import { turnsOf } from './turns.js';
import { unitsOf } from './units.js';
import { sentCalls, wireNames } from './wire-names.js';

export interface CheckInput {
  readonly surface: Surface;
  readonly profile: Profile;
  readonly policy?: Partial<ContextPolicy>;
}

/** A rule of the profile that the messages break as they stand. */
export interface FoundViolation extends Violation {
  /** Messages that it is about. */
  readonly messageIds: readonly string[];
}

/**
 * Every rule that the messages break as they are recorded, before any repair (OR3). `index` counts
 * the messages that may be sent. Nothing is selected, nothing is changed.
 */
export const checkMessages = (
  input: CheckInput,
): E.Either<StemmaFault, readonly FoundViolation[]> => {
  const completed = completePolicy({ ...input.policy, strict: true });
  if (E.isLeft(completed)) return completed;
  const policy = completed.right;
  const profile =
    policy.capabilities === undefined
      ? input.profile
      : input.profile.configure(policy.capabilities);
  const found = candidatesOf(input.surface, policy, profile);
  if (E.isLeft(found)) return found;
  const { list, calls } = exchangesOf(found.right.list, policy, () => false);
  const chosen = new Set(list.flatMap(({ out }, index) => (out === undefined ? [index] : [])));
  const units = unitsOf({ list, calls });
  const plain = { list, units, chosen, policy, profile, literals: [], needsOpening: false };
  const arranged = arrange(plain);
  if (E.isLeft(arranged)) return arranged;
  const { entries } = arranged.right;
  const names = wireNames(sentCalls(entries, list, calls), [], profile, true);
  const { turns } = turnsOf({ entries, list, calls, names, policy, profile });
  const encoded = profile.encode(turns, {
    tools: [],
    params: {},
    thinking: policy.thinking,
    systemPolicy: 'profile',
    onTrailingAssistant: 'reject',
    prefixChanged: new Set(),
    strict: true,
  });
  if (E.isLeft(encoded)) return encoded;
  const { body, layout, facts } = encoded.right;
  return E.right(
    profile.validate(body, facts).map((violation): FoundViolation => {
      const entry = entryAt(layout, violation.index);
      const index = entry === undefined ? {} : { index: entry.turn };
      return { ...violation, ...index, messageIds: entry?.ids ?? [] };
    }),
  );
};
