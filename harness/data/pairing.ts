import type { View, ViewBranch, ViewExchange } from './view.js';

/** Calls and results as the store pairs them. */
export interface Pairing {
  readonly tool_calls: number;
  readonly tool_results: number;
  readonly paired: number;
  readonly orphan_results: number;
  readonly unanswered_calls: number;
  readonly reused_call_ids: number;
}

interface Scope {
  readonly name: string;
  readonly branch: ViewBranch;
}

const pairingOf = (scopes: readonly Scope[]): Pairing => {
  const calls = new Map<string, ViewExchange>();
  const orphans = new Set<string>();
  for (const { name, branch } of scopes) {
    for (const exchange of branch.exchanges) {
      const key = JSON.stringify([name, exchange.messageId, exchange.index]);
      // A branch may answer a call that was made before its fork.
      if (calls.get(key)?.isAnswered !== true) calls.set(key, exchange);
    }
    for (const id of branch.orphans) orphans.add(JSON.stringify([name, id]));
  }
  const exchanges = [...calls.values()];
  const paired = exchanges.filter(({ isAnswered }) => isAnswered).length;
  const users = new Map<string, number>();
  for (const { callId } of exchanges) users.set(callId, (users.get(callId) ?? 0) + 1);
  return {
    tool_calls: exchanges.length,
    tool_results: paired + orphans.size,
    paired,
    orphan_results: orphans.size,
    unanswered_calls: exchanges.length - paired,
    reused_call_ids: [...users.values()].filter((count) => count > 1).length,
  };
};

/** Pairing of one branch, ancestors included. */
export const pairingOfBranch = (branch: ViewBranch): Pairing => pairingOf([{ name: '', branch }]);

/** Pairing of all branches of all conversations, each call once. */
export const pairingOfView = (view: View): Pairing =>
  pairingOf(
    view.conversations.flatMap(({ uid, branches }) =>
      branches.map((branch) => ({ name: uid, branch })),
    ),
  );
