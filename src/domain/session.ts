import type { BranchState, OpenApproval, OpenCall, OpenModelCall } from './branch-state.js';
import type { MessageRef } from './events/references.js';
import type { Revision } from './ids.js';

/** What a loop does next on a branch. */
export type Next = 'user' | 'model' | 'tools' | 'approval' | 'recover' | 'closed';

/** Where a conversation stopped, what is open, and how it goes on (SE1). Reading it writes nothing. */
export interface Session {
  readonly head: Revision;
  readonly turn?: { readonly turn: string; readonly run: string };
  readonly next: Next;
  /** Calls that were requested and have neither an answer nor a failure. */
  readonly modelCalls: readonly OpenModelCall[];
  readonly toolCalls: readonly OpenCall[];
  readonly approvals: readonly OpenApproval[];
  readonly drafts: readonly MessageRef[];
  /** Finished summaries that no compaction used: ids of their model calls. */
  readonly unusedSummaries: readonly string[];
}

/** A started call whose tool may have done its work, and must not run again unasked. */
export const needsDecision = (call: OpenCall): boolean =>
  call.state === 'started' && (call.effect ?? 'non_idempotent') === 'non_idempotent';

/** May run now: never started, or started and harmless to repeat. */
export const mayRun = (call: OpenCall): boolean =>
  call.state === 'not_started' || (call.state === 'started' && !needsDecision(call));

const nextOf = (state: BranchState, calls: readonly OpenCall[]): Next => {
  if (state.sealed) return 'closed';
  if (state.modelCalls.size > 0 || calls.some(needsDecision)) return 'recover';
  if (calls.some(mayRun)) return 'tools';
  if (calls.some((call) => call.state === 'awaiting_approval')) return 'approval';
  // A denied call is answered by its result, which the caller's loop writes.
  if (calls.length > 0) return 'tools';
  return state.awaitsModel ? 'model' : 'user';
};

export const sessionOf = (state: BranchState): Session => {
  const toolCalls = [...state.calls.values()];
  return {
    head: state.head,
    ...(state.turn === undefined ? {} : { turn: { turn: state.turn.turn, run: state.turn.run } }),
    next: nextOf(state, toolCalls),
    modelCalls: [...state.modelCalls.values()],
    toolCalls,
    approvals: [...state.approvals.values()],
    drafts: [...state.drafts.values()].map(({ message }) => message),
    unusedSummaries: [...state.unusedSummaries],
  };
};
