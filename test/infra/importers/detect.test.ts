import { describe, expect, it } from 'vitest';
import { detectFormat, importFormats } from '../../../src/infra/importers/detect.js';
import { expectedOf, fixture, planned, refused, session, user, utf8 } from './sessions.js';

const json = (value: unknown): Uint8Array => utf8(JSON.stringify(value));
const lines = (...values: readonly unknown[]): Uint8Array =>
  utf8(values.map((value) => `${JSON.stringify(value)}\n`).join(''));

const foreign: readonly (readonly [string, Uint8Array, string | undefined])[] = [
  [
    'a request to Anthropic with blocks of tools',
    json({ messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] }),
    'anthropic',
  ],
  [
    'a request to Anthropic with its response',
    json({
      request: { max_tokens: 1, messages: [{ role: 'user', content: 'x' }] },
      response: { type: 'message', content: [] },
    }),
    'anthropic',
  ],
  [
    'a request to Anthropic with a system prompt',
    json({ system: 'x', messages: [{ role: 'user', content: 'x' }] }),
    'anthropic',
  ],
  [
    'items of Responses',
    json([{ type: 'message', role: 'user', content: 'x' }]),
    'openai-responses',
  ],
  ['a request to Responses', json({ input: 'x', model: 'm' }), 'openai-responses'],
  ['a request to Gemini', json({ contents: [] }), 'gemini'],
  [
    'messages of the AI SDK',
    json([{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'x' }] }]),
    'ai-sdk',
  ],
  ['a session of Codex', lines({ type: 'session_meta', payload: {} }, { type: 'x' }), undefined],
  ['a session of pi', lines({ type: 'session', id: 'x' }, { type: 'message', id: 'y' }), undefined],
  ['a ShareGPT file', json([{ conversations: [{ from: 'human', value: 'x' }] }]), undefined],
  ['messages without roles', json({ messages: [{ sender: 'User', text: 'x' }] }), undefined],
  ['a list of nothing', json([]), undefined],
  ['an object of nothing', json({}), undefined],
  ['no JSON', utf8('hello'), undefined],
  ['nothing', utf8(''), undefined],
  ['bytes', Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00]), undefined],
];

describe('the format of a file', () => {
  it.each(expectedOf('claude-code').map(([name]) => name))('is claude-code of %s', (name) => {
    expect(detectFormat(fixture(`claude-code/${name}`))).toBe('claude-code');
  });

  it.each(expectedOf('openai-chat').map(([name]) => name))('is openai-chat of %s', (name) => {
    expect(detectFormat(fixture(`openai-chat/${name}`))).toBe('openai-chat');
  });

  it('is that of exchange lines by their header', () => {
    const header = { format: 'stemma-jsonl/0', producer: 'x', conversations: [], events: 0 };
    expect(detectFormat(lines(header))).toBe('stemma-jsonl');
    expect(importFormats).toContain('stemma-jsonl');
  });

  it.each(foreign)('is never guessed: %s', (_what, bytes) => {
    expect(detectFormat(bytes)).toBeUndefined();
  });
});

describe('a file of another format', () => {
  it.each(foreign.filter(([, , suggestion]) => suggestion !== undefined))(
    'B60 is refused with whose it looks: %s',
    (_what, bytes, suggestion) => {
      expect(refused(bytes, { format: 'openai-chat' })).toEqual({
        _tag: 'ProfileMismatch',
        profile: 'openai-chat',
        suggestion,
      });
    },
  );

  it('B60 is refused where it is one that is known', () => {
    expect(refused(session(user('u1', null)), { format: 'openai-chat' })).toEqual({
      _tag: 'ProfileMismatch',
      profile: 'openai-chat',
      suggestion: 'claude-code',
    });
  });

  it('is refused where nothing is known of it, and says what would be', () => {
    expect(refused(json({ a: 1 }))).toEqual({
      _tag: 'InvalidShape',
      path: '',
      expected: 'stemma-jsonl or claude-code or openai-chat',
    });
    expect(refused(lines({ type: 'session' }, { type: 'x' }))._tag).toBe('InvalidShape');
    expect(refused(utf8('hello'))).toEqual({ _tag: 'InvalidJson', offset: 0 });
    expect(refused(Uint8Array.from([0xff]))).toEqual({ _tag: 'InvalidUtf8', line: 1, byte: 0 });
  });

  it('of exchange lines is not for a planner of foreign files', () => {
    const header = { format: 'stemma-jsonl/0', producer: 'x', conversations: [], events: 0 };
    expect(refused(lines(header))).toEqual({
      _tag: 'InvalidArgument',
      name: 'format',
      reason: 'unknown_value',
    });
  });

  it('is planned as the format that was given where its content does not tell', () => {
    const bytes = lines({ type: 'queue-operation', content: 'x' });
    expect(detectFormat(bytes)).toBeUndefined();
    expect(planned(bytes, { format: 'claude-code' }).report).toMatchObject({ records: 1, kept: 1 });
  });
});
