import type { EventData, EventType } from '../../src/domain/events/catalog.js';
import type { Uid } from '../../src/domain/ids.js';
import type { StoredMessage } from '../../src/domain/events/message-events.js';

const uid = (letter: string): Uid => letter.repeat(22) as Uid;

const ref = { branch: uid('b'), revision: 7, hash: 'h'.repeat(43) };
const messageRef = { id: 'm-1', ...ref };
const inline = { slot: 'slot-inline', inline: 'a "text" \\ \u0000 \ud800 \u2028 é 订 😀' };
const blob = { slot: 'slot-blob', blob: 'B'.repeat(43), bytes: 70_000, kind: 'blocks' };
const sealed = { slot: 'slot-sealed', sealed: 'c2VhbGVk', kid: 'subject-7', alg: 'a256gcm' };

const whole: StoredMessage = {
  id: 'm-1',
  role: 'assistant',
  blocks: blob,
  name: 'helper',
  toolCalls: [
    { id: 'call_1', name: 'pay', arguments: inline },
    { id: '', name: 'f', arguments: sealed },
  ],
  author: { agent: 'agent-a', participant: 'p-1' },
  provenance: { kind: 'model', id: 'm', system: 'openai', sourceId: 's', import: 'i' },
  trust: 'model',
  status: 'draft',
  pinned: true,
  metadata: sealed,
  raw: { system: 'openai-chat', text: inline },
  partOf: 'part-1',
  claimedAt: '2026-01-01T00:00:00.123+02:00',
  origin: 'm-0',
  contentDigest: 'c1.s1:x',
};

const least: StoredMessage = {
  id: 'm-1',
  role: 'user',
  blocks: inline,
  toolCalls: [],
  provenance: { kind: 'end_user' },
  trust: 'user',
  status: 'confirmed',
  contentDigest: 'c1.s1:x',
};

