import type { AppendedMessage } from '../domain/decide/append-messages.js';
import type { ContextPlan } from '../domain/context/plan.js';
import type { ApprovalOutcome } from '../domain/events/message-events.js';
import type { AnnotationTarget, BranchReason } from '../domain/events/directory-events.js';
import type { EventRef } from '../domain/events/references.js';
import type { Uid } from '../domain/ids.js';
import type { MessageInput } from '../domain/intake.js';
import type { CallRef, MessageStatus } from '../domain/message.js';
import { profileOf } from '../domain/profiles/registry.js';
import type { Session } from '../domain/session.js';
import type { Opened, Slot } from '../domain/slot.js';
import type { Surface } from '../domain/surface.js';
import { check, type CheckReport } from '../engine/checks.js';
import {
  compact,
  planCompactionAt,
  undoCompaction,
  type CompactionAnswer,
  type CompactionOptions,
  type CompactionPlan,
} from '../engine/compactions.js';
import { openSlots } from '../engine/content.js';
import { annotate, label, promote, setClosed } from '../engine/conversation-commands.js';
import type { Actor, BranchContext, CommandOptions } from '../engine/engine-context.js';
import { readHistory, readSurface, type ReadPoint } from '../engine/histories.js';
import {
  append,
  redact,
  setInstructions,
  setStatus,
  withdraw,
  type AppendOptions,
  type InstructionsOptions,
  type ReasonOptions,
} from '../engine/message-commands.js';
import { mergeFrom, type MergeOptions } from '../engine/merges.js';
import {
  preview,
  request,
  type ContextOptions,
  type RequestOptions,
} from '../engine/model-calls.js';
import { projectBranch } from '../engine/queries.js';
import {
  claim,
  end,
  recover,
  session,
  type RecoverChoices,
  type Recovered,
} from '../engine/recover.js';
import {
  recordedContext,
  why,
  type RecordedContext,
  type Reason,
} from '../engine/recorded-context.js';
import { forkAt, retry, type ForkPlace, type RetryOptions } from '../engine/retries.js';
import { toolReplay, type RecordedResult, type ToolRequest } from '../engine/tool-replay.js';
import { answerApproval } from '../engine/tool-commands.js';
import { modelCalls, type ModelCalls } from '../projections/calls.js';
import type { History } from '../projections/history.js';
import { timeline, type Timeline } from '../projections/timeline.js';
import { toolExchanges, type ToolExchanges } from '../projections/tool-exchanges.js';
import { usage, type UsageView } from '../projections/usage.js';
import { actorLook, branchLooks } from './branch-looks.js';
import { guarded } from './looks.js';
import { modelCall, type ModelCall } from './model-call-face.js';
import { paging, type Paging } from './paging-face.js';
import { check as throwFault, run, StemmaError } from './stemma-error.js';
import { toolCallHandle, type ToolCallHandle } from './tool-call-face.js';
import { definitionsOf, type Toolbox } from './toolbox.js';

type WithToolbox<O> = Omit<O, 'tools'> & { readonly tools?: Toolbox };

/** Options of `request` and `preview`; `tools` is the caller's toolbox. */
export type ContextInput<Body extends object> = WithToolbox<ContextOptions<Body>>;
export type RequestInput<Body extends object> = WithToolbox<RequestOptions<Body>>;

