import type { ContextPlan } from '../../../src/domain/context/plan.js';
import { build, builtDone, takeIn, type Built } from '../building.js';
import { wireOf } from '../context-facts.js';
import { appendMessages } from '../events.js';
import type { CaseFault } from '../fault.js';
import type { Params } from '../input-shape.js';
import type { Done, Facts, Operate, Started } from '../run.js';
import { compactNow } from './compacting.js';
import { nameOf, nameSummaries, reopenTalk, rowsOf, type Talk } from '../talk.js';

/** Whether something had to stay out for want of room, so that a compaction may help. */
const isShort = ({ plan }: Built): boolean =>
  plan?.dispositions.some(({ disposition }) => disposition === 'budget') ?? false;

/** The first message that is sent behind those that were left out for want of room. */
const firstKept = ({ dispositions }: ContextPlan): string | null => {
  const last = dispositions.findLastIndex(({ disposition }) => disposition === 'budget');
  return dispositions.slice(last + 1).find((one) => one.in)?.messageId ?? null;
};

interface Tried {
  readonly built: Built;
  readonly faults: readonly CaseFault[];
}

const tryOnce = async (started: Started, params: Params): Promise<Built> => {
  const built = await build(started, params);
  if (params.auto_compact !== true || built.plan === undefined || !isShort(built)) return built;
  await compactNow(started, params, firstKept(built.plan));
  return build(started, params);
};

/** Builds as often as the case says, until it succeeds. */
const tryBuilding = async (started: Started, params: Params): Promise<Tried> => {
  const faults: CaseFault[] = [];
  for (let round = 1; ; round += 1) {
    const built = await tryOnce(started, params);
    if (built.fault !== undefined) faults.push(built.fault);
    if (built.fault === undefined || round >= (params.attempts ?? 1)) return { built, faults };
  }
};

const afterwards = async ({ talk, steps }: Started): Promise<void> => {
  if (steps.after?.append !== undefined) await appendMessages(talk, steps.after.append);
};

/** The newest items of the log, as many as a session read with this limit is asked for. */
const storageRead = async (talk: Talk, limit: number): Promise<readonly string[]> => {
  const rows = await rowsOf(talk);
  return rows.slice(Math.max(0, rows.length - limit)).map(({ id }) => nameOf(talk, id));
};

const limitFacts = (talk: Talk, { max_items: limit }: Params): Facts =>
  limit === undefined || limit === null ? {} : { storage_read_ids: () => storageRead(talk, limit) };

/** Several contexts of one conversation, each behind what was appended before it. */
const buildAll = async (started: Started, params: Params): Promise<readonly Built[]> => {
  const { talk, world } = started;
  const all: Built[] = [];
  for (const { now, append = [], tools_order: order } of params.builds ?? []) {
    if (now !== undefined) world.clock.now = Date.parse(now);
    await appendMessages(talk, append);
    all.push(await build(started, order === undefined ? params : { ...params, tools: order }));
  }
  return all;
};

const plansOf = (builds: readonly Built[]): readonly ContextPlan[] =>
  builds.flatMap(({ plan }) => (plan === undefined ? [] : [plan]));

/** Appends the input, and builds a context of it. */
export const buildContext: Operate = async (started: Started): Promise<Done> => {
  const { talk, input } = started;
  const { params } = input;
  await takeIn(started);
  await afterwards(started);
  if (params.reload_from_store === true) await reopenTalk(talk);
  const before = await started.mark();
  const builds = await buildAll(started, params);
  const last = builds.at(-1);
  const { built, faults } =
    last === undefined
      ? await tryBuilding(started, params)
      : { built: last, faults: last.fault === undefined ? [] : [last.fault] };
  await nameSummaries(talk);
  const plans = plansOf(builds);
  const wires = plans.map((plan) => ({ wire: wireOf(plan) }));
  return builtDone(started, built, params, before.events, {
    facts: limitFacts(talk, params),
    roots: wires.length === 0 ? {} : { builds: () => Promise.resolve(wires) },
    evidence: { buildFaults: faults, ...(plans.length === 0 ? {} : { builds: plans }) },
  });
};

/** As `build_context` without a limit: only the encoded request is looked at. */
export const convert: Operate = (started) => {
  const { max_tokens: _limit, ...params } = started.input.params;
  return buildContext({ ...started, input: { ...started.input, params } });
};
