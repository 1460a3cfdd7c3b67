import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortenArguments, shortenText } from '../../../src/domain/context/shorten.js';
import { estimator } from '../../../src/domain/tokens.js';
import { plan, reasons } from './context-support.js';
import type { Spec } from './surface-builder.js';

const chars = (text: string): number => text.length;
const long = Array.from({ length: 400 }, (_item, index) => `line ${String(index)}`).join('\n');

describe('a shortened text', () => {
  it('keeps head and tail, says how much is left out, and fits', () => {
    const cut = shortenText(long, 60, estimator.count, 'head_and_tail');
    expect(estimator.count(cut)).toBeLessThanOrEqual(60);
    expect(cut.startsWith('line 0\nline 1\n')).toBe(true);
    expect(cut.endsWith('line 399')).toBe(true);
    expect(cut).toMatch(/\n\[… \d+ characters left out …\]\n/);
  });
  it('keeps the head alone where the policy says so', () => {
    const cut = shortenText(long, 200, chars, 'head');
    expect(cut).toMatch(/^line 0\n[^]*\n\[… \d+ characters left out …\]\n$/);
    expect(cut.length).toBeLessThanOrEqual(200);
  });
  it('is the text itself when that fits', () => {
    expect(shortenText('short', 5, chars, 'head')).toBe('short');
  });
  it('never cuts inside a grapheme, and counts what it left out', () => {
    const graphemes = fc.constantFrom('a', '汉', '😀', 'é', '👨‍👩‍👧‍👦', '🇳🇴', ' ', '\n');
    const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
    const parts = (text: string): readonly string[] =>
      [...segmenter.segment(text)].map(({ segment }) => segment);
    fc.assert(
      fc.property(
        fc.array(graphemes, { minLength: 80, maxLength: 200 }),
        fc.integer({ min: 40, max: 120 }),
        (list, limit) => {
          const text = list.join('');
          const cut = shortenText(text, limit, chars, 'head_and_tail');
          if (cut === text) return;
          const [, head = '', count = '', tail = ''] =
            /^([^]*)\n\[… (\d+) characters left out …\]\n([^]*)$/.exec(cut) ?? [];
          expect(cut.length).toBeLessThanOrEqual(limit);
          expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
          expect(head.length + tail.length + Number(count)).toBe(text.length);
          const whole = parts(text);
          expect(whole.slice(0, parts(head).length).join('')).toBe(head);
          expect(tail === '' ? '' : whole.slice(-parts(tail).length).join('')).toBe(tail);
        },
      ),
    );
  });
  it('stays valid JSON when it was JSON', () => {
    const rows = Array.from({ length: 300 }, (_item, id) => ({ id, name: `row ${String(id)}` }));
    const cut = shortenText(
      JSON.stringify({ rows, note: 'x'.repeat(5_000) }),
      400,
      chars,
      'head_and_tail',
    );
    expect(cut.length).toBeLessThanOrEqual(400);
    const value = JSON.parse(cut) as { readonly rows: readonly unknown[]; readonly note: string };
    expect(value.rows).toContain('[… 296 items left out …]');
    expect(value.rows[0]).toEqual({ id: 0, name: 'row 0' });
    expect(value.note).toMatch(/^x+\[… \d+ characters left out …\]x+$/);
  });
  it('B11 is cut as text where parsing would change a number', () => {
    const text = JSON.stringify({ a: 'y'.repeat(500) }).replace('}', ',"n":9007199254740993}');
    const cut = shortenText(text, 200, chars, 'head_and_tail');
    expect(cut.endsWith('9007199254740993}')).toBe(true);
  });
});

describe('shortened arguments', () => {
  it('are a JSON object within the limit, whatever they were', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
          fc.string({ maxLength: 400 }),
          fc.string({ maxLength: 400 }).map((text) => JSON.stringify({ content: text.repeat(5) })),
        ),
        fc.integer({ min: 2, max: 300 }),
        (text, limit) => {
          const cut = shortenArguments(text, limit, 'head_and_tail');
          expect(cut.length).toBeLessThanOrEqual(Math.max(limit, 2));
          if (text.length <= limit) expect(cut).toBe(text);
          else expect(typeof JSON.parse(cut)).toBe('object');
        },
      ),
    );
  });
  it('are reported, and whole in history', () => {
    const text = JSON.stringify({ path: 'a.ts', content: 'z'.repeat(4_000) });
    const built = plan(
      [
        { id: 'u1', role: 'user', text: 'q' },
        { id: 'a1', role: 'assistant', calls: [{ id: 'c1', name: 'write', arguments: text }] },
        { id: 't1', role: 'tool', text: 'ok', answers: 'c1' },
      ],
      { maxArgumentChars: 200 },
    );
    const [, caller] = built.body.messages;
    const sent =
      caller?.role === 'assistant' ? (caller.tool_calls?.[0]?.function.arguments ?? '') : '';
    expect(sent.length).toBeLessThanOrEqual(200);
    expect(JSON.parse(sent)).toMatchObject({ path: 'a.ts' });
    expect(built.repairs).toEqual([
      {
        code: 'TOOL_ARGS_SHORTENED',
        action: 'head_and_tail',
        id: 'a1',
        toolCallId: 'c1',
        originalChars: text.length,
        retrievable: true,
      },
    ]);
  });
});

describe('tool results over a cap', () => {
  const specs: readonly Spec[] = [
    { id: 'u1', role: 'user', text: 'q' },
    { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
    { id: 't1', role: 'tool', text: long, answers: 'c1' },
    { id: 't2', role: 'tool', text: 'short', answers: 'c2' },
    { id: 'a2', role: 'assistant', text: 'ok' },
    { id: 'u2', role: 'user', text: 'r' },
  ];
  it('are cut, with the cut in text and report, and the message within the cap', () => {
    const built = plan(specs, { maxToolResultTokens: 60 });
    expect(built.repairs).toEqual([
      {
        code: 'TOOL_RESULT_SHORTENED',
        id: 't1',
        toolCallId: 'c1',
        action: 'head_and_tail',
        originalChars: long.length,
        retrievable: true,
      },
    ]);
    expect(reasons(built)).toMatchObject({ t1: 'in shortened', t2: 'in window' });
    expect(built.dispositions[2]?.tokens).toBeLessThanOrEqual(60);
    expect(built.results[0]?.content).toMatch(/left out/);
  });
  it('are not touched unless the policy says so', () => {
    expect(plan(specs).results[0]?.content).toBe(long);
    expect(plan(specs, { budgetTokens: 200 }).sent).toEqual(['a2', 'u2']);
  });
  it('are made to fit the budget where the policy lets them', () => {
    const built = plan(specs, { budgetTokens: 200, truncateToolResults: true });
    expect(built.sent).toEqual(['u1', 'a1', 't1', 't2', 'a2', 'u2']);
    expect(built.tokens).toBeLessThanOrEqual(200);
    expect(built.repairs).toMatchObject([{ code: 'TOOL_RESULT_SHORTENED', id: 't1' }]);
    const open = plan(specs.slice(0, 4), { budgetTokens: 150, truncateToolResults: true });
    expect(open.sent).toEqual(['u1', 'a1', 't1', 't2']);
    expect(open.dispositions[2]).toMatchObject({ disposition: 'open_exchange', note: 'shortened' });
  });
});
