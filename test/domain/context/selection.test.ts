import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { Spec } from './surface-builder.js';
import { attempt, plan, reasons } from './context-support.js';

const talk: readonly Spec[] = [
  { id: 's1', role: 'system', text: 'S' },
  { id: 'u1', role: 'user', text: '1' },
  { id: 'a1', role: 'assistant', text: '2' },
  { id: 'u2', role: 'user', text: '3' },
  { id: 'a2', role: 'assistant', text: '4' },
  { id: 'u3', role: 'user', text: '5' },
];
const tens = Object.fromEntries(talk.map(({ id }) => [id, 10]));

describe('CX2 selection', () => {
  it('CX2 is contiguous: the first unit that does not fit ends the window', () => {
    const policy = { tokens: { ...tens, u2: 50 }, budgetTokens: 50 };
    expect(plan(talk, policy).sent).toEqual(['s1', 'a2', 'u3']);
    expect(plan(talk, { ...policy, gaps: true }).sent).toEqual(['s1', 'u1', 'a1', 'a2', 'u3']);
  });
  it('CX2 keeps pinned messages, and what must be kept by id', () => {
    const pinned = talk.map((spec) => (spec.id === 'u1' ? { ...spec, pinned: true } : spec));
    const built = plan(pinned, { tokens: tens, budgetTokens: 40, mustKeep: ['a1', '$last_user'] });
    expect(built.sent).toEqual(['s1', 'u1', 'a1', 'u3']);
    expect(reasons(built)).toEqual({
      s1: 'in system',
      u1: 'in pinned',
      a1: 'in must_keep',
      u2: 'out budget',
      a2: 'out budget',
      u3: 'in must_keep',
    });
  });
  it('B53 refuses what does not fit with numbers, and drops no instructions for it', () => {
    expect(attempt(talk, { tokens: tens, budgetTokens: 19 })).toEqual(
      E.left({ _tag: 'BudgetImpossible', needed: 20, available: 19, parts: ['s1', 'u3'] }),
    );
  });
  it('B53 keeps the open exchange whole, with the question before it', () => {
    const open: readonly Spec[] = [
      ...talk,
      { id: 'a3', role: 'assistant', calls: ['c1', 'c2'] },
      { id: 't1', role: 'tool', text: '6', answers: 'c1' },
      { id: 't2', role: 'tool', text: '7', answers: 'c2' },
    ];
    const tokens = { ...tens, a3: 10, t1: 10, t2: 10 };
    const built = plan(open, { tokens, budgetTokens: 50 });
    expect(built.sent).toEqual(['s1', 'u3', 'a3', 't1', 't2']);
    expect(reasons(built)).toMatchObject({ a3: 'in open_exchange', t2: 'in open_exchange' });
    expect(attempt(open, { tokens, budgetTokens: 49 })).toMatchObject(
      E.left({ needed: 50, parts: ['s1', 'u3', 'a3', 't1', 't2'] }),
    );
  });
  it('V11 drops leading units that lost their question, when a user has to come first', () => {
    const cut: readonly Spec[] = [
      { id: 'u1', role: 'user', text: 'Long story ...' },
      { id: 'a1', role: 'assistant', calls: ['c1'] },
      { id: 't1', role: 'tool', text: 'found', answers: 'c1' },
      { id: 'a2', role: 'assistant', text: 'Found it.' },
      { id: 'u2', role: 'user', text: 'Next?' },
    ];
    const policy = { budgetTokens: 30, tokens: { u1: 50, a1: 10, t1: 10, a2: 5, u2: 5 } };
    const built = plan(cut, { ...policy, requireUserStart: true });
    expect(built.sent).toEqual(['u2']);
    expect(built.tokens).toBe(5);
    expect(plan(cut, policy).sent).toEqual(['a1', 't1', 'a2', 'u2']);
  });
  it('V02 an item limit never leaves a result without its call', () => {
    const built = plan(
      [
        { id: 'i1', role: 'user', text: 'Weather in Oslo?' },
        { id: 'i2', role: 'assistant', calls: ['call_1'] },
        { id: 'i3', role: 'tool', text: '4 C, rain', answers: 'call_1' },
        { id: 'i4', role: 'assistant', text: 'Rain, 4 degrees.' },
      ],
      { maxItems: 2, mustKeep: [] },
    );
    expect(built.sent).toEqual(['i4']);
    expect(reasons(built)).toMatchObject({ i2: 'out policy', i3: 'out policy' });
  });
  it('counts tools against the budget', () => {
    const tools = [{ name: 'find', description: 'words '.repeat(20) }];
    const built = plan(talk, {}, { tools });
    expect(built.toolTokens).toBeGreaterThan(20);
    expect(attempt(talk, { budgetTokens: built.toolTokens }, { tools })).toMatchObject(
      E.left({ _tag: 'BudgetImpossible', available: 0 }),
    );
  });
});

describe('literals', () => {
  const literal = (place: number, text: string) => ({
    place,
    text,
    provenance: { kind: 'app' as const },
    trust: 'external' as const,
    reason: 'memory',
  });
  it('stand where they were asked for, as user text, and are in no history', () => {
    const built = plan(talk.slice(0, 3), {}, { literals: [literal(1, 'L1'), literal(-1, 'L2')] });
    expect(built.body.messages).toEqual([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'L1' },
      { role: 'user', content: '1' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'L2' },
    ]);
    expect(built.sent).toEqual(['s1', 'u1', 'a1']);
    expect(built.literals).toHaveLength(2);
  });
  it('never stand before the instructions or inside an exchange', () => {
    const exchange: readonly Spec[] = [
      { id: 's1', role: 'system', text: 'S' },
      { id: 'u1', role: 'user', text: '1' },
      { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
      { id: 't1', role: 'tool', text: '2', answers: 'c1' },
      { id: 't2', role: 'tool', text: '3', answers: 'c2' },
    ];
    const built = plan(exchange, {}, { literals: [literal(0, 'L1'), literal(4, 'L2')] });
    expect(built.body.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'S'],
      ['user', 'L1'],
      ['user', '1'],
      ['assistant', null],
      ['tool', '2'],
      ['tool', '3'],
      ['user', 'L2'],
    ]);
  });
});

describe('strict', () => {
  it('repairs nothing: what would need it is refused by its rule', () => {
    expect(attempt([{ id: 'u1', role: 'user', text: 'a\ud800' }], { strict: true })).toEqual(
      E.left({ _tag: 'IllFormedUnicode', path: '/messages/0', id: 'u1' }),
    );
    const thinks: readonly Spec[] = [
      { id: 'u1', role: 'user', text: 'q' },
      {
        id: 'a1',
        role: 'assistant',
        blocks: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'a' },
        ],
      },
    ];
    expect(attempt(thinks, { strict: true })).toMatchObject(
      E.left({ _tag: 'InvalidShape', expected: 'OC9', index: 1 }),
    );
    expect(plan(talk, { strict: true }).repairs).toEqual([]);
  });
});
