import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { buildContext } from '../../../src/domain/context/build.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { ContextPolicy } from '../../../src/domain/context/policy.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import type { OpenAIChatBody } from '../../../src/domain/profiles/openai-chat-wire.js';
import type { Capabilities, Violation } from '../../../src/domain/profiles/profile.js';
import { estimator } from '../../../src/domain/tokens.js';
import { surfaceOf, type Spec } from '../context/surface-builder.js';

const chat = openaiChat({ model: 'model-o' });

const rules = (messages: readonly unknown[], capabilities: Capabilities = {}): readonly string[] =>
  chat
    .configure(capabilities)
    .validate({ model: 'model-o', messages })
    .map(({ rule }) => rule);

const found = (messages: readonly unknown[]): readonly Violation[] =>
  chat.validate({ model: 'model-o', messages });

const plan = (
  specs: readonly Spec[],
  policy: Partial<ContextPolicy> = {},
): ContextPlan<OpenAIChatBody> => {
  const built = buildContext({
    surface: surfaceOf(specs),
    profile: chat,
    policy,
    counter: estimator,
  });
  if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
  expect(chat.configure(policy.capabilities ?? {}).validate(built.right.body)).toEqual([]);
  return built.right;
};

const user = { role: 'user', content: 'hi' };
const calls = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' });

describe('OC1 roles', () => {
  it('OC1 finds a role that the protocol does not have', () => {
    expect(found([{ role: 'function', name: 'f', content: 'x' }])).toEqual([
      { rule: 'OC1', code: 'RoleNotSupported', index: 0, ids: [], role: 'function' },
    ]);
    expect(rules([{ role: 'developer', content: 'x' }, user], { developerRole: false })).toEqual([
      'OC1',
    ]);
  });
  it('OC1 takes all five roles', () => {
    expect(
      rules([
        { role: 'developer', content: 'd' },
        { role: 'system', content: 's' },
        user,
        calls('c1'),
        result('c1'),
      ]),
    ).toEqual([]);
  });
  it('OC1 maps developer for a model that does not know it, and reports it', () => {
    const specs: readonly Spec[] = [
      { id: 'd1', role: 'developer', text: 'Use metric units.' },
      { id: 'u1', role: 'user', text: 'How far is it?' },
    ];
    expect(plan(specs).body.messages[0]).toEqual({
      role: 'developer',
      content: 'Use metric units.',
    });
    const mapped = plan(specs, { capabilities: { developerRole: false } });
    expect(mapped.body.messages[0]).toEqual({ role: 'system', content: 'Use metric units.' });
    expect(mapped.repairs).toEqual([
      { code: 'ROLE_MAPPED', id: 'd1', from: 'developer', to: 'system' },
    ]);
  });
});

describe('OC2 system texts', () => {
  it('OC2 finds a system message with anything but text', () => {
    const image = { type: 'image_url', image_url: { url: 'https://e.test/a.png' } };
    expect(rules([{ role: 'system', content: [image] }, user])).toEqual(['OC2']);
    expect(rules([{ role: 'developer', content: [] }, user])).toEqual(['OC2']);
  });
  it('OC2 leaves system texts at any place and in any number', () => {
    const { body, repairs } = plan([
      { id: 's1', role: 'system', text: 'Be terse.' },
      { id: 'u1', role: 'user', text: 'Hi' },
      { id: 's2', role: 'system', text: 'From now on answer in French.' },
      { id: 'u2', role: 'user', text: 'Sky colour?' },
    ]);
    expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'system', 'user']);
    expect(repairs).toEqual([]);
  });
  it('OC2 joins them where the policy wants that, and reports where they went', () => {
    const { body, repairs, sent } = plan(
      [
        { id: 's1', role: 'system', text: 'Be terse.' },
        { id: 'u1', role: 'user', text: 'Hi' },
        { id: 'a1', role: 'assistant', text: 'Hello.' },
        { id: 's2', role: 'system', text: 'From now on answer in French.' },
        { id: 'u2', role: 'user', text: 'Sky colour?' },
      ],
      { systemPolicy: 'coalesce_leading' },
    );
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be terse.\n\nFrom now on answer in French.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Sky colour?' },
    ]);
    expect(repairs).toEqual([{ code: 'SYSTEM_RELOCATED', id: 's2', fromIndex: 3, toIndex: 0 }]);
    expect(sent).toEqual(['s1', 's2', 'u1', 'a1', 'u2']);
  });
});

