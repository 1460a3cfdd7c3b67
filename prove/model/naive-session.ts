import { openModelCalls, unusedSummaries } from './naive-calls.js';
import { needsWord, pendingApprovals } from './naive-tools.js';
import {
  headOf,
  isSealed,
  messagesOf,
  openCallsOf,
  seenBy,
  turnOf,
  type OpenCall,
  type World,
} from './naive.js';

/** Where a branch stopped, as far as it is compared. `next` may be one of several. */
export interface NaiveSession {
  readonly head: number;
  readonly run: string | undefined;
  readonly next: readonly string[];
  readonly modelCalls: readonly number[];
  readonly toolCalls: readonly string[];
  readonly approvals: readonly string[];
  readonly drafts: readonly string[];
  readonly unusedSummaries: readonly number[];
}

/** One open call as a line of text, the same for both sides. */
export const callLine = (call: {
  readonly message: string;
  readonly index: number;
  readonly callId: string;
  readonly state: string;
  readonly inherited: boolean;
  readonly attempt: number;
  readonly effect: string | undefined;
  readonly key: string | undefined;
}): string => {
  const { message, index, callId, state, inherited, attempt, effect = '-', key = '-' } = call;
  return [
    message,
    index,
    callId,
    state,
    inherited ? 'inherited' : 'own',
    attempt,
    effect,
    key,
  ].join(' | ');
};

const lineOf = (call: OpenCall): string =>
  callLine({ ...call, effect: call.effect, key: call.key });

/**
 * Who has to speak next, when nothing is open: the model, while it has yet to read what a user said
 * or a tool gave. Where what was said was changed since, either may be.
 */
const speaker = (world: World, branch: number): readonly string[] => {
  let next = 'user';
  for (const { entry } of seenBy(world, branch)) {
    if (entry.is === 'result' && !entry.late) next = 'model';
    if (entry.is === 'message' && entry.status === 'confirmed') {
      if (entry.role === 'user') next = 'model';
      if (entry.role === 'assistant') next = 'user';
    }
  }
  const isChanged = messagesOf(world, branch).some(
    (message) => message.withdrawn || message.recorded !== message.status,
  );
  return isChanged ? ['model', 'user'] : [next];
};

const nextOf = (world: World, branch: number): readonly string[] => {
  const seen = seenBy(world, branch);
  const calls = openCallsOf(world, branch);
  if (isSealed(seen)) return ['closed'];
  if (openModelCalls(seen).length > 0 || calls.some(needsWord)) return ['recover'];
  const waits = calls.filter(({ state }) => state === 'awaiting_approval');
  if (calls.length > waits.length) {
    // A denied call alone is answered by the caller's loop, once nothing waits any more.
    const onlyDenied = calls.every(
      ({ state }) => state === 'denied' || state === 'awaiting_approval',
    );
    return onlyDenied && waits.length > 0 ? ['approval'] : ['tools'];
  }
  return waits.length > 0 ? ['approval'] : speaker(world, branch);
};

export const sessionOf = (world: World, branch: number): NaiveSession => {
  const seen = seenBy(world, branch);
  return {
    head: headOf(world, branch),
    run: turnOf(seen)?.run,
    next: nextOf(world, branch),
    modelCalls: openModelCalls(seen),
    toolCalls: openCallsOf(world, branch).map(lineOf).sort(),
    approvals: pendingApprovals(world, branch)
      .map(({ request, call }) => `${request} ${call.index} ${call.message}`)
      .sort(),
    drafts: messagesOf(world, branch)
      .filter(({ status, withdrawn }) => status === 'draft' && !withdrawn)
      .map(({ id }) => id)
      .sort(),
    unusedSummaries: unusedSummaries(seen),
  };
};
