import type { Candidate } from './candidates.js';
import type { CallState, Exchanges } from './exchanges.js';

/** Messages that are in or out of a context together: a turn with calls, all its results. */
export interface Unit {
  /** Id of the first member. */
  readonly name: string;
  /** Indexes of candidates, in surface order. */
  readonly members: readonly number[];
  /** Calls of the members, in the order in which they were made. */
  readonly calls: readonly CallState[];
  /** Calls without a result and without a reason for it. */
  readonly open: readonly CallState[];
}

const rootOf = (parents: number[], index: number): number => {
  let root = index;
  while (parents[root] !== root) root = parents[root] ?? root;
  parents[index] = root;
  return root;
};

// The lower index becomes the root, so that a unit is named by its first member.
const join = (parents: number[], a: number, b: number): void => {
  const roots = [rootOf(parents, a), rootOf(parents, b)];
  parents[Math.max(...roots)] = Math.min(...roots);
};

// Parts of one assistant message belong together as long as only results of its own calls stand
// between them; a user's message in between ends the turn.
const joinParts = (list: readonly Candidate[], parents: number[]): void => {
  let open: { readonly part: string; readonly index: number } | undefined;
  list.forEach(({ message, out }, index) => {
    if (out !== undefined) return;
    if (message.role === 'tool') {
      if (open !== undefined && rootOf(parents, index) !== rootOf(parents, open.index))
        open = undefined;
      return;
    }
    const part = message.role === 'assistant' ? message.partOf : undefined;
    if (part !== undefined && open?.part === part) join(parents, open.index, index);
    open = part === undefined ? undefined : { part, index };
  });
};

const isOpen = (state: CallState): boolean =>
  !state.dropped && !state.closed && state.result === undefined && state.resultOut === undefined;

/** The units of all candidates that are not out, by their first member. */
export const unitsOf = ({ list, calls }: Exchanges): readonly Unit[] => {
  const parents = list.map((_candidate, index) => index);
  const states = [...calls.values()];
  for (const state of states) {
    if (state.result !== undefined) join(parents, state.caller, state.result);
  }
  joinParts(list, parents);
  const members = new Map<number, number[]>();
  list.forEach(({ out }, index) => {
    if (out !== undefined) return;
    const root = rootOf(parents, index);
    members.set(root, [...(members.get(root) ?? []), index]);
  });
  const callsByRoot = new Map<number, CallState[]>();
  for (const state of states) {
    if (state.dropped || list[state.caller]?.out !== undefined) continue;
    const root = rootOf(parents, state.caller);
    callsByRoot.set(root, [...(callsByRoot.get(root) ?? []), state]);
  }
  return [...members].map(([root, indexes]) => {
    const own = callsByRoot.get(root) ?? [];
    const name = list[indexes[0] ?? 0]?.message.id ?? '';
    return { name, members: indexes, calls: own, open: own.filter(isOpen) };
  });
};
