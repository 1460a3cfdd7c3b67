import {
  abandonCall,
  requestApproval,
  resolveApproval,
  startTool,
  type StartedTool,
} from '../domain/decide/tool.js';
import type { ApprovalOutcome, Effect } from '../domain/events/message-events.js';
import { isRfc3339 } from '../domain/text.js';
import type { CallRef } from '../domain/message.js';
import { slotMaker } from './content.js';
import {
  actorText,
  commandScopedId,
  given,
  left,
  newId,
  scopeOf,
  type BranchContext,
  type CommandOptions,
} from './engine-context.js';
import { onBranch, type Done } from './execute.js';
import type { Task } from './runtime.js';

export interface StartToolOptions extends CommandOptions {
  /** What running it twice would do; without a word it is taken for harmful. */
  readonly effect?: Effect;
  readonly idempotencyKey?: string;
  readonly executor?: string;
}

/** Records that a tool begins to run. Call it before the tool's function. */
export const beginTool = (
  context: BranchContext,
  call: CallRef,
  options: StartToolOptions = {},
): Task<Done<StartedTool>> => {
  const { effect = 'non_idempotent', executor = context.run } = options;
  const command = startTool({
    scope: scopeOf(context),
    call,
    executor,
    effect,
    idempotencyKey: options.idempotencyKey ?? newId(context, 'k'),
  });
  return onBranch(
    context.runtime,
    context.states,
    context.key,
    command,
    given(context, options, 'startTool', [
      call,
      effect,
      options.idempotencyKey ?? null,
      options.executor ?? null,
    ]),
  );
};

/** Records that a call will never be answered. */
export const abandon = (
  context: BranchContext,
  call: CallRef,
  options: CommandOptions & { readonly reason?: string } = {},
): Task<Done<{ readonly call: CallRef }>> => {
  const slots = slotMaker(context.runtime, context.key.conversation);
  const reason = options.reason === undefined ? undefined : slots.make(options.reason, 'reason');
  return onBranch(
    context.runtime,
    context.states,
    context.key,
    abandonCall(scopeOf(context), call, reason),
    { ...given(context, options, 'abandon', [call, options.reason ?? null]), slots },
  );
};

export interface AskOptions extends CommandOptions {
  readonly requestId?: string;
  readonly kind?: string;
  /** RFC 3339; what expires is recorded as an event by whoever finds it. */
  readonly expiresAt?: string;
}

/** Asks a human before a call runs. */
export const askApproval = (
  context: BranchContext,
  call: CallRef,
  options: AskOptions = {},
): Task<Done<{ readonly requestId: string }>> => {
  const { kind = 'tool_call', expiresAt } = options;
  if (expiresAt !== undefined && !isRfc3339(expiresAt)) {
    return () => Promise.resolve(left({ _tag: 'InvalidTimestamp', path: '/expiresAt' }));
  }
  const command = requestApproval({
    scope: scopeOf(context),
    requestId: options.requestId ?? commandScopedId(context, options, 'a', 0),
    kind,
    call,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  return onBranch(
    context.runtime,
    context.states,
    context.key,
    command,
    given(context, options, 'askApproval', [
      call,
      kind,
      expiresAt ?? null,
      options.requestId ?? null,
    ]),
  );
};

/** Records a human's word on a waiting call. */
export const answerApproval = (
  context: BranchContext,
  requestId: string,
  outcome: ApprovalOutcome,
  options: CommandOptions & { readonly approver?: string; readonly reason?: string } = {},
): Task<Done<{ readonly outcome: ApprovalOutcome }>> => {
  const slots = slotMaker(context.runtime, context.key.conversation);
  const reason = options.reason === undefined ? undefined : slots.make(options.reason, 'reason');
  const command = resolveApproval({
    scope: scopeOf(context),
    requestId,
    outcome,
    approver: options.approver ?? actorText(context.as),
    ...(reason === undefined ? {} : { reason }),
  });
  return onBranch(context.runtime, context.states, context.key, command, {
    ...given(context, options, 'answerApproval', [
      requestId,
      outcome,
      options.reason ?? null,
      options.approver ?? null,
    ]),
    slots,
  });
};
