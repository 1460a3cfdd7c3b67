import { openaiChat, openStemma, type Branch, type Toolbox } from 'stemma';
import { scriptedModel } from './scripted-model.js';

const profile = openaiChat({ model: 'gpt-5.1' });

const tools: Toolbox = {
  find_order: {
    description: 'Look an order up',
    effect: 'read_only',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
    run: ({ id }) => (id === '8812' ? 'paid on Monday' : 'not known'),
  },
};

/** Goes on wherever the conversation stopped, also in another process. */
export const work = async (branch: Branch): Promise<void> => {
  await branch.claim(); // a turn left by a process that died becomes ours
  await branch.recover(); // its model call without an answer is recorded as lost
  for (;;) {
    const { next } = await branch.session();
    if (next === 'tools') {
      for (const call of await branch.openCalls()) await call.run(tools);
      continue;
    }
    if (next !== 'model') return;
    const call = await branch.request({ profile, tools, budgetTokens: 8_000 });
    const reply = await call.send(scriptedModel);
    for (const toolCall of reply.toolCalls) await toolCall.run(tools);
  }
};

/** Keeps the context small: what is covered stays in history and can be brought back. */
export const tidy = async (branch: Branch): Promise<string | undefined> => {
  const { tokens } = await branch.preview({ profile, tools });
  if (tokens < 80) return undefined;
  const { compaction } = await branch.compact({
    strategy: 'summary',
    keepLast: 2,
    summary: 'The customer asked about orders; each was looked up and answered.',
  });
  return compaction;
};

/** A week in the life of a conversation: questions arrive, the process is replaced in between. */
export const main = async (store: string): Promise<number> => {
  for (const [day, question] of ['Is 8812 paid?', 'And 8813?', 'And 8814?'].entries()) {
    const stemma = await openStemma({ store });
    const branch = await stemma.start({ id: 'support-17', instructions: 'You answer briefly.' });
    await branch.append({ id: `question-${String(day)}`, role: 'user', content: question });
    await work(branch);
    await tidy(branch);
    await stemma.close();
  }
  const stemma = await openStemma({ store });
  const branch = await stemma.open('support-17');
  const { entries } = await branch.history();
  const { ok } = await stemma.verify('support-17');
  await stemma.close();
  return ok ? entries.length : 0;
};
