import type { BranchState } from '../branch-state.js';
import type { TurnOutcome } from '../events/branch-events.js';
import { append, known, plain, refuse, type Command } from './decision.js';
import { sealedFault, turnFault, type BranchScope } from './guards.js';

/** Takes the open turn over from another run, whose later writes are then refused. */
export const claimTurn = (scope: BranchScope): Command<BranchState, { readonly run: string }> => ({
  name: 'claim',
  keysOf: [],
  decide: (state) => {
    const fault = sealedFault(scope, state);
    if (fault !== undefined) return refuse(fault);
    const { turn } = state;
    if (turn === undefined || turn.run === scope.run) return known([]);
    return append([
      plain({
        type: 'TurnClaimed',
        data: { turn: turn.turn, run: scope.run, fromRun: turn.run },
      }),
    ]);
  },
  answer: () => ({ run: scope.run }),
});

/** Ends the open turn of this run; without one nothing is written. */
export const endTurn = (
  scope: BranchScope,
  outcome: TurnOutcome,
): Command<BranchState, { readonly outcome: TurnOutcome }> => ({
  name: 'endTurn',
  keysOf: [],
  decide: (state) => {
    const fault = sealedFault(scope, state) ?? turnFault(scope, state);
    if (fault !== undefined) return refuse(fault);
    if (state.turn === undefined) return known([]);
    return append([plain({ type: 'TurnEnded', data: { turn: state.turn.turn, outcome } })]);
  },
  answer: () => ({ outcome }),
});
