import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/domain/message.js';
import { branch, planned, rawTexts, utf8 } from '../sessions.js';

const plan = (messages: readonly unknown[]) => planned(utf8(JSON.stringify(messages)));

const last = (...messages: readonly unknown[]): Message => {
  const item = branch(plan([{ role: 'user', content: 'x' }, ...messages]), 'main').items.at(-1);
  if (item?.kind !== 'message') throw new Error('no message');
  return item.message;
};

describe('a chat message', () => {
  it('MS1 has blocks for the parts of its content', () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
      { type: 'file', file: { file_id: 'f1', filename: 'a.pdf' } },
      { type: 'video_url', video_url: { url: 'x' } },
    ];
    expect(last({ role: 'user', content, name: 'ann' })).toMatchObject({
      role: 'user',
      trust: 'user',
      name: 'ann',
      blocks: [
        { type: 'text', text: 'look' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA', detail: 'low' },
        { type: 'image', mediaType: 'image/*', url: 'https://example.org/a.png' },
        { type: 'audio', mediaType: 'audio/mp3', data: 'BBBB' },
        { type: 'file', mediaType: 'application/octet-stream', name: 'a.pdf', fileId: 'f1' },
        {
          type: 'provider',
          provider: 'openai-chat',
          json: '{"type":"video_url","video_url":{"url":"x"}}',
        },
      ],
    });
  });

  it('MS1 has reasoning that was handed out beside the content, and a refusal', () => {
    expect(
      last({ role: 'assistant', content: null, reasoning_content: 'hm', refusal: 'no' }).blocks,
    ).toEqual([
      { type: 'reasoning', text: 'hm', provider: 'deepseek' },
      { type: 'refusal', text: 'no' },
    ]);
    expect(last({ role: 'assistant', content: '', reasoning_content: '' }).blocks).toEqual([]);
  });

  it('B08 B11 has calls with their arguments word for word', () => {
    const text =
      '[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[' +
      '{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"n\\":9007199254740993,\\"n\\":1}"}},' +
      '{"id":"","type":"function","function":{"name":"g","arguments":{ "n" : 9007199254740993 }}},' +
      '{"id":"c3","type":"custom","custom":{"name":"h","input":"not json"}}]}]';
    const item = branch(planned(utf8(text)), 'main').items.at(-1);
    expect(item?.kind === 'message' && item.message.toolCalls).toEqual([
      { id: 'c1', name: 'f', arguments: '{"n":9007199254740993,"n":1}' },
      { id: '', name: 'g', arguments: '{ "n" : 9007199254740993 }' },
      { id: 'c3', name: 'h', arguments: 'not json' },
    ]);
  });

  it('ID1 of the older form pairs call and result by the name of the function', () => {
    const { items } = branch(
      plan([
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'done' },
      ]),
      'main',
    );
    expect(items.slice(1)).toMatchObject([
      { message: { toolCalls: [{ id: 'f', name: 'f', arguments: '{}' }] } },
      { answersCallIds: ['f'], message: { role: 'tool', name: 'f', outcome: 'ok' } },
    ]);
  });

  it('RL1 of system and developer is trusted as the operator, not more', () => {
    expect(last({ role: 'developer', content: 'x' })).toMatchObject({
      role: 'developer',
      trust: 'operator',
    });
    expect(last({ role: 'system', content: 'x' }).trust).toBe('operator');
    expect(last({ role: 'tool', content: 'x', tool_call_id: 'c' }).trust).toBe('external');
  });

  it('ID1 has the id of its source where that names one message, else one of place and content', () => {
    const ids = (messages: readonly unknown[]) =>
      branch(plan(messages), 'main').items.map(({ record }) => record);
    expect(ids([{ role: 'user', content: 'a', id: 'given' }])).toEqual(['given']);
    const same = { role: 'user', content: 'a', id: 'twice' };
    const [one, two] = ids([same, same]);
    expect(one).toMatch(/^m0-/);
    expect(two).toMatch(/^m1-/);
    expect(ids([{ content: 'a', role: 'user' }])).toEqual(ids([{ role: 'user', content: 'a' }]));
  });

  it('MS4 is kept word for word, whatever it holds', () => {
    const content = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null));
    const message = fc.record({
      role: fc.constantFrom('system', 'user', 'assistant', 'developer'),
      content,
      extra: fc.jsonValue({ maxDepth: 3 }),
    });
    fc.assert(
      fc.property(fc.array(message, { minLength: 1 }), (messages) => {
        const texts = messages.map((one) => JSON.stringify(one, null, 1));
        const bytes = utf8(`{"messages":[${texts.join(' , ')}]}`);
        expect(rawTexts(planned(bytes))).toEqual(texts);
      }),
    );
  });

  it('B23 of 10 MB is taken over', () => {
    const text = `${'a"\\'.repeat(1_000_000)}${'b'.repeat(7_000_000)}`;
    const start = performance.now();
    expect(last({ role: 'user', content: text }).blocks).toEqual([{ type: 'text', text }]);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
