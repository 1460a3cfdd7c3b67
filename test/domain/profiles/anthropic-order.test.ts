import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import {
  attempt,
  found,
  gives,
  plan,
  result,
  rules,
  says,
  text,
  use,
  user,
} from './anthropic-support.js';

describe('A1 turns', () => {
  it('A1 finds a list that does not begin with a user, or is empty', () => {
    const first = { rule: 'A1', code: 'OrderViolation', reason: 'first_role', index: 0, ids: [] };
    expect(found([says(text('hi')), user])).toEqual([first]);
    expect(found([])).toEqual([first]);
  });
  it('A1 finds more than 100,000 messages', () => {
    expect(rules(Array.from({ length: 100_001 }, () => user))).toEqual(['A1']);
  });
  it('A1 takes neighbours of one role, and never merges them', () => {
    const { body } = plan([
      { id: 'u1', role: 'user', text: 'one' },
      { id: 'u2', role: 'user', text: 'two' },
      { id: 'a1', role: 'assistant', text: 'three' },
      { id: 'a2', role: 'assistant', text: 'four' },
      { id: 'u3', role: 'user', text: 'five' },
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'three' },
      { role: 'assistant', content: 'four' },
      { role: 'user', content: 'five' },
    ]);
  });
  it('A1 is kept: a conversation that the assistant begins gets a marked turn before it', () => {
    const { body, added, sent } = plan([
      { id: 'a0', role: 'assistant', text: 'Welcome!' },
      { id: 'u1', role: 'user', text: 'Hi' },
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: '[The conversation begins with the assistant.]' },
      { role: 'assistant', content: 'Welcome!' },
      { role: 'user', content: 'Hi' },
    ]);
    expect(added).toEqual([
      { kind: 'opening', index: 0, text: '[The conversation begins with the assistant.]' },
    ]);
    expect(sent).toEqual(['a0', 'u1']);
  });
});

describe('A2 system texts', () => {
  const late = [
    { id: 's1', role: 'system', text: 'Be exact.' },
    { id: 'u1', role: 'user', text: 'Hi' },
    { id: 's2', role: 'system', text: 'Use French.' },
    { id: 'a1', role: 'assistant', text: 'Salut' },
    { id: 'd1', role: 'developer', text: 'Be brief.' },
    { id: 'u2', role: 'user', text: 'More' },
  ] as const;
  it('A2 finds a system message where the model takes none', () => {
    expect(found([user, { role: 'system', content: 'x' }, says(text('a')), user])).toEqual([
      {
        rule: 'A2',
        code: 'OrderViolation',
        reason: 'system_placement',
        index: 1,
        ids: [],
        role: 'system',
      },
    ]);
  });
  it('A2 finds a role that does not exist', () => {
    expect(found([user, { role: 'developer', content: 'x' }])).toEqual([
      { rule: 'A2', code: 'RoleNotSupported', index: 1, ids: [], role: 'developer' },
    ]);
  });
  it('A2 finds a system message out of its place on models that take one', () => {
    const capabilities = { systemInMessages: true };
    const system = { role: 'system', content: 'x' };
    expect(rules([user, system, says(text('a')), user], { capabilities })).toEqual([]);
    expect(rules([user, says(text('a')), system, user], { capabilities })).toEqual(['A2']);
    expect(rules([user, system, user], { capabilities })).toEqual(['A2']);
    const image = { type: 'image', source: { type: 'url', url: 'u' } };
    expect(rules([user, { role: 'system', content: [image] }], { capabilities })).toEqual(['A2']);
  });
  it('A2 is kept: texts go to the top-level field and the move is reported', () => {
    const { body, repairs } = plan(late);
    expect(body.system).toBe('Be exact.\n\nUse French.\n\nBe brief.');
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(repairs).toEqual([
      { code: 'SYSTEM_RELOCATED', id: 's2', fromIndex: 2, toIndex: 0 },
      { code: 'ROLE_MAPPED', id: 'd1', from: 'developer', to: 'system' },
      { code: 'SYSTEM_RELOCATED', id: 'd1', fromIndex: 4, toIndex: 0 },
    ]);
  });
  it('A2 leaves a text at its place where the model takes it there', () => {
    const { body, repairs } = plan(late, { capabilities: { systemInMessages: true } });
    expect(body.system).toBe('Be exact.\n\nBe brief.');
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'system', 'assistant', 'user']);
    expect(repairs.map(({ code, id }) => [code, id])).toEqual([
      ['ROLE_MAPPED', 'd1'],
      ['SYSTEM_RELOCATED', 'd1'],
    ]);
  });
  it('A2 refuses or lowers it where the policy says so, never silently', () => {
    expect(attempt(late, { systemPolicy: 'reject' })).toEqual(
      E.left({
        _tag: 'OrderViolation',
        rule: 'system_placement',
        profileRule: 'A2',
        index: 2,
        ids: ['s2'],
      }),
    );
    const { body, repairs } = plan(late, { systemPolicy: 'labelled_user' });
    expect(body.messages[1]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: '[Instruction of the application, not of the user:]' },
        { type: 'text', text: 'Use French.' },
      ],
    });
    expect(repairs).toEqual([
      { code: 'ROLE_MAPPED', id: 's2', from: 'system', to: 'user' },
      { code: 'ROLE_MAPPED', id: 'd1', from: 'developer', to: 'user' },
    ]);
  });
});

