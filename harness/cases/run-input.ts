import type { Upcast, Upcasts } from '../../src/domain/events/catalog.js';
import { contentDigest, type Role } from '../../src/domain/message.js';
import { isStemmaError } from '../../src/index.js';
import { viewOf } from './building.js';
import { callIdsIn } from './call-ids.js';
import { eventFacts, historyFacts, readRoot } from './facts.js';
import { caseFault } from './fault.js';
import { momentOf } from './moment.js';
import { append, appendConcurrent } from './operations/append.js';
import { assembleStream } from './operations/assemble-stream.js';
import { branch, regenerate } from './operations/branches.js';
import { buildContext, convert } from './operations/build-context.js';
import { compact } from './operations/compact.js';
import { estimateTokens } from './operations/estimate.js';
import { importFile } from './operations/import.js';
import { load } from './operations/load.js';
import { multiTenant } from './operations/multi-tenant.js';
import { perf } from './operations/perf.js';
import { replay } from './operations/replay.js';
import { resume } from './operations/resume.js';
import { roundtrip } from './operations/roundtrip.js';
import { contextInputOf } from './policy.js';
import { profileOf, targetOf } from './profiles.js';
import type { CaseInput } from './read-case.js';
import type { Done, Moment, Operate, Run, Started, Steps } from './run.js';
import { isFields, refuse } from './shape.js';
import { handleOf, namingOf, openTalk, type Talk } from './talk.js';
import type { Operation, StoreName } from './words.js';
import { openWorld } from './world.js';

const operates: Readonly<Record<Exclude<Operation, 'redact'>, Operate>> = {
  append,
  append_concurrent: appendConcurrent,
  build_context: buildContext,
  convert,
  compact,
  roundtrip,
  load,
  import: importFile,
  resume,
  assemble_stream: assembleStream,
  regenerate,
  branch,
  replay,
  estimate_tokens: estimateTokens,
  perf,
  multi_tenant: multiTenant,
};

const roles: readonly string[] = ['system', 'developer', 'user', 'assistant', 'tool'];

const isRole = (role: unknown): role is Role => typeof role === 'string' && roles.includes(role);

/** A stored message of the present version, made of whatever an older or newer one holds. */
const toPresent: Upcast = (data) => {
  const { id, role, content } = isFields(data)
    ? (data as { readonly id?: unknown; readonly role?: unknown; readonly content?: unknown })
    : {};
  const blocks = [
    { type: 'text' as const, text: typeof content === 'string' ? content : JSON.stringify(data) },
  ];
  const message = {
    role: isRole(role) ? role : ('user' as const),
    blocks,
    toolCalls: [],
    answers: [],
  };
  return {
    message: {
      id: typeof id === 'string' ? id : 'upcast',
      role: message.role,
      blocks: { slot: 'upcast', inline: JSON.stringify(blocks) },
      toolCalls: [],
      provenance: { kind: 'app' },
      trust: 'user',
      status: 'confirmed',
      contentDigest: contentDigest(message),
    },
  };
};

/** Extra upcasters by the names that a case gives. */
const upcastsFor = (names: readonly string[]): Upcasts =>
  Object.fromEntries(
    names.map((name) => {
      if (!/^\w+@\d+$/.test(name)) refuse('/input/params/upcasters', `${name} is no Type@version`);
      const isMessage = name.startsWith('MessageAppended@');
      return [name, isMessage ? toPresent : (data: unknown) => data];
    }),
  );

const storeFor = ({ params }: CaseInput, store: StoreName): StoreName =>
  typeof params.store === 'object' ? params.store.kind : (params.stores?.[0] ?? store);

const contextInput = async (talk: Talk, input: CaseInput) => {
  const profile = profileOf(input.profile, targetOf(input.params));
  try {
    return contextInputOf(input.params, profile, await namingOf(talk));
  } catch (error) {
    // A history that cannot be read has no names; the fault itself is found by the operation.
    if (!isStemmaError(error)) throw error;
    const idOf = (name: string): string => name;
    return contextInputOf(input.params, profile, { idOf, setup: talk.setup, summaries: [] });
  }
};

/** What an operation did not expect of its own input is a failure of the operation. */
const refusedInput = async (started: Started, error: unknown, before: Moment): Promise<Done> => {
  if (!isStemmaError(error)) throw error;
  const { talk, profile } = started;
  return {
    fault: await caseFault(error.data, viewOf(talk)),
    facts: { ...historyFacts(talk), ...eventFacts(talk, () => before.events) },
    roots: readRoot(talk),
    evidence: { profile },
  };
};

/** Worlds that were opened for a case, to be closed when it is judged. */
export type Opened = (() => Promise<void>)[];

const operate = async (
  operation: Operate,
  started: Started,
  before: () => Moment,
): Promise<Done> => {
  try {
    return await operation(started);
  } catch (error) {
    return refusedInput(started, error, before());
  }
};

const bytesAfterClosing = async (talk: Talk): Promise<number> => {
  const bytes = await talk.world.closedBytes();
  talk.branch = await handleOf(talk, talk.branch.branch);
  return bytes;
};

const instantOf = (time: string): number => {
  const at = Date.parse(time);
  return Number.isNaN(at) ? refuse('/input/params/clock', `${time} is no time`) : at;
};

/** Runs an input on a fresh store. */
export const runInput = async (
  input: CaseInput,
  store: StoreName,
  steps: Steps,
  opened: Opened,
): Promise<Run> => {
  if (input.operation === 'redact') return refuse('/input', 'operation redact comes later');
  const world = await openWorld(storeFor(input, store), upcastsFor(input.params.upcasters ?? []));
  opened.push(world.dispose);
  const { clock } = input.params;
  if (clock !== undefined) world.clock.now = instantOf(clock);
  const talk = await openTalk(world, callIdsIn(input, steps));
  const profile = profileOf(input.profile, targetOf(input.params));
  const look = async (): Promise<Moment> => momentOf(talk, await contextInput(talk, input));
  let before = await look();
  const mark = async (): Promise<Moment> => {
    before = await look();
    return before;
  };
  const started: Started = { input, steps, world, talk, profile, mark };
  const done = await operate(operates[input.operation], started, () => before);
  const roots = { ...done.roots, stored_bytes: () => bytesAfterClosing(talk) };
  return { ...done, roots, started, input, world, talk, before, after: await look() };
};
