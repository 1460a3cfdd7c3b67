import * as E from 'fp-ts/lib/Either.js';
import { buildContext } from '../domain/context/build.js';
import type { ContextPlan, InputLiteral } from '../domain/context/plan.js';
import { completePolicy, type ContextPolicy } from '../domain/context/policy.js';
import { requestCall } from '../domain/decide/model-call.js';
import type { ModelCallRequested, Purpose } from '../domain/events/model-call-events.js';
import type { StemmaFault } from '../domain/errors.js';
import type { MakeSlot } from '../domain/intake.js';
import { plainJson } from '../domain/json-value.js';
import type { CallRef } from '../domain/message.js';
import type { Profile } from '../domain/profiles/profile.js';
import type { Recorded } from '../domain/recorded.js';
import type { Surface } from '../domain/surface.js';
import { estimator, type TokenCounter } from '../domain/tokens.js';
import type { ToolDefinition } from '../domain/tool.js';
import { loadBranch } from './branch-loader.js';
import { slotMaker } from './content.js';
import {
  commandScopedId,
  given,
  left,
  scopeOf,
  type BranchContext,
  type CommandOptions,
} from './engine-context.js';
import { onBranch, priorCommand } from './execute.js';
import { readSurface, type ReadPoint } from './histories.js';
import { lookUp } from './known-ids.js';
import { recordedContext } from './recorded-context.js';
import type { Task } from './runtime.js';

/** How a context is built. */
export interface ContextOptions<Body extends object> {
  readonly profile: Profile<Body>;
  /** Shorthand for `policy.budgetTokens`. */
  readonly budgetTokens?: number;
  readonly policy?: Partial<ContextPolicy>;
  readonly tools?: readonly ToolDefinition[];
  /** Model parameters, merged into the body by the profile. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly literals?: readonly InputLiteral[];
  readonly counter?: TokenCounter;
}

export interface RequestOptions<Body extends object> extends ContextOptions<Body>, CommandOptions {
  readonly purpose?: Purpose;
  readonly agent?: string;
  /** The call that this one tries again after a transport failure (SE3). */
  readonly retryOf?: string;
  readonly cause?: string;
}

/** Builds a context from a surface; nothing is written. */
export const contextOf = <Body extends object>(
  surface: Surface,
  options: ContextOptions<Body>,
  pending: readonly CallRef[],
): E.Either<StemmaFault, ContextPlan<Body>> => {
  const {
    budgetTokens,
    policy: changes = {},
    profile,
    tools = [],
    params = {},
    literals = [],
  } = options;
  const policy = completePolicy({
    ...changes,
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
  });
  if (E.isLeft(policy)) return policy;
  const plain = plainJson(params, '/params');
  if (E.isLeft(plain)) return plain;
  return buildContext({
    surface,
    profile,
    policy: policy.right,
    tools,
    params,
    literals,
    counter: options.counter ?? estimator,
    pending,
  });
};

/** Calls that wait for a human: a context never repairs them away. */
const waitingCalls =
  (context: BranchContext): Task<readonly CallRef[]> =>
  async () => {
    const loaded = await loadBranch(context.runtime, context.states, context.key)();
    if (E.isLeft(loaded)) return loaded;
    return E.right([...loaded.right.state.approvals.values()].map(({ call }) => call));
  };

/** The context that a call made now would have. Writes nothing. */
export const preview =
  <Body extends object>(
    context: BranchContext,
    options: ContextOptions<Body>,
    point: ReadPoint = {},
  ): Task<ContextPlan<Body>> =>
  async () => {
    const surface = await readSurface(context.runtime, context.histories, context.key, point)();
    if (E.isLeft(surface)) return surface;
    const pending = await waitingCalls(context)();
    return E.isLeft(pending) ? pending : contextOf(surface.right, options, pending.right);
  };

/** A call that was recorded and may now be sent. */
export interface RequestedCall<Body extends object> {
  readonly modelCallId: string;
  readonly plan: ContextPlan<Body>;
  readonly attempt: number;
}

