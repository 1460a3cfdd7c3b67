import { describe, expect, it } from 'vitest';
import { openStemma, openaiChat, type Branch, type Toolbox } from '../../src/index.js';

const profile = openaiChat({ model: 'gpt-5.1' });
const tools: Toolbox = {
  find_order: {
    description: 'Look an order up',
    effect: 'read_only',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
    run: ({ id }) => ({ id, status: 'paid' }),
  },
};

let round = 0;
const model = () => {
  round += 1;
  return round % 2 === 1
    ? {
        id: 'r1',
        model: 'gpt-5.1',
        choices: [
          {
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: 'c1',
                  type: 'function',
                  function: { name: 'find_order', arguments: '{"id":"8812"}' },
                },
              ],
            },
          },
        ],
        usage: { prompt_tokens: 10, completion_tokens: 5 },
      }
    : {
        id: 'r2',
        model: 'gpt-5.1',
        choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'Refunded.' } }],
        usage: { prompt_tokens: 20, completion_tokens: 3 },
      };
};

const loop = async (branch: Branch): Promise<string> => {
  for (;;) {
    const call = await branch.request({ profile, tools, budgetTokens: 8_000 });
    const reply = await call.send(() => Promise.resolve(model()));
    if (reply.toolCalls.length === 0) return call.modelCallId;
    for (const toolCall of reply.toolCalls) await toolCall.run(tools);
  }
};

describe('the example of the first screen', () => {
  it('DC6 runs a turn with a tool, retries with an edit, and says why', async () => {
    const stemma = await openStemma({ store: 'memory:' });
    const main = await stemma.start({
      id: 'refund-8812',
      instructions: 'You answer refund questions.',
    });
    await main.append({ id: 'm-1', role: 'user', content: 'Refund order 8812' });
    const a = await loop(main);
    const typo = await main.retry({
      before: 'm-1',
      replace: { id: 'm-1b', content: 'Refund order 8813' },
      name: 'typo',
    });
    const b = await loop(typo);
    const diff = await stemma.diff(a, b, { of: 'context' });
    expect(diff.onlyA).toContain('m-1');
    expect(diff.onlyB).toContain('m-1b');
    expect(await typo.why('m-1b', { modelCallId: b })).toMatchObject({ in: true });
    expect(await typo.why('m-1', { modelCallId: b })).toMatchObject({
      in: false,
      disposition: 'not_on_branch',
    });
    expect((await main.context(a)).same).toBe(true);
    expect((await typo.context(b)).same).toBe(true);
    const session = await main.session();
    expect(session).toMatchObject({ next: 'user', toolCalls: [], modelCalls: [] });
    const plan = await main.compact({ strategy: 'summary', keepLast: 1, summary: 'ok' });
    expect(plan.plan.covered.length).toBeGreaterThan(0);
    expect((await main.context(a)).same).toBe(true);
    expect((await stemma.verify()).ok).toBe(true);
    expect((await stemma.search('Refund')).hits.length).toBeGreaterThan(1);
    const lines: string[] = [];
    for await (const line of stemma.export('refund-8812')) lines.push(line);
    const other = await openStemma({ store: 'memory:' });
    const bytes = new TextEncoder().encode(lines.join('\n') + '\n');
    const imported = await other.import(bytes);
    expect(imported.appended).toBe(lines.length - 1);
    expect((await other.import(bytes)).appended).toBe(0);
    expect((await other.verify()).ok).toBe(true);
    const again: string[] = [];
    for await (const line of other.export('refund-8812'))
      again.push(line.replace(/"stream":"[^"]*"/, ''));
    expect(again).toEqual(lines.map((line) => line.replace(/"stream":"[^"]*"/, '')));
    await stemma.close();
  });
});