describe('OC3 results answer a call', () => {
  it('OC3 finds a result whose call is not there', () => {
    expect(found([user, result('c9')])).toEqual([
      { rule: 'OC3', code: 'OrphanToolResult', index: 1, ids: ['c9'] },
    ]);
    expect(rules([user, calls('c1'), result('c1'), result('c1')])).toEqual(['OC3']);
  });
  it('OC3 is kept: an orphan of an import is left out with its reason', () => {
    const { sent, dispositions } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 't1', role: 'tool', text: 'lost', foreignCallId: 'c9' },
      { id: 'u2', role: 'user', text: 'r' },
    ]);
    expect(sent).toEqual(['u1', 'u2']);
    expect(dispositions[1]).toMatchObject({ in: false, disposition: 'orphan_result' });
  });
});

describe('OC4 every call is answered before anything else', () => {
  it('OC4 finds calls without a result', () => {
    expect(found([user, calls('c1', 'c2'), result('c2'), user])).toEqual([
      { rule: 'OC4', code: 'OpenToolCalls', index: 1, ids: ['c1'] },
    ]);
    expect(rules([user, calls('c1')])).toEqual(['OC4']);
  });
  it('OC4 finds a result behind another message', () => {
    expect(found([user, calls('c1'), user, result('c1')])[0]).toEqual({
      rule: 'OC4',
      code: 'OrderViolation',
      reason: 'tool_result_not_adjacent',
      index: 1,
      ids: ['c1'],
    });
  });
  it('OC4 takes results in any order; they are sent in the order of the calls', () => {
    expect(rules([user, calls('c1', 'c2'), result('c2'), result('c1')])).toEqual([]);
    const { sent } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
      { id: 't2', role: 'tool', text: 'two', answers: 'c2' },
      { id: 't1', role: 'tool', text: 'one', answers: 'c1' },
    ]);
    expect(sent).toEqual(['u1', 'a1', 't1', 't2']);
  });
});

describe('OC5 call ids', () => {
  const long = 'x'.repeat(41);
  it('OC5 finds an id of more than 40 characters', () => {
    expect(rules([user, calls(long), result(long)])).toEqual(['OC5', 'OC5']);
  });
  it('OC5 is kept: 40 characters stay, more are mapped', () => {
    const exact = 'y'.repeat(40);
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: [exact, long] },
      { id: 't1', role: 'tool', text: '1', answers: exact },
      { id: 't2', role: 'tool', text: '2', answers: long },
    ]);
    const ids = body.messages.flatMap((message) =>
      message.role === 'tool' ? [message.tool_call_id] : [],
    );
    expect(ids[0]).toBe(exact);
    expect(ids[1]).toMatch(/^x{23}_[A-Za-z0-9_-]{16}$/);
    expect(repairs).toEqual([
      { code: 'CALL_ID_MAPPED', id: 'a1', toolCallId: long, from: long, to: ids[1] },
    ]);
  });
});

describe('OC6 assistant content', () => {
  it('OC6 finds an assistant message without anything', () => {
    expect(rules([user, { role: 'assistant', content: null }])).toEqual(['OC6']);
    expect(rules([user, { role: 'assistant' }])).toEqual(['OC6']);
    expect(
      rules([
        user,
        { role: 'assistant', content: [{ type: 'image_url', image_url: { url: 'x' } }] },
      ]),
    ).toEqual(['OC6']);
  });
  it('OC6 takes text, refusals, and calls without text', () => {
    expect(
      rules([
        user,
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null, refusal: 'no' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
        calls('c1'),
        result('c1'),
      ]),
    ).toEqual([]);
  });
  it('OC6 is kept: a message that only thought is left out and reported', () => {
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', blocks: [{ type: 'reasoning', text: 'hm' }] },
      { id: 'a2', role: 'assistant', blocks: [{ type: 'refusal', text: 'I will not.' }] },
      { id: 'u2', role: 'user', text: 'r' },
    ]);
    expect(body.messages[1]).toEqual({ role: 'assistant', content: null, refusal: 'I will not.' });
    expect(repairs.map(({ code, id }) => [code, id])).toEqual([
      ['FOREIGN_REASONING_DROPPED', 'a1'],
      ['EMPTY_MESSAGE_OMITTED', 'a1'],
    ]);
  });
});

