import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { buildContext } from '../../../src/domain/context/build.js';
import { checkMessages } from '../../../src/domain/context/check.js';
import { planCompaction } from '../../../src/domain/context/compaction-plan.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { ContextPolicy } from '../../../src/domain/context/policy.js';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import { neutral } from '../../../src/domain/profiles/neutral.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import type { Profile } from '../../../src/domain/profiles/profile.js';
import type { Surface } from '../../../src/domain/surface.js';
import { estimator } from '../../../src/domain/tokens.js';
import { compacted, extended, surfaceOf, type Spec } from './surface-builder.js';

const chat = openaiChat({ model: 'model-o' });
const claude = anthropic({ model: 'model-a' });

const build = <B extends object>(
  surface: Surface,
  profile: Profile<B>,
  policy: Partial<ContextPolicy> = {},
): ContextPlan<B> => {
  const built = buildContext({ surface, profile, policy, counter: estimator });
  if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
  expect(profile.validate(built.right.body, built.right.facts)).toEqual([]);
  return built.right;
};

const fault = (surface: Surface, profile: Profile, policy: Partial<ContextPolicy> = {}) => {
  const built = buildContext({ surface, profile, policy, counter: estimator });
  return E.isLeft(built) ? built.left : undefined;
};

const violations = (surface: Surface, profile: Profile) => {
  const found = checkMessages({ surface, profile });
  if (E.isLeft(found)) throw new Error(JSON.stringify(found.left));
  return found.right;
};

describe('V01 a trimmed exchange goes whole', () => {
  const surface = surfaceOf([
    { id: 's1', role: 'system', text: 'Answer briefly.' },
    { id: 'u1', role: 'user', text: 'What is in stock?' },
    {
      id: 'a1',
      role: 'assistant',
      calls: [{ id: 'c1', name: 'stock_list', arguments: '{"warehouse":"north","verbose":true}' }],
    },
    { id: 't1', role: 'tool', text: '12 bolts', answers: 'c1' },
    { id: 'a2', role: 'assistant', text: 'There are 12 bolts.' },
    { id: 'u2', role: 'user', text: 'And nuts?' },
  ]);
  it('V01 sends the newest whole units within the budget', () => {
    const plan = build(surface, chat, {
      budgetTokens: 45,
      requireUserStart: false,
      tokens: { s1: 10, u1: 10, a1: 40, t1: 15, a2: 10, u2: 5 },
    });
    expect(plan.sent).toEqual(['s1', 'a2', 'u2']);
    expect(plan.tokens).toBe(25);
    expect(plan.dispositions.filter((entry) => !entry.in).map((entry) => entry.messageId)).toEqual([
      'u1',
      'a1',
      't1',
    ]);
  });
});

describe('V03 a compaction cut never splits a unit', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Rename the module.' },
    { id: 'a1', role: 'assistant', text: 'Looking.', calls: ['c1'] },
    { id: 't1', role: 'tool', text: 'export const a=1', answers: 'c1' },
    { id: 'a2', role: 'assistant', text: 'Found it.' },
    { id: 'u2', role: 'user', text: 'Go on.' },
  ]);
  const input = {
    surface,
    profile: claude,
    counter: estimator,
    strategy: 'summary' as const,
    keepFrom: 't1',
    summary: 'User wants the module renamed; a.ts was opened.',
  };
  it('V03 moves the cut to the edge of the unit and says so', () => {
    const draft = planCompaction({ ...input, onSplit: 'move' });
    if (E.isLeft(draft)) throw new Error(JSON.stringify(draft.left));
    expect(draft.right.covered).toEqual(['u1']);
    expect(draft.right.moved).toEqual({ from: 't1', to: 'a1' });
    const plan = build(compacted(surface, draft.right), claude);
    expect(plan.sent).toEqual(['summary-1', 'a1', 't1', 'a2', 'u2']);
  });
  it('V03 refuses the cut where it may not be moved', () => {
    expect(planCompaction({ ...input, onSplit: 'reject' })).toEqual(
      E.left({ _tag: 'CompactionInvalid', reason: 'splits_unit', ids: ['c1'] }),
    );
  });
});

