import { expect, it } from 'vitest';
import { openaiChat, openStemma } from '../../src/index.js';
import { openaiTokens } from '../../src/tokens-openai.js';

it('CX3 counts with the vocabulary of the model, and says that it is exact', async () => {
  const counter = await openaiTokens();
  expect(counter.count('hello world')).toBe(2);
  const stemma = await openStemma({ store: 'memory:' });
  const main = await stemma.start();
  await main.append({ id: 'u1', role: 'user', content: 'hello world' });
  const plan = await main.preview({ profile: openaiChat({ model: 'gpt-5.1' }), counter });
  expect(plan.counter).toEqual({ name: 'gpt-tokenizer o200k_base', exact: true });
});
