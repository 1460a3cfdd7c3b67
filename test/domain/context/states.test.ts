import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { LiveCompaction } from '../../../src/domain/surface.js';
import { attempt, plan, reasons } from './context-support.js';
import { place, summaryOver, surfaceOf, type Spec } from './surface-builder.js';

describe('RL5 only confirmed messages are sent', () => {
  it('RL5 every other state is out, with the event that caused it', () => {
    const built = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'd', role: 'assistant', text: 'x', out: { reason: 'draft', cause: place(31) } },
      { id: 'b', role: 'assistant', text: 'x', out: { reason: 'blocked', cause: place(32) } },
      { id: 's', role: 'assistant', text: 'x', out: { reason: 'superseded', cause: place(33) } },
      { id: 'r', role: 'user', text: 'x', out: { reason: 'redacted', cause: place(34) } },
      { id: 'w', role: 'user', text: 'x', out: { reason: 'withdrawn', cause: place(35) } },
      { id: 'i', role: 'assistant', text: 'x', out: { reason: 'interrupted', cause: place(36) } },
    ]);
    expect(built.sent).toEqual(['u1']);
    expect(
      built.dispositions.slice(1).map(({ disposition, cause }) => [disposition, cause?.revision]),
    ).toEqual([
      ['draft', 31],
      ['blocked', 32],
      ['superseded', 33],
      ['redacted', 34],
      ['withdrawn', 35],
      ['interrupted', 36],
    ]);
    expect(built.selection).toHaveLength(1);
  });
  it('RL5 results of a call that is out go with it', () => {
    const built = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1'], out: { reason: 'redacted', cause: place(31) } },
      { id: 't1', role: 'tool', text: 'r', answers: 'c1' },
      { id: 'u2', role: 'user', text: 'q2' },
    ]);
    expect(reasons(built)).toMatchObject({ a1: 'out redacted', t1: 'out redacted' });
  });
  it('RL5 a call whose result is out keeps a marked one in its place', () => {
    const built = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
      {
        id: 't1',
        role: 'tool',
        text: 'secret',
        answers: 'c1',
        out: { reason: 'redacted', cause: place(31) },
      },
      { id: 't2', role: 'tool', text: 'fine', answers: 'c2' },
      { id: 'u2', role: 'user', text: 'q2' },
    ]);
    expect(built.results).toMatchObject([
      { toolCallId: 'c1', synthetic: true, isError: true },
      { toolCallId: 'c2', synthetic: false, content: 'fine' },
    ]);
    expect(built.text).not.toContain('secret');
    expect(built.synthetic).toMatchObject([{ toolCallId: 'c1', reason: 'result_out' }]);
  });
  it('RL5 calls of an interrupted turn and abandoned ones get a marked result', () => {
    const built = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1', 'c2'], closed: [1] },
      { id: 't1', role: 'tool', text: 'fine', answers: 'c1' },
      { id: 'u2', role: 'user', text: 'q2' },
    ]);
    expect(built.synthetic).toMatchObject([{ toolCallId: 'c2', reason: 'closed' }]);
    expect(built.repairs).toEqual([
      { code: 'RESULT_SYNTHESIZED', id: 'a1', toolCallId: 'c2', action: 'closed' },
    ]);
  });
  it('B32 a call that waits for an approval is never repaired away', () => {
    const specs: readonly Spec[] = [
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1'] },
    ];
    const pending = [{ messageId: 'a1', index: 0 }];
    for (const onUnanswered of ['reject', 'synthesize', 'drop_call'] as const) {
      expect(attempt(specs, { onUnanswered }, { pending })).toEqual(
        E.left({ _tag: 'OpenToolCalls', ids: ['c1'], index: 1 }),
      );
    }
  });
});

