import { describe, expect, it } from 'vitest';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { Change, Judged } from '../../../harness/cases/invariants/judged.js';
import { checks } from '../../../harness/cases/invariants/table.js';
import { readCase } from '../../../harness/cases/read-case.js';
import type { Evidence, Run } from '../../../harness/cases/run.js';
import { runInput, type Opened } from '../../../harness/cases/run-input.js';
import type { InvariantName } from '../../../harness/cases/words.js';
import { input as sample } from './sample.js';

type Fields = Readonly<Record<string, unknown>>;

interface Tampering {
  /** Changes of the sample case. */
  readonly input?: Fields;
  readonly expected?: Fields;
  /** What is made wrong about the run. */
  readonly run?: (run: Run) => Run;
  /** What is made wrong about every other run of the case. */
  readonly again?: (run: Run) => Run;
}

const same = (run: Run): Run => run;

/** What an invariant says about a run that was tampered with. */
const verdict = async (name: InvariantName, tampering: Tampering): Promise<string | undefined> => {
  const { input = {}, expected = {}, run: spoil = same, again: spoilAgain = same } = tampering;
  const one = readCase({ id: 'T', input: { ...sample, ...input }, expected });
  const opened: Opened = [];
  const steps = { beforeFinish: [] };
  const run = async ({ input: changed = (given) => given, store = 'memory' }: Change = {}) =>
    runInput(changed(one.input), store, steps, opened);
  try {
    const judged: Judged = {
      run: spoil(await run()),
      expected: one.expected,
      again: async (change) => spoilAgain(await run(change)),
    };
    return await checks[name](judged);
  } finally {
    for (const dispose of opened) await dispose();
  }
};

const withPlan =
  (change: (plan: ContextPlan) => Partial<ContextPlan>) =>
  (run: Run): Run => {
    const { plan } = run.evidence;
    if (plan === undefined) throw new Error('there is no plan to spoil');
    const body = change(plan).body ?? plan.body;
    const spoiled = { ...plan, ...change(plan), text: JSON.stringify(body) };
    return { ...run, evidence: { ...run.evidence, plan: spoiled } };
  };

interface Body {
  readonly messages: readonly Fields[];
}

const withMessages = (change: (messages: readonly Fields[]) => readonly Fields[]) =>
  withPlan(({ body }) => ({ body: { ...body, messages: change((body as Body).messages) } }));

const withEvidence =
  (change: Partial<Evidence>) =>
  (run: Run): Run => ({ ...run, evidence: { ...run.evidence, ...change } });

/** The first events after the operation are other ones. */
const withRewrittenStore = (run: Run): Run => ({
  ...run,
  after: {
    ...run.after,
    events: run.after.events.map((event, index) =>
      index === 4 ? { ...event, data: `${event.data} ` } : event,
    ),
  },
});

const oneLess = (run: Run): Run => ({
  ...run,
  after: { ...run.after, events: run.after.events.slice(0, -1) },
});

const withHistories = (run: Run): Run => ({
  ...run,
  after: { ...run.after, histories: new Map([...run.after.histories].map(([b]) => [b, '[]'])) },
});

const without = (id: string) => (messages: readonly Fields[]) =>
  messages.filter((message) => !JSON.stringify(message).includes(id));

const append = {
  operation: 'append',
  messages: [],
  params: {
    commands: [
      {
        append: [
          { id: 'm1', role: 'user', content: 'a' },
          { id: 'm2', role: 'user', content: 'b' },
        ],
      },
      { append: { id: 'm3', role: 'user', content: 'c' } },
    ],
  },
};

const command =
  (change: Fields) =>
  (run: Run): Run => {
    const [first, ...rest] = run.evidence.commands ?? [];
    if (first === undefined) throw new Error('there is no command to spoil');
    return withEvidence({ commands: [{ ...first, ...change }, ...rest] })(run);
  };

const open = {
  messages: [
    { id: 'u1', role: 'user', content: 'go' },
    { id: 'a1', role: 'assistant', tool_calls: [{ id: 'c1', name: 'f', arguments: '{"a":1}' }] },
    { id: 'u2', role: 'user', content: 'stop' },
  ],
  params: { on_unanswered: 'synthesize' },
};

