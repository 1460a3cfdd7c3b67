import {
  isClosedCall,
  messagesOf,
  seenBy,
  type SeenMessage,
  type World,
} from './naive.js';

/** Why a message is out of a context that has no budget; `in` when it is sent. */
export type InOrOut =
  | 'in'
  | 'redacted'
  | 'withdrawn'
  | 'draft'
  | 'blocked'
  | 'interrupted'
  | 'superseded'
  | 'covered_by_compaction'
  | 'policy'
  | 'orphan_result';

export interface NaiveContext {
  readonly reasons: readonly (readonly [id: string, reason: InOrOut])[];
  /** Calls in the context that nothing answers: none may be, if a call is to be made. */
  readonly open: readonly string[];
}

/** What the log alone says: the strongest reason first. */
export const stateReason = (message: SeenMessage): InOrOut | undefined => {
  if (message.redacted) return 'redacted';
  if (message.withdrawn) return 'withdrawn';
  return message.status === 'confirmed' ? undefined : message.status;
};

export interface Live {
  readonly compaction: number;
  readonly id: string;
  readonly text: string;
  readonly covered: readonly string[];
  /** Covered messages that are not what they were when the summary was made. */
  readonly changed: readonly string[];
}

/** Compactions that nobody took back and that no later one in force stands for. */
export const liveCompactions = (world: World, branch: number): readonly Live[] => {
  const seen = seenBy(world, branch);
  const reverted = seen.flatMap(({ entry }) => (entry.is === 'reverted' ? [entry.compaction] : []));
  const made = seen.flatMap((one) =>
    one.entry.is === 'compacted' && !reverted.includes(one.entry.compaction)
      ? [{ ...one.entry, place: one }]
      : [],
  );
  const messages = messagesOf(world, branch);
  const follow = (ids: readonly string[]): readonly string[] =>
    ids.flatMap((id) => {
      const summary = seen.find(({ entry }) => entry.is === 'compacted' && entry.id === id)?.entry;
      return summary?.is === 'compacted' ? follow(summary.covered) : [id];
    });
  const isInner = (inner: (typeof made)[number], outer: (typeof made)[number]): boolean => {
    if (outer.compaction <= inner.compaction) return false;
    const ids = follow(outer.covered);
    return follow(inner.covered).every((id) => ids.includes(id));
  };
  return made
    .filter((inner) => !made.some((outer) => isInner(inner, outer)))
    .map(({ compaction, id, text, covered }) => {
      const all = follow(covered);
      const changed = messages.filter((message) => all.includes(message.id) && isChanged(message));
      return { compaction, id, text, covered: all, changed: changed.map((message) => message.id) };
    });
};

// Only what is confirmed is covered, so a change is whatever made it something else.
const isChanged = (message: SeenMessage): boolean => stateReason(message) !== undefined;

const brokenTurn = (world: World, { branch, at }: SeenMessage, viewer: number): boolean => {
  const log = seenBy(world, viewer).filter((one) => one.branch === branch);
  let isOpen = false;
  for (const { entry, at: place } of log) {
    if (entry.is === 'turn') isOpen = true;
    if (place < at && entry.is === 'ended') isOpen = false;
    if (place > at && isOpen && entry.is === 'ended') return entry.outcome !== 'completed';
    if (place >= at && !isOpen) return false;
  }
  return false;
};

/** Calls of a message that nothing will answer any more: given up, or of a turn that broke off. */
export const closedCallsOf = (
  world: World,
  branch: number,
  message: SeenMessage,
): readonly number[] => {
  const seen = seenBy(world, branch);
  const broken = message.kind === 'message' && brokenTurn(world, message, branch);
  return [...message.calls.keys()].filter((index) => {
    const call = { message: message.id, index };
    const isAnswered = seen.some(
      ({ entry }) =>
        entry.is === 'result' &&
        entry.answers.message === message.id &&
        entry.answers.index === index,
    );
    return !isAnswered && (broken || isClosedCall(seen, call));
  });
};

/** The context of a call made now without a budget: who is in it, and why the others are not. */
export const contextOf = (world: World, branch: number): NaiveContext => {
  const messages = messagesOf(world, branch).filter(({ kind }) => kind !== 'summary');
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