describe('OC7 images', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } };
  it('OC7 finds an image in a tool message', () => {
    expect(
      rules([user, calls('c1'), { role: 'tool', tool_call_id: 'c1', content: [image] }]),
    ).toEqual(['OC7']);
  });
  it('OC7 takes an image in a user message', () => {
    expect(rules([{ role: 'user', content: [image, { type: 'text', text: 'what?' }] }])).toEqual(
      [],
    );
  });
  it('OC7 is kept: the images of a group go into one user message behind it', () => {
    const png = { type: 'image' as const, mediaType: 'image/png', data: 'QUJD' };
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', blocks: [png, { type: 'text', text: 'like this' }] },
      { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
      { id: 't1', role: 'tool', blocks: [png], answers: 'c1' },
      { id: 't2', role: 'tool', blocks: [png], answers: 'c2' },
      { id: 'u2', role: 'user', text: 'and now?' },
    ]);
    expect(body.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
      'user',
    ]);
    expect(body.messages[0]).toEqual({
      role: 'user',
      content: [image, { type: 'text', text: 'like this' }],
    });
    expect(body.messages[2]).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: '[see the next user message]',
    });
    expect(body.messages[4]?.content).toHaveLength(4);
    expect(repairs.map(({ code, id }) => [code, id])).toEqual([
      ['MEDIA_CARRIED_BY_USER', 't1'],
      ['MEDIA_CARRIED_BY_USER', 't2'],
      ['TURN_ADDED', undefined],
      ['TURN_ADDED', undefined],
    ]);
  });
});

describe('OC8 arguments', () => {
  const broken = '{"path":"a.txt","content":"Once upon';
  const asks = (args: unknown) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: args } }],
  });
  const specs: readonly Spec[] = [
    { id: 'u1', role: 'user', text: 'Write it.' },
    {
      id: 'a1',
      role: 'assistant',
      calls: [{ id: 'c1', name: 'write_file', arguments: broken }],
    },
    { id: 't1', role: 'tool', text: 'invalid arguments', answers: 'c1', outcome: 'error' },
    { id: 'u2', role: 'user', text: 'Try again.' },
  ];
  it('OC8 finds arguments that are no text', () => {
    expect(found([user, asks({ a: 1 }), result('c1')])).toEqual([
      { rule: 'OC8', code: 'ToolArgumentsInvalid', reason: 'not_json', index: 1, ids: ['c1'] },
    ]);
  });
  it('OC8 finds broken JSON where the endpoint parses the history', () => {
    const strict: Capabilities = { parsesArguments: true };
    expect(rules([user, asks(broken), result('c1')])).toEqual([]);
    expect(rules([user, asks(broken), result('c1')], strict)).toEqual(['OC8']);
    expect(rules([user, asks('[1]'), result('c1')], strict)).toEqual(['OC8']);
  });
  it('OC8 sends the very text that the model wrote to the official endpoint', () => {
    const odd = '{ "n": 9007199254740993 , "a":1e3 }';
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      {
        id: 'a1',
        role: 'assistant',
        calls: [
          { id: 'c1', name: 'f', arguments: odd },
          { id: 'c2', name: 'f', arguments: broken },
        ],
      },
      { id: 't1', role: 'tool', text: '1', answers: 'c1' },
      { id: 't2', role: 'tool', text: '2', answers: 'c2' },
    ]);
    expect(body.messages[1]).toMatchObject({
      tool_calls: [{ function: { arguments: odd } }, { function: { arguments: broken } }],
    });
    expect(repairs).toEqual([
      { code: 'TOOL_ARGS_NOT_JSON', id: 'a1', toolCallId: 'c2', action: 'as_is' },
    ]);
  });
  it('OC8 replaces broken arguments whole, never by a guess', () => {
    const { body, repairs } = plan(specs, { onBadArguments: 'empty_object' });
    expect(body.messages[1]).toMatchObject({ tool_calls: [{ function: { arguments: '{}' } }] });
    expect(repairs).toEqual([
      { code: 'TOOL_ARGS_NOT_JSON', id: 'a1', toolCallId: 'c1', action: 'empty_object' },
    ]);
  });
  it('OC8 drops call and result together', () => {
    const { body, dispositions } = plan(specs, { onBadArguments: 'drop_pair' });
    expect(body.messages).toEqual([
      { role: 'user', content: 'Write it.' },
      { role: 'user', content: 'Try again.' },
    ]);
    expect(dispositions.map(({ in: isIn }) => isIn)).toEqual([true, false, false, true]);
  });
  it('OC8 drops one broken call of several and keeps the rest', () => {
    const { body } = plan(
      [
        { id: 'u1', role: 'user', text: 'q' },
        {
          id: 'a1',
          role: 'assistant',
          text: 'Both.',
          calls: [{ id: 'c1', name: 'f', arguments: broken }, 'c2'],
        },
        { id: 't1', role: 'tool', text: '1', answers: 'c1' },
        { id: 't2', role: 'tool', text: '2', answers: 'c2' },
      ],
      { onBadArguments: 'drop_pair' },
    );
    expect(body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Both.', tool_calls: [{ id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c2', content: '2' },
    ]);
  });
  it.each([{ onBadArguments: 'reject' as const }, { capabilities: { parsesArguments: true } }])(
    'OC8 refuses them where the policy or the endpoint says so: %j',
    (policy) => {
      const refused = buildContext({
        surface: surfaceOf(specs),
        profile: chat,
        policy,
        counter: estimator,
      });
      expect(refused).toEqual(
        E.left({
          _tag: 'ToolArgumentsInvalid',
          ids: ['c1'],
          rule: 'not_json',
          profileRule: 'OC8',
        }),
      );
    },
  );
});

