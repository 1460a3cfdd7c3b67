import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImportPlan } from '../../../../src/domain/import-plan.js';
import {
  assistant,
  boundary,
  branch,
  call,
  linesOf,
  message,
  planned,
  rawTexts,
  session,
  summary,
  user,
  utf8,
} from '../sessions.js';
import { randomSession } from './random-session.js';

/** Parents stand before their forks, fork points exist, and no lineage has a record twice. */
const expectSound = (plan: ImportPlan): void => {
  for (const { branches } of plan.conversations) {
    const seen = new Map<string, readonly string[]>();
    for (const { key, parent, items } of branches) {
      const above = parent === undefined ? [] : (seen.get(parent.key) ?? []);
      const end = parent === undefined ? -1 : above.indexOf(parent.record);
      expect(parent === undefined || end >= 0).toBe(true);
      const own = [...above.slice(0, end + 1), ...items.map(({ record }) => record)];
      expect(new Set(own).size).toBe(own.length);
      for (const item of items) {
        if (item.kind === 'compaction') {
          expect(item.covers.every((record) => own.includes(record))).toBe(true);
        }
      }
      seen.set(key, own);
    }
    expect(branches[0]?.key).toBe('main');
    expect(branches.filter(({ active }) => active === true).length).toBe(1);
  }
};

describe('hostile Claude Code sessions', () => {
  it('MS4 any session is laid out soundly and each of its lines kept once', () => {
    fc.assert(
      fc.property(randomSession, (records) => {
        const plan = planned(session(...records));
        expectSound(plan);
        const lines = linesOf(records);
        const again = plan.report.duplicates;
        expect(rawTexts(plan).length).toBe(lines.length - again);
        expect([...new Set(rawTexts(plan))].sort()).toEqual([...new Set(lines)].sort());
      }),
      { numRuns: 500 },
    );
  });

  it('B71 B72 look-alikes of other serializers are plain data', () => {
    const shapes = [
      { lc: 1, type: 'secret', id: ['OPENAI_API_KEY'] },
      { lc: 2, type: 'constructor', id: ['x'], kwargs: {} },
      { $ref: '#/a' },
      { '@type': 'x' },
      { type: 'Buffer', data: [1, 2] },
    ];
    const plan = planned(
      session(
        assistant('a1', null, 'm1', [call('c1', { shapes })]),
        user('u1', 'a1', [{ type: 'tool_result', tool_use_id: 'c1', content: shapes }]),
      ),
    );
    expect(message(plan, 'a1').message.toolCalls[0]?.arguments).toBe(JSON.stringify({ shapes }));
    expect(message(plan, 'u1').message.blocks).toEqual(
      shapes.map((shape) => ({
        type: 'provider',
        provider: 'anthropic',
        json: JSON.stringify(shape),
      })),
    );
  });

  it('B10 keys like __proto__ are data and change no object', () => {
    const line =
      '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","__proto__":{"isMeta":true},' +
      '"message":{"role":"user","content":"x","__proto__":{"id":"evil"}}}';
    const plan = planned(session(line, '{"type":"__proto__","sessionId":"s"}'));
    expect(rawTexts(plan)[0]).toBe(line);
    expect(message(plan, 'u1').message.metadata).toBeUndefined();
    expect(Object.entries(plan.report.source['types'] as object)).toEqual([
      ['user', 1],
      ['__proto__', 1],
    ]);
    expect(({} as { readonly isMeta?: unknown }).isMeta).toBeUndefined();
  });

  it('B18 ids that cannot stand as ids are replaced by names made of them, links hold', () => {
    const long = 'x'.repeat(300);
    const plan = planned(
      session(
        user(long, null, 'a', { sessionId: 'a\u0000b' }),
        user('a\nb', long, 'b', { sessionId: ' ' }),
      ),
    );
    const keys = branch(plan, 'main').items.map(({ record }) => record);
    expect(keys.every((key) => /^~[\w-]{22}$/.test(key))).toBe(true);
    expect(plan.conversations[0]?.externalId).toMatch(/^~[\w-]{22}$/);
    expect(plan.report.notes.map(({ code }) => code)).toEqual(['unusable_id', 'unusable_id']);
    expect(planned(session(user('../../%2F$x', null))).conversations[0]?.branches.length).toBe(1);
  });

  it('B05 nesting beyond the limit is refused before it is parsed', () => {
    const deep = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"content":"x"},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const start = performance.now();
    expect(() => planned(session(user('u0', null), deep))).toThrow('TooDeep');
    expect(performance.now() - start).toBeLessThan(500);
    const plan = planned(session(user('u0', null), deep), { salvage: true });
    expect(rawTexts(plan).length).toBe(2);
  });

  it('B23 a line of 10 MB is taken over', () => {
    const text = `${'a"\\'.repeat(1_000_000)}${'b'.repeat(7_000_000)}`;
    const bytes = session(
      assistant('a1', null, 'm1', [call('c1', { text })]),
      user('u1', 'a1', text),
    );
    const start = performance.now();
    const plan = planned(bytes);
    expect(message(plan, 'u1').message.blocks).toEqual([{ type: 'text', text }]);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('B23 100,000 lines are taken over in linear time', () => {
    const lines = Array.from({ length: 100_000 }, (_, at) =>
      user(`u${String(at)}`, at === 0 ? null : `u${String(at - 1)}`, 'x'),
    );
    const start = performance.now();
    const bytes = utf8(linesOf(lines).join('\n'));
    expect(branch(planned(bytes), 'main').items.length).toBe(100_000);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  it('B23 compactions that cover without bound are refused', () => {
    const trunk = Array.from({ length: 5_000 }, (_, at) =>
      user(`u${String(at)}`, at === 0 ? null : `u${String(at - 1)}`, 'x'),
    );
    const forks = Array.from({ length: 1_000 }, (_, at) => [
      boundary(`b${String(at)}`, 'u4999'),
      summary(`k${String(at)}`, `b${String(at)}`),
    ]);
    expect(() => planned(session(...trunk, ...forks.flat()))).toThrow('TooLarge');
  });
});