/** For each type that may be written: every field that it has, and no field that it may do without. */
export const samples: { readonly [K in EventType]: readonly [EventData[K], EventData[K]] } = {
  TenantEstablished: [{ fingerprint: uid('f') }, { fingerprint: uid('f') }],
  ConversationStarted: [
    {
      main: uid('m'),
      title: inline,
      labels: [{ name: 'team', value: 'red' }],
      externalRef: sealed,
      parent: {
        conversation: uid('c'),
        ...ref,
        messageId: 'm-1',
        callIndex: 2,
        relation: 'subagent',
      },
    },
    { main: uid('m'), labels: [] },
  ],
  BranchRegistered: [
    {
      branch: uid('b'),
      name: 'retry',
      parent: ref,
      depth: 2,
      ancestors: [ref, { ...ref, revision: 3 }],
      reason: 'retry',
      ofModelCall: 'call-1',
      replaces: 'm-1',
    },
    { branch: uid('b'), name: 'main', depth: 0, ancestors: [], reason: 'start' },
  ],
  BranchLabelled: [
    { branch: uid('b'), name: 'better' },
    { branch: uid('b'), name: 'better' },
  ],
  BranchPromoted: [{ branch: uid('b'), reason: inline }, { branch: uid('b') }],
  MessageRedacted: [
    { message: messageRef, authority: 'operator:ann', reason: inline },
    { message: messageRef, authority: 'operator:ann' },
  ],
  MetadataAnnotated: [
    { target: { kind: 'message', ref: 'm-1' }, name: 'note', value: inline },
    { target: { kind: 'conversation', ref: uid('c') }, name: 'note', value: blob },
  ],
  FeedbackRecorded: [
    { target: { kind: 'call', ref: 'call-1' }, name: 'score', value: inline },
    { target: { kind: 'branch', ref: uid('b') }, name: 'score', value: sealed },
  ],
  ConversationClosed: [{ reason: inline }, {}],
  ConversationReopened: [{ reason: inline }, {}],
  ImportStarted: [
    { import: 'import-1', format: 'claude-code', digest: 's1:x', source: inline },
    { import: 'import-1', format: 'claude-code', digest: 's1:x' },
  ],
  ImportCompleted: [
    { import: 'import-1', messages: 3, records: 2, branches: 1 },
    { import: 'import-1', messages: 0, records: 0, branches: 0 },
  ],
  BranchOpened: [{ name: 'main' }, { name: 'main' }],
  BranchForked: [
    { parent: ref, depth: 1, ancestors: [ref] },
    { parent: ref, depth: 1, ancestors: [ref] },
  ],
  BranchSealed: [{ reason: inline }, {}],
  BranchUnsealed: [{ reason: inline }, {}],
  TurnStarted: [
    { turn: 't-1', run: 'run-1', cause: 'm-1' },
    { turn: 't-1', run: 'run-1' },
  ],
  TurnClaimed: [
    { turn: 't-1', run: 'run-2', fromRun: 'run-1' },
    { turn: 't-1', run: 'run-2', fromRun: 'run-1' },
  ],
  TurnEnded: [
    { turn: 't-1', outcome: 'completed' },
    { turn: 't-1', outcome: 'lost' },
  ],
  InstructionsRevised: [
    {
      name: 'main',
      version: 2,
      owner: 'team-a',
      role: 'system',
      messageId: 'i-1',
      content: inline,
      digest: 's1:x',
      supersedes: 1,
    },
    {
      name: 'main',
      version: 1,
      owner: 'team-a',
      role: 'developer',
      messageId: 'i-1',
      content: blob,
      digest: 's1:x',
    },
  ],
  BranchMerged: [
    { from: ref, mode: 'pick', messages: [{ id: 'n-1', origin: messageRef }] },
    { from: ref, mode: 'conclusion', messages: [] },
  ],
  SourceRecordImported: [
    { import: 'import-1', system: 'dsh', kind: 'turn/start', recordKey: '0', raw: inline },
    { import: 'import-1', system: 'dsh', kind: 'turn/start', raw: blob },
  ],
  MessageAppended: [{ message: whole }, { message: least }],
  ToolResultAttached: [
    {
      message: { ...whole, role: 'tool', toolCalls: [] },
      calls: [
        { messageId: 'm-1', index: 0, callId: 'call_1' },
        { messageId: 'm-1', index: 1, callId: '' },
      ],
      foreignCallId: inline,
      outcome: 'error',
      late: true,
      durationMs: 12,
    },
    { message: { ...least, role: 'tool' }, calls: [], outcome: 'ok' },
  ],
  MessageStatusChanged: [
    { message: messageRef, to: 'confirmed', by: 'operator:ann', reason: inline },
    { message: messageRef, to: 'blocked', by: 'app' },
  ],
  MessagesWithdrawn: [{ messages: ['m-1', 'm-2'], reason: inline }, { messages: ['m-1'] }],
  ToolExecutionStarted: [
    {
      call: { messageId: 'm-1', index: 0 },
      attempt: 2,
      executor: 'run-1',
      effect: 'idempotent',
      idempotencyKey: 'k-1',
      argumentsDigest: 's1:x',
    },
    {
      call: { messageId: 'm-1', index: 0 },
      attempt: 1,
      executor: 'run-1',
      effect: 'non_idempotent',
      idempotencyKey: 'k-1',
      argumentsDigest: 's1:x',
    },
  ],
  ToolCallAbandoned: [
    { call: { messageId: 'm-1', index: 0, callId: 'call_1' }, reason: inline },
    { call: { messageId: 'm-1', index: 0, callId: '' } },
  ],
  ApprovalRequested: [
    {
      requestId: 'r-1',
      kind: 'tool_call',
      call: { messageId: 'm-1', index: 0 },
      argumentsDigest: 's1:x',
      expiresAt: '2026-01-02T00:00:00Z',
    },
    {
      requestId: 'r-1',
      kind: 'tool_call',
      call: { messageId: 'm-1', index: 0 },
      argumentsDigest: 's1:x',
    },
  ],
  ApprovalResolved: [
    { requestId: 'r-1', outcome: 'approved', approver: 'ann', reason: inline },
    { requestId: 'r-1', outcome: 'expired', approver: 'app' },
  ],
  ContextCompacted: [
    {
      compaction: 'k-1',
      covers: [{ branch: uid('b'), from: 1, to: 4 }],
      covered: ['m-1', 'm-2'],
      coveredDigest: 's1:x',
      replacement: least,
      shortened: [{ messageId: 'm-2', text: inline }],
      strategy: 'summary',
      strategyVersion: 1,
      params: '{"keepLast":1}',
      madeBy: 'call-1',
      tokensBefore: 100,
      tokensAfter: 10,
      trust: 'model',
    },
    {
      compaction: 'k-1',
      covers: [],
      covered: [],
      coveredDigest: 's1:x',
      shortened: [],
      strategy: 'keep-last',
      strategyVersion: 1,
      tokensBefore: 0,
      tokensAfter: 0,
      trust: 'external',
    },
  ],
  CompactionReverted: [
    { compaction: 'k-1', at: ref, reason: inline },
    { compaction: 'k-1', at: ref },
  ],
  ModelCallRequested: [
    {
      modelCallId: 'call-1',
      attempt: 2,
      retryOf: 'call-0',
      agent: 'agent-a',
      purpose: 'turn',
      source: 'built',
      profile: { name: 'openai-chat', version: 1, params: '{"model":"m"}' },
      model: 'm',
      policy: { name: 'default', version: 1, params: '{"strict":true}' },
      branchRevision: 5,
      directoryRevision: 1,
      selection: [{ branch: uid('b'), from: 1, to: 4, disposition: 'window' }],
      literals: [
        {
          place: 0,
          content: inline,
          provenance: { kind: 'app', id: 'memory' },
          trust: 'external',
          reason: 'retrieved',
        },
      ],
      tools: blob,
      instructions: [{ name: 'main', version: 2 }],
      params: inline,
      counter: 'estimate',
      exact: false,
      tokens: 100,
      budget: 8_000,
      requestDigest: 's1:x',
    },
    {
      modelCallId: 'call-1',
      attempt: 1,
      purpose: 'title',
      source: 'observed',
      profile: { name: 'openai-chat', version: 1 },
      policy: { name: 'default', version: 1 },
      branchRevision: 0,
      directoryRevision: 0,
      selection: [],
      literals: [],
      instructions: [],
      counter: 'estimate',
      exact: true,
      tokens: 0,
      requestDigest: 's1:x',
    },
  ],
  ModelCallCompleted: [
    {
      modelCallId: 'call-1',
      message: messageRef,
      finishReason: 'stop',
      usage: {
        input: 1,
        output: 2,
        cachedInput: 3,
        cacheWrite: 4,
        reasoning: 5,
        raw: '{"prompt_tokens":9007199254740993}',
      },
      responseId: 'resp-1',
      latencyMs: 12,
      late: true,
      output: inline,
    },
    { modelCallId: 'call-1', finishReason: 'stop', usage: {} },
  ],
  ModelCallFailed: [
    {
      modelCallId: 'call-1',
      error: {
        kind: 'lost',
        code: '503',
        retryable: true,
        lost: true,
        detail: inline,
      },
      partial: messageRef,
    },
    { modelCallId: 'call-1', error: { kind: 'refused', retryable: false } },
  ],
};
