import { liveCompactions } from './naive-live.js';
import { closedCallsOf, stateReason, surfaceOf, type StateReason } from './naive-surface.js';
import type { World } from './naive.js';

/** Why a message is out of a context that has no budget; `in` when it is sent. */
export type InOrOut = 'in' | StateReason | 'covered_by_compaction' | 'policy' | 'orphan_result';

export interface NaiveContext {
  readonly reasons: readonly (readonly [id: string, reason: InOrOut])[];
  /** Calls in the context that nothing answers: none may be, if a call is to be made. */
  readonly open: readonly string[];
}

/** The context of a call made now without a budget: who is in it, and why the others are not. */
export const contextOf = (world: World, branch: number): NaiveContext => {
  const messages = surfaceOf(world, branch);
  const live = liveCompactions(world, branch);
  const covered = live
    .filter(({ changed }) => changed.length === 0)
    .flatMap((compaction) => compaction.covered);
  const early = new Map<string, InOrOut>();
  for (const message of messages) {
    const isProtected = message.role === 'system' || message.role === 'developer';
    const reason =
      stateReason(message) ??
      (covered.includes(message.id) && !isProtected ? 'covered_by_compaction' : undefined);
    early.set(message.id, reason ?? 'in');
  }
  const open: string[] = [];
  for (const caller of messages) {
    if (early.get(caller.id) !== 'in') continue;
    const closed = closedCallsOf(world, branch, caller);
    for (const index of caller.calls.keys()) {
      const isAnswered = messages.some(
        ({ answers, late, id }) =>
          answers?.message === caller.id &&
          answers.index === index &&
          (!late || early.get(id) !== 'in'),
      );
      if (!isAnswered && !closed.includes(index)) open.push(`${index} ${caller.id}`);
    }
  }
  const reasons = messages.map((message): [string, InOrOut] => {
    const own = early.get(message.id) ?? 'in';
    if (own !== 'in' || message.answers === undefined) return [message.id, own];
    const caller = early.get(message.answers.message);
    if (caller === undefined) return [message.id, 'orphan_result'];
    if (caller !== 'in') return [message.id, caller];
    return [message.id, message.late ? 'policy' : 'in'];
  });
  return { reasons, open };
};
