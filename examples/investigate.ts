import { openStemma } from 'stemma';

/** What an investigator can say about one call: what the model read, why, and that nothing changed. */
export interface Findings {
  readonly sentIds: readonly string[];
  readonly whyFirstQuestion: string;
  readonly bytesAreTheSame: boolean;
  readonly messagesBeforeTheCall: number;
  readonly storeIsSound: boolean;
}

/** Opens a store read-only and looks into the last call of a conversation. Writes nothing. */
export const main = async (store: string, conversation: string): Promise<Findings> => {
  const stemma = await openStemma({ store, readOnly: true });
  const branch = await stemma.open(conversation);

  const { calls } = await branch.calls();
  const last = calls.at(-1);
  if (last === undefined) throw new Error('no call was made');

  const recorded = await branch.context(last.modelCallId);
  const reason = await branch.why('question-0', { modelCallId: last.modelCallId });
  const then = await branch.history({ revision: recorded.requested.branchRevision });
  const { ok } = await stemma.verify(conversation);
  await stemma.close();

  return {
    sentIds: recorded.plan.sent,
    whyFirstQuestion: reason.disposition,
    bytesAreTheSame: recorded.same,
    messagesBeforeTheCall: then.entries.length,
    storeIsSound: ok,
  };
};