describe('erased messages', () => {
  const specs: readonly Spec[] = [
    { id: 'u1', role: 'user', out: { reason: 'erased', cause: place(40) } },
    {
      id: 'a1',
      role: 'assistant',
      calls: [{ id: 'c1', name: 'send', arguments: '' }],
      out: { reason: 'erased', cause: place(40) },
    },
    { id: 't1', role: 'tool', answers: 'c1', out: { reason: 'erased', cause: place(40) } },
    { id: 'a2', role: 'assistant', text: 'Done.' },
  ];
  it('V39 keep their place and their pairs', () => {
    const built = plan(specs);
    expect(built.body.messages).toEqual([
      { role: 'user', content: '[erased]' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'send', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '[erased]' },
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(built.dispositions[0]?.cause).toEqual(place(40));
  });
  it('are left out where the policy says so', () => {
    const built = plan(specs, { onErased: 'leave_out' });
    expect(built.sent).toEqual(['a2']);
    expect(reasons(built)).toMatchObject({ u1: 'out erased', a1: 'out erased', t1: 'out erased' });
  });
});

describe('late results', () => {
  const specs: readonly Spec[] = [
    { id: 'u1', role: 'user', text: 'pay' },
    { id: 'a1', role: 'assistant', calls: ['c1'] },
    { id: 't1', role: 'tool', text: 'outcome unknown', answers: 'c1', outcome: 'unknown' },
  ];
  const surface = () => {
    const made = surfaceOf([...specs, { id: 't2', role: 'tool', text: 'it was paid', late: true }]);
    const items = made.items.map((item) =>
      item.message.id === 't2'
        ? {
            ...item,
            message: {
              ...item.message,
              answers: [{ messageId: 'a1', index: 0, callId: 'c1' }],
            },
          }
        : item,
    );
    return { ...made, items };
  };
  it('are for audit by default', () => {
    const built = plan(surface());
    expect(built.sent).toEqual(['u1', 'a1', 't1']);
    expect(built.results).toMatchObject([{ isError: true, content: 'outcome unknown' }]);
  });
  it('stand for the first result where the policy says so', () => {
    expect(plan(surface(), { onLateResult: 'replace' }).sent).toEqual(['u1', 'a1', 't2']);
  });
});

describe('an aggregate result', () => {
  it('is sent once; the other calls say where it stands', () => {
    const built = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1', 'c2'] },
      { id: 't1', role: 'tool', text: 'one\ntwo', answers: ['c1', 'c2'] },
    ]);
    expect(built.body.messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'one\ntwo' },
      {
        role: 'tool',
        tool_call_id: 'c2',
        content: '[Answered together with another call of this turn; see its result.]',
      },
    ]);
    expect(built.results[1]).toMatchObject({ synthetic: true, isError: false });
  });
});

describe('two calls with one id in one turn', () => {
  it('B31 each gets its own id on the wire, results follow in order', () => {
    const call = { id: 'c', name: 'f', arguments: '{}' };
    const { body } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: [call, call] },
      { id: 't1', role: 'tool', text: 'one', answers: 'c' },
      { id: 't2', role: 'tool', text: 'two', answers: 'c' },
    ]);
    const [, , first, second] = body.messages;
    expect(first).toEqual({ role: 'tool', tool_call_id: 'c', content: 'one' });
    expect(second).toMatchObject({ content: 'two' });
    expect(second).not.toMatchObject({ tool_call_id: 'c' });
  });
});

describe('instructions', () => {
  const instructions = [
    {
      name: 'main',
      version: 3,
      role: 'system' as const,
      messageId: 'i1',
      text: 'Rules.',
      place: place(1),
    },
    {
      name: 'style',
      version: 1,
      role: 'developer' as const,
      messageId: 'i2',
      text: 'Brief.',
      place: place(2),
    },
  ];
  it('RL2 stand first and are recorded with their versions', () => {
    const built = plan(surfaceOf([{ id: 'u1', role: 'user', text: 'q' }], { instructions }));
    expect(built.body.messages).toEqual([
      { role: 'system', content: 'Rules.' },
      { role: 'developer', content: 'Brief.' },
      { role: 'user', content: 'q' },
    ]);
    expect(built.sent).toEqual(['i1', 'i2', 'u1']);
    expect(built.instructions).toEqual([
      { name: 'main', version: 3 },
      { name: 'style', version: 1 },
    ]);
    expect(reasons(built)).toMatchObject({ i1: 'in instructions' });
  });
  it('RL2 are not sent twice when their message is in the history', () => {
    const specs: readonly Spec[] = [
      { id: 'u0', role: 'user', text: 'before' },
      { id: 'i1', role: 'system', text: 'Rules.' },
      { id: 'u1', role: 'user', text: 'q' },
    ];
    const built = plan(surfaceOf(specs, { instructions: instructions.slice(0, 1) }));
    expect(built.sent).toEqual(['u0', 'i1', 'u1']);
  });
});

