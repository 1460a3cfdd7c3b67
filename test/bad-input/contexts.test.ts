import { beforeEach, describe, expect, it } from 'vitest';
import { anthropic, openaiChat, type Branch, type MessageInput } from '../../src/index.js';
import { faultOf, loose, refused, textsOf, watchBranch, type Watched } from './support.js';

const profile = openaiChat({ model: 'm' });
const SECRET = 'words nobody may read';

const long = (id: string, role: 'user' | 'assistant' = 'user', words = 100): MessageInput => ({
  id,
  role,
  content: `${SECRET} `.repeat(words),
});

const call = (id: string, callId: string): MessageInput => ({
  id,
  role: 'assistant',
  toolCalls: [{ id: callId, name: 'f', arguments: '{}' }],
});

const result = (id: string, toolCallId: string): MessageInput => ({
  id,
  role: 'tool',
  toolCallId,
  content: 'done',
});

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch } = watched);
});

describe('budgets', () => {
  it('B53 refuses a budget below what has to be sent, with the numbers and the parts', async () => {
    await branch.instructions(`${SECRET} `.repeat(50));
    await branch.append([long('u-1'), long('a-1', 'assistant'), long('u-2')]);
    const fault = await refused(watched, () => branch.request({ profile, budgetTokens: 100 }), [
      SECRET,
    ]);
    expect(fault._tag).toBe('BudgetImpossible');
    const { needed, available, parts } = fault as unknown as {
      readonly needed: number;
      readonly available: number;
      readonly parts: readonly string[];
    };
    expect(available).toBe(100);
    expect(needed).toBeGreaterThan(100);
    expect(parts).toContain('u-2');
    expect(parts).not.toContain('u-1');
    // With exactly that much it can be built, and everything irreducible is in.
    const plan = await branch.preview({ profile, budgetTokens: needed });
    expect(plan.tokens).toBeLessThanOrEqual(needed);
    expect(plan.body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(await faultOf(() => branch.preview({ profile, budgetTokens: needed - 1 }))).toEqual({
      ...fault,
      available: needed - 1,
    });
  });

  it('B53 never sends half an exchange, whatever the budget', async () => {
    await branch.append([long('u-0'), { id: 'u-1', role: 'user', content: 'go' }]);
    for (const index of [1, 2, 3, 4, 5, 6]) {
      await branch.append([
        call(`a-${String(index)}`, `c-${String(index)}`),
        result(`t-${String(index)}`, `c-${String(index)}`),
      ]);
    }
    await branch.append({ id: 'u-2', role: 'user', content: 'and?' });
    for (let budgetTokens = 1; budgetTokens < 400; budgetTokens += 7) {
      const plan = await branch.preview({ profile, budgetTokens }).catch((error: unknown) => error);
      if (plan instanceof Error) {
        expect(plan).toMatchObject({ code: 'BudgetImpossible' });
        continue;
      }
      const { body, tokens } = plan as Awaited<ReturnType<typeof branch.preview>>;
      const { messages } = body as { readonly messages: readonly { readonly role: string }[] };
      expect(tokens).toBeLessThanOrEqual(budgetTokens);
      const count = (role: string): number => messages.filter((m) => m.role === role).length;
      expect(count('tool')).toBe(count('assistant'));
    }
  });

  it('B53 counts tools and instructions into what has to fit', async () => {
    await branch.append({ id: 'u-1', role: 'user', content: 'go' });
    const tools = { f: { description: 'x'.repeat(4_000), run: () => '' } };
    const fault = await refused(watched, () =>
      branch.request({ profile, tools, budgetTokens: 200 }),
    );
    expect(fault).toMatchObject({ _tag: 'BudgetImpossible' });
  });

  it.each<[string, unknown, string]>([
    ['0', 0, 'out_of_range'],
    ['-1', -1, 'out_of_range'],
    ['NaN', Number.NaN, 'not_an_integer'],
    ['Infinity', Number.POSITIVE_INFINITY, 'not_an_integer'],
    ['a fraction', 0.5, 'not_an_integer'],
    ['2^53', 2 ** 53, 'out_of_range'],
    ['a text', '1000', 'not_an_integer'],
    ['null', null, 'not_an_integer'],
    ['a list', [1], 'not_an_integer'],
  ])('B54 refuses the budget %s', async (_what, budgetTokens, reason) => {
    await branch.append({ role: 'user', content: SECRET });
    for (const use of [
      () => branch.request({ profile, budgetTokens: loose(budgetTokens) }),
      () => branch.preview({ profile, budgetTokens: loose(budgetTokens) }),
      () => branch.preview({ profile, policy: { budgetTokens: loose(budgetTokens) } }),
    ]) {
      expect(await refused(watched, use, [SECRET])).toEqual({
        _tag: 'InvalidArgument',
        name: 'budgetTokens',
        reason,
      });
    }
  });

  it('B54 cuts a huge budget to the window of the model', async () => {
    await branch.append({ role: 'user', content: 'x' });
    const model = openaiChat({ model: 'm', contextWindow: 8_000 });
    const plan = await branch.preview({ profile: model, budgetTokens: 1e12 });
    expect(plan.budget).toBe(8_000);
    expect((await branch.preview({ profile, budgetTokens: 1e12 })).budget).toBe(1e12);
  });

  it.each([
    ['maxItems', 0],
    ['maxItems', 1.5],
    ['reserveTokens', -1],
    ['maxToolResultTokens', 0],
    ['maxArgumentChars', 1],
    ['budget', 1],
    ['Strict', true],
  ])('B54 refuses the policy %s: %j', async (name, value) => {
    await branch.append({ role: 'user', content: 'x' });
    const use = () => branch.preview({ profile, policy: { [name]: value } });
    expect(await refused(watched, use)).toMatchObject({ _tag: 'InvalidArgument', name });
  });

  it('B60 refuses an answer of another provider, and leaves the call to be tried again', async () => {
    await branch.append({ role: 'user', content: 'x' });
    const answer = {
      role: 'assistant',
      type: 'message',
      content: [{ type: 'text', text: SECRET }],
    };
    const first = await branch.request({ profile });
    const fault = await faultOf(() => first.send(() => answer), [SECRET]);
    expect(['ProfileMismatch', 'InvalidShape']).toContain(fault._tag);
    const second = await branch.request({ profile, retryOf: first.modelCallId });
    expect(second.attempt).toBe(2);
    await second.fail({ kind: 'other' });
    const claude = anthropic({ model: 'm', maxTokens: 10 });
    const third = await branch.request({ profile: claude });
    const openai = { choices: [{ message: { role: 'assistant', content: SECRET } }] };
    const refusal = await faultOf(() => third.send(() => openai), [SECRET]);
    expect(['ProfileMismatch', 'InvalidShape']).toContain(refusal._tag);
    expect(await textsOf(branch)).toEqual(['x']);
  });
});
