import { mayRun, needsDecision } from '../../../src/domain/session.js';
import { build, builtDone, takeIn, unasked } from '../building.js';
import type { Operate, ResumePlan } from '../run.js';
import { reopenTalk, type Talk } from '../talk.js';

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

/** Opens the conversation in a new process, looks where it stopped, and tries to build a context. */
export const resume: Operate = async (started) => {
  const { talk, input } = started;
  await takeIn(started);
  await reopenTalk(talk);
  const before = await started.mark();
  const plan = await resumePlan(talk);
  const built = await build(started, input.params);
  const { fault } = built;
  const tried = fault === undefined ? { ok: true } : { ok: false, fault };
  return builtDone(started, unasked(built), input.params, before.events, {
    facts: {
      plan: () => Promise.resolve(plan),
      build_context: () => Promise.resolve(tried),
      executable_tool_calls: () => executable(talk),
    },
  });
};
