import { describe, expect, it } from 'vitest';
import { runCase } from '../../../harness/cases/run-case.js';
import { against, failureOf, input, messages } from './sample.js';

const ok = { ok: true };

describe('what is outside the vocabulary', () => {
  it('leaves the sample alone, which passes', async () => {
    expect(await against(ok)).toBe('ok');
  });

  it.each([
    ['operation', { operation: 'dance' }, /dance" is none of/],
    ['profile', { profile: 'acme' }, /acme" is none of/],
    ['format', { format: 'xml' }, /xml" is none of/],
    ['input field', { extra: 1 }, /unknown input field extra/],
    ['param', { params: { budget: 1 } }, /unknown param budget/],
    ['value of a param', { params: { on_unanswered: 'guess' } }, /guess" is none of/],
    ['type of a param', { params: { max_tokens: 'many' } }, /is no number/],
    ['capability', { params: { capabilities: { flies: true } } }, /unknown capability flies/],
    [
      'field of a command',
      { operation: 'append', messages: [], params: { commands: [{ do: 1 }] } },
      /unknown field of a command do/,
    ],
    [
      'field of a message',
      { messages: [{ ...messages[0], mood: 'good' }] },
      /unknown field of a message mood/,
    ],
    [
      'type of a part',
      { messages: [{ id: 'u1', role: 'user', content: [{ type: 'smell' }] }] },
      /unknown type of part smell/,
    ],
    [
      'field of a part',
      { messages: [{ id: 'u1', role: 'user', content: [{ type: 'text', text: 'a', size: 1 }] }] },
      /unknown field of a text part size/,
    ],
    [
      'field of a call',
      { messages: [{ id: 'a1', role: 'assistant', tool_calls: [{ name: 'f', args: 1 }] }] },
      /unknown field of a tool call args/,
    ],
    ['event type', { events: [{ type: 'Happened', data: {} }] }, /unknown event type Happened/],
    [
      'field of an event',
      { events: [{ type: 'MessageAppended', data: {}, at: 1 }] },
      /unknown field of an event at/,
    ],
    [
      'macro',
      { messages: [{ id: 'u1', role: 'user', content: { $shout: 'a' } }] },
      /unknown macro \$shout/,
    ],
  ])('fails: an unknown %s', async (_what, changes, why) => {
    expect(await failureOf(changes, ok)).toMatch(why);
  });

  it.each([
    ['expected key', { okay: true }, /unknown expected key okay/],
    ['key in any_of', { any_of: [{ okay: true }] }, /unknown expected key okay/],
    ['key in never', { never: [{ okay: true }] }, /unknown expected key okay/],
    ['key in a variant', { variants: [{ expected: { okay: true } }] }, /unknown expected key okay/],
    ['param of a variant', { variants: [{ params: { x: 1 }, expected: {} }] }, /unknown param x/],
    [
      'field of a variant',
      { variants: [{ before: 1, expected: {} }] },
      /unknown field of a variant/,
    ],
    ['invariant', { invariants: ['all_is_well'] }, /all_is_well.* is none of/],
    ['root', { asserts: [{ at: '/wires/0', eq: 1 }] }, /unknown root wires/],
    [
      'root of another pointer',
      { asserts: [{ at: '/wire', eq_at: '/wires' }] },
      /unknown root wires/,
    ],
    ['test', { asserts: [{ at: '/wire', is: 1 }] }, /unknown test is/],
    ['error code', { error: { code: 'OOPS' } }, /OOPS.* is none of/],
    [
      'field of an error',
      { error: { code: 'NOT_FOUND', why: 1 } },
      /unknown field of an error why/,
    ],
    ['report code', { report: [{ code: 'OOPS' }] }, /OOPS.* is none of/],
    [
      'field of a report',
      { report: [{ code: 'ROLE_MAPPED', why: 1 }] },
      /unknown field of a report/,
    ],
    ['field of a result', { results: [{ state: 'appended' }] }, /unknown field of a result state/],
    ['status', { results: [{ status: 'lost' }] }, /lost.* is none of/],
    ['field of a history row', { history: [{ colour: 1 }] }, /unknown field of a history row/],
    [
      'field of a context result',
      { context_results: [{ size: 1 }] },
      /unknown field of a context result/,
    ],
    ['field of plan', { plan: { done: [] } }, /unknown field of plan done/],
  ])('fails: an unknown %s', async (_what, expected, why) => {
    expect(await against(expected)).toMatch(why);
  });

  it('fails: an unknown field beside input and expected', async () => {
    const verdict = await runCase({ id: 'T', input, expected: ok, only: 'x' }, ['memory']);
    expect(verdict).toMatchObject({ _tag: 'fail', why: ': unknown field of a case only' });
  });

  it('fails: no case at all, and a case without an input', async () => {
    expect(await runCase(7, ['memory'])).toMatchObject({ _tag: 'fail' });
    expect(await runCase({ id: 'T', expected: ok }, ['memory'])).toMatchObject({ _tag: 'fail' });
  });

  it('fails before it skips: a later profile excuses no unknown key', async () => {
    const later = { profile: 'gemini' };
    expect(await failureOf(later, ok)).toBe('skip');
    expect(await failureOf(later, { okay: true })).toMatch(/unknown expected key/);
    expect(await failureOf({ params: { also_profile: 'deepseek' } }, ok)).toBe('skip');
    expect(await failureOf({ operation: 'redact' }, ok)).toBe('skip');
    expect(
      await failureOf({ format: 'chatgpt-export', operation: 'import', messages: {} }, ok),
    ).toBe('skip');
  });

  it('fails: a key that cannot be compared for the operation', async () => {
    expect(await against({ covers_ids: [] })).toMatch(/covers_ids cannot be compared/);
    expect(await against({ truncate_results: [] })).toMatch(/cannot be compared/);
    expect(await against({ never: [{ reimport: { events_appended: 3 } }] })).toMatch(
      /cannot be compared/,
    );
    expect(await against({ asserts: [{ at: '/builds/0', absent: true }] })).toMatch(
      /nothing under this root/,
    );
  });

  it('fails: an invariant that has nothing to look at', async () => {
    expect(await against({ invariants: ['covers_exactly_named_ids'] })).toMatch(
      /there was no compaction/,
    );
    expect(await against({ invariants: ['append_never_half_done'] })).toMatch(
      /there are no commands/,
    );
    expect(await against({ invariants: ['byte_equal_prefix'] })).toMatch(/no two builds/);
    expect(
      await against({ invariants: ['plain_text_not_recoverable_from_store_and_backup'] }),
    ).not.toBe('ok');
  });
});
