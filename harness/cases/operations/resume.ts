import { build, builtDone, takeIn, unasked } from '../building.js';
import type { Operate } from '../run.js';
import { executable, resumePlan } from '../sessions.js';
import { reopenTalk } from '../talk.js';

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