describe('compactions', () => {
  const specs: readonly Spec[] = [
    { id: 's1', role: 'system', text: 'Rules.' },
    { id: 'u1', role: 'user', text: 'one' },
    { id: 'a1', role: 'assistant', text: 'two' },
    { id: 'u2', role: 'user', text: 'three' },
  ];
  const under = (...compactions: readonly LiveCompaction[]) => surfaceOf(specs, { compactions });
  it('RL7 a summary is user text, marked, whatever role it was recorded with', () => {
    const base = summaryOver(['u1', 'a1'], 'Short.');
    const replacement = { ...base.replacement!, role: 'system' as const };
    const built = plan(under({ ...base, replacement }));
    expect(built.body.messages[1]).toEqual({
      role: 'user',
      content: [
        {
          type: 'text',
          text: '[Summary of earlier messages. It was generated; the user did not write it.]',
        },
        { type: 'text', text: 'Short.' },
      ],
    });
    expect(reasons(built)).toEqual({
      s1: 'in system',
      'summary-1': 'in summary',
      u1: 'out covered_by_compaction',
      a1: 'out covered_by_compaction',
      u2: 'in must_keep',
    });
  });
  it('never take instructions along, whatever a foreign source covered', () => {
    const built = plan(under(summaryOver(['s1', 'u1', 'a1'], 'Short.')));
    expect(built.sent).toEqual(['summary-1', 's1', 'u2']);
  });
  it('ER1 a summary over content that changed is not used any more, and says so', () => {
    const built = plan(under(summaryOver(['u1', 'a1'], 'Short.', { changed: ['u1'] })));
    expect(built.sent).toEqual(['s1', 'u1', 'a1', 'u2']);
    expect(built.repairs).toEqual([
      {
        code: 'SUMMARY_COVERS_REDACTED',
        id: 'summary-1',
        ids: ['u1'],
        action: 'invalidate',
      },
    ]);
    const stale = summaryOver(['u1', 'a1'], 'Short.', { changed: ['u1'] });
    expect(plan(under(stale), { onStaleSummary: 'keep' }).sent).toEqual(['s1', 'summary-1', 'u2']);
    expect(attempt(under(stale), { onStaleSummary: 'reject' })).toEqual(
      E.left({ _tag: 'CompactionStale', ids: ['u1'] }),
    );
  });
  it('an item that only one provider can read is no summary for another', () => {
    const base = summaryOver(['u1', 'a1'], '');
    const blocks = [
      { type: 'provider' as const, provider: 'anthropic', json: '{"type":"compaction"}' },
    ];
    const built = plan(under({ ...base, replacement: { ...base.replacement!, blocks } }));
    expect(built.sent).toEqual(['s1', 'u1', 'a1', 'u2']);
  });
  it('an inner compaction counts only while the outer one does not', () => {
    const inner = summaryOver(['u1'], 'Inner.', { compaction: 'inner', place: place(91) });
    const small = { ...inner, replacement: { ...inner.replacement!, id: 'inner' } };
    const outer = summaryOver(['u1', 'a1'], 'Outer.');
    expect(plan(under(outer, small)).sent).toEqual(['s1', 'summary-1', 'u2']);
    expect(plan(under({ ...outer, changed: ['a1'] }, small)).sent).toEqual([
      's1',
      'inner',
      'a1',
      'u2',
    ]);
  });
  it('shortened results say that they are, and by which event', () => {
    const exchange: readonly Spec[] = [
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1'] },
      { id: 't1', role: 'tool', text: 'long '.repeat(50), answers: 'c1' },
      { id: 'a2', role: 'assistant', text: 'ok' },
      { id: 'u2', role: 'user', text: 'r' },
    ];
    const { replacement: _none, ...elided } = summaryOver(['t1'], '', {
      strategy: 'elide-tool-results',
      shortened: new Map([['t1', '[left out]']]),
    });
    const built = plan(surfaceOf(exchange, { compactions: [elided] }));
    expect(built.body.messages[2]).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: '[left out]',
    });
    expect(built.dispositions[2]).toMatchObject({
      in: true,
      disposition: 'shortened',
      cause: place(90),
    });
  });
});