describe('V04 parallel calls that are partly answered', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Check A, B and C.' },
    { id: 'a1', role: 'assistant', calls: ['c1', 'c2', 'c3'] },
    { id: 't2', role: 'tool', text: 'B is up', answers: 'c2' },
    { id: 'u2', role: 'user', text: 'Stop, only B matters.' },
  ]);
  it('V04 names the open calls of the unrepaired input', () => {
    expect(violations(surface, claude)).toMatchObject([
      { rule: 'A3', code: 'OpenToolCalls', index: 1, ids: ['c1', 'c3'] },
    ]);
  });
  it('V04 refuses by default', () => {
    expect(fault(surface, claude)).toEqual({
      _tag: 'OpenToolCalls',
      ids: ['c1', 'c3'],
      index: 1,
    });
  });
  it('V04 makes marked results in the order of the calls', () => {
    const plan = build(surface, claude, { onUnanswered: 'synthesize' });
    expect(plan.results).toMatchObject([
      { toolCallId: 'c1', synthetic: true, isError: true },
      { toolCallId: 'c2', synthetic: false, isError: false, content: 'B is up' },
      { toolCallId: 'c3', synthetic: true, isError: true },
    ]);
    const message = plan.body.messages[2];
    expect(message?.role).toBe('user');
    expect(message?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1', is_error: true },
      { type: 'tool_result', tool_use_id: 'c2', content: 'B is up' },
      { type: 'tool_result', tool_use_id: 'c3', is_error: true },
    ]);
    expect(plan.synthetic.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c3']);
  });
  it('V04 leaves the whole unit out where the policy says so', () => {
    expect(build(surface, claude, { onUnanswered: 'drop_call' }).sent).toEqual(['u1', 'u2']);
  });
});

describe('V05 a user message between call and result', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Run the long job.' },
    { id: 'a1', role: 'assistant', calls: ['c1'] },
    { id: 'u2', role: 'user', text: 'Use the small data set.' },
    { id: 't1', role: 'tool', text: 'job finished', answers: 'c1' },
  ]);
  it('V05 finds the result that is not adjacent', () => {
    expect(violations(surface, chat)).toContainEqual({
      rule: 'OC4',
      code: 'OrderViolation',
      reason: 'tool_result_not_adjacent',
      index: 1,
      ids: ['c1'],
      messageIds: ['a1'],
    });
  });
  it.each([chat, claude])('V05 moves the result up and reports it ($id)', (profile: Profile) => {
    const plan = build(surface, profile, { adjacency: 'move_results_up' });
    expect(plan.sent).toEqual(['u1', 'a1', 't1', 'u2']);
    expect(plan.repairs).toEqual([
      { code: 'MOVED_FOR_ADJACENCY', id: 't1', toolCallId: 'c1', fromIndex: 3, toIndex: 2 },
    ]);
  });
  it('V05 refuses where the policy lets nothing be moved', () => {
    expect(fault(surface, chat, { adjacency: 'reject' })).toEqual({
      _tag: 'OrderViolation',
      rule: 'tool_result_not_adjacent',
      profileRule: 'OC4',
      index: 1,
      ids: ['c1'],
    });
  });
  it('V05 keeps the order of the log without provider rules', () => {
    expect(build(surface, neutral()).sent).toEqual(['u1', 'a1', 'u2', 't1']);
  });
});

describe('V08 long call ids', () => {
  const long = 'toolcall-0123456789012345678901234567890-';
  const call = (id: string) => ({ id, name: 'f', arguments: '{}' });
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'go' },
    { id: 'a1', role: 'assistant', calls: [call(`${long}AAA`), call(`${long}BBB`)] },
    { id: 't1', role: 'tool', text: 'one', answers: `${long}AAA` },
    { id: 't2', role: 'tool', text: 'two', answers: `${long}BBB` },
  ]);
  it('V08 maps them to ids of 40 characters that stay apart', () => {
    const { messages } = build(surface, chat).body;
    const [, caller, first, second] = messages;
    const ids = caller?.role === 'assistant' ? (caller.tool_calls ?? []).map(({ id }) => id) : [];
    expect(ids.map((id) => id.length)).toEqual([40, 40]);
    expect(new Set(ids).size).toBe(2);
    expect([first, second]).toEqual([
      { role: 'tool', tool_call_id: ids[0], content: 'one' },
      { role: 'tool', tool_call_id: ids[1], content: 'two' },
    ]);
  });
});

