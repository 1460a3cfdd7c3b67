import { openaiChat } from '../../../domain/profiles/openai-chat.js';
import type { OpenAIChatBody } from '../../../domain/profiles/openai-chat-wire.js';
import type { Branch } from '../../../face/branch-face.js';
import type { ModelCall } from '../../../face/model-call-face.js';
import type { Stemma } from '../../../face/stemma-face.js';
import type { Toolbox } from '../../../face/toolbox.js';
import type { Answer, Script } from './script.js';

const RUN = 'demo';
const profile = openaiChat({ model: 'gpt-5.1' });

const toolsOf = (script: Script): Toolbox => {
  const textParameter = (name: string) => ({
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
  });
  return {
    find_order: {
      description: script.findOrder,
      effect: 'read_only',
      parameters: textParameter('id'),
      run: () => script.order,
    },
    read_policy: {
      description: script.readPolicy,
      effect: 'read_only',
      parameters: textParameter('topic'),
      run: () => script.policy,
    },
  };
};

/** What a provider would send back; no model is called. */
const responseFor = (answer: Answer, { plan, modelCallId }: ModelCall<OpenAIChatBody>): unknown => {
  const message =
    'say' in answer
      ? { role: 'assistant', content: answer.say }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: answer.id,
              type: 'function',
              function: { name: answer.call, arguments: answer.arguments },
            },
          ],
        };
  const completion = JSON.stringify(message).length >> 2;
  return {
    id: `scripted-${modelCallId}`,
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: 'say' in answer ? 'stop' : 'tool_calls' }],
    usage: {
      prompt_tokens: plan.tokens,
      completion_tokens: completion,
      total_tokens: plan.tokens + completion,
    },
  };
};

const answerTurn = async (
  branch: Branch,
  tools: Toolbox,
  answers: readonly Answer[],
): Promise<void> => {
  for (const answer of answers) {
    const call = await branch.request({ profile, tools, budgetTokens: 2_000 });
    const reply = await call.send(() => responseFor(answer, call));
    for (const toolCall of reply.toolCalls) await toolCall.run(tools);
  }
};

const ask = (branch: Branch, id: string, content: string): Promise<unknown> =>
  branch.append({ id, role: 'user', content }, { as: { kind: 'end_user', id: 'customer' } });

/** Plays the demo into a store: two turns with tools, a compaction, a third turn, and a retry of it. */
export const playDemo = async (stemma: Stemma, script: Script): Promise<Branch> => {
  const { id, title, instructions, questions, answers } = script;
  const tools = toolsOf(script);
  const main = await stemma.start({
    id,
    title,
    instructions,
    labels: { source: 'demo' },
    run: RUN,
  });
  await ask(main, 'm-1', questions[0]);
  await answerTurn(main, tools, answers[0]);
  await ask(main, 'm-2', questions[1]);
  await answerTurn(main, tools, answers[1]);
  await main.compact({ strategy: 'summary', summary: script.summary, keepFrom: 'm-2', profile });
  await ask(main, 'm-3', questions[2]);
  await answerTurn(main, tools, answers[2]);
  const retry = await main.retry({
    before: 'm-3',
    replace: { id: 'm-3b', content: script.retried },
    name: 'retry',
  });
  await answerTurn(retry, tools, answers[3]);
  return main;
};
