import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../../src/domain/errors.js';
import type { MessageInput } from '../../src/domain/intake.js';
import type { CallRef } from '../../src/domain/message.js';
import { openaiChat } from '../../src/domain/profiles/openai-chat.js';
import { compact, undoCompaction } from '../../src/engine/compactions.js';
import {
  annotate,
  label,
  promote,
  setClosed,
  start,
} from '../../src/engine/conversation-commands.js';
import type { BranchContext } from '../../src/engine/engine-context.js';
import type { Done } from '../../src/engine/execute.js';
import { mergeFrom } from '../../src/engine/merges.js';
import {
  append,
  redact,
  setInstructions,
  setStatus,
  withdraw,
} from '../../src/engine/message-commands.js';
import { complete, fail } from '../../src/engine/model-answers.js';
import { request } from '../../src/engine/model-calls.js';
import { claim, end, recover } from '../../src/engine/recover.js';
import { forkAt, retry, type ForkedBranch, type ForkPlace } from '../../src/engine/retries.js';
import type { Task } from '../../src/engine/runtime.js';
import { abandon, answerApproval, askApproval, beginTool } from '../../src/engine/tool-commands.js';
import {
  branchNumber,
  contextFor,
  nameOf,
  noteBranches,
  realId,
  type EngineSide,
} from './engine-side.js';
import type { CallName, ForkAt, Item, Outcome, Step } from './steps.js';

type Of<K extends Step['do']> = Extract<Step, { readonly do: K }>;

const PROFILE = openaiChat({ model: 'gpt' });
const PAST = '2020-01-01T00:00:00.000Z';
const FUTURE = '2099-01-01T00:00:00.000Z';

interface Doing {
  readonly side: EngineSide;
  readonly context: BranchContext;
  readonly options: { readonly commandId?: string };
}

type Result = E.Either<StemmaFault, Outcome>;

const outcome = async <A>(
  task: Task<A>,
  read: (answer: A) => { readonly answer: unknown; readonly replayed?: boolean },
): Promise<Result> => {
  const result = await task();
  return E.isLeft(result) ? result : E.right({ kind: 'done', ...read(result.right) });
};

const plainly =
  <A, B = unknown>(read: (answer: A) => B) =>
  ({ answer, replayed }: Done<A>) => ({ answer: read(answer), replayed });

const refOf = ({ side }: Doing, call: CallName): CallRef => ({
  messageId: realId(side, call.message),
  index: call.index,
});

const nothing = plainly(() => ({}));

const inputOf = (doing: Doing, item: Item): MessageInput => {
  const { id, role, text, calls, answers, outcome: ended, late, status } = item;
  return {
    id: realId(doing.side, id),
    role,
    ...(text === '' ? {} : { content: text }),
    ...(calls === undefined
      ? {}
      : { toolCalls: calls.map((call) => ({ id: call, name: 'tool', arguments: '{}' })) }),
    ...(answers === undefined
      ? {}
      : 'callId' in answers
        ? { toolCallId: answers.callId }
        : { call: refOf(doing, answers.ref) }),
    ...(ended === undefined ? {} : { outcome: ended }),
    ...(late === undefined ? {} : { late }),
    ...(status === undefined ? {} : { status }),
  };
};

const doAppend = (doing: Doing, step: Of<'append'>): Promise<Result> => {
  const { side, context, options } = doing;
  const { items, expected, as } = step;
  const task = append(
    context,
    items.map((item) => inputOf(doing, item)),
    {
      ...options,
      ...(expected === undefined ? {} : { expectedRevision: expected }),
      ...(as === undefined ? {} : { as: { kind: as } }),
    },
  );
  return outcome(
    task,
    plainly((places) =>
      places.map(({ id, status, place }) => ({
        id: nameOf(side, id),
        status,
        branch: branchNumber(side, place.branch),
        at: place.revision,
      })),
    ),
  );
};

const doRequest = ({ side, context, options }: Doing, step: Of<'request'>): Promise<Result> => {
  const { purpose, retryOf } = step;
  const task = request(context, {
    profile: PROFILE,
    purpose,
    ...(retryOf === undefined ? {} : { retryOf: side.names.calls[retryOf] ?? `none ${retryOf}` }),
    ...options,
  });
  return outcome(task, ({ modelCallId, attempt }) => {
    if (!side.names.calls.includes(modelCallId)) side.names.calls.push(modelCallId);
    return { answer: { call: side.names.calls.indexOf(modelCallId), attempt } };
  });
};

