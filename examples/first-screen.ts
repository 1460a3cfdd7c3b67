import { openaiChat, openStemma, type Branch, type Toolbox } from 'stemma';
import { scriptedModel } from './scripted-model.js'; // or: (body) => openai.chat.completions.create(body)

const profile = openaiChat({ model: 'gpt-5.1' });
const tools: Toolbox = {
  find_order: {
    description: 'Look an order up',
    effect: 'read_only',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
    run: ({ id }) => (id === '8813' ? 'paid' : 'not known'),
  },
};

const run = async (branch: Branch) => {
  for (;;) {
    const call = await branch.request({ profile, tools, budgetTokens: 8_000 }); // durable before it is sent
    const reply = await call.send(scriptedModel);
    if (reply.toolCalls.length === 0) return call.modelCallId;
    for (const toolCall of reply.toolCalls) await toolCall.run(tools); // started, result: both are events
  }
};

export const main = async (store: string) => {
  const stemma = await openStemma({ store });
  const main = await stemma.start({ id: 'refund-8812', instructions: 'You answer briefly.' }); // again = replay
  await main.append({ id: 'm-1', role: 'user', content: 'Refund order 8812' });
  const a = await run(main);

  const typo = await main.retry({
    before: 'm-1',
    replace: { id: 'm-1b', content: 'Refund order 8813' },
    name: 'typo',
  });
  const b = await run(typo); // main is untouched

  const difference = await stemma.diff(a, b, { of: 'context' });
  const reason = await typo.why('m-1b', { modelCallId: b });
  await stemma.close();
  return { difference, reason };
};
