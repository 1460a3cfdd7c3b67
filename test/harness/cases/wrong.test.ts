import { describe, expect, it } from 'vitest';
import { against, failureOf } from './sample.js';

type Fields = Readonly<Record<string, unknown>>;

const holds = {
  ok: true,
  context_ids: ['s1', 'u1', 'a1', 't1', 'a2', 'u2'],
  dropped_ids: [],
  history_ids: ['s1', 'u1', 'a1', 't1', 'a2', 'u2'],
  tokens: 6,
  stream_length: 6,
  positions: [0, 1, 2, 3, 4, 5],
  context_results: [{ tool_call_id: 'c1', synthetic: false, is_error: false, content: 'rain' }],
  validate_raw: { ok: true },
  events_appended: [],
  max_events_appended: { MessageAppended: 0 },
  stored_bytes_changed: false,
  history: { u1: { role: 'user', content: 'Weather?', status: 'confirmed' } },
  history_raw: { a1: '{"a":1}', a2: 'It rains.' },
  roles: { t1: 'tool' },
  timestamps: { u1: null },
  branches: [['s1', 'u1', 'a1', 't1', 'a2', 'u2']],
  roots: 1,
  report: [],
  active_path_ids: ['s1', 'u1', 'a1', 't1', 'a2', 'u2'],
  main_branch_ids: ['s1', 'u1', 'a1', 't1', 'a2', 'u2'],
  siblings_of: { u1: ['a1'] },
  invariants: [
    'valid_for_profile',
    'pairs_intact',
    'within_budget',
    'history_unchanged',
    'no_invented_turns',
  ],
};