const callId = ({ side }: Doing, call: number): string => side.names.calls[call] ?? `none ${call}`;

const doComplete = (doing: Doing, step: Of<'complete'>, purpose: string): Promise<Result> => {
  const { side, context, options } = doing;
  const { id, text, calls, status } = step.answer;
  const task = complete(
    context,
    callId(doing, step.call),
    {
      id: realId(side, id),
      blocks: text === '' ? [] : [{ type: 'text', text }],
      toolCalls: calls.map((call) => ({ id: call, name: 'tool', arguments: '{}' })),
      status,
    },
    { ...options, purpose: purpose as 'turn' },
  );
  return outcome(task, ({ messageId, replayed }) => ({
    answer: messageId === undefined ? {} : { message: nameOf(side, messageId) },
    replayed,
  }));
};

const doFail = (doing: Doing, step: Of<'fail'>): Promise<Result> => {
  const { side, context, options } = doing;
  const { kind, partial, ends } = step;
  const task = fail(
    context,
    callId(doing, step.call),
    {
      kind,
      ...(partial === undefined
        ? {}
        : {
            partial: {
              id: realId(side, partial.id),
              blocks: [{ type: 'text', text: partial.text }],
            },
          }),
      ...(ends === undefined ? {} : { ends }),
    },
    options,
  );
  return outcome(task, ({ messageId, replayed }) => ({
    answer: messageId === undefined ? {} : { message: nameOf(side, messageId) },
    replayed,
  }));
};

const doRecover = (doing: Doing, step: Of<'recover'>): Promise<Result> => {
  const { side, context } = doing;
  const named = ({ messageId, index }: CallRef): CallName => ({
    message: nameOf(side, messageId),
    index,
  });
  const task = recover(context, {
    tools: step.tools.map(({ call, do: what }) =>
      what === 'result'
        ? { call: refOf(doing, call), do: what, content: `recovered ${call.message}` }
        : { call: refOf(doing, call), do: what },
    ),
    ...(step.ends === undefined ? {} : { endTurn: step.ends }),
  });
  return outcome(task, ({ lost, closed, expired, undecided }) => ({
    answer: {
      lost: lost.map((id) => side.names.calls.indexOf(id)),
      closed: closed.map(named),
      expired,
      undecided: undecided.map(named),
    },
  }));
};

const doCompact = ({ side, context, options }: Doing, step: Of<'compact'>): Promise<Result> => {
  const { keepFrom, text, id, madeBy } = step;
  const call = madeBy === undefined ? undefined : side.names.calls[madeBy];
  const task = compact(context, {
    strategy: 'summary',
    summary: text,
    keepFrom: keepFrom === null ? null : realId(side, keepFrom),
    summaryId: id,
    ...(call === undefined ? {} : { madeBy: call }),
    ...options,
  });
  return outcome(task, ({ compaction, plan }) => {
    if (!side.names.compactions.includes(compaction)) side.names.compactions.push(compaction);
    return {
      answer: {
        compaction: side.names.compactions.indexOf(compaction),
        covered: plan.covered.map((covered) => nameOf(side, covered)),
      },
    };
  });
};

const placeOf = (doing: Doing, at: ForkAt): ForkPlace => {
  if ('before' in at) return { before: realId(doing.side, at.before) };
  if ('after' in at) return { after: realId(doing.side, at.after) };
  return 'revision' in at ? at : { beforeCall: callId(doing, at.beforeCall) };
};

const forked = async (side: EngineSide, task: Task<ForkedBranch>): Promise<Result> => {
  const result = await task();
  await noteBranches(side);
  if (E.isLeft(result)) return result;
  const { branch, name } = result.right;
  return E.right({ kind: 'done', answer: { branch: branchNumber(side, branch), name } });
};

const doRetry = (doing: Doing, step: Of<'retry'>): Promise<Result> => {
  const { side, context, options } = doing;
  const { before, ofCall, replace } = step;
  return forked(
    side,
    retry(context, {
      ...(before === undefined ? {} : { before: realId(side, before) }),
      ...(ofCall === undefined ? {} : { ofCall: callId(doing, ofCall) }),
      ...(replace === undefined ? {} : { replace: { id: replace.id, content: replace.text } }),
      ...options,
    }),
  );
};