describe('V12 a summary of everything', () => {
  const surface = surfaceOf([
    { id: 's1', role: 'system', text: 'You plan trips.' },
    { id: 'u1', role: 'user', text: 'Plan Rome.' },
    { id: 'a1', role: 'assistant', text: 'Day 1 ...' },
    { id: 'u2', role: 'user', text: 'Cheaper.' },
    { id: 'a2', role: 'assistant', text: 'Day 1 cheaper ...' },
  ]);
  it('V12 is a user turn, marked as generated, and never system text', () => {
    const draft = planCompaction({
      surface,
      profile: claude,
      counter: estimator,
      strategy: 'summary',
      keepFrom: null,
      summary: 'Trip to Rome, low budget, day 1 drafted.',
    });
    if (E.isLeft(draft)) throw new Error(JSON.stringify(draft.left));
    expect(draft.right.covered).toEqual(['u1', 'a1', 'u2', 'a2']);
    const { body } = build(compacted(surface, draft.right), claude);
    expect(body.system).toBe('You plan trips.');
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: '[Summary of earlier messages. It was generated; the user did not write it.]',
          },
          { type: 'text', text: 'Trip to Rome, low budget, day 1 drafted.' },
        ],
      },
    ]);
  });
});

describe('V13 empty assistant texts', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Hello' },
    { id: 'a1', role: 'assistant', text: '' },
    { id: 'u2', role: 'user', text: 'Are you there?' },
    { id: 'a2', role: 'assistant', text: ' \n' },
    { id: 'u3', role: 'user', text: 'Hm?' },
  ]);
  it('V13 are left out and reported', () => {
    const plan = build(surface, claude);
    expect(plan.body.messages).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'Are you there?' },
      { role: 'user', content: 'Hm?' },
    ]);
    expect(plan.repairs).toMatchObject([
      { code: 'EMPTY_MESSAGE_OMITTED', id: 'a1' },
      { code: 'EMPTY_MESSAGE_OMITTED', id: 'a2' },
    ]);
    expect(plan.sent).toEqual(['u1', 'u2', 'u3']);
  });
});

describe('V14 an image in a tool result', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Look at both pages.' },
    { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
    {
      id: 't1',
      role: 'tool',
      answers: 'c1',
      blocks: [
        { type: 'text', text: 'page 1' },
        { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      ],
    },
    { id: 't2', role: 'tool', text: 'Title 2', answers: 'c2' },
  ]);
  it('V14 is carried by a user message behind the whole group', () => {
    const plan = build(surface, chat);
    expect(plan.body.messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'page 1' },
      { role: 'tool', tool_call_id: 'c2', content: 'Title 2' },
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: '[Media of the result of tool call c1. It comes from the tool, not from the user.]',
          },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
    ]);
    expect(plan.sent).toEqual(['u1', 'a1', 't1', 't2']);
  });
  it('V14 stays in the result where the provider takes it', () => {
    const { messages } = build(surface, claude).body;
    expect(messages[2]).toEqual({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            { type: 'text', text: 'page 1' },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
            },
          ],
        },
        { type: 'tool_result', tool_use_id: 'c2', content: 'Title 2' },
      ],
    });
  });
});

