import type { BranchState } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { Uid } from '../ids.js';

/** The branch a command is for, and the run of the handle that gives it. */
export interface BranchScope {
  readonly conversation: Uid;
  readonly branch: Uid;
  readonly run: string;
}

/** A sealed branch takes nothing (ConversationClosed seals each branch in its own stream). */
export const sealedFault = (scope: BranchScope, state: BranchState): StemmaFault | undefined =>
  state.sealed
    ? { _tag: 'ConversationIsClosed', conversation: scope.conversation, branch: scope.branch }
    : undefined;

/**
 * OR4: a turn has one writer. A run whose turn was claimed by another is superseded; a run that
 * finds another's turn open may claim it.
 */
export const turnFault = (scope: BranchScope, state: BranchState): StemmaFault | undefined => {
  const { turn } = state;
  if (turn === undefined || turn.run === scope.run) return undefined;
  return turn.former.includes(scope.run)
    ? { _tag: 'RunSuperseded', run: scope.run, currentRun: turn.run }
    : { _tag: 'TurnOpen', turn: turn.turn, run: turn.run };
};

/** An expected revision given by a caller is exact: ahead and behind are both refused (B38). */
export const revisionFault = (
  expected: number | undefined,
  state: BranchState,
): StemmaFault | undefined =>
  expected === undefined || expected === state.head
    ? undefined
    : { _tag: 'RevisionConflict', expected, actual: state.head };
