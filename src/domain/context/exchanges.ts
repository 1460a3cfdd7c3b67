import type { CallRef, ToolCall } from '../message.js';
import type { Candidate, Exclusion } from './candidates.js';
import type { ContextPolicy } from './policy.js';

/** A call of a candidate, and what answers it. */
export interface CallState {
  readonly ref: CallRef;
  readonly call: ToolCall;
  /** Index of the assistant candidate. */
  readonly caller: number;
  /** Index of the candidate that answers it. */
  readonly result?: number;
  /** Why the recorded result is out, when there is one. */
  readonly resultOut?: Exclusion;
  /** Abandoned, or of an interrupted turn. */
  readonly closed: boolean;
  /** Taken out of the context by the policy. */
  readonly dropped: boolean;
}

export interface Exchanges {
  /** The candidates, with results that cannot be sent taken out. */
  readonly list: readonly Candidate[];
  /** Calls by `callKey`, in order. */
  readonly calls: ReadonlyMap<string, CallState>;
}

export const callKey = (ref: CallRef): string => `${String(ref.index)} ${ref.messageId}`;

type Draft = { -readonly [K in keyof CallState]: CallState[K] };

interface Work {
  readonly list: Candidate[];
  readonly calls: Map<string, Draft>;
  readonly byId: ReadonlyMap<string, number>;
}

const excluded = (candidate: Candidate, out: Exclusion): Candidate => ({ ...candidate, out });

const callsOf = (
  list: readonly Candidate[],
  isDropped: (call: ToolCall) => boolean,
): Map<string, Draft> => {
  const calls = new Map<string, Draft>();
  list.forEach(({ message, closedCalls, out }, caller) => {
    if (message.role !== 'assistant' || out !== undefined) return;
    message.toolCalls.forEach((call, index) => {
      const ref = { messageId: message.id, index };
      const closed = closedCalls.includes(index);
      calls.set(callKey(ref), { ref, call, caller, closed, dropped: isDropped(call) });
    });
  });
  return calls;
};

// Why a result has no call to stand behind; undefined when one of its calls is there.
const orphanOf = (work: Work, candidate: Candidate): Exclusion | undefined => {
  const { answers } = candidate.message;
  const states = answers.map((answer) => work.calls.get(callKey(answer)));
  if (states.some((state) => state !== undefined && !state.dropped)) return undefined;
  if (states.some((state) => state?.dropped === true)) {
    return { disposition: 'policy', note: 'its call is left out' };
  }
  for (const answer of answers) {
    const caller = work.list[work.byId.get(answer.messageId) ?? -1];
    if (caller?.out !== undefined) return { ...caller.out, note: 'its call is out' };
  }
  return { disposition: 'orphan_result', note: 'its call is not in this history' };
};

const attach = (work: Work, index: number, replaces: boolean): void => {
  const candidate = work.list[index];
  if (candidate === undefined) return;
  let used = false;
  for (const answer of candidate.message.answers) {
    const state = work.calls.get(callKey(answer));
    if (state === undefined || state.dropped) continue;
    if (state.result !== undefined && !replaces) continue;
    state.result = index;
    used = true;
  }
  if (!used) {
    const out: Exclusion = { disposition: 'policy', note: 'another result answers its call' };
    work.list[index] = excluded(candidate, out);
  }
};

const attachResults = (work: Work, policy: ContextPolicy): void => {
  const late: number[] = [];
  work.list.forEach((candidate, index) => {
    const { message, out } = candidate;
    if (message.role !== 'tool') return;
    if (out !== undefined) {
      for (const answer of message.answers) {
        const state = work.calls.get(callKey(answer));
        if (state !== undefined) state.resultOut = out;
      }
      return;
    }
    const orphan = orphanOf(work, candidate);
    if (orphan !== undefined) work.list[index] = excluded(candidate, orphan);
    else if (message.late === true) late.push(index);
    else attach(work, index, false);
  });
  for (const index of late) {
    const candidate = work.list[index];
    if (candidate === undefined) continue;
    const out: Exclusion = { disposition: 'policy', note: 'a late result is kept for audit' };
    if (policy.onLateResult === 'replace') attach(work, index, true);
    else work.list[index] = excluded(candidate, out);
  }
};

// A result that a late one replaced answers nothing any more.
const dropReplaced = (work: Work): void => {
  const used = new Set([...work.calls.values()].map((state) => state.result));
  work.list.forEach((candidate, index) => {
    const { message, out } = candidate;
    if (message.role !== 'tool' || out !== undefined || used.has(index)) return;
    const reason: Exclusion = { disposition: 'policy', note: 'another result answers its call' };
    work.list[index] = excluded(candidate, reason);
  });
};

const dropEmptied = (work: Work): void => {
  const emptied = new Set<number>();
  for (const state of work.calls.values()) if (state.dropped) emptied.add(state.caller);
  for (const state of work.calls.values()) if (!state.dropped) emptied.delete(state.caller);
  for (const index of emptied) {
    const candidate = work.list[index];
    const hasText = candidate?.message.blocks.some(
      (block) => block.type === 'text' && block.text.trim() !== '',
    );
    if (candidate === undefined || hasText === true) continue;
    const out: Exclusion = { disposition: 'policy', note: 'its only call is left out' };
    work.list[index] = excluded(candidate, out);
  }
};

/**
 * Pairs calls with the results that answer them, by message and index. A result without its call is
 * taken out with the reason of the call, or as an orphan.
 */
export const exchangesOf = (
  candidates: readonly Candidate[],
  policy: ContextPolicy,
  isDropped: (call: ToolCall) => boolean,
): Exchanges => {
  const list = [...candidates];
  const byId = new Map(list.map(({ message }, index) => [message.id, index]));
  const work: Work = { list, calls: callsOf(list, isDropped), byId };
  attachResults(work, policy);
  dropReplaced(work);
  dropEmptied(work);
  return work;
};
