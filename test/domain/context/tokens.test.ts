import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageTokens } from '../../../src/domain/context/costs.js';
import type { Block } from '../../../src/domain/message.js';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import type { Profile } from '../../../src/domain/profiles/profile.js';
import {
  cachedCounter,
  countCache,
  estimator,
  type TokenCounter,
} from '../../../src/domain/tokens.js';
import { plan } from './context-support.js';
import { itemsOf } from './surface-builder.js';

const claude = anthropic({ model: 'model-a' });
const chat = openaiChat({ model: 'model-o' });

const countOf = (blocks: readonly Block[], profile: Profile, counter = estimator): number => {
  const message = itemsOf([{ id: 'u1', role: 'user', blocks }])[0]?.message;
  if (message === undefined) throw new Error('no message');
  return messageTokens(message, counter, profile);
};

describe('the estimate', () => {
  // Counts by o200k, taken once; a text of each kind.
  it.each([
    ['English', 'The engine records every event of a conversation in one stream of events.', 13],
    [
      'Chinese',
      '这个引擎记录了对话中发生的每一件事,用户可以在任何时刻查看模型当时看到的上下文。',
      28,
    ],
    ['Japanese', '会話の履歴はすべてイベントとして記録され、後から再生できます。', 20],
    [
      'Russian',
      'Каждое событие разговора записывается в поток и может быть воспроизведено позже.',
      18,
    ],
    ['JSON', '{"id":17,"name":"item_17","price":23.29,"ok":false,"tags":["a","b"]}', 27],
    ['code', 'const total = items.reduce((sum, { price }) => sum + price, 0);', 18],
    ['base64', 'ErUBCkYIBBgCIkAXhT9zVtOaQnR3cHlWdGVkU2lnbmF0dXJlQmFzZTY0RGF0YQ==', 44],
  ])('is within a third of the model for %s', (_kind, text, real) => {
    const estimated = estimator.count(text);
    expect(estimated).toBeGreaterThan(real * 0.67);
    expect(estimated).toBeLessThan(real * 1.34);
  });
  it('counts ideographs by themselves, never four to a token', () => {
    expect(estimator.count('汉'.repeat(1_000))).toBe(720);
  });
  it('is 0 for nothing, whole, and grows with the text', () => {
    expect(estimator.count('')).toBe(0);
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.string({ maxLength: 50 }),
        (a, b) => {
          const [one, both] = [estimator.count(a), estimator.count(`${a}\n${b}`)];
          expect(Number.isInteger(one)).toBe(true);
          expect(both).toBeGreaterThanOrEqual(one);
        },
      ),
    );
  });
  it('P12 does not stand still on long runs', () => {
    const start = performance.now();
    estimator.count('a'.repeat(1_000_000));
    expect(performance.now() - start).toBeLessThan(500);
  });
});

describe('V30 images', () => {
  const image = (data: string, width?: number, height?: number): Block => ({
    type: 'image',
    mediaType: 'image/png',
    data,
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  });
  const words: Block = { type: 'text', text: 'What is this?' };
  it('V30 are counted by size, not by encoded length', () => {
    const huge = countOf([words, image('QUJD'.repeat(250_000), 1_000, 800)], claude);
    const small = countOf([words, image('QUJD', 1_000, 800)], claude);
    expect(huge).toBe(small);
    expect(small).toBe(4 + 4 + 1_067);
  });
  it.each([
    [claude, 8_000, 8_000, 1_600],
    [claude, 100, 100, 14],
    [claude, undefined, undefined, 1_600],
    [chat, 1_024, 1_024, 765],
    [chat, 512, 512, 255],
    [chat, 2_048, 4_096, 1_105],
    [chat, undefined, undefined, 765],
  ] as const)(
    'V30 have the formula of the profile ($0.id) for %s x %s',
    (profile, width, height, tokens) => {
      expect(countOf([image('QUJD', width, height)], profile) - 4).toBe(tokens);
    },
  );
  it('V30 a low detail, a file and a sound have a flat allowance', () => {
    const low: Block = { type: 'image', mediaType: 'image/png', data: 'Q', detail: 'low' };
    expect(countOf([low], chat) - 4).toBe(85);
    const file: Block = { type: 'file', mediaType: 'application/pdf', data: 'Q'.repeat(9_999) };
    expect(countOf([file], claude)).toBe(countOf([{ ...file, data: 'Q' }], claude));
    expect(countOf([{ type: 'audio', mediaType: 'audio/wav', data: 'Q' }], chat)).toBeGreaterThan(
      500,
    );
  });
});

describe('counting once', () => {
  const counting = (): { readonly counter: TokenCounter; readonly asked: () => number } => {
    let asked = 0;
    const count = (text: string): number => {
      asked += 1;
      return text.length;
    };
    return { counter: { name: 'counting', exact: true, count }, asked: () => asked };
  };
  it('P6 a second build of an unchanged context asks no counter', () => {
    const { counter: inner, asked } = counting();
    const counter = cachedCounter(inner, countCache());
    const specs = () => [
      { id: 'u1', role: 'user' as const, text: 'a question '.repeat(20) },
      { id: 'a1', role: 'assistant' as const, text: 'an answer' },
    ];
    const first = plan(specs(), {}, { counter });
    const after = asked();
    expect(after).toBeGreaterThan(0);
    expect(plan(specs(), {}, { counter })).toEqual(first);
    expect(asked()).toBe(after);
    expect(first.counter).toEqual({ name: 'counting', exact: true });
  });
  it('keeps no more counts than it may', () => {
    const { counter: inner, asked } = counting();
    const counter = cachedCounter(inner, countCache(2));
    for (const text of ['a', 'b', 'c', 'a']) counter.count(text);
    expect(asked()).toBe(4);
    counter.count('c');
    expect(asked()).toBe(4);
  });
  it('a counter of whole messages is asked for whole messages', () => {
    const counter: TokenCounter = { ...estimator, name: 'whole', countMessage: () => 77 };
    expect(countOf([{ type: 'text', text: 'x' }], chat, counter)).toBe(77);
  });
});
