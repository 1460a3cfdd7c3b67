import type { FaultOf } from '../errors.js';
import type { CallRef } from '../message.js';
import type { Repair } from '../profiles/repair.js';
import type { Candidate } from './candidates.js';
import { callKey, type CallState, type Exchanges } from './exchanges.js';
import type { ContextPolicy } from './policy.js';
import { unitsOf, type Unit } from './units.js';

const keysOf = (pending: readonly CallRef[]): ReadonlySet<string> => new Set(pending.map(callKey));

/**
 * Takes units with open calls out, where the policy says so. A call that waits for an approval keeps
 * its unit: it is never repaired away.
 */
export const withoutUnanswered = (
  exchanges: Exchanges,
  policy: ContextPolicy,
  pending: readonly CallRef[],
): { readonly exchanges: Exchanges; readonly dropped: readonly Repair[] } => {
  if (policy.onUnanswered !== 'drop_call') return { exchanges, dropped: [] };
  const waiting = keysOf(pending);
  const list = [...exchanges.list];
  const dropped: Repair[] = [];
  for (const { open, members } of unitsOf(exchanges)) {
    if (open.length === 0 || open.some(({ ref }) => waiting.has(callKey(ref)))) continue;
    for (const index of members) {
      const candidate = list[index];
      if (candidate === undefined) continue;
      list[index] = { ...candidate, out: { disposition: 'unanswered_call' } };
    }
    for (const { ref, call } of open) {
      const about = { id: ref.messageId, toolCallId: call.id };
      dropped.push({ code: 'CALL_DROPPED', ...about, action: 'drop_call' });
    }
  }
  return { exchanges: { list, calls: exchanges.calls }, dropped };
};

/**
 * The refusal of a context while calls are open, at the head or behind it (B32), unless the policy
 * lets results be made for them.
 */
export const openCallsFault = (
  list: readonly Candidate[],
  units: readonly Unit[],
  policy: ContextPolicy,
  pending: readonly CallRef[],
): FaultOf<'OpenToolCalls'> | undefined => {
  const waiting = keysOf(pending);
  const isRefused = ({ ref }: CallState): boolean =>
    policy.onUnanswered === 'reject' || policy.strict || waiting.has(callKey(ref));
  const open = units.flatMap((unit) => unit.open).filter(isRefused);
  const [first] = open;
  if (first === undefined) return undefined;
  const index = list.slice(0, first.caller).filter(({ out }) => out === undefined).length;
  return { _tag: 'OpenToolCalls', ids: open.map(({ call }) => call.id), index };
};