/** One branch of a conversation, as one run works on it. */
export interface Branch extends Paging {
  readonly conversation: Uid;
  readonly branch: Uid;
  readonly name: string;
  /** Names the writer of the turns that this handle opens. */
  readonly run: string;
  /** Appends a message or a batch, all or nothing; what is known already is answered as a replay. */
  readonly append: (
    messages: MessageInput | readonly MessageInput[],
    options?: AppendOptions,
  ) => Promise<readonly AppendedMessage[]>;
  readonly instructions: (
    text: string,
    options?: InstructionsOptions,
  ) => Promise<{ readonly version: number }>;
  readonly status: (id: string, to: MessageStatus, options?: ReasonOptions) => Promise<void>;
  readonly withdraw: (ids: readonly string[], options?: ReasonOptions) => Promise<void>;
  readonly redact: (id: string, options?: ReasonOptions) => Promise<void>;
  /** Everything said, in log order; at a revision or time: as it was then. */
  readonly history: (point?: ReadPoint) => Promise<History>;
  /** Gives the texts of slots of this conversation; what was erased says so. */
  readonly contents: (slots: readonly Slot[]) => Promise<(slot: Slot) => Opened>;
  /** The branch as contexts are built from it, with content at hand. */
  readonly surface: (point?: ReadPoint) => Promise<Surface>;
  readonly timeline: (point?: ReadPoint) => Promise<Timeline>;
  readonly calls: (point?: ReadPoint) => Promise<ModelCalls>;
  readonly toolExchanges: (point?: ReadPoint) => Promise<ToolExchanges>;
  readonly usage: (point?: ReadPoint) => Promise<UsageView>;
  /** The context that a call made now would have. Writes nothing. */
  readonly preview: <Body extends object>(
    options: ContextInput<Body>,
    point?: ReadPoint,
  ) => Promise<ContextPlan<Body>>;
  /** Every rule of the profile that the branch breaks as it stands. Writes nothing. */
  readonly check: <Body extends object>(
    options: ContextInput<Body>,
    point?: ReadPoint,
  ) => Promise<CheckReport>;
  /** Records a call with its exact context, durable before it is sent. */
  readonly request: <Body extends object>(options: RequestInput<Body>) => Promise<ModelCall<Body>>;
  /** A call that was recorded before, perhaps by another process, to be completed or failed. */
  readonly recordedCall: (modelCallId: string) => Promise<ModelCall<object>>;
  /** The recorded context of a call, built again and compared with its digest. */
  readonly context: (modelCallId: string) => Promise<RecordedContext>;
  /** Why a message was in the context of a call, or was not. */
  readonly why: (messageId: string, of: { readonly modelCallId: string }) => Promise<Reason>;
  /** Where the branch stopped, what is open, and what comes next. Writes nothing. */
  readonly session: () => Promise<Session>;
  readonly claim: () => Promise<void>;
  readonly recover: (choices?: RecoverChoices) => Promise<Recovered>;
  readonly endTurn: (outcome: 'completed' | 'interrupted' | 'failed' | 'lost') => Promise<void>;
  /** Handles of the tool calls that wait for a result. */
  readonly openCalls: () => Promise<readonly ToolCallHandle[]>;
  /** Answers tool calls from what is recorded, in the order in which they were issued; no tool runs. */
  readonly toolReplay: () => Promise<{
    readonly answer: (request: ToolRequest) => Promise<RecordedResult>;
  }>;
  readonly resolveApproval: (
    requestId: string,
    outcome: ApprovalOutcome,
    options?: CommandOptions & { readonly approver?: string; readonly reason?: string },
  ) => Promise<void>;
  readonly planCompaction: (options: CompactionOptions) => Promise<CompactionPlan>;
  readonly compact: (options: CompactionOptions) => Promise<CompactionAnswer>;
  readonly undoCompaction: (compaction: string, reason?: string) => Promise<void>;
  readonly fork: (
    place: ForkPlace,
    options?: CommandOptions & { readonly name?: string; readonly reason?: BranchReason },
  ) => Promise<Branch>;
  /** A second attempt on a branch of its own; this branch is not touched. */
  readonly retry: (options: RetryOptions) => Promise<Branch>;
  /** Takes messages of another branch in, as copies that name their originals. */
  readonly merge: (options: MergeOptions) => Promise<{ readonly messages: readonly string[] }>;
  readonly label: (name: string) => Promise<void>;
  readonly promote: (reason?: string) => Promise<void>;
  readonly annotate: (
    target: AnnotationTarget,
    note: { readonly name: string; readonly value: string },
  ) => Promise<void>;
  readonly feedback: (
    target: AnnotationTarget,
    note: { readonly name: string; readonly value: string },
  ) => Promise<void>;
  readonly close: (reason?: string) => Promise<void>;
  readonly reopen: (reason?: string) => Promise<void>;
  /** The same branch for another run or actor. */
  readonly as: (actor: Actor, run?: string) => Branch;
}

const withTools = <O extends { readonly tools?: Toolbox }>({ tools, ...rest }: O) => ({
  ...rest,
  tools: definitionsOf(tools),
});

const nothing = async (task: Promise<unknown>): Promise<void> => {
  await task;
};

type Writing = Pick<
  Branch,
  | 'append'
  | 'instructions'
  | 'status'
  | 'withdraw'
  | 'redact'
  | 'merge'
  | 'label'
  | 'promote'
  | 'annotate'
  | 'feedback'
  | 'close'
  | 'reopen'
>;

const writing = (context: BranchContext): Writing => ({
  append: async (messages, options) => (await run(append(context, messages, options))).answer,
  instructions: async (text, options) =>
    (await run(setInstructions(context, text, options))).answer,
  status: (id, to, options) => nothing(run(setStatus(context, id, to, options))),
  withdraw: (ids, options) => nothing(run(withdraw(context, ids, options))),
  redact: (id, options) => nothing(run(redact(context, id, options))),
  merge: async (options) => (await run(mergeFrom(context, options))).answer,
  label: (name) => nothing(run(label(context, name))),
  promote: (reason) => nothing(run(promote(context, reason === undefined ? {} : { reason }))),
  annotate: (target, note) => nothing(run(annotate(context, 'MetadataAnnotated', target, note))),
  feedback: (target, note) => nothing(run(annotate(context, 'FeedbackRecorded', target, note))),
  close: (reason) => run(setClosed(context, true, reason)),
  reopen: (reason) => run(setClosed(context, false, reason)),
});

