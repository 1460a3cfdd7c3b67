import { build, builtDone, unasked, viewOf } from '../building.js';
import { appendMessages, loadEvents } from '../events.js';
import { attempt, caseFault } from '../fault.js';
import { streamTypes } from '../live.js';
import type { CaseEvent } from '../input-shape.js';
import type { Facts, Operate } from '../run.js';
import { isFields } from '../shape.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import { executable } from '../sessions.js';

const beginning = (events: readonly CaseEvent[]): number => {
  const first = events.findIndex(({ type }) => streamTypes.has(type));
  return first < 0 ? events.length : first;
};

const givenIn = (events: readonly CaseEvent[]): ReadonlySet<string> =>
  new Set(
    events.flatMap(({ type, data }) =>
      type === 'MessageAppended' && isFields(data) && typeof data['id'] === 'string'
        ? [data['id']]
        : [],
    ),
  );

/** Feeds the events of streams through live calls, and keeps what the engine makes of them. */
export const assembleStream: Operate = async (started) => {
  const { talk, input, profile } = started;
  const { events, params } = input;
  const cut = beginning(events);
  await loadEvents(talk, input, events.slice(0, cut));
  await appendMessages(talk, input.messages);
  const before = await started.mark();
  const fed = await attempt(() => loadEvents(talk, input, events.slice(cut)));
  // Messages that the case itself tells of are no work of the streams.
  const { events_appended: added } = eventFacts(talk, () => before.events, givenIn(events));
  const facts: Facts = {
    executable_tool_calls: () => executable(talk),
    ...(added === undefined ? {} : { events_appended: added }),
  };
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
