import type { ContextPlan } from '../../src/domain/context/plan.js';
import type { Profile } from '../../src/domain/profiles/profile.js';
import type { ContextInput } from '../../src/face/branch-face.js';
import type { Branch } from '../../src/index.js';
import { reportOf } from './context-facts.js';
import { appendMessages, loadEvents } from './events.js';
import {
  eventFacts,
  historyFacts,
  planFacts,
  planRoots,
  rawViolations,
  readRoot,
} from './facts.js';
import { attempt, caseFault, type CaseFault, type FaultView } from './fault.js';
import type { Params } from './input-shape.js';
import { contextInputOf, policyOf } from './policy.js';
import { capabilitiesOf, profileOf } from './profiles.js';
import { appendWire } from './provider-messages.js';
import type { Done, Evidence, Facts, Roots, Started } from './run.js';
import { executable } from './sessions.js';
import { nameOf, namingOf, versionOf, type Talk } from './talk.js';
import type { Snapshot } from './world.js';

/** How faults of the engine are told for a conversation. */
export const viewOf = (talk: Talk): FaultView => ({
  nameOf: (id) => nameOf(talk, id),
  version: async (revision) => (revision === 'none' ? revision : await versionOf(talk, revision)),
});

/** Takes in what was there before the operation: stored events, then messages. */
export const takeIn = async ({ talk, input, profile }: Started): Promise<void> => {
  await loadEvents(talk, input, input.events);
  await appendMessages(talk, input.messages);
  await appendWire(talk, profile, input.wire);
};

/** The profile for what the model of the case can do. */
export const configuredFor = (profile: Profile, params: Params): Profile => {
  const capabilities = capabilitiesOf(params);
  return capabilities === undefined ? profile : profile.configure(capabilities);
};

export const inputFor = async (
  { talk, profile }: Pick<Started, 'talk' | 'profile'>,
  params: Params,
): Promise<ContextInput<object>> => contextInputOf(params, profile, await namingOf(talk));

/** A context that was built, or the fault that it was refused with. */
export interface Built {
  readonly contextInput: ContextInput<object>;
  readonly plan?: ContextPlan;
  readonly fault?: CaseFault;
  /** Why there is none, where none was asked for. */
  readonly refusal?: CaseFault;
}

/** A context that nobody asked for: a refusal of it is no failure of the operation. */
export const unasked = ({ fault, ...built }: Built): Built => ({
  ...built,
  ...(fault === undefined ? {} : { refusal: fault }),
});

/** Builds the context of a branch; a refusal is a result here. */
export const build = async (
  started: Pick<Started, 'talk' | 'profile'>,
  params: Params,
  branch: Branch = started.talk.branch,
): Promise<Built> => {
  const contextInput = await inputFor(started, params);
  const built = await attempt(() => branch.preview(contextInput));
  return 'value' in built
    ? { contextInput, plan: built.value }
    : { contextInput, fault: await caseFault(built.fault, viewOf(started.talk)) };
};

/** The request for another profile, under the root of its name. */
export const alsoRoots = async (started: Started, params: Params): Promise<Roots> => {
  const { also_profile: other } = params;
  if (other === undefined) return {};
  const built = await build({ ...started, profile: profileOf(other) }, params);
  const { plan } = built;
  if (plan === undefined) return {};
  return { [`wire_${other}`]: () => Promise.resolve(JSON.parse(plan.text) as unknown) };
};

/** What every operation that builds a context gives. */
export const builtDone = async (
  started: Started,
  built: Built,
  params: Params,
  before: Snapshot,
  more: {
    readonly facts?: Facts;
    readonly roots?: Roots;
    readonly evidence?: Partial<Evidence>;
  } = {},
): Promise<Done> => {
  const { talk, profile } = started;
  const { plan, fault, refusal, contextInput } = built;
  const policy = policyOf(params, await namingOf(talk), profile);
  return {
    ...(fault === undefined ? {} : { fault }),
    facts: {
      ...historyFacts(talk),
      ...eventFacts(talk, () => before),
      executable_tool_calls: () => executable(talk),
      validate_raw: () => rawViolations(talk, profile, policy),
      ...(plan === undefined ? {} : planFacts(talk, plan)),
      ...more.facts,
    },
    roots: {
      ...readRoot(talk, plan),
      ...(plan === undefined ? {} : planRoots(talk, plan)),
      ...(await alsoRoots(started, params)),
      ...more.roots,
    },
    ...(plan === undefined ? {} : { report: reportOf(talk, plan) }),
    evidence: {
      profile: configuredFor(profile, params),
      contextInput,
      ...(plan === undefined ? {} : { plan }),
      ...(refusal === undefined ? {} : { buildFaults: [refusal] }),
      ...more.evidence,
    },
  };
};