describe('A3 results are in the next message', () => {
  it('A3 finds calls without a result', () => {
    expect(found([user, says(use('a'), use('b')), gives(result('b'))])).toEqual([
      { rule: 'A3', code: 'OpenToolCalls', index: 1, ids: ['a'] },
    ]);
    expect(rules([user, says(use('a'))])).toEqual(['A3']);
  });
  it('A3 finds a result behind another turn', () => {
    expect(found([user, says(use('a')), user, says(text('wait')), gives(result('a'))])).toEqual([
      {
        rule: 'A3',
        code: 'OrderViolation',
        reason: 'tool_result_not_adjacent',
        index: 1,
        ids: ['a'],
      },
      { rule: 'A3', code: 'OrphanToolResult', index: 4, ids: ['a'] },
    ]);
  });
  it('A3 finds a result without its call', () => {
    expect(found([user, says(text('x')), gives(result('a'))])).toEqual([
      { rule: 'A3', code: 'OrphanToolResult', index: 2, ids: ['a'] },
    ]);
  });
  it('A3 finds an input that is no object', () => {
    const odd = { type: 'tool_use', id: 'a', name: 'f', input: '{}' };
    expect(rules([user, says(odd), gives(result('a'))])).toEqual(['A3']);
  });
  it('A3 is kept: results are drawn together behind their calls', () => {
    const { body, sent } = plan([
      { id: 'u1', role: 'user', text: 'go' },
      { id: 'a1', role: 'assistant', text: 'Both.', calls: ['c1', 'c2'] },
      { id: 't2', role: 'tool', text: 'two', answers: 'c2' },
      { id: 'u2', role: 'user', text: 'hurry' },
      { id: 't1', role: 'tool', text: 'one', answers: 'c1', outcome: 'error' },
      { id: 'a2', role: 'assistant', text: 'Done.' },
    ]);
    expect(sent).toEqual(['u1', 'a1', 't1', 't2', 'u2', 'a2']);
    expect(body.messages[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'one', is_error: true },
        { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
      ],
    });
  });
});

describe('A4 results come first', () => {
  it('A4 finds a text before a result, also over joined turns', () => {
    const late = {
      rule: 'A4',
      code: 'OrderViolation',
      reason: 'tool_result_not_adjacent',
      index: 1,
      ids: ['a'],
    };
    expect(found([user, says(use('a')), gives(text('x'), result('a'))])).toEqual([late]);
    expect(found([user, says(use('a')), user, gives(result('a'))])).toEqual([late]);
  });
  it('A4 is kept: a text of the same wire message stands behind the results', () => {
    const { body } = plan([
      { id: 'u1', role: 'user', text: 'go' },
      { id: 'a1', role: 'assistant', calls: ['c1'] },
      { id: 't1', role: 'tool', text: 'one', answers: 'c1', partOf: 'w1' },
      { id: 'u2', role: 'user', text: 'and?', partOf: 'w1' },
      { id: 'u3', role: 'user', text: 'well?' },
    ]);
    expect(body.messages.slice(2)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
          { type: 'text', text: 'and?' },
        ],
      },
      { role: 'user', content: 'well?' },
    ]);
  });
});

describe('A5 calls come last', () => {
  it('A5 finds a block behind a call, also over joined turns', () => {
    expect(rules([user, says(use('a'), text('x')), gives(result('a'))])).toEqual(['A5']);
    expect(rules([user, says(use('a')), says(text('x')), gives(result('a'))])).toEqual(['A5']);
  });
  it('A5 is kept: other blocks move before the calls, reported', () => {
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'go' },
      {
        id: 'a1',
        role: 'assistant',
        blocks: [
          { type: 'tool_call', call: 0 },
          { type: 'text', text: 'I look.' },
        ],
        calls: ['c1'],
      },
      { id: 't1', role: 'tool', text: 'one', answers: 'c1' },
    ]);
    expect(body.messages[1]?.content).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'c1', name: 'tool_c1', input: {} },
    ]);
    expect(repairs).toEqual([{ code: 'MOVED_FOR_ADJACENCY', id: 'a1', action: 'calls_last' }]);
  });
  it('A5 joins the parts of one message that were recorded with results between them', () => {
    const { body, sent } = plan([
      { id: 'u1', role: 'user', text: 'go' },
      { id: 'a1', role: 'assistant', text: 'Both.', calls: ['c1'], partOf: 'm1' },
      { id: 't1', role: 'tool', text: 'one', answers: 'c1' },
      { id: 'a2', role: 'assistant', calls: ['c2'], partOf: 'm1' },
      { id: 't2', role: 'tool', text: 'two', answers: 'c2' },
    ]);
    expect(sent).toEqual(['u1', 'a1', 'a2', 't1', 't2']);
    expect(body.messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both.' },
          { type: 'tool_use', id: 'c1', name: 'tool_c1', input: {} },
          { type: 'tool_use', id: 'c2', name: 'tool_c2', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
        ],
      },
    ]);
  });
});

