import { build, builtDone, takeIn, viewOf } from '../building.js';
import { wireOf } from '../context-facts.js';
import { attempt, caseFault } from '../fault.js';
import { withoutLabel } from '../provider-messages.js';
import { readRoot } from '../facts.js';
import type { Operate, Started } from '../run.js';
import { isFields } from '../shape.js';
import { reopenTalk } from '../talk.js';

const messagesIn = (wire: unknown): unknown => (isFields(wire) ? wire['messages'] : undefined);

const inputMessages = ({ input }: Started): unknown =>
  input.format === 'provider' ? input.wire.map(withoutLabel) : input.messages;

/** Takes the input through the steps of the case, then encodes for the same profile. */
export const roundtrip: Operate = async (started) => {
  const { talk, input, profile } = started;
  const { via = [] } = input.params;
  const taken = await attempt(() => takeIn(started));
  const before = await started.mark();
  if ('fault' in taken) {
    const fault = await caseFault(taken.fault, viewOf(talk));
    return { fault, facts: {}, roots: readRoot(talk), evidence: { profile } };
  }
  for (const step of via) {
    if (step === 'reload') await reopenTalk(talk);
    if (step === 'project') await talk.branch.surface();
  }
  if (input.params.reload_from_store === true) await reopenTalk(talk);
  const built = await build(started, input.params);
  const { plan } = built;
  return builtDone(started, built, input.params, before.events, {
    facts:
      plan === undefined
        ? {}
        : {
            output_equals_input: () =>
              Promise.resolve({ wire: messagesIn(wireOf(plan)), input: inputMessages(started) }),
          },
  });
};
