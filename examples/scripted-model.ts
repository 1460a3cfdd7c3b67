/** A chat message as OpenAI's API takes it; only what this stand-in looks at. */
interface Sent {
  readonly role: string;
  readonly content?: unknown;
}

interface Body {
  readonly messages: readonly Sent[];
}

const usage = { prompt_tokens: 0, completion_tokens: 0 };

const answer = (content: string) => ({
  model: 'scripted',
  usage,
  choices: [{ finish_reason: 'stop', message: { role: 'assistant', content } }],
});

const callTool = (name: string, args: object) => ({
  model: 'scripted',
  usage,
  choices: [
    {
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } },
        ],
      },
    },
  ],
});

/**
 * Stands in for a model, so that the examples run without a key and always alike: it looks the order
 * of the last question up, then answers with what it was told.
 */
export const scriptedModel = async (body: Body): Promise<unknown> => {
  await Promise.resolve();
  const last = body.messages.at(-1);
  const text = typeof last?.content === 'string' ? last.content : '';
  if (last?.role === 'tool') return answer(`The order is ${text}.`);
  const order = /\d{4}/.exec(text)?.[0];
  return order === undefined ? answer('Which order?') : callTool('find_order', { id: order });
};