describe('OC9 no other fields', () => {
  it('OC9 finds fields that are not of the protocol', () => {
    expect(rules([user, { role: 'assistant', content: 'a', reasoning_content: 'b' }])).toEqual([
      'OC9',
    ]);
    expect(rules([{ role: 'user', content: 'a', metadata: {} }])).toEqual(['OC9']);
    expect(rules([{ role: 'user', content: [{ type: 'text', text: 'a', extra: 1 }] }])).toEqual([
      'OC9',
    ]);
  });
  it('OC9 is kept: only listed fields of a message leave', () => {
    const { text } = plan([
      {
        id: 'canary-id',
        role: 'user',
        text: 'Hi',
        metadata: '{"trace":"canary-metadata"}',
        author: { agent: 'canary-agent', participant: 'canary-participant' },
        provenance: { kind: 'end_user', id: 'canary-person', system: 'canary-system' },
        partOf: 'canary-part',
        claimedAt: '2026-01-01T00:00:00Z',
        raw: {
          system: 'openai-chat',
          text: '{"role":"user","content":"Hi","user_email":"canary-raw"}',
        },
      },
      {
        id: 'a1',
        role: 'assistant',
        blocks: [
          { type: 'reasoning', text: 'canary-reasoning', provider: 'openai' },
          { type: 'text', text: 'Hello' },
        ],
      },
      { id: 'u2', role: 'user', text: 'Bye' },
    ]);
    expect(text).not.toContain('canary');
    expect(text).not.toContain('2026-01-01');
    expect(JSON.parse(text)).toEqual({
      model: 'model-o',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'Bye' },
      ],
    });
  });
});

describe('OC10 no prefill', () => {
  it('OC10 finds a message that asks to be continued', () => {
    expect(rules([user, { role: 'assistant', content: 'So', prefix: true }])).toEqual(['OC10']);
  });
  it('OC10 takes a trailing assistant message as context', () => {
    const { body, added } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', text: 'So ' },
    ]);
    expect(body.messages[1]).toEqual({ role: 'assistant', content: 'So ' });
    expect(added).toEqual([]);
  });
});

