import { describe, expect, it } from 'vitest';
import {
  assistant,
  branch,
  call,
  linesOf,
  message,
  planned,
  recordsOf,
  result,
  session,
  user,
} from '../sessions.js';

const blocksOf = (content: readonly unknown[]) =>
  message(planned(session(assistant('a1', null, 'm1', content))), 'a1').message;

describe('the content of a Claude Code record', () => {
  it('B08 B11 arguments are the source text of the input, word for word', () => {
    const source = '{ "n" : 9007199254740993, "a":1,"a":2, "__proto__":{"x":1}, "s":"\\u00e9" }';
    const [line = ''] = linesOf([assistant('a1', null, 'm1', [call('c1', 'INPUT')])]);
    const plan = planned(session(line.replace('"INPUT"', source)));
    expect(message(plan, 'a1').message.toolCalls).toEqual([
      { id: 'c1', name: 'Read', arguments: source },
    ]);
    expect(plan.report.notes).toEqual([{ code: 'dup_keys', line: 1 }]);
    expect(({} as { readonly x?: unknown }).x).toBeUndefined();
  });

  it('MS1 calls keep their place among text and reasoning', () => {
    expect(
      blocksOf([
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
        call('c1'),
        { type: 'text', text: 'then' },
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ]),
    ).toMatchObject({
      role: 'assistant',
      trust: 'model',
      partOf: 'm1',
      blocks: [
        {
          type: 'reasoning',
          text: 'hm',
          provider: 'anthropic',
          model: 'a-model',
          signature: 'sig',
        },
        { type: 'reasoning', text: '', encrypted: 'xyz' },
        { type: 'tool_call', call: 0 },
        { type: 'text', text: 'then' },
        {
          type: 'provider',
          provider: 'anthropic',
          json: '{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}',
        },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      ],
    });
  });

  it('MS1 several results of a record are a message each, and one for what else it says', () => {
    const record = user('u1', null, [
      { type: 'text', text: 'and now' },
      { type: 'tool_result', tool_use_id: 'c1', content: 'one' },
      {
        type: 'tool_result',
        tool_use_id: 'c2',
        is_error: true,
        content: [
          { type: 'text', text: 'two' },
          { type: 'tool_reference', tool_name: 'x' },
        ],
      },
    ]);
    const { items } = branch(planned(session(record)), 'main');
    expect(recordsOf(items)).toEqual(['u1#0', 'u1#1', 'u1#2']);
    expect(items).toMatchObject([
      { answersCallIds: ['c1'], message: { role: 'tool', outcome: 'ok', trust: 'external' } },
      {
        answersCallIds: ['c2'],
        message: {
          outcome: 'error',
          blocks: [
            { type: 'text', text: 'two' },
            { type: 'provider', json: '{"type":"tool_reference","tool_name":"x"}' },
          ],
        },
      },
      { answersCallIds: [], message: { role: 'user', trust: 'user', partOf: 'u1' } },
    ]);
    const raws = items.map((item) => item.kind === 'message' && item.message.raw?.text);
    expect(raws).toEqual([JSON.stringify(record), undefined, undefined]);
  });

  it('RL6 a refused permission is denied, other errors are errors', () => {
    const refused = (over: object) =>
      message(
        planned(
          session(
            user(
              'u1',
              null,
              [{ type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }],
              { ...over },
            ),
          ),
        ),
        'u1',
      ).message.outcome;
    expect(refused({ toolUseResult: 'User rejected tool use' })).toBe('denied');
    expect(refused({ toolUseResult: 'Error: no' })).toBe('error');
  });

  it('RL7 text that the client put in by itself is external', () => {
    const plan = planned(session(user('u1', null, 'caveat', { isMeta: true })));
    expect(message(plan, 'u1').message).toMatchObject({
      trust: 'external',
      metadata: '{"isMeta":true}',
      provenance: { kind: 'importer', system: 'claude-code', sourceId: 'u1' },
    });
  });

  it('B52 a time is claimed only where it is RFC 3339', () => {
    const at = (timestamp: unknown) =>
      message(planned(session(user('u1', null, 'x', { timestamp }))), 'u1').message.claimedAt;
    expect(at('2026-01-02T03:04:05.678Z')).toBe('2026-01-02T03:04:05.678Z');
    expect(at('2026-02-30T03:04:05Z')).toBeUndefined();
    expect(at(1767323045)).toBeUndefined();
  });

  it('MS2 content of no known shape makes a message without blocks, its line kept', () => {
    const odd = [
      user('u1', null, { odd: true }),
      user('u2', 'u1', ['loose text', 7, null, { type: 'text' }]),
      { ...user('u3', 'u2'), message: 'just text' },
      { ...user('u4', 'u3'), message: null },
      result('u5', 'u4', 'nowhere'),
    ];
    const plan = planned(session(...odd));
    expect(message(plan, 'u1').message.blocks).toEqual([]);
    expect(message(plan, 'u2').message.blocks).toEqual([
      { type: 'text', text: 'loose text' },
      { type: 'provider', provider: 'anthropic', json: '7' },
      { type: 'provider', provider: 'anthropic', json: 'null' },
      { type: 'provider', provider: 'anthropic', json: '{"type":"text"}' },
    ]);
    expect(message(plan, 'u3').message.blocks).toEqual([{ type: 'text', text: 'just text' }]);
    expect(message(plan, 'u4').message.blocks).toEqual([]);
    expect(message(plan, 'u5').answersCallIds).toEqual(['nowhere']);
  });
});