describe('V18 reasoning of another provider', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: '2+2?' },
    {
      id: 'a1',
      role: 'assistant',
      blocks: [
        { type: 'reasoning', text: 'add', signature: 'c2ln', provider: 'anthropic', model: 'm-a' },
        { type: 'text', text: 'Calling.' },
      ],
      calls: [{ id: 'toolu_01ABC', name: 'calc', arguments: '{"e":"2+2"}' }],
    },
    { id: 't1', role: 'tool', text: '4', answers: 'toolu_01ABC' },
    { id: 'u2', role: 'user', text: 'Thanks' },
  ]);
  it('V18 is dropped and reported', () => {
    const plan = build(surface, chat);
    expect(plan.body.messages).toEqual([
      { role: 'user', content: '2+2?' },
      {
        role: 'assistant',
        content: 'Calling.',
        tool_calls: [
          {
            id: 'toolu_01ABC',
            type: 'function',
            function: { name: 'calc', arguments: '{"e":"2+2"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_01ABC', content: '4' },
      { role: 'user', content: 'Thanks' },
    ]);
    expect(plan.repairs).toEqual([{ code: 'FOREIGN_REASONING_DROPPED', id: 'a1' }]);
  });
});

describe('V19 reasoning bound to its prefix', () => {
  const thinking = (text: string, signature: string) => ({
    type: 'reasoning' as const,
    text,
    signature,
    provider: 'anthropic',
    model: 'm-f',
  });
  const surface = surfaceOf([
    { id: 's1', role: 'system', text: 'Be exact.' },
    { id: 'u1', role: 'user', text: 'Part 1' },
    {
      id: 'a1',
      role: 'assistant',
      blocks: [thinking('p1', 'c2lnMQ=='), { type: 'text', text: 'Done 1' }],
    },
    { id: 'u2', role: 'user', text: 'Part 2' },
    {
      id: 'a2',
      role: 'assistant',
      blocks: [thinking('p2', 'c2lnMg=='), { type: 'text', text: 'Done 2' }],
    },
    { id: 'u3', role: 'user', text: 'Part 3' },
  ]);
  const capabilities = { prefixBoundThinking: true, thinkingRequiredInToolLoop: false };
  it('V19 is left out behind a compaction, with the text kept', () => {
    const draft = planCompaction({
      surface,
      profile: claude,
      counter: estimator,
      strategy: 'summary',
      keepFrom: 'u2',
      summary: 'Part 1 is done.',
    });
    if (E.isLeft(draft)) throw new Error(JSON.stringify(draft.left));
    const plan = build(compacted(surface, draft.right), claude, { capabilities });
    expect(plan.text).not.toContain('c2lnMg==');
    expect(plan.text).toContain('Done 2');
    expect(plan.repairs).toEqual([
      { code: 'THINKING_INVALIDATED_BY_PREFIX', ids: ['a2'], action: 'left_out' },
    ]);
  });
  it('V19 is kept while nothing before it changed', () => {
    const plan = build(surface, claude, { capabilities });
    expect(plan.text).toContain('c2lnMQ==');
    expect(plan.text).toContain('c2lnMg==');
    expect(plan.repairs).toEqual([]);
  });
});

describe('V27 an interrupted message', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Write a file.' },
    {
      id: 'a1',
      role: 'assistant',
      text: 'Sure, writing',
      calls: [{ id: 'c1', name: 'write', arguments: '{"pa' }],
      status: 'interrupted',
    },
    { id: 'u2', role: 'user', text: 'Shorter please.' },
  ]);
  it('V27 gives its text where the policy keeps it, never half a call', () => {
    expect(build(surface, chat, { interrupted: 'keep_text' }).body.messages).toEqual([
      { role: 'user', content: 'Write a file.' },
      { role: 'assistant', content: 'Sure, writing' },
      { role: 'user', content: 'Shorter please.' },
    ]);
  });
  it('V27 is out by default', () => {
    const plan = build(surface, chat);
    expect(plan.sent).toEqual(['u1', 'u2']);
    expect(plan.dispositions[1]).toMatchObject({ in: false, disposition: 'interrupted' });
  });
});

describe('V28 a budget that nothing can meet', () => {
  const surface = surfaceOf([
    { id: 's1', role: 'system', text: 'rules' },
    { id: 'u1', role: 'user', text: 'old' },
    { id: 'a1', role: 'assistant', text: 'old' },
    { id: 'u2', role: 'user', text: 'new big task' },
  ]);
  it('V28 is refused with what is needed and what there is', () => {
    const policy: Partial<ContextPolicy> = {
      budgetTokens: 33_536,
      pinRoles: ['system'],
      mustKeep: ['$last_user'],
      tokens: { s1: 30_000, u1: 2_500, a1: 2_500, u2: 13_000 },
    };
    const expected = {
      _tag: 'BudgetImpossible',
      needed: 43_000,
      available: 33_536,
      parts: ['s1', 'u2'],
    };
    expect(fault(surface, chat, policy)).toEqual(expected);
    expect(fault(surface, chat, policy)).toEqual(expected);
  });
});