const requestedData = <Body extends object>(
  plan: ContextPlan<Body>,
  surface: Surface,
  options: RequestOptions<Body>,
  call: { readonly id: string; readonly attempt: number },
  make: MakeSlot,
): ModelCallRequested => {
  const { retryOf, agent, purpose = 'turn', profile, tools = [], params } = options;
  return {
    modelCallId: call.id,
    attempt: call.attempt,
    ...(retryOf === undefined ? {} : { retryOf }),
    ...(agent === undefined ? {} : { agent }),
    purpose,
    source: 'built',
    profile: plan.profile,
    ...(profile.model === undefined ? {} : { model: profile.model }),
    policy: plan.policy,
    branchRevision: surface.revision,
    directoryRevision: surface.directoryRevision,
    selection: plan.selection,
    literals: plan.literals.map(({ place, text, provenance, trust, reason }) => ({
      place,
      content: make(text, 'literal'),
      provenance,
      trust,
      reason,
    })),
    ...(tools.length === 0 ? {} : { tools: make(JSON.stringify(tools), 'tools') }),
    instructions: plan.instructions,
    ...(params === undefined ? {} : { params: make(JSON.stringify(params), 'params') }),
    counter: plan.counter.name,
    exact: plan.counter.exact,
    tokens: plan.tokens,
    ...(plan.budget === undefined ? {} : { budget: plan.budget }),
    requestDigest: plan.requestDigest,
  };
};

const attemptAfter =
  (context: BranchContext, retryOf: string | undefined): Task<number> =>
  async () => {
    if (retryOf === undefined) return E.right(1);
    const { runtime, states, key } = context;
    const loaded = await loadBranch(runtime, states, key)();
    if (E.isLeft(loaded)) return loaded;
    const refs = [{ kind: 'call', id: retryOf } as const];
    const facts = await lookUp(runtime, key.conversation, loaded.right.lineage, refs)();
    if (E.isLeft(facts)) return facts;
    const requested = facts.right
      .of('call', retryOf)
      .map(({ event }) => event)
      .find((event) => event?.type === 'ModelCallRequested');
    return requested?.type === 'ModelCallRequested'
      ? E.right(requested.data.attempt + 1)
      : left({ _tag: 'NotFound', kind: 'call', ref: retryOf });
  };

const REBUILDS = 16;

/** What a request is, apart from the history that it is built from. */
const requestInput = <Body extends object>(options: RequestOptions<Body>) => {
  const { profile, budgetTokens, policy, tools, params, literals, purpose, agent, retryOf } =
    options;
  return [
    profile.ruling,
    budgetTokens ?? null,
    policy ?? null,
    tools ?? null,
    params ?? null,
    literals ?? null,
    purpose ?? null,
    agent ?? null,
    retryOf ?? null,
  ];
};

/** The call that this request made the first time, with its context built again. */
const requestedBefore =
  <Body extends object>(
    context: BranchContext,
    stored: readonly Recorded[],
  ): Task<RequestedCall<Body>> =>
  async () => {
    const event = stored
      .map((recorded) => recorded.event)
      .find((e) => e?.type === 'ModelCallRequested');
    if (event?.type !== 'ModelCallRequested') {
      return left({ _tag: 'Unexpected', ref: 'request' });
    }
    const { modelCallId, attempt } = event.data;
    const recorded = await recordedContext(context, modelCallId)();
    if (E.isLeft(recorded)) return recorded;
    // The recorded profile is the one that the command names: its input digest covers it.
    const plan = recorded.right.plan as ContextPlan<Body>;
    return E.right({ modelCallId, plan, attempt });
  };

/**
 * Records a call with its exact context before it is sent. A message that comes in between is not
 * missed: the context is built again at the new head.
 */
export const request =
  <Body extends object>(
    context: BranchContext,
    options: RequestOptions<Body>,
  ): Task<RequestedCall<Body>> =>
  async () => {
    const { runtime, states, histories, key } = context;
    const by = given(context, options, 'request', requestInput(options));
    const prior = await priorCommand(runtime, states, key, by)();
    if (E.isLeft(prior)) return prior;
    if (prior.right !== undefined) return requestedBefore<Body>(context, prior.right)();
    const attempt = await attemptAfter(context, options.retryOf)();
    if (E.isLeft(attempt)) return attempt;
    const id = commandScopedId(context, options, 'c', 0);
    for (let round = 0; ; round += 1) {
      const surface = await readSurface(runtime, histories, key)();
      if (E.isLeft(surface)) return surface;
      const pending = await waitingCalls(context)();
      if (E.isLeft(pending)) return pending;
      const plan = contextOf(surface.right, options, pending.right);
      if (E.isLeft(plan)) return plan;
      const slots = slotMaker(runtime, key.conversation);
      const command = requestCall({
        scope: scopeOf(context),
        turn: commandScopedId(context, options, 't', 0),
        ...(options.cause === undefined ? {} : { cause: options.cause }),
        requested: requestedData(
          plan.right,
          surface.right,
          options,
          { id, attempt: attempt.right },
          slots.make,
        ),
      });
      const done = await onBranch(runtime, states, key, command, {
        ...by,
        slots,
      })();
      if (E.isRight(done)) {
        return E.right({ modelCallId: id, plan: plan.right, attempt: attempt.right });
      }
      if (done.left._tag !== 'RevisionConflict' || round >= REBUILDS) return done;
    }
  };
