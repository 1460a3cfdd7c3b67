const counted = (count: string, one: string, many: string): string =>
  `${count} ${count === '1' ? one : many}`;

const callStates: Readonly<Record<string, string>> = {
  open: 'open',
  completed: 'completed',
  failed: 'failed',
  lost: 'lost',
};

const toolStates: Readonly<Record<string, string>> = {
  not_started: 'not started',
  started: 'started',
  awaiting_approval: 'waits for approval',
  denied: 'denied',
};

const nextSteps: Readonly<Record<string, string>> = {
  user: 'a message of the user',
  model: 'a call of the model',
  tools: 'run the open tool calls',
  approval: 'a human decides',
  recover: 'recover: something was cut off',
  closed: 'nothing: it is closed',
};

const branchReasons: Readonly<Record<string, string>> = {
  start: 'the beginning',
  retry: 'tried again',
  edit: 'asked in other words',
  explore: 'a branch of its own',
  import: 'imported',
  salvage: 'salvaged',
};

const shares: Readonly<Record<string, string>> = {
  system: 'system',
  summary: 'summary',
  history: 'history',
  results: 'tool results',
  tools: 'tools',
};

const sentHows: Readonly<Record<string, string>> = {
  message: 'itself',
  shortened: 'shortened',
  instructions: 'as instructions',
  summary: 'within a summary',
};

const replayResults: Readonly<Record<string, string>> = {
  same: 'same',
  different: 'DIFFERENT',
  refused: 'REFUSED',
  observed: 'observed, not built here',
};

const named = (names: Readonly<Record<string, string>>, name: string): string =>
  names[name] ?? name;