describe('V29 rules and goal stay through compactions', () => {
  const specs: readonly Spec[] = [
    { id: 's1', role: 'system', text: 'Never delete files.' },
    { id: 'u1', role: 'user', text: 'Goal: migrate the blog.', pinned: true },
    { id: 'a1', role: 'assistant', text: 'step 1' },
    { id: 'u2', role: 'user', text: 'continue' },
    { id: 'a2', role: 'assistant', text: 'step 2' },
    { id: 'u3', role: 'user', text: 'continue' },
    { id: 'a3', role: 'assistant', text: 'step 3' },
    { id: 'u4', role: 'user', text: 'status?' },
  ];
  const compactFrom = (surface: Surface, keepFrom: string, summary: string, id: string) => {
    const strategy = 'summary' as const;
    const draft = planCompaction({
      surface,
      profile: chat,
      counter: estimator,
      strategy,
      keepFrom,
      summary,
    });
    if (E.isLeft(draft)) throw new Error(JSON.stringify(draft.left));
    return { draft: draft.right, after: compacted(surface, draft.right, id) };
  };
  it('V29 puts the summary where the first covered message stood', () => {
    const { draft, after } = compactFrom(surfaceOf(specs), 'u4', 'Steps 1 to 3 done.', '$summary');
    expect(draft.covered).toEqual(['a1', 'u2', 'a2', 'u3', 'a3']);
    expect(draft.breaksPrefixAt).toBe('a1');
    expect(build(after, chat).sent).toEqual(['s1', 'u1', '$summary', 'u4']);
  });
  it('V29 covers an earlier summary with the next one', () => {
    const { after } = compactFrom(surfaceOf(specs), 'u4', 'Steps 1 to 3 done.', '$summary');
    const longer = extended(after, specs, [
      { id: 'a4', role: 'assistant', text: 'step 4' },
      { id: 'u5', role: 'user', text: 'and now?' },
    ]);
    const second = compactFrom(longer, 'u5', 'Steps 1 to 4 done.', '$summary2');
    expect(second.draft.covered).toEqual(['$summary', 'u4', 'a4']);
    expect(build(second.after, chat).sent).toEqual(['s1', 'u1', '$summary2', 'u5']);
  });
});

describe('V32 parallel results of an import', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'Read three.' },
    { id: 'a1', role: 'assistant', calls: ['c1', 'c2', 'c3'] },
    { id: 't1', role: 'tool', text: 'one', answers: 'c1' },
    { id: 't2', role: 'tool', text: 'two', answers: 'c2' },
    { id: 't3', role: 'tool', text: 'three', answers: 'c3' },
    { id: 'a2', role: 'assistant', text: 'All read.' },
  ]);
  it('V32 are all in the context, which may end with the model', () => {
    expect(build(surface, claude).sent).toEqual(['u1', 'a1', 't1', 't2', 't3', 'a2']);
  });
});

describe('V36 an old shape with its result inside', () => {
  const surface = surfaceOf([
    { id: 'u1', role: 'user', text: 'sum 1 2' },
    {
      id: 'a1',
      role: 'assistant',
      text: '',
      calls: [{ id: 'c1', name: 'add', arguments: '{"a":1,"b":2}' }],
    },
    { id: 't1', role: 'tool', text: '3', answers: 'c1' },
    { id: 'a2', role: 'assistant', text: '3' },
  ]);
  it('V36 is sent like any other call', () => {
    expect(build(surface, chat).body.messages).toEqual([
      { role: 'user', content: 'sum 1 2' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '3' },
      { role: 'assistant', content: '3' },
    ]);
  });
});

describe('V40 the prefix stays', () => {
  const specs: readonly Spec[] = [
    { id: 's1', role: 'system', text: 'You run the house.' },
    { id: 'u1', role: 'user', text: 'Light on.' },
    { id: 'a1', role: 'assistant', text: 'On.' },
    { id: 'u2', role: 'user', text: 'Heat?' },
  ];
  const more: readonly Spec[] = [
    { id: 'a2', role: 'assistant', text: '20 degrees.' },
    { id: 'u3', role: 'user', text: 'Raise it.' },
  ];
  it.each([chat, claude])(
    'V40 the text of one call is a prefix of the next ($id)',
    (profile: Profile) => {
      const of = (list: readonly Spec[], names: readonly string[]) => {
        const built = buildContext({
          surface: surfaceOf(list),
          profile,
          policy: { budgetTokens: 100_000 },
          tools: names.map((name) => ({ name, parameters: { type: 'object', properties: {} } })),
          counter: estimator,
        });
        if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
        return built.right;
      };
      const first = of(specs, ['b_tool', 'a_tool']);
      const second = of([...specs, ...more], ['a_tool', 'b_tool']);
      const last = JSON.stringify(specs.at(-1)?.text);
      const untilLast = first.text.slice(0, first.text.indexOf(last) + last.length);
      expect(second.text.startsWith(untilLast)).toBe(true);
      expect(second.tools).toEqual(['a_tool', 'b_tool']);
    },
  );
});
