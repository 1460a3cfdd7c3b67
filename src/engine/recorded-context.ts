import * as E from 'fp-ts/lib/Either.js';
import { buildContext } from '../domain/context/build.js';
import type { ContextPlan, InputLiteral } from '../domain/context/plan.js';
import { rebuildContext, type RebuildInput, type Rebuilt } from '../domain/context/rebuild.js';
import { why as whyIn, type WhyRecord } from '../domain/context/why.js';
import { policyOf } from '../domain/context/policy.js';
import type { StemmaFault } from '../domain/errors.js';
import type { ModelCallRequested } from '../domain/events/model-call-events.js';
import type { EventRef } from '../domain/events/references.js';
import { profileOf } from '../domain/profiles/registry.js';
import type { Opened, Slot } from '../domain/slot.js';
import type { Surface } from '../domain/surface.js';
import { estimator } from '../domain/tokens.js';
import type { ToolDefinition } from '../domain/tool.js';
import { findCallIn, type FoundCall } from './call-lookup.js';
import { openSlots } from './content.js';
import { left, type BranchContext, type EngineContext } from './engine-context.js';
import { readSurface } from './histories.js';
import type { Task } from './runtime.js';

/** A recorded call with its context built again from the log. */
export interface RecordedContext {
  readonly modelCallId: string;
  readonly conversation: string;
  readonly branch: string;
  readonly branchName: string;
  readonly place: EventRef;
  readonly requested: ModelCallRequested;
  readonly plan: ContextPlan;
  /** Whether the bytes built now have the digest of the bytes that were sent. */
  readonly same: boolean;
  /** Messages of the recorded context that were redacted or erased since: why bytes may differ. */
  readonly goneSince: readonly string[];
}

const texts = (requested: ModelCallRequested): readonly Slot[] => [
  ...(requested.tools === undefined ? [] : [requested.tools]),
  ...(requested.params === undefined ? [] : [requested.params]),
  ...requested.literals.map(({ content }) => content),
];

const parsed = <A>(open: (slot: Slot) => Opened, slot: Slot | undefined, otherwise: A): A => {
  const opened = slot === undefined ? undefined : open(slot);
  return opened?._tag === 'text' ? (JSON.parse(opened.text) as A) : otherwise;
};

const literalsOf = (
  open: (slot: Slot) => Opened,
  requested: ModelCallRequested,
): readonly InputLiteral[] =>
  requested.literals.map(({ content, ...rest }) => {
    const opened = open(content);
    return { ...rest, text: opened._tag === 'text' ? opened.text : '' };
  });

/** How the selection is made: as it was recorded, or again by the recorded policy. */
export type ReplayBy = 'bytes' | 'policy';

const inputOf = (
  requested: ModelCallRequested,
  surface: Surface,
  open: (slot: Slot) => Opened,
): E.Either<StemmaFault, RebuildInput<object>> => {
  const profile = profileOf(requested.profile);
  if (profile === undefined) {
    return left({ _tag: 'NotFound', kind: 'profile', ref: requested.profile.name });
  }
  const policy = policyOf(requested.policy);
  if (E.isLeft(policy)) return policy;
  return E.right({
    surface,
    profile,
    policy: policy.right,
    tools: parsed<readonly ToolDefinition[]>(open, requested.tools, []),
    params: parsed<Readonly<Record<string, unknown>>>(open, requested.params, {}),
    literals: literalsOf(open, requested),
    counter: estimator,
    selection: requested.selection,
    requestDigest: requested.requestDigest,
  });
};

const rebuilt = (
  input: RebuildInput<object>,
  by: ReplayBy,
): E.Either<StemmaFault, Rebuilt<object>> => {
  if (by === 'bytes') return rebuildContext(input);
  const { selection: _selection, requestDigest, ...rest } = input;
  const plan = buildContext(rest);
  if (E.isLeft(plan)) return plan;
  const same = plan.right.requestDigest === requestDigest;
  return E.right({ plan: plan.right, same, goneSince: [] });
};

/** Builds the context of a found call again from the log as it was when the call was made. */
export const rebuildCall =
  (context: EngineContext, found: FoundCall, by: ReplayBy = 'bytes'): Task<RecordedContext> =>
  async () => {
    const { key, requested: recorded, branchName } = found;
    const requested = recorded.event.data;
    const point = { revision: requested.branchRevision };
    const surface = await readSurface(context.runtime, context.histories, key, point)();
    if (E.isLeft(surface)) return surface;
    const open = await openSlots(context.runtime, key, texts(requested))();
    if (E.isLeft(open)) return open;
    const input = inputOf(requested, surface.right, open.right);
    if (E.isLeft(input)) return input;
    const built = rebuilt(input.right, by);
    if (E.isLeft(built)) return built;
    const { plan, same, goneSince } = built.right;
    const { revision, hash } = recorded;
    return E.right({
      modelCallId: requested.modelCallId,
      conversation: key.conversation,
      branch: key.branch,
      branchName,
      place: { branch: key.branch, revision, hash },
      requested,
      plan,
      same,
      goneSince,
    });
  };

/** The recorded context of a call of this conversation. */
export const recordedContext =
  (context: BranchContext, modelCallId: string, by: ReplayBy = 'bytes'): Task<RecordedContext> =>
  async () => {
    const found = await findCallIn(context, context.key.conversation, modelCallId)();
    return E.isLeft(found) ? found : rebuildCall(context, found.right, by)();
  };

/** Why a message was in the context of a call, or was not (CX3). */
export interface Reason extends WhyRecord {
  readonly modelCallId: string;
}

export const why =
  (context: BranchContext, messageId: string, modelCallId: string): Task<Reason> =>
  async () => {
    const recorded = await recordedContext(context, modelCallId)();
    if (E.isLeft(recorded)) return recorded;
    return E.right({ ...whyIn(recorded.right.plan, messageId), modelCallId });
  };
