import { build, builtDone, unasked, viewOf } from '../building.js';
import { appendMessages, loadEvents } from '../events.js';
import { attempt, caseFault } from '../fault.js';
import { streamTypes } from '../live.js';
import type { CaseEvent } from '../input-shape.js';
import type { Operate } from '../run.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import { executable } from './resume.js';

const beginning = (events: readonly CaseEvent[]): number => {
  const first = events.findIndex(({ type }) => streamTypes.has(type));
  return first < 0 ? events.length : first;
};

/** Feeds the events of streams through live calls, and keeps what the engine makes of them. */
export const assembleStream: Operate = async (started) => {
  const { talk, input, profile } = started;
  const { events, params } = input;
  const cut = beginning(events);
  await loadEvents(talk, input, events.slice(0, cut));
  await appendMessages(talk, input.messages);
  const before = await started.mark();
  const fed = await attempt(() => loadEvents(talk, input, events.slice(cut)));
  const facts = { executable_tool_calls: () => executable(talk) };
  if ('fault' in fed) {
    return {
      fault: await caseFault(fed.fault, viewOf(talk)),
      facts: { ...historyFacts(talk), ...eventFacts(talk, () => before.events), ...facts },
      roots: readRoot(talk),
      evidence: { profile },
    };
  }
  const built = await build(started, params);
  const asked = params.then === 'convert' ? built : unasked(built);
  return builtDone(started, asked, params, before.events, { facts });
};
