import { describe, expect, it } from 'vitest';
import type { InvariantName } from '../../../harness/cases/words.js';
import {
  type Tampering,
  append,
  begun,
  branch,
  budgetFault,
  builds,
  command,
  compacted,
  laterBuild,
  moveKeys,
  notes,
  oneLess,
  open,
  reargue,
  rename,
  replayed,
  resign,
  scopes,
  signed,
  swapBlocks,
  verdict,
  withEvidence,
  withHistories,
  withMessages,
  withPlan,
  withRewrittenStore,
  without,
} from './tampering.js';

const cases: readonly (readonly [InvariantName, Tampering])[] = [
  ['valid_for_profile', { run: withMessages(without('rain')) }],
  ['pairs_intact', { run: withMessages(without('look')) }],
  ['all_calls_answered', { run: withMessages(without('rain')) }],
  ['within_budget', { run: withPlan(() => ({ tokens: 101 })) }],
  ['history_unchanged', { run: withRewrittenStore }],
  ['history_unchanged', { run: withHistories }],
  ['no_stored_event_rewritten', { run: oneLess }],
  ['ids_positions_and_pairs_kept', { run: withHistories }],
  [
    'nothing_written',
    {
      run: (run) => ({
        ...run,
        after: { ...run.after, events: [...run.after.events, ...run.after.events] },
      }),
    },
  ],
  ['history_unchanged_for_other_branch', { input: branch, run: withHistories }],
  [
    'other_branch_unchanged',
    { input: branch, run: (run) => ({ ...run, after: { ...run.after, contexts: new Map() } }) },
  ],
  [
    'branch_sees_only_events_up_to_fork',
    { input: branch, again: withEvidence({ oldPath: ['u1', 'u2b', 'u2'] }) },
  ],
  ['deterministic', { again: withPlan(({ body }) => ({ body: { ...body, more: 1 } })) }],
  ['deterministic', { again: withRewrittenStore }],
  ['synthetic_marked', { input: open, run: withPlan(() => ({ repairs: [] })) }],
  [
    'synthetic_marked',
    {
      input: open,
      run: withPlan(({ results }) => ({
        results: results.map((one) => ({ ...one, synthetic: false })),
      })),
    },
  ],
  [
    'summary_marked_as_generated',
    {
      input: compacted,
      run: withMessages((messages) => messages.map((one) => ({ ...one, role: 'system' }))),
    },
  ],
  [
    'summary_before_kept_tail',
    { input: compacted, run: withPlan(({ layout }) => ({ layout: [...layout].reverse() })) },
  ],
  ['covers_exactly_named_ids', { input: compacted, expected: { covers_ids: ['u2'] } }],
  [
    'pinned_verbatim',
    {
      input: compacted,
      run: withMessages((messages) => messages.map((one) => ({ ...one, content: 'goals' }))),
    },
  ],
  ['nothing_lost', { input: append, run: command({ ids: ['m9'] }) }],
  [
    'no_false_success',
    { input: append, run: command({ messages: [{ id: 'm1', role: 'user', content: 'other' }] }) },
  ],
  ['append_never_half_done', { input: append, run: command({ storedAfter: ['m1'] }) }],
  ['append_never_half_done', { input: append, run: command({ status: 'error' }) }],
  ['nothing_written_on_error', { input: append, run: command({ status: 'error' }) }],
  ['no_interleaving_inside_a_batch', { input: append, run: command({ ids: ['m1', 'm3'] }) }],
  [
    'redelivery_is_replay_not_conflict',
    { input: append, again: command({ messages: [{ id: 'm1', role: 'user', content: 'other' }] }) },
  ],
  ['same_result_in_every_store', { input: append, again: (run) => ({ ...run, facts: {} }) }],
  ['order_by_stream_position_only', { input: append, run: command({ ids: ['m2', 'm1'] }) }],
  [
    'storage_limit_is_exact_and_newest',
    {
      input: { params: { max_items: 2 } },
      run: (run) => ({ ...run, facts: { storage_read_ids: () => Promise.resolve(['u1', 'a1']) } }),
    },
  ],
  [
    'order_from_parent_links_not_time',
    {
      input: notes,
      run: (run) => ({
        ...run,
        facts: { ...run.facts, branches: () => Promise.resolve([['a1', 'u1']]) },
      }),
    },
  ],
  [
    'no_node_lost',
    {
      input: notes,
      run: (run) => withEvidence({ imported: { ...run.evidence.imported!, kept: [] } })(run),
    },
  ],
  ['short_ids_unchanged', { run: rename }],
  ['valid_ids_unchanged', { run: rename }],
  ['collision_free', { run: withPlan(({ sent }) => ({ sent: sent.filter((id) => id !== 'a1') })) }],
  ['no_guessing_repair', { run: reargue }],
  ['arguments_text_verbatim', { run: reargue }],
  [
    'no_invented_turns',
    { run: withMessages((messages) => [...messages, { role: 'user', content: 'made' }]) },
  ],
  [
    'no_invented_turns',
    { run: withPlan(({ layout }) => ({ layout: layout.map((one) => ({ ...one, ids: [] })) })) },
  ],
  [
    'assistant_text_never_dropped_silently',
    { run: withMessages((messages) => messages.map((one) => ({ ...one, content: 'x' }))) },
  ],
  ['block_order_kept', { input: signed, run: swapBlocks }],
  [
    'parts_not_split_or_merged',
    {
      input: signed,
      run: withMessages((messages) => messages.map((one) => ({ ...one, content: [] }))),
    },
  ],
  ['byte_equal_signed_blocks', { input: signed, run: resign }],
  ['key_order_of_input_kept', { input: signed, run: moveKeys }],
  ['signature_stays_on_same_part', { input: signed, run: swapBlocks }],
  ['real_signatures_never_replaced', { input: signed, run: resign }],
  ['same_error_on_retry', { input: budgetFault, run: withEvidence({ buildFaults: [] }) }],
  ['serialized_is_valid_utf8_json', { run: withMessages(() => [{ content: '\ud83d' }]) }],
  [
    'never_cut_inside_a_pair',
    {
      input: { params: { truncate: [{ text: 'a🔑b', max_utf16: 2 }] } },
      run: (run) => ({ ...run, facts: { truncate_results: () => Promise.resolve(['a\ud83d']) } }),
    },
  ],
  [
    'byte_equal_prefix',
    { input: builds, run: laterBuild((text) => text.replace('House', 'Home')) },
  ],
  [
    'no_clock_in_output',
    { input: builds, run: laterBuild((text) => `${text}2026-05-01T11:00:00Z`) },
  ],
  ['canonical_key_order', { input: builds, again: laterBuild((text) => ` ${text}`) }],
  [
    'stored_result_complete',
    {
      run: (run) => {
        run.talk.given.set('t1', { id: 't1', role: 'tool', content: 'rain and more' });
        return run;
      },
    },
  ],
  [
    'hash_before_equals_hash_after_reload',
    {
      run: (run) => {
        run.talk.given.set('u1', { id: 'u1', role: 'user', content: 'other' });
        return run;
      },
    },
  ],
  [
    'no_partial_history_returned',
    { run: (run) => ({ ...run, fault: { fault: { _tag: 'BadCursor' }, facts: {} } }) },
  ],
  [
    'order_of_calls_not_of_results',
    {
      input: replayed,
      run: withEvidence({
        results: [
          { ids: [], text: 'r2' },
          { ids: [], text: 'r1' },
        ],
      }),
    },
  ],
  [
    'missing_scope_fails_closed',
    { input: scopes, run: withEvidence({ results: [{ ids: [], status: 'appended' }] }) },
  ],
  [
    'answered_calls_never_rerun',
    {
      input: begun,
      again: (run) => ({
        ...run,
        talk: {
          ...run.talk,
          branch: {
            ...run.talk.branch,
            session: async () => ({
              ...(await run.talk.branch.session()),
              toolCalls: [
                {
                  messageId: 'a1',
                  index: 1,
                  callId: 'c2',
                  name: 'f',
                  argumentsDigest: '',
                  state: 'not_started',
                  approved: false,
                  inherited: false,
                  attempt: 0,
                },
              ],
            }),
          },
        },
      }),
    },
  ],
  ['first_occurrence_keeps_id', { run: rename }],
  [
    'second_parallel_call_has_no_signature',
    {
      input: signed,
      run: withMessages((messages) =>
        messages.map((one) => ({
          ...one,
          content: [{ type: 'tool_use' }, { type: 'tool_use', signature: 'x' }],
        })),
      ),
    },
  ],
  ['every_version_readable', { input: { messages: [] } }],
  ['stored_bytes_linear_in_count', {}],
  [
    'no_duplicate',
    {
      run: (run) => {
        run.talk.names.set('u2', 'u1');
        run.talk.names.values = () => new Map<string, string>().values();
        return run;
      },
    },
  ],
  [
    'no_model_call',
    {
      run: (run) => ({
        ...run,
        before: { ...run.before, events: [] },
        after: {
          ...run.after,
          events: run.after.events.map((event) => ({ ...event, type: 'ModelCallRequested' })),
        },
      }),
    },
  ],
  ['provenance_recorded', {}],
];

