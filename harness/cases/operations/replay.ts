import { takeIn, viewOf } from '../building.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import { attempt, caseFault } from '../fault.js';
import type { Operate, ResultFact } from '../run.js';
import { reopenTalk } from '../talk.js';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? {});

/** Answers requests from what was recorded; no tool is run. */
export const replay: Operate = async (started) => {
  const { talk, input, profile } = started;
  await takeIn(started);
  const before = await started.mark();
  await reopenTalk(talk);
  const recorded = await talk.branch.toolReplay();
  const results: ResultFact[] = [];
  for (const { name, arguments: args } of input.params.requests ?? []) {
    const answered = await attempt(() => recorded.answer({ name, arguments: textOf(args) }));
    if ('fault' in answered) {
      const fault = await caseFault(answered.fault, viewOf(talk));
      results.push({ status: 'error', ids: [], fault });
      continue;
    }
    const { toolCallId, messageId, content } = answered.value;
    results.push({ status: 'replayed', ids: [messageId, toolCallId], text: content });
  }
  const texts = results.map(({ text }) => text ?? null);
  return {
    failures: results.flatMap(({ fault }) => fault ?? []),
    facts: {
      ...historyFacts(talk),
      ...eventFacts(talk, () => before.events),
      results: () => Promise.resolve(results),
      results_text: () => Promise.resolve(texts),
    },
    roots: readRoot(talk),
    report: [],
    evidence: { profile, results },
  };
};
