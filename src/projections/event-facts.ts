import { callKey } from '../domain/branch-state.js';
import type { DomainEvent, EventData, EventType } from '../domain/events/catalog.js';
import type { CallRef } from '../domain/message.js';

/** Groups of event types, as a reader of a timeline filters by them. */
export type EventKind =
  | 'message'
  | 'status'
  | 'instructions'
  | 'tool'
  | 'approval'
  | 'compaction'
  | 'model_call'
  | 'turn'
  | 'branch'
  | 'merge'
  | 'source'
  | 'conversation'
  | 'redaction'
  | 'annotation'
  | 'import'
  | 'governance'
  | 'unknown';

/** Something that an event is about, by its id. */
export interface Subject {
  readonly kind:
    | 'message'
    | 'tool_call'
    | 'model_call'
    | 'turn'
    | 'run'
    | 'branch'
    | 'approval'
    | 'compaction'
    | 'instructions'
    | 'import'
    | 'conversation'
    | 'actor'
    | 'record';
  readonly id: string;
}

/** What an event says without any content: ids, closed words, counts. */
export interface EventFacts {
  readonly kind: EventKind;
  readonly subjects: readonly Subject[];
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

const about = (
  kind: EventKind,
  subjects: readonly (Subject | undefined)[],
  facts: Readonly<Record<string, string | number | boolean | undefined>> = {},
): EventFacts => ({
  kind,
  subjects: subjects.filter((subject) => subject !== undefined),
  facts: Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  ),
});

const message = (id: string): Subject => ({ kind: 'message', id });
const toolCall = (call: CallRef): Subject => ({ kind: 'tool_call', id: callKey(call) });
const modelCall = (id: string): Subject => ({ kind: 'model_call', id });
const turn = (id: string): Subject => ({ kind: 'turn', id });
const run = (id: string): Subject => ({ kind: 'run', id });
const branch = (id: string): Subject => ({ kind: 'branch', id });
const actor = (id: string): Subject => ({ kind: 'actor', id });
const approval = (id: string): Subject => ({ kind: 'approval', id });
const compaction = (id: string): Subject => ({ kind: 'compaction', id });
const imported = (id: string): Subject => ({ kind: 'import', id });
const maybe = (make: (id: string) => Subject, id: string | undefined): Subject | undefined =>
  id === undefined ? undefined : make(id);

type Describe = { readonly [K in EventType]: (data: EventData[K]) => EventFacts };

