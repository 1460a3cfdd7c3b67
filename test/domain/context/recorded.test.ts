import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/domain/digest.js';
import { comparePlans } from '../../../src/domain/context/compare.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import { rebuildContext } from '../../../src/domain/context/rebuild.js';
import { why } from '../../../src/domain/context/why.js';
import type { Surface } from '../../../src/domain/surface.js';
import { estimator } from '../../../src/domain/tokens.js';
import { chat, plan } from './context-support.js';
import { branch, place, summaryOver, surfaceOf, type Spec } from './surface-builder.js';

const specs: readonly Spec[] = [
  { id: 's1', role: 'system', text: 'Rules.' },
  { id: 'u1', role: 'user', text: 'one '.repeat(40) },
  { id: 'a1', role: 'assistant', text: 'two '.repeat(40) },
  { id: 'd1', role: 'assistant', text: 'draft', status: 'draft' },
  { id: 'u2', role: 'user', text: 'three' },
  { id: 'a2', role: 'assistant', calls: ['c1'] },
  { id: 't1', role: 'tool', text: 'four', answers: 'c1' },
  { id: 'a3', role: 'assistant', text: 'five' },
  { id: 'u3', role: 'user', text: 'six' },
];
const policy = { budgetTokens: 80 };

const rebuild = (surface: Surface, original: ContextPlan) => {
  const { selection, requestDigest } = original;
  const built = rebuildContext({
    surface,
    profile: chat,
    policy,
    counter: estimator,
    selection,
    requestDigest,
  });
  if (E.isLeft(built)) throw new Error(JSON.stringify(built.left));
  return built.right;
};

const withOut = (surface: Surface, id: string): Surface => ({
  ...surface,
  items: surface.items.map((item) =>
    item.message.id === id
      ? { ...item, out: { reason: 'redacted' as const, cause: place(50) } }
      : item,
  ),
});

describe('CX4 a recorded context', () => {
  const surface = surfaceOf(specs);
  const original = plan(surface, policy);
  it('CX4 is the digest of the exact text', () => {
    expect(original.text).toBe(JSON.stringify(original.body));
    expect(original.requestDigest).toBe(digestOf(original.text));
  });
  it('CX4 has its selection in runs; what the log says by itself is not among them', () => {
    expect(original.selection).toEqual([
      { branch, from: 2, to: 2, disposition: 'system' },
      { branch, from: 4, to: 6, disposition: 'budget' },
      { branch, from: 10, to: 16, disposition: 'window' },
      { branch, from: 18, to: 18, disposition: 'must_keep' },
    ]);
  });
  it('CX4 is rebuilt to the byte', () => {
    expect(rebuild(surface, original)).toMatchObject({ same: true, goneSince: [] });
  });
  it('CX4 is rebuilt from its own selection, whatever the counter says now', () => {
    const built = rebuildContext({
      surface,
      profile: chat,
      policy,
      counter: { ...estimator, name: 'other', count: (text) => 50 + text.length },
      selection: original.selection,
      requestDigest: original.requestDigest,
    });
    expect(built).toMatchObject(E.right({ same: true }));
  });
  it('CX4 names what was redacted since', () => {
    const built = rebuild(withOut(surface, 'a3'), original);
    expect(built.same).toBe(false);
    expect(built.goneSince).toEqual(['a3']);
    expect(built.plan.sent).toEqual(['s1', 'u2', 'a2', 't1', 'u3']);
  });
  it('runs never span a message that was decided otherwise, in any order of the surface', () => {
    const items = [...surface.items];
    const moved = items.splice(8, 1);
    items.splice(5, 0, ...moved);
    const odd = { ...surface, items };
    const built = plan(odd, policy);
    expect(rebuild(odd, built)).toMatchObject({ same: true });
  });
});

describe('CX3 why', () => {
  it('CX3 answers for messages that are in, out, changed, or nowhere', () => {
    const built = plan([...specs, { id: 'u4', role: 'user', text: 'bad \ud800' }], policy);
    expect(why(built, 'u1')).toMatchObject({ in: false, disposition: 'budget', tokens: 44 });
    expect(why(built, 'd1')).toMatchObject({ in: false, disposition: 'draft', cause: place(99) });
    expect(why(built, 't1')).toMatchObject({ in: true, disposition: 'window', unit: 'a2' });
    expect(why(built, 'u4')).toMatchObject({
      in: true,
      disposition: 'must_keep',
      repairs: [{ code: 'TEXT_REPAIRED', id: 'u4' }],
    });
    expect(why(built, 'nobody')).toEqual({
      messageId: 'nobody',
      in: false,
      disposition: 'not_on_branch',
      tokens: 0,
      repairs: [],
    });
  });
});

describe('the prefix of a context', () => {
  const before = plan(specs.slice(0, 5));
  it('is the same while the history only grows', () => {
    expect(comparePlans(before, plan(specs))).toEqual({ same: true, tokensBehind: 0 });
    expect(plan(specs, {}, { previous: before }).prefix).toEqual({ same: true, tokensBehind: 0 });
  });
  it('ends at the first message that differs, by the event that caused it', () => {
    const surface = surfaceOf(specs, { compactions: [summaryOver(['u1', 'a1'], 'Short.')] });
    const now = plan(surface);
    const report = comparePlans(before, now);
    expect(report).toMatchObject({
      same: false,
      path: ['messages', 1],
      previousId: 'u1',
      currentId: 'summary-1',
      cause: place(90),
    });
    const behind = now.dispositions.filter((entry) => entry.in && entry.messageId !== 's1');
    expect(report.tokensBehind).toBe(behind.reduce((sum, { tokens }) => sum + tokens, 0));
  });
  it('ends before everything when the tools changed', () => {
    const tools = [{ name: 'find' }];
    const now = plan(specs, {}, { tools });
    const report = comparePlans(before, now);
    expect(report).toMatchObject({ same: false, path: ['tools'] });
    expect(report.tokensBehind).toBe(now.tokens);
  });
});