describe('B15 text that UTF-8 cannot carry', () => {
  it('B15 is found', () => {
    expect(rules([{ role: 'user', content: 'a\ud800b' }])).toEqual(['B15']);
  });
  it('B15 is replaced on the wire and reported', () => {
    const { body, repairs, text } = plan([{ id: 'u1', role: 'user', text: 'a\ud800b' }]);
    expect(body.messages).toEqual([{ role: 'user', content: 'a\ufffdb' }]);
    expect(repairs).toEqual([{ code: 'TEXT_REPAIRED', id: 'u1' }]);
    expect(text).not.toMatch(/\\ud8/);
  });
});

describe('tool names', () => {
  it('OC-name finds a name outside the pattern', () => {
    const odd = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'a.b', arguments: '{}' } }],
    };
    expect(rules([user, odd, result('c1')])).toEqual(['OC-name']);
  });
  it('are sanitised alike in tools and history, never two alike, and given back', () => {
    const surface = surfaceOf([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: [{ id: 'c1', name: 'fs.read', arguments: '{}' }] },
      { id: 't1', role: 'tool', text: '1', answers: 'c1' },
    ]);
    const built = buildContext({
      surface,
      profile: chat,
      tools: [{ name: 'fs.read' }, { name: 'fs/read' }, { name: 'fs_read' }],
      counter: estimator,
    });
    if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
    const { body, repairs, toolNames } = built.right;
    const names = (body.tools ?? []).map((tool) => tool.function.name);
    expect(new Set(names).size).toBe(3);
    expect(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
    const dotted = [...toolNames].find(([, name]) => name === 'fs.read')?.[0];
    expect(body.messages[1]).toMatchObject({ tool_calls: [{ function: { name: dotted } }] });
    expect(repairs).toContainEqual({
      code: 'TOOL_NAME_SANITIZED',
      id: 'a1',
      from: 'fs.read',
      to: dotted,
    });
    const answer = chat.decode(
      {
        choices: [
          {
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                { id: 'c2', type: 'function', function: { name: dotted, arguments: '{}' } },
              ],
            },
          },
        ],
      },
      { toolNames },
    );
    expect(answer).toMatchObject(
      E.right({ toolCalls: [{ id: 'c2', name: 'fs.read', arguments: '{}' }] }),
    );
  });
});

describe('decoding', () => {
  it('takes an answer over, with usage, and nothing raw when nothing would be lost', () => {
    expect(
      chat.decode({
        id: 'chatcmpl-1',
        model: 'model-o-1',
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } },
        ],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 3,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      }),
    ).toEqual(
      E.right({
        blocks: [{ type: 'text', text: 'Hi' }],
        toolCalls: [],
        finishReason: 'stop',
        usage: {
          input: 9,
          output: 3,
          cachedInput: 4,
          reasoning: 1,
          raw: '{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}',
        },
        responseId: 'chatcmpl-1',
        model: 'model-o-1',
      }),
    );
  });
  it('refuses an answer of another shape', () => {
    expect(chat.decode({ content: [] })).toMatchObject(E.left({ _tag: 'InvalidShape' }));
  });
  it('B60 refuses messages of another provider and names it', () => {
    const anthropicMessage = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }],
    };
    expect(chat.decodeMessages([user, anthropicMessage])).toEqual(
      E.left({
        _tag: 'ProfileMismatch',
        profile: 'openai-chat',
        suggestion: 'anthropic',
        index: 1,
      }),
    );
    expect(chat.decodeMessages([{ role: 'user', parts: [{ text: 'x' }] }])).toMatchObject(
      E.left({ suggestion: 'gemini' }),
    );
  });
  it('B24 B26 refuses unknown roles and results without a call id', () => {
    expect(chat.decodeMessages([{ role: 'admin', content: 'x' }])).toEqual(
      E.left({ _tag: 'UnknownRole', index: 0, path: '/messages/0/role' }),
    );
    expect(chat.decodeMessages([{ role: 'tool', content: 'x' }])).toEqual(
      E.left({ _tag: 'MissingToolCallId', index: 0, path: '/messages/0/tool_call_id' }),
    );
  });
});