// Every type has a row: a new event that a timeline cannot show does not compile.
const describe: Describe = {
  ConversationStarted: (data) =>
    about('conversation', [
      branch(data.main),
      maybe((id) => ({ kind: 'conversation', id }), data.parent?.conversation),
    ]),
  BranchRegistered: (data) =>
    about(
      'branch',
      [
        branch(data.branch),
        maybe(branch, data.parent?.branch),
        maybe(modelCall, data.ofModelCall),
        maybe(message, data.replaces),
      ],
      { reason: data.reason, depth: data.depth },
    ),
  BranchLabelled: (data) => about('branch', [branch(data.branch)]),
  BranchPromoted: (data) => about('branch', [branch(data.branch)], { promoted: true }),
  MessageRedacted: (data) => about('redaction', [message(data.message.id), actor(data.authority)]),
  MetadataAnnotated: (data) =>
    about('annotation', [targetOf(data.target)], { target: data.target.kind }),
  FeedbackRecorded: (data) =>
    about('annotation', [targetOf(data.target)], { target: data.target.kind, feedback: true }),
  ConversationClosed: () => about('conversation', [], { closed: true }),
  ConversationReopened: () => about('conversation', [], { closed: false }),
  ImportStarted: (data) => about('import', [imported(data.import)], { format: data.format }),
  ImportCompleted: ({ import: id, messages, records, branches }) =>
    about('import', [imported(id)], { messages, records, branches }),
  BranchOpened: () => about('branch', []),
  BranchForked: (data) =>
    about('branch', [branch(data.parent.branch)], {
      forkedAt: data.parent.revision,
      depth: data.depth,
    }),
  BranchSealed: () => about('branch', [], { sealed: true }),
  BranchUnsealed: () => about('branch', [], { sealed: false }),
  TurnStarted: (data) => about('turn', [turn(data.turn), run(data.run)], { state: 'started' }),
  TurnClaimed: (data) =>
    about('turn', [turn(data.turn), run(data.run), run(data.fromRun)], { state: 'claimed' }),
  TurnEnded: (data) => about('turn', [turn(data.turn)], { state: data.outcome }),
  InstructionsRevised: (data) =>
    about('instructions', [message(data.messageId), { kind: 'instructions', id: data.name }], {
      version: data.version,
      role: data.role,
    }),
  BranchMerged: (data) =>
    about('merge', [branch(data.from.branch), ...data.messages.map(({ id }) => message(id))], {
      mode: data.mode,
    }),
  SourceRecordImported: (data) =>
    about(
      'source',
      [imported(data.import), maybe((id) => ({ kind: 'record', id }), data.recordKey)],
      { system: data.system, kind: data.kind },
    ),
  MessageAppended: (data) =>
    about('message', [message(data.message.id)], {
      role: data.message.role,
      status: data.message.status,
      toolCalls: data.message.toolCalls.length,
    }),
  ToolResultAttached: (data) =>
    about('tool', [message(data.message.id), ...data.calls.map(toolCall)], {
      outcome: data.outcome,
      late: data.late,
      durationMs: data.durationMs,
    }),
  MessageStatusChanged: (data) =>
    about('status', [message(data.message.id), actor(data.by)], { to: data.to }),
  MessagesWithdrawn: (data) => about('status', data.messages.map(message), { to: 'withdrawn' }),
  ToolExecutionStarted: (data) =>
    about('tool', [toolCall(data.call), actor(data.executor)], {
      attempt: data.attempt,
      effect: data.effect,
    }),
  ToolCallAbandoned: (data) => about('tool', [toolCall(data.call)], { abandoned: true }),
  ApprovalRequested: (data) =>
    about('approval', [approval(data.requestId), toolCall(data.call)], {
      kind: data.kind,
      expiresAt: data.expiresAt,
    }),
  ApprovalResolved: (data) =>
    about('approval', [approval(data.requestId), actor(data.approver)], { outcome: data.outcome }),
  ContextCompacted: (data) =>
    about(
      'compaction',
      [
        compaction(data.compaction),
        maybe(message, data.replacement?.id),
        maybe(modelCall, data.madeBy),
      ],
      {
        covered: data.covered.length,
        strategy: data.strategy,
        tokensBefore: data.tokensBefore,
        tokensAfter: data.tokensAfter,
      },
    ),
  CompactionReverted: (data) =>
    about('compaction', [compaction(data.compaction)], { reverted: true }),
  ModelCallRequested: (data) =>
    about('model_call', [modelCall(data.modelCallId), maybe(modelCall, data.retryOf)], {
      state: 'requested',
      attempt: data.attempt,
      purpose: data.purpose,
      profile: data.profile.name,
      model: data.model,
      tokens: data.tokens,
    }),
  ModelCallCompleted: (data) =>
    about('model_call', [modelCall(data.modelCallId), maybe(message, data.message?.id)], {
      state: 'completed',
      finishReason: data.finishReason,
      late: data.late,
      input: data.usage.input,
      output: data.usage.output,
    }),
  ModelCallFailed: (data) =>
    about('model_call', [modelCall(data.modelCallId), maybe(message, data.partial?.id)], {
      state: 'failed',
      error: data.error.kind,
      retryable: data.error.retryable,
    }),
  TenantEstablished: () => about('governance', []),
};

const targetOf = ({ kind, ref }: EventData['FeedbackRecorded']['target']): Subject => ({
  kind: kind === 'call' ? 'model_call' : kind,
  id: ref,
});

/** What a known event says, without content. */
export const factsOf = (event: DomainEvent): EventFacts =>
  (describe[event.type] as (data: unknown) => EventFacts)(event.data);

/** Of an event that this build does not know. */
export const unknownFacts: EventFacts = { kind: 'unknown', subjects: [], facts: {} };