/** The words around the data, in English. */
export const english = {
  // frame
  tagline: 'Conversations with language models as events: branches, contexts, replays, audit.',
  examples: 'Examples:',
  helpOption: 'show this help',
  helpCommand: 'show the help of a command',
  versionOption: 'show the version',
  error: 'error',
  hint: 'hint',
  about: 'about',
  adviceNoStore: 'There is no store here. Make one with `stemma init`, or name one with --store.',
  adviceAmbiguous: 'Give more of the id, or say where to look with --in CONVERSATION[/BRANCH].',
  adviceOpenCalls: '`stemma status CONVERSATION` shows the calls that wait for a result.',
  adviceTurnOpen: 'Take the turn over with `stemma recover CONVERSATION --claim`.',
  nothing: 'nothing found',
  more: (after: string) => `… there is more: --after ${after}`,
  next: 'next',
  yes: 'yes',
  no: 'no',

  // columns
  rev: 'rev',
  whenUtc: 'when (UTC)',
  role: 'role',
  tokens: 'tokens',
  id: 'id',
  what: 'what',
  why: 'why',
  event: 'event',
  actor: 'actor',
  conversation: 'conversation',
  title: 'title',
  branch: 'branch',
  branches: 'branches',
  started: 'started',
  labels: 'labels',
  state: 'state',
  call: 'call',
  profile: 'profile',
  model: 'model',
  attempt: 'attempt',
  outcome: 'outcome',
  usage: 'usage',
  purpose: 'purpose',
  message: 'message',
  messages: 'messages',
  detail: 'detail',
  tools: 'tools',
  params: 'params',
  rule: 'rule',
  fault: 'fault',
  callIds: 'call ids',
  path: 'path',
  toolCall: 'tool call',
  tool: 'tool',
  effect: 'effect',
  place: 'place',
  cause: 'cause',
  unit: 'unit',
  disposition: 'disposition',
  head: 'head',
  from: 'from',
  uid: 'uid',
  stream: 'stream',
  checkName: 'check',
  value: 'value',
  result: 'result',
  version: 'version',
  projection: 'projection',
  foldedFrom: 'folded from',
  compat: 'for older readers',
  sentAs: 'sent',
  sure: 'certain',
  directory: 'directory',
  open: 'open',
  closed: 'closed',

  // history
  turns: (count: string) => counted(count, 'turn', 'turns'),
  summary: 'summary',
  callsTool: (name: string, args: string, id: string) => `calls ${name}(${args}) ${id}`,
  resultOf: (ids: string, outcome: string) =>
    `result of ${ids}${outcome === '' || outcome === 'ok' ? '' : ` (${outcome})`}:`,
  instructionsVersion: (name: string, version: number) =>
    `instructions ${name} v${String(version)}:`,
  summaryOf: (count: string, strategy: string, state: string) =>
    `stands for ${counted(count, 'message', 'messages')} (${strategy}, ${state}):`,
  saved: (before: string, after: string) => `${before} → ${after} tokens`,
  covered: (count: string, compaction: string, numbers: string) =>
    `${counted(count, 'row', 'rows')} covered by compaction ${compaction} (${numbers})   --all shows them`,
  coveredBy: (compaction: string) => `covered by compaction ${compaction}`,
  clockRegressed: 'the clock stood before this time',
  unknownEvent: 'of a newer version: shown, not read',

  // append
  appended: 'appended',
  unchanged: 'unchanged',
  atRevision: (revision: string) => `at revision ${revision}`,
  alreadyAt: (id: string, revision: string) =>
    `${id} is at revision ${revision} already, with the same content: nothing was written`,
  instructionsSet: 'instructions',
  redacted: 'redacted',
  redactedNote: 'It is out of all contexts and views on every branch. The event stays in the log.',

  // conversations
  created: 'created',
  exists: 'there already',

  // context
  callInput: (profile: string, model: string) =>
    `call input for ${profile}${model === '' ? '' : ` ${model}`}`,
  messagesOf: (sent: string, all: string) => `${sent} of ${counted(all, 'message', 'messages')}`,
  exact: 'exact',
  estimated: 'estimate',
  shareOf: (group: string) => named(shares, group),
  free: (tokens: string) => `free ${tokens}`,
  isIn: 'in',
  isOut: 'out',
  repaired: 'repaired',
  warning: 'warning',
  notSent: 'not sent: message ids, actors, metadata',
  payloadDigest: 'payload',
  rebuiltSame: 'built again from the log: the same bytes as were recorded',
  rebuiltOther: (hidden: number) =>
    `built again from the log: OTHER bytes than were recorded${
      hidden === 0 ? '' : ` (${String(hidden)} messages were hidden since)`
    }`,

  // calls
  callState: (state: string) => named(callStates, state),
  reported: (input: string, output: string) => `${input} in, ${output} out`,
  seeContext: (id: string) => `stemma context c:${id} --why   shows what it was sent`,
  requested: 'requested',
  requestNext: (id: string) =>
    `stemma context c:${id} --payload   prints what to send; then stemma call complete ${id} --response FILE`,
  completed: 'completed',
  failed: 'failed',

  // explain
  checked: (count: string) => `${counted(count, 'message', 'messages')} checked`,
  sound: 'sound: every rule is kept',
  faults: (count: string) => counted(count, 'fault', 'faults'),
  wouldRepair: 'would repair',
  refused: 'refused',
  sentBy: (count: string) => `was sent by ${counted(count, 'call', 'calls')}`,
  sentHow: (how: string) => named(sentHows, how),

  // session and tools
  nextStep: 'next:',
  nextIs: (next: string) => named(nextSteps, next),
  noTurn: 'no turn is open',
  turnOf: (turn: string, run: string) => `turn ${turn} of run ${run}`,
  openModelCall: 'open model call',
  openApproval: 'waits for approval',
  draft: 'draft',
  unusedSummary: 'unused summary',
  toolState: (state: string) => named(toolStates, state),
  recovered: (lost: string, closed: string, expired: string) =>
    `${lost} model calls recorded as lost, ${closed} tool calls closed, ${expired} approvals expired`,
  undecided: 'only you can decide:',
  abandoned: 'abandoned',
  asked: 'asked',
  approved: 'approved',
  denied: 'denied',

  // branches
  branched: (name: string, from: string) => `branch ${name} from ${from}`,
  parentUntouched: 'The branch that it came from stays as it is.',
  edited: (id: string) => `${id} is said in other words; the first wording stays where it was`,
  branchReason: (reason: string) => named(branchReasons, reason),
  delivered: 'delivered',
  importing: 'import not finished',
  labelled: 'renamed',
  promoted: 'delivered branch:',

  // compaction
  compacted: 'compacted',
  dryRun: 'plan only: nothing was written',
  covers: (count: string) => `covers ${counted(count, 'message', 'messages')}`,
  cutMoved: (from: string, to: string) =>
    `the cut was moved from ${from} to ${to}, so that no exchange is split`,
  breaksPrefix: (id: string) => `the provider's prefix cache breaks at ${id}`,
  undone: 'taken back',

  // diff and replay
  ancestor: (branch: string, revision: string) => `common up to ${branch}@${revision}`,
  noAncestor: 'nothing in common',
  diffOf: (of: string) => of,
  diffStat: (same: string, changed: string, onlyA: string, a: string, onlyB: string, b: string) =>
    `${same} same · ${changed} changed · ${onlyA} only in ${a} · ${onlyB} only in ${b}`,
  tokensChanged: (a: string, b: string, by: string) =>
    `tokens ${a} → ${b} (${by.startsWith('-') ? '' : '+'}${by})`,
  replayed: (events: string, calls: string) =>
    `${counted(events, 'event', 'events')} folded, ${counted(calls, 'recorded call', 'recorded calls')} built again; no model was called`,
  historyDigest: 'history',
  replayResult: (result: string) => named(replayResults, result),
  hiddenSince: 'hidden since:',
  allReproduced: 'every call has the bytes that were recorded',
  notReproduced: (bad: string, all: string) => `${bad} of ${all} calls cannot be reproduced`,

  // verify
  verified: (counts: {
    readonly streams: string;
    readonly events: string;
    readonly bodies: string;
    readonly regressions: string;
    readonly unknown: string;
  }) =>
    `${counts.streams} streams · ${counts.events} events · ${counts.bodies} bodies · clock went back ${counts.regressions} times · ${counts.unknown} events of unknown types`,
  wholeStore: 'whole store',
  intact: 'intact: every event is what was written, in its order',
  broken: (count: string) => `BROKEN: ${counted(count, 'fault', 'faults')}`,
  proves:
    'proves: nothing was changed, swapped or taken from the middle. Does not prove: that nothing was cut off cleanly at the end.',

  // files
  wrote: (path: string, bytes: string) => `wrote ${path}  ${bytes} bytes`,
  keysApart:
    'The folder `keys` beside the store is not in it. Keep a copy of that folder apart: a store without it cannot be opened.',
  importProgress: (done: string) => `${done} items`,
  importCounts: (counts: {
    readonly records: string;
    readonly mapped: string;
    readonly kept: string;
    readonly duplicates: string;
  }) =>
    `read ${counts.records} records · ${counts.mapped} mapped · ${counts.kept} kept as they are · ${counts.duplicates} duplicates`,
  moreNotes: (count: string) => `… and ${counted(count, 'note', 'notes')} more, see --json`,
  nothingWritten: 'Nothing was written.',
  wouldMake: (counts: {
    readonly conversations: string;
    readonly branches: string;
    readonly messages: string;
    readonly compactions: string;
  }) =>
    `would make ${counted(counts.conversations, 'conversation', 'conversations')}, ${counted(counts.branches, 'branch', 'branches')}, ${counted(counts.messages, 'message', 'messages')}, ${counted(counts.compactions, 'compaction', 'compactions')}. Nothing was written.`,
  importWrote: (events: string) =>
    events === '0'
      ? 'known already: nothing was written'
      : `wrote ${counted(events, 'event', 'events')}`,
  skipped: 'skipped (no known format)',

  // store
  store: 'store',
  config: 'config',
  kept: 'kept as it is',
  written: 'written',
  demoCounts: (events: string, branches: string, compactions: string) =>
    `${counted(events, 'event', 'events')}, ${counted(branches, 'branch', 'branches')}, ${counted(compactions, 'compaction', 'compactions')}`,
  foldedOf: (of: string): string => (of === 'branch' ? 'each branch' : 'each conversation'),
  projectionsNote: (conversations: string, branches: string) =>
    `${counted(conversations, 'conversation', 'conversations')}, ${counted(branches, 'branch', 'branches')}. Views are folded from events when they are read; none of them is kept.`,
  rebuiltViews: (count: string) =>
    `${counted(count, 'view', 'views')} folded from the first event on`,
  none: 'none',
  fine: 'ok',
  note: 'note',
  bad: 'BAD',
  compatIs: (compat: string): string => (compat === 'must' ? 'must be known' : 'may be passed by'),
};

/** Every text in one language: a text that a language lacks does not compile. */
export type Texts = {
  readonly [K in keyof typeof english]: (typeof english)[K] extends string
    ? string
    : (typeof english)[K];
};

/** Why a message is in a context or out of it, by disposition. */
export const englishReasons: Readonly<Record<string, string>> = {
  system: 'system message',
  instructions: 'instructions are always kept',
  must_keep: 'must be kept',
  pinned: 'pinned',
  window: 'among the newest that fit',
  summary: 'stands for what it covers',
  open_exchange: 'part of the open tool exchange',
  shortened: 'shortened to fit',
  injected: 'added for this call',
  budget: 'over the budget',
  covered_by_compaction: 'covered by a compaction',
  superseded: 'replaced by another answer',
  draft: 'draft, never confirmed',
  blocked: 'blocked before it was sent',
  interrupted: 'interrupted',
  redacted: 'redacted',
  erased: 'erased',
  withdrawn: 'withdrawn',
  orphan_result: 'result of a call that is not there',
  unanswered_call: 'call without a result',
  role_not_in_profile: 'the profile has no such role',
  foreign_reasoning: 'reasoning of another provider',
  not_on_branch: 'not on the branch of this call',
  policy: 'left out by the policy',
};