const compacted = {
  operation: 'compact',
  messages: [
    { id: 's1', role: 'system', content: 'Rules.' },
    { id: 'u1', role: 'user', content: 'goal', pinned: true },
    { id: 'a1', role: 'assistant', content: 'step' },
    { id: 'u2', role: 'user', content: 'next' },
  ],
  params: { keep_from: 'u2', summary: 'S' },
};

const signed = {
  profile: 'anthropic',
  format: 'provider',
  operation: 'roundtrip',
  messages: [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 't', signature: 'c2ln' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { z: 1, a: 2 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
  ],
  params: { via: ['append', 'project', 'serialize'], thinking: true },
};

const swapBlocks = withMessages((messages) =>
  messages.map((message) =>
    message['role'] === 'assistant'
      ? { ...message, content: [...(message['content'] as readonly unknown[])].reverse() }
      : message,
  ),
);

const resign = withMessages(
  (messages) => JSON.parse(JSON.stringify(messages).replace('c2ln', 'eHh4')) as readonly Fields[],
);

const moveKeys = withMessages(
  (messages) =>
    JSON.parse(JSON.stringify(messages).replace('"z":1,"a":2', '"a":2,"z":1')) as readonly Fields[],
);

const rename = withMessages(
  (messages) => JSON.parse(JSON.stringify(messages).replaceAll('c1', 'x1')) as readonly Fields[],
);

const reargue = withMessages(
  (messages) =>
    JSON.parse(JSON.stringify(messages).replace('\\"a\\":1', '\\"a\\":2')) as readonly Fields[],
);

const builds = {
  messages: [{ id: 's1', role: 'system', content: 'House.' }],
  params: {
    builds: [
      {
        now: '2026-05-01T10:00:00Z',
        append: [{ id: 'u1', role: 'user', content: 'a' }],
        tools_order: ['b', 'a'],
      },
      {
        now: '2026-05-01T11:00:00Z',
        append: [{ id: 'u2', role: 'user', content: 'b' }],
        tools_order: ['a', 'b'],
      },
    ],
  },
};

const laterBuild =
  (text: (before: string) => string) =>
  (run: Run): Run => {
    const [first, last] = run.evidence.builds ?? [];
    if (first === undefined || last === undefined) throw new Error('there are no two builds');
    return withEvidence({ builds: [first, { ...last, text: text(last.text) }] })(run);
  };

const notes = {
  operation: 'import',
  messages: [
    { id: 'u1', role: 'user', content: 'a', parent: null },
    { id: 'p1', role: 'progress', parent: 'u1' },
    { id: 'a1', role: 'assistant', content: 'b', parent: 'p1' },
  ],
  params: { source_format: 'parent-linked-jsonl' },
};

const branch = {
  operation: 'branch',
  messages: [
    { id: 'u1', role: 'user', content: 'a' },
    { id: 'a1', role: 'assistant', content: 'b' },
    { id: 'u2', role: 'user', content: 'c' },
  ],
  params: { edit: 'u2', new_message: { id: 'u2b', role: 'user', content: 'd' } },
};

const budgetFault = {
  messages: [{ id: 'u1', role: 'user', content: 'long' }],
  params: { max_tokens: 1, tokens: { u1: 9 }, attempts: 2 },
};

const replayed = {
  profile: 'neutral',
  operation: 'replay',
  messages: [
    {
      id: 'a1',
      role: 'assistant',
      tool_calls: [
        { id: 'c1', name: 'f', arguments: '{}' },
        { id: 'c2', name: 'f', arguments: '{}' },
      ],
    },
    { id: 't1', role: 'tool', tool_call_id: 'c1', content: 'r1' },
    { id: 't2', role: 'tool', tool_call_id: 'c2', content: 'r2' },
  ],
  params: {
    requests: [
      { name: 'f', arguments: '{}' },
      { name: 'f', arguments: '{}' },
    ],
  },
};

const scopes = {
  profile: 'neutral',
  operation: 'multi_tenant',
  messages: [],
  params: {
    commands: [{ as: null, session: 's', append: { id: 'm1', role: 'user', content: 'a' } }],
  },
};

const begun = {
  profile: 'neutral',
  operation: 'resume',
  messages: [
    {
      id: 'a1',
      role: 'assistant',
      tool_calls: [
        { id: 'c1', name: 'f', arguments: '{}' },
        { id: 'c2', name: 'f', arguments: '{}' },
      ],
    },
    { id: 't2', role: 'tool', tool_call_id: 'c2', content: 'r2' },
  ],
  params: {},
};

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