describe('a wrong expectation', () => {
  it('is none when all of it is right', async () => {
    expect(await against(holds)).toBe('ok');
  });

  it.each<readonly [string, Fields]>([
    ['ok', { ok: false }],
    ['error', { error: { code: 'NOT_FOUND' } }],
    ['errors', { errors: [{ code: 'NOT_FOUND' }] }],
    ['context_ids', { context_ids: ['u1', 's1', 'a1', 't1', 'a2', 'u2'] }],
    ['context_ids', { context_ids: ['s1', 'u1', 'a1', 't1', 'a2'] }],
    ['dropped_ids', { dropped_ids: ['u1'] }],
    ['history_ids', { history_ids: ['s1', 'u1'] }],
    ['tokens', { tokens: 7 }],
    ['stream_length', { stream_length: 5 }],
    ['positions', { positions: [0, 1, 2] }],
    ['context_results', { context_results: [] }],
    ['context_results', { context_results: [{ synthetic: true }] }],
    ['validate_raw', { validate_raw: { ok: false } }],
    ['validate_raw', { validate_raw: { ok: true, violations: [{ code: 'LAST_ROLE' }] } }],
    ['events_appended', { events_appended: ['ContextCompacted'] }],
    ['events_appended', { events_appended: 1 }],
    ['stored_bytes_changed', { stored_bytes_changed: true }],
    ['history', { history: { u1: { content: 'Weather' } } }],
    ['history', { history: { nobody: { content: 'x' } } }],
    ['history', { history: [{ id: 's1' }] }],
    ['history_raw', { history_raw: { a1: '{"a": 1}' } }],
    ['history_raw', { history_raw: { a1: ['other'] } }],
    ['roles', { roles: { t1: 'user' } }],
    ['timestamps', { timestamps: { u1: '2026-01-01T00:00:00.000Z' } }],
    ['branches', { branches: [['s1']] }],
    ['roots', { roots: 2 }],
    ['report', { report: [{ code: 'ROLE_MAPPED' }] }],
    ['active_path_ids', { active_path_ids: [] }],
    ['main_branch_ids', { main_branch_ids: [] }],
    ['siblings_of', { siblings_of: { u1: ['a1', 'a2'] } }],
    ['output', { output: { messages: [] } }],
    ['any_of', { any_of: [{ tokens: 1 }, { tokens: 2 }] }],
    ['never', { never: [{ tokens: 1 }, { tokens: 6 }] }],
    ['variant 0: tokens', { variants: [{ expected: { tokens: 1 } }] }],
    ['variant 0: ok', { variants: [{ params: { max_tokens: 3 }, expected: { ok: false } }] }],
  ])('in %s fails', async (name, wrong) => {
    expect(await against({ ...holds, ...wrong })).toContain(name);
  });

  it.each<readonly [string, Fields]>([
    ['eq', { at: '/wire/messages/0/role', eq: 'user' }],
    ['eq_at', { at: '/wire/messages/0/role', eq_at: '/wire/messages/1/role' }],
    ['ne_at', { at: '/wire/messages/1/role', ne_at: '/wire/messages/5/role' }],
    ['ne_at', { at: '/wire/messages/1/role', ne_at: '/wire/messages/99/role' }],
    ['one_of', { at: '/wire/messages/0/role', one_of: ['user', 'tool'] }],
    ['match', { at: '/wire/messages/0/role', match: '^u' }],
    ['not_match', { at: '/wire/messages/0/role', not_match: '^s' }],
    ['min', { at: '/tokens_total', min: 7 }],
    ['max', { at: '/tokens/u1', max: 0 }],
    ['length', { at: '/wire/messages', length: 5 }],
    ['min_length', { at: '/wire/messages', min_length: 7 }],
    ['max_length', { at: '/wire/messages/0/role', max_length: 5 }],
    ['type', { at: '/wire/messages', type: 'object' }],
    ['there is', { at: '/wire/messages/0', absent: true }],
    ['no such node', { at: '/wire/messages/6', type: 'object' }],
    ['no such node', { at: '/wire/messages/length', eq: 6 }],
    ['contains_text', { at: '/wire/messages', contains_text: 'snow' }],
    ['not_contains_text', { at: '/wire/messages', not_contains_text: 'rain' }],
    ['json_object', { at: '/wire/messages/0/role', json_object: true }],
    ['starts_with_at', { at: '/wire/messages', starts_with_at: '/read/history' }],
    ['same_instant', { at: '/wire/messages/0/role', same_instant: '2026-01-01T00:00:00Z' }],
    ['bytes', { at: '/wire/messages/0/role', bytes: 'AAEC' }],
  ])('of an assert fails: %s', async (name, assert) => {
    const failure = await against({ asserts: [assert] });
    expect(failure).toContain(String(assert['at']));
    expect(failure).toContain(name);
  });

  it('of an assert fails: blank text and half a pair', async () => {
    const blank = { messages: [{ id: 'u1', role: 'user', content: ' ' }], params: {} };
    const asserts = [{ at: '/wire/messages', no_blank_text: true }];
    expect(await failureOf(blank, { asserts })).toContain('no_blank_text');
    const half = { messages: [{ id: 'u1', role: 'user', content: '\ud83d' }], params: {} };
    const read = [{ at: '/read/u1', well_formed_unicode: true }];
    expect(await failureOf(half, { asserts: read })).toContain('well_formed_unicode');
  });

  it('of output allows no more than the alternate says', async () => {
    const messages = [
      { role: 'system', content: 'Be terse.' },
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'rain' },
      { role: 'assistant', content: 'It rains.' },
      { role: 'user', content: 'Thanks' },
    ];
    const output = { messages };
    const alternate = 'content may be null for a1';
    expect(await against({ output })).toContain('output/messages/2/content');
    expect(await against({ output, alternate })).toBe('ok');
    expect(await against({ output, alternate: 'anything goes' })).toContain('output');
    const other = { messages: messages.map((one) => ({ ...one, content: null })) };
    expect(await against({ output: other, alternate })).toContain('output');
  });

  it('of never counts for variants too, as far as they have what it speaks of', async () => {
    const never = [{ context_ids: ['s1', 'u2'] }];
    const variant = { params: { max_tokens: 2 }, expected: { ok: true } };
    expect(await against({ never, variants: [variant] })).toContain('variant 0: never');
    const other = { operation: 'append', params: { commands: [] }, expected: { ok: true } };
    expect(await against({ never: [{ covers_ids: [] }], variants: [other] })).toContain(
      'covers_ids',
    );
    expect(await against({ never, variants: [other] })).toBe('ok');
  });

  it('of a failing build fails: a wrong code, wrong data, or none expected', async () => {
    const tight = { params: { max_tokens: 1, tokens: { s1: 10, u2: 5 } } };
    const error = { code: 'BUDGET_UNSATISFIABLE', required: 15, limit: 1, ids: ['s1', 'u2'] };
    expect(await failureOf(tight, { ok: false, error })).toBe('ok');
    expect(await failureOf(tight, { ok: true })).toContain('BudgetImpossible');
    expect(await failureOf(tight, { ok: false, error: { ...error, required: 14 } })).toContain(
      'required',
    );
    expect(await failureOf(tight, { ok: false, error: { ...error, ids: ['s1'] } })).toContain(
      'ids',
    );
    expect(await failureOf(tight, { ok: false, error: { code: 'LAST_ROLE' } })).toContain(
      'LAST_ROLE',
    );
    expect(await failureOf(tight, { ok: false, context_ids: [] })).toContain(
      'the operation failed',
    );
    expect(await failureOf(tight, { ok: false, never: [{ context_ids: [] }] })).toBe('ok');
    expect(await failureOf(tight, { ok: false, invariants: ['valid_for_profile'] })).toContain(
      'no context',
    );
  });
});