describe('an invariant', () => {
  it.each(cases)('%s sees what was tampered with', async (name, tampering) => {
    expect(await verdict(name, tampering)).toBeTypeOf('string');
  });

  it.each([
    ['valid_for_profile', {}],
    ['deterministic', {}],
    ['synthetic_marked', { input: open }],
    ['summary_marked_as_generated', { input: compacted }],
    ['summary_before_kept_tail', { input: compacted }],
    ['pinned_verbatim', { input: compacted }],
    ['append_never_half_done', { input: append }],
    ['no_interleaving_inside_a_batch', { input: append }],
    ['redelivery_is_replay_not_conflict', { input: append }],
    ['same_result_in_every_store', { input: append }],
    ['order_by_stream_position_only', { input: append }],
    ['no_node_lost', { input: notes }],
    ['provenance_recorded', { input: notes }],
    ['order_from_parent_links_not_time', { input: notes }],
    ['byte_equal_signed_blocks', { input: signed }],
    ['key_order_of_input_kept', { input: signed }],
    ['signature_stays_on_same_part', { input: signed }],
    ['byte_equal_prefix', { input: builds }],
    ['canonical_key_order', { input: builds }],
    ['no_clock_in_output', { input: builds }],
    ['branch_sees_only_events_up_to_fork', { input: branch }],
    ['other_branch_unchanged', { input: branch }],
    ['same_error_on_retry', { input: budgetFault }],
    ['order_of_calls_not_of_results', { input: replayed }],
    ['missing_scope_fails_closed', { input: scopes }],
    ['answered_calls_never_rerun', { input: begun }],
    ['started_non_idempotent_never_auto_rerun', { input: begun }],
    ['no_duplicate', {}],
    ['nothing_lost', {}],
    ['stored_result_complete', {}],
    ['hash_before_equals_hash_after_reload', {}],
    ['collision_free', {}],
    ['arguments_text_verbatim', {}],
  ] as const)('%s holds where nothing was', async (name, tampering) => {
    expect(await verdict(name, tampering)).toBeUndefined();
  });
});
