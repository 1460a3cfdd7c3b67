import * as E from 'fp-ts/lib/Either.js';
import { callKey, type OpenCall } from '../domain/branch-state.js';
import { failCall } from '../domain/decide/model-call.js';
import { claimTurn, endTurn } from '../domain/decide/turn.js';
import { resolveApproval } from '../domain/decide/tool.js';
import type { StemmaFault } from '../domain/errors.js';
import type { TurnOutcome } from '../domain/events/branch-events.js';
import type { CallRef } from '../domain/message.js';
import { needsDecision, sessionOf, type Session } from '../domain/session.js';
import { loadBranch } from './branch-loader.js';
import { actorText, given, partCommandId, scopeOf, type BranchContext } from './engine-context.js';
import { onBranch } from './execute.js';
import { append } from './message-commands.js';
import type { Task } from './runtime.js';
import { abandon } from './tool-commands.js';

/** What the caller says about a tool call whose outcome is not known. */
export type ToolChoice =
  | { readonly call: CallRef; readonly do: 'unknown' }
  | { readonly call: CallRef; readonly do: 'abandon'; readonly reason?: string }
  | { readonly call: CallRef; readonly do: 'result'; readonly content: string };

export interface RecoverChoices {
  readonly tools?: readonly ToolChoice[];
  /** End the turn that was left open, with this outcome. */
  readonly endTurn?: TurnOutcome;
}

export interface Recovered {
  /** Model calls that were recorded as lost. */
  readonly lost: readonly string[];
  /** Tool calls that were closed. */
  readonly closed: readonly CallRef[];
  /** Approvals that had expired. */
  readonly expired: readonly string[];
  /** Started calls that only the caller can decide on; nothing was done about them. */
  readonly undecided: readonly CallRef[];
  readonly session: Session;
}

const itemId = (context: BranchContext, item: string): { readonly commandId: string } => ({
  commandId: partCommandId('recover', context.run, item),
});

const session =
  (context: BranchContext): Task<Session> =>
  async () => {
    const loaded = await loadBranch(context.runtime, context.states, context.key)();
    return E.isLeft(loaded) ? loaded : E.right(sessionOf(loaded.right.state));
  };

const loseModelCall = (context: BranchContext, modelCallId: string): Task<unknown> =>
  onBranch(
    context.runtime,
    context.states,
    context.key,
    failCall({
      scope: scopeOf(context),
      modelCallId,
      error: { kind: 'lost', retryable: true, lost: true },
    }),
    given(context, itemId(context, `call.${modelCallId}`), 'recover', modelCallId),
  );

const UNKNOWN_TEXT = 'The outcome of this call is not known: the process that ran it stopped.';

const closeTool = (context: BranchContext, choice: ToolChoice): Task<unknown> => {
  const options = itemId(context, `tool.${callKey(choice.call)}`);
  if (choice.do === 'abandon') {
    const { reason } = choice;
    return abandon(context, choice.call, {
      ...options,
      ...(reason === undefined ? {} : { reason }),
    });
  }
  const isUnknown = choice.do === 'unknown';
  return append(
    context,
    {
      role: 'tool',
      call: choice.call,
      content: choice.do === 'result' ? choice.content : UNKNOWN_TEXT,
      outcome: isUnknown ? 'unknown' : 'ok',
    },
    { ...options, as: { kind: isUnknown ? 'engine' : 'app' } },
  );
};

const expireApproval = (context: BranchContext, requestId: string): Task<unknown> =>
  onBranch(
    context.runtime,
    context.states,
    context.key,
    resolveApproval({
      scope: scopeOf(context),
      requestId,
      outcome: 'expired',
      approver: actorText(context.as),
    }),
    given(context, itemId(context, `approval.${requestId}`), 'recover', requestId),
  );

const same = (a: CallRef, b: CallRef): boolean => callKey(a) === callKey(b);

const runAll = async (tasks: readonly Task<unknown>[]): Promise<E.Either<StemmaFault, void>> => {
  for (const task of tasks) {
    const result = await task();
    if (E.isLeft(result)) return result;
  }
  return E.right(undefined);
};

const undecided = (open: readonly OpenCall[], choices: readonly ToolChoice[]) =>
  open
    .filter((call) => needsDecision(call) && !choices.some((choice) => same(choice.call, call)))
    .map(({ messageId, index }) => ({ messageId, index }));

/**
 * Closes what a process that stopped left open (session.md, recovery table). Model calls without an
 * answer are lost; tools that may have acted wait for the caller's word; approvals wait on, unless
 * they expired. Every step carries its own command id, so that a recover that is cut off itself can
 * simply be repeated.
 */
export const recover =
  (context: BranchContext, choices: RecoverChoices = {}): Task<Recovered> =>
  async () => {
    const before = await session(context)();
    if (E.isLeft(before)) return before;
    const { modelCalls, toolCalls, approvals } = before.right;
    const now = Date.parse(context.runtime.now());
    const expired = approvals.filter(
      ({ expiresAt }) => expiresAt !== undefined && Date.parse(expiresAt) <= now,
    );
    const tools = choices.tools ?? [];
    const known = tools.filter((choice) => toolCalls.some((call) => same(choice.call, call)));
    const steps = await runAll([
      ...modelCalls.map(({ modelCallId }) => loseModelCall(context, modelCallId)),
      ...expired.map(({ requestId }) => expireApproval(context, requestId)),
      ...known.map((choice) => closeTool(context, choice)),
    ]);
    if (E.isLeft(steps)) return steps;
    if (choices.endTurn !== undefined) {
      const ended = await end(context, choices.endTurn)();
      if (E.isLeft(ended)) return ended;
    }
    const after = await session(context)();
    if (E.isLeft(after)) return after;
    return E.right({
      lost: modelCalls.map(({ modelCallId }) => modelCallId),
      closed: known.map(({ call }) => call),
      expired: expired.map(({ requestId }) => requestId),
      undecided: undecided(after.right.toolCalls, tools),
      session: after.right,
    });
  };

/** Takes the open turn over from the run that had it. */
export const claim = (context: BranchContext) =>
  onBranch(
    context.runtime,
    context.states,
    context.key,
    claimTurn(scopeOf(context)),
    given(context, {}, 'claim', context.run),
  );

/** Ends the open turn of this run. */
export const end = (context: BranchContext, outcome: TurnOutcome) =>
  onBranch(
    context.runtime,
    context.states,
    context.key,
    endTurn(scopeOf(context), outcome),
    given(context, {}, 'endTurn', outcome),
  );

export { session };
