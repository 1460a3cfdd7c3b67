import { messageTokens } from '../../../src/domain/context/costs.js';
import { estimator } from '../../../src/domain/tokens.js';
import { configuredFor, takeIn } from '../building.js';
import { eventFacts, historyFacts, readRoot } from '../facts.js';
import type { Operate } from '../run.js';
import { itemsOf, nameOf } from '../talk.js';

/** Counts each message with the built-in estimator, as the profile sends it. */
export const estimateTokens: Operate = async (started) => {
  const { talk, input } = started;
  await takeIn(started);
  const before = await started.mark();
  const profile = configuredFor(started.profile, input.params);
  const tokens = new Map<string, number>();
  for (const { message } of await itemsOf(talk)) {
    const name = nameOf(talk, message.id);
    const own = messageTokens(message, estimator, profile);
    tokens.set(name, (tokens.get(name) ?? 0) + own);
  }
  const total = [...tokens.values()].reduce((sum, count) => sum + count, 0);
  return {
    facts: {
      ...historyFacts(talk),
      ...eventFacts(talk, () => before.events),
      tokens: () => Promise.resolve(total),
    },
    roots: {
      ...readRoot(talk),
      tokens: () => Promise.resolve(Object.fromEntries(tokens)),
      tokens_total: () => Promise.resolve(total),
    },
    report: [],
    evidence: { profile },
  };
};