type Performers = {
  readonly [K in Step['do']]: (doing: Doing, step: Of<K>) => Promise<Result>;
};

const performers = (purposeOf: (call: number) => string): Performers => ({
  append: doAppend,
  instructions: ({ context, options }, { name, text, as }) =>
    outcome(
      setInstructions(as === undefined ? context : { ...context, as: { kind: as } }, text, {
        ...options,
        name,
      }),
      plainly(({ version }) => ({ version })),
    ),
  status: ({ side, context, options }, { id, to }) =>
    outcome(
      setStatus(context, realId(side, id), to, options),
      plainly((answer) => answer),
    ),
  withdraw: ({ side, context, options }, { ids }) =>
    outcome(
      withdraw(
        context,
        ids.map((id) => realId(side, id)),
        options,
      ),
      plainly(({ messages }) => ({ messages: messages.map((id) => nameOf(side, id)) })),
    ),
  redact: ({ side, context, options }, { id }) =>
    outcome(redact(context, realId(side, id), options), nothing),
  request: doRequest,
  complete: (doing, step) => doComplete(doing, step, purposeOf(step.call)),
  fail: doFail,
  claim: ({ context }) => outcome(claim(context), nothing),
  endTurn: ({ context }, step) => outcome(end(context, step.outcome), nothing),
  startTool: (doing, { call, effect, key }) =>
    outcome(
      beginTool(doing.context, refOf(doing, call), {
        ...doing.options,
        effect,
        idempotencyKey: key,
      }),
      plainly(({ attempt, idempotencyKey }) => ({ attempt, key: idempotencyKey })),
    ),
  abandon: (doing, { call }) =>
    outcome(abandon(doing.context, refOf(doing, call), doing.options), nothing),
  ask: (doing, { call, request: requestId, expires }) =>
    outcome(
      askApproval(doing.context, refOf(doing, call), {
        ...doing.options,
        requestId,
        ...(expires === undefined ? {} : { expiresAt: expires === 'past' ? PAST : FUTURE }),
      }),
      plainly((answer) => ({ request: answer.requestId })),
    ),
  resolve: ({ context, options }, step) =>
    outcome(
      answerApproval(context, step.request, step.outcome, options),
      plainly((answer) => ({ outcome: answer.outcome })),
    ),
  recover: doRecover,
  compact: doCompact,
  undo: ({ side, context, options }, { compaction }) =>
    outcome(
      undoCompaction(context, side.names.compactions[compaction] ?? `none ${compaction}`, options),
      plainly(() => ({ compaction })),
    ),
  merge: ({ side, context, options }, { from, ids }) =>
    outcome(
      mergeFrom(context, {
        from: contextFor(side, 0, from).key.branch,
        messages: ids.map((id) => realId(side, id)),
        ...options,
      }),
      plainly(({ messages }) => ({ copies: messages.length })),
    ),
  fork: (doing, { at, name }) =>
    forked(doing.side, forkAt(doing.context, placeOf(doing, at), { name, ...doing.options })),
  retry: doRetry,
  label: ({ context, options }, { name }) => outcome(label(context, name, options), nothing),
  promote: ({ context, options }) => outcome(promote(context, options), nothing),
  annotate: ({ context, options }, { feedback, value }) =>
    outcome(
      annotate(
        context,
        feedback ? 'FeedbackRecorded' : 'MetadataAnnotated',
        { kind: 'branch', ref: context.key.branch },
        { name: 'note', value },
        options,
      ),
      nothing,
    ),
  close: ({ context }) => outcome(setClosed(context, true), () => ({ answer: {} })),
  reopen: ({ context }) => outcome(setClosed(context, false), () => ({ answer: {} })),
  start: ({ side, context }) =>
    outcome(start(context, { id: side.id }), ({ created }) => ({
      answer: {},
      replayed: !created,
    })),
});

/** Gives a step to the engine. `purposeOf` tells what a model call was made for. */
export const perform = async (
  side: EngineSide,
  step: Step,
  purposeOf: (call: number) => string,
): Promise<Outcome> => {
  const { handle, branch, commandId } = step;
  const context = contextFor(side, handle, branch);
  const doing = { side, context, options: commandId === undefined ? {} : { commandId } };
  const performer = performers(purposeOf)[step.do] as (doing: Doing, step: Step) => Promise<Result>;
  const result = await performer(doing, step);
  return E.isLeft(result) ? { kind: 'fault', tag: result.left._tag } : result.right;
};
