import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { Change, Judged } from '../../../harness/cases/invariants/judged.js';
import { checks } from '../../../harness/cases/invariants/table.js';
import { readCase } from '../../../harness/cases/read-case.js';
import type { Evidence, Run } from '../../../harness/cases/run.js';
import { runInput, type Opened } from '../../../harness/cases/run-input.js';
import type { InvariantName } from '../../../harness/cases/words.js';
import { input as sample } from './sample.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface Tampering {
  /** Changes of the sample case. */
  readonly input?: Fields;
  readonly expected?: Fields;
  /** What is made wrong about the run. */
  readonly run?: (run: Run) => Run;
  /** What is made wrong about every other run of the case. */
  readonly again?: (run: Run) => Run;
}

export const same = (run: Run): Run => run;

/** What an invariant says about a run that was tampered with. */
export const verdict = async (
  name: InvariantName,
  tampering: Tampering,
): Promise<string | undefined> => {
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

export const withPlan =
  (change: (plan: ContextPlan) => Partial<ContextPlan>) =>
  (run: Run): Run => {
    const { plan } = run.evidence;
    if (plan === undefined) throw new Error('there is no plan to spoil');
    const body = change(plan).body ?? plan.body;
    const spoiled = { ...plan, ...change(plan), text: JSON.stringify(body) };
    return { ...run, evidence: { ...run.evidence, plan: spoiled } };
  };

export interface Body {
  readonly messages: readonly Fields[];
}

export const withMessages = (change: (messages: readonly Fields[]) => readonly Fields[]) =>
  withPlan(({ body }) => ({ body: { ...body, messages: change((body as Body).messages) } }));

export const withEvidence =
  (change: Partial<Evidence>) =>
  (run: Run): Run => ({ ...run, evidence: { ...run.evidence, ...change } });

/** The first events after the operation are other ones. */
export const withRewrittenStore = (run: Run): Run => ({
  ...run,
  after: {
    ...run.after,
    events: run.after.events.map((event, index) =>
      index === 4 ? { ...event, data: `${event.data} ` } : event,
    ),
  },
});

export const oneLess = (run: Run): Run => ({
  ...run,
  after: { ...run.after, events: run.after.events.slice(0, -1) },
});

export const withHistories = (run: Run): Run => ({
  ...run,
  after: { ...run.after, histories: new Map([...run.after.histories].map(([b]) => [b, '[]'])) },
});

export const without = (id: string) => (messages: readonly Fields[]) =>
  messages.filter((message) => !JSON.stringify(message).includes(id));

export const append = {
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

export const command =
  (change: Fields) =>
  (run: Run): Run => {
    const [first, ...rest] = run.evidence.commands ?? [];
    if (first === undefined) throw new Error('there is no command to spoil');
    return withEvidence({ commands: [{ ...first, ...change }, ...rest] })(run);
  };

export const open = {
  messages: [
    { id: 'u1', role: 'user', content: 'go' },
    { id: 'a1', role: 'assistant', tool_calls: [{ id: 'c1', name: 'f', arguments: '{"a":1}' }] },
    { id: 'u2', role: 'user', content: 'stop' },
  ],
  params: { on_unanswered: 'synthesize' },
};

export const compacted = {
  operation: 'compact',
  messages: [
    { id: 's1', role: 'system', content: 'Rules.' },
    { id: 'u1', role: 'user', content: 'goal', pinned: true },
    { id: 'a1', role: 'assistant', content: 'step' },
    { id: 'u2', role: 'user', content: 'next' },
  ],
  params: { keep_from: 'u2', summary: 'S' },
};

export const signed = {
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

export const swapBlocks = withMessages((messages) =>
  messages.map((message) =>
    message['role'] === 'assistant'
      ? { ...message, content: [...(message['content'] as readonly unknown[])].reverse() }
      : message,
  ),
);

export const resign = withMessages(
  (messages) => JSON.parse(JSON.stringify(messages).replace('c2ln', 'eHh4')) as readonly Fields[],
);

export const moveKeys = withMessages(
  (messages) =>
    JSON.parse(JSON.stringify(messages).replace('"z":1,"a":2', '"a":2,"z":1')) as readonly Fields[],
);

export const rename = withMessages(
  (messages) => JSON.parse(JSON.stringify(messages).replaceAll('c1', 'x1')) as readonly Fields[],
);

export const reargue = withMessages(
  (messages) =>
    JSON.parse(JSON.stringify(messages).replace('\\"a\\":1', '\\"a\\":2')) as readonly Fields[],
);

export const builds = {
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

export const laterBuild =
  (text: (before: string) => string) =>
  (run: Run): Run => {
    const [first, last] = run.evidence.builds ?? [];
    if (first === undefined || last === undefined) throw new Error('there are no two builds');
    return withEvidence({ builds: [first, { ...last, text: text(last.text) }] })(run);
  };

export const notes = {
  operation: 'import',
  messages: [
    { id: 'u1', role: 'user', content: 'a', parent: null },
    { id: 'p1', role: 'progress', parent: 'u1' },
    { id: 'a1', role: 'assistant', content: 'b', parent: 'p1' },
  ],
  params: { source_format: 'parent-linked-jsonl' },
};

export const branch = {
  operation: 'branch',
  messages: [
    { id: 'u1', role: 'user', content: 'a' },
    { id: 'a1', role: 'assistant', content: 'b' },
    { id: 'u2', role: 'user', content: 'c' },
  ],
  params: { edit: 'u2', new_message: { id: 'u2b', role: 'user', content: 'd' } },
};

export const budgetFault = {
  messages: [{ id: 'u1', role: 'user', content: 'long' }],
  params: { max_tokens: 1, tokens: { u1: 9 }, attempts: 2 },
};

export const replayed = {
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

export const scopes = {
  profile: 'neutral',
  operation: 'multi_tenant',
  messages: [],
  params: {
    commands: [{ as: null, session: 's', append: { id: 'm1', role: 'user', content: 'a' } }],
  },
};

export const begun = {
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