type Reading = Pick<
  Branch,
  | 'history'
  | 'contents'
  | 'surface'
  | 'timeline'
  | 'calls'
  | 'toolExchanges'
  | 'usage'
  | 'context'
  | 'why'
>;

const reading = (context: BranchContext): Reading => {
  const { runtime, histories, key } = context;
  return {
    history: (point) => run(readHistory(runtime, histories, key, point)),
    contents: (slots) => run(openSlots(runtime, key, slots)),
    surface: (point) => run(readSurface(runtime, histories, key, point)),
    timeline: (point) => run(projectBranch(context, key, timeline, point)),
    calls: (point) => run(projectBranch(context, key, modelCalls, point)),
    toolExchanges: (point) => run(projectBranch(context, key, toolExchanges, point)),
    usage: (point) => run(projectBranch(context, key, usage, point)),
    context: (modelCallId) => run(recordedContext(context, modelCallId)),
    why: (messageId, { modelCallId }) => run(why(context, messageId, modelCallId)),
  };
};

type Running = Pick<
  Branch,
  | 'preview'
  | 'check'
  | 'recordedCall'
  | 'request'
  | 'session'
  | 'claim'
  | 'recover'
  | 'endTurn'
  | 'openCalls'
  | 'toolReplay'
  | 'resolveApproval'
  | 'planCompaction'
  | 'compact'
  | 'undoCompaction'
>;

const openHandles = async (context: BranchContext): Promise<readonly ToolCallHandle[]> => {
  const [{ toolCalls }, { items }] = [
    await run(session(context)),
    await run(readSurface(context.runtime, context.histories, context.key)),
  ];
  const byId = new Map(items.map(({ message }) => [message.id, message]));
  return toolCalls.flatMap(({ messageId, index }) => {
    const call = byId.get(messageId)?.toolCalls[index];
    const ref: CallRef = { messageId, index };
    return call === undefined ? [] : [toolCallHandle(context, call, ref)];
  });
};

/** The call with the plan that its record gives again, so that its answer can be read. */
const recordedCall = async (
  context: BranchContext,
  modelCallId: string,
): Promise<ModelCall<object>> => {
  const { plan, requested } = await run(recordedContext(context, modelCallId));
  const profile = profileOf(requested.profile);
  if (profile === undefined) {
    throw new StemmaError({ _tag: 'NotFound', kind: 'profile', ref: requested.profile.name });
  }
  const { attempt, purpose } = requested;
  return modelCall({ context, profile, requested: { modelCallId, plan, attempt }, purpose });
};

const running = (context: BranchContext): Running => ({
  preview: (options, point) => run(preview(context, withTools(options), point)),
  check: (options, point) => run(check(context, withTools(options), point)),
  recordedCall: (modelCallId) => recordedCall(context, modelCallId),
  request: async (options) => {
    const requested = await run(request(context, withTools(options)));
    const { profile, purpose = 'turn' } = options;
    return modelCall({ context, profile, requested, purpose });
  },
  session: () => run(session(context)),
  claim: () => nothing(run(claim(context))),
  recover: (choices) => run(recover(context, choices)),
  endTurn: (outcome) => nothing(run(end(context, outcome))),
  openCalls: () => openHandles(context),
  toolReplay: async () => {
    const replay = await run(toolReplay(context));
    return { answer: (request) => run(() => Promise.resolve(replay.answer(request))) };
  },
  resolveApproval: (requestId, outcome, options) =>
    nothing(run(answerApproval(context, requestId, outcome, options))),
  planCompaction: (options) => run(planCompactionAt(context, options)),
  compact: (options) => run(compact(context, options)),
  undoCompaction: (compaction, reason) =>
    nothing(run(undoCompaction(context, compaction, reason === undefined ? {} : { reason }))),
});

/** The handle of a branch. */
export const branchFace = (context: BranchContext, name: string): Branch => {
  const other = (ref: Pick<EventRef, 'branch'> & { readonly name: string }): Branch =>
    branchFace({ ...context, key: { ...context.key, branch: ref.branch } }, ref.name);
  const face: Branch = {
    conversation: context.key.conversation,
    branch: context.key.branch,
    name,
    run: context.run,
    ...writing(context),
    ...reading(context),
    ...paging(context),
    ...running(context),
    fork: async (place, options) => other(await run(forkAt(context, place, options))),
    retry: async (options) => other(await run(retry(context, options))),
    as: (actor, runId) => {
      throwFault(actorLook(actor, runId));
      return branchFace({ ...context, as: actor, run: runId ?? context.run }, name);
    },
  };
  return guarded(face, branchLooks);
};