describe('A6 ids of calls', () => {
  it('A6 finds an id outside the pattern, too long, or used twice', () => {
    expect(rules([user, says(use('a:1')), gives(result('a:1'))])).toEqual(['A6']);
    const long = 'x'.repeat(65);
    expect(rules([user, says(use(long)), gives(result(long))])).toEqual(['A6']);
    expect(
      rules([user, says(use('a')), gives(result('a')), says(use('a')), gives(result('a'))]),
    ).toEqual(['A6']);
  });
  it('A6 is kept: the first use keeps its id, later ones are renamed with their results', () => {
    const call = (args: string) => ({ id: 'call_0', name: 'sh', arguments: args });
    const { body } = plan([
      { id: 'u1', role: 'user', text: 'list' },
      { id: 'a1', role: 'assistant', calls: [call('{"cmd":"ls"}')] },
      { id: 't1', role: 'tool', text: 'r1', answers: 'call_0' },
      { id: 'a2', role: 'assistant', text: 'ok' },
      { id: 'u2', role: 'user', text: 'date' },
      { id: 'a3', role: 'assistant', calls: [call('{"cmd":"date"}')] },
      { id: 't2', role: 'tool', text: 'r2', answers: 'call_0' },
    ]);
    const second = (body.messages[5]?.content[0] as { readonly id: string }).id;
    expect(second).toMatch(/^call_0_[A-Za-z0-9_-]{16}$/);
    expect(body.messages[1]?.content).toMatchObject([{ id: 'call_0' }]);
    expect(body.messages[2]?.content).toMatchObject([{ tool_use_id: 'call_0', content: 'r1' }]);
    expect(body.messages[6]?.content).toMatchObject([{ tool_use_id: second, content: 'r2' }]);
  });
  it('A6 finds and repairs tool names outside the pattern', () => {
    const odd = { type: 'tool_use', id: 'a', name: 'a.b', input: {} };
    expect(rules([user, says(odd), gives(result('a'))])).toEqual(['A-name']);
    expect(rules([user], { body: { tools: [{ name: 'a b', input_schema: {} }] } })).toEqual([
      'A-name',
    ]);
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'go' },
      { id: 'a1', role: 'assistant', calls: [{ id: 'c1', name: 'a.b', arguments: '{}' }] },
      { id: 't1', role: 'tool', text: 'one', answers: 'c1' },
    ]);
    expect(body.messages[1]?.content).toMatchObject([{ name: 'a_b' }]);
    expect(repairs).toEqual([{ code: 'TOOL_NAME_SANITIZED', id: 'a1', from: 'a.b', to: 'a_b' }]);
  });
});

describe('A8 a trailing assistant message', () => {
  const specs = [
    { id: 'u1', role: 'user', text: 'q' },
    { id: 'a1', role: 'assistant', text: 'The answer is ' },
  ] as const;
  it('A8 finds one where the model refuses it', () => {
    const capabilities = { prefill: false };
    expect(found([user, says(text('So'))], { capabilities })).toEqual([
      { rule: 'A8', code: 'OrderViolation', reason: 'last_role', index: 1, ids: [] },
    ]);
  });
  it('A8 finds white space at the end of a prefill', () => {
    expect(rules([user, says(text('So '))])).toEqual(['A8']);
  });
  it('A8 is kept: the space goes where prefill is taken', () => {
    const { body, repairs } = plan(specs);
    expect(body.messages[1]).toEqual({ role: 'assistant', content: 'The answer is' });
    expect(repairs).toEqual([{ code: 'TRAILING_SPACE_REMOVED', id: 'a1', action: 'prefill' }]);
  });
  it('A8 is refused, or a marked turn follows, where prefill is not taken', () => {
    const capabilities = { prefill: false };
    expect(attempt(specs, { capabilities })).toEqual(
      E.left({
        _tag: 'OrderViolation',
        rule: 'last_role',
        profileRule: 'A8',
        index: 1,
        ids: ['a1'],
      }),
    );
    const { body, added } = plan(specs, { capabilities, onTrailingAssistant: 'append_continue' });
    expect(body.messages).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'The answer is ' },
      { role: 'user', content: 'Continue.' },
    ]);
    expect(added).toEqual([{ kind: 'continue', index: 2, text: 'Continue.' }]);
  });
});
