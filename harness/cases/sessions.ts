import { mayRun, needsDecision } from '../../src/domain/session.js';
import type { ResumePlan } from './run.js';
import type { Talk } from './talk.js';

const unique = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

/** What a new process finds out about the calls of the branch. */
export const resumePlan = async ({ branch, setup }: Talk): Promise<ResumePlan> => {
  const { toolCalls } = await branch.session();
  const { exchanges } = await branch.toolExchanges();
  const open = toolCalls.filter(({ messageId }) => !setup.has(messageId));
  const ids = (calls: readonly { readonly callId: string }[]): readonly string[] =>
    unique(calls.map(({ callId }) => callId));
  return {
    answered: ids(
      exchanges.filter(({ state, messageId }) => state === 'answered' && !setup.has(messageId)),
    ),
    outcome_unknown: ids(open.filter(({ state }) => state === 'started')),
    not_started: ids(open.filter(({ state }) => state === 'not_started')),
    rerun_allowed: ids(open.filter(mayRun)),
    needs_decision: ids(open.filter(needsDecision)),
  };
};

/** Ids of calls that may be run now. */
export const executable = async (talk: Talk): Promise<readonly string[]> =>
  (await resumePlan(talk)).rerun_allowed;
