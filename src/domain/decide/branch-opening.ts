import type { BranchState } from '../branch-state.js';
import type { BranchEntry } from '../directory-state.js';
import { append, known, plain, type Command } from './decision.js';

/** The first event of a branch, made from its registration by whoever finds it missing. */
export const openBranch = (
  entry: BranchEntry,
): Command<BranchState, { readonly branch: string }> => ({
  name: 'openBranch',
  keysOf: [],
  decide: (state) => {
    if (state.head >= 0) return known([]);
    const { parent, depth, ancestors, name } = entry;
    return append([
      parent === undefined
        ? plain({ type: 'BranchOpened', data: { name } })
        : plain({ type: 'BranchForked', data: { parent, depth, ancestors } }),
    ]);
  },
  answer: () => ({ branch: entry.branch }),
});
