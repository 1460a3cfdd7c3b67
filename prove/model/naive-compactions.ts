import { commandOf, knownCommand } from './naive-append.js';
import { contextOf } from './naive-context.js';
import { follow, holdsRun, liveCompactions, madeOn } from './naive-live.js';
import { stateReason, surfaceOf } from './naive-surface.js';
import {
  done,
  fault,
  guardFault,
  messagesOf,
  openCallsOf,
  seenBy,
  write,
  type Entry,
  type Run,
  type SeenMessage,
  type World,
} from './naive.js';
import { pendingApprovals } from './naive-tools.js';
import type { Expected, Step } from './steps.js';

type Of<K extends Step['do']> = Extract<Step, { readonly do: K }>;
interface Candidate {
  readonly id: string;
  readonly isIn: boolean;
  readonly isFixed: boolean;
  readonly message?: SeenMessage;
}

/** What a context would be made of: summaries stand before the first message that they cover. */
const candidatesOf = (world: World, branch: number): readonly Candidate[] => {
  const live = liveCompactions(world, branch);
  const { reasons } = contextOf(world, branch);
  const list: Candidate[] = [];
  const placed = new Set<string>();
  for (const message of surfaceOf(world, branch)) {
    for (const { id, covered, changed, stands } of live) {
      if (!stands || !covered.includes(message.id) || placed.has(id)) continue;
      placed.add(id);
      list.push({ id, isIn: changed.length === 0, isFixed: false });
    }
    const isIn = reasons.find(([id]) => id === message.id)?.[1] === 'in';
    const isFixed = message.role === 'system' || message.role === 'developer';
    list.push({ id: message.id, isIn, isFixed, message });
  }
  return list;
};

/** Places of an assistant message with calls and of the results that are sent with it. */
const unitsOf = (list: readonly Candidate[]): readonly (readonly number[])[] =>
  list.flatMap(({ id, isIn, message }, index) => {
    if (!isIn || (message?.calls.length ?? 0) === 0) return [];
    const results = list.flatMap((other, at) =>
      other.isIn && other.message?.answers?.message === id ? [at] : [],
    );
    return [[index, ...results]];
  });

const runsOver = (surface: readonly SeenMessage[], ids: readonly string[]): readonly Run[] => {
  const runs: { branch: number; from: number; to: number }[] = [];
  let isOpen = false;
  for (const message of surface) {
    const { id, branch, at } = message;
    if (!ids.includes(id)) {
      // What is out anyway ends no run.
      if (stateReason(message) === undefined) isOpen = false;
      continue;
    }
    const last = runs.at(-1);
    if (isOpen && last?.branch === branch && at > last.to) last.to = at;
    else runs.push({ branch, from: at, to: at });
    isOpen = true;
  }
  return runs;
};

const meets = (a: readonly Run[], b: readonly Run[]): boolean =>
  a.some((run) =>
    b.some((other) => run.branch === other.branch && run.from <= other.to && other.from <= run.to),
  );

const isPartOver = (a: readonly Run[], b: readonly Run[]): boolean =>
  meets(a, b) && !a.every((run) => holdsRun(b, run)) && !b.every((run) => holdsRun(a, run));

/** The ids that would be covered; undefined when nothing may be. */
const coveredBy = (world: World, step: Of<'compact'>): readonly string[] | undefined => {
  const list = candidatesOf(world, step.branch);
  const wanted =
    step.keepFrom === null ? list.length : list.findIndex(({ id }) => id === step.keepFrom);
  if (wanted < 0) return undefined;
  let cut = wanted;
  const units = unitsOf(list);
  const splits = (unit: readonly number[]): boolean =>
    unit.some((at) => at < cut) && unit.some((at) => at >= cut);
  for (let unit = units.find(splits); unit !== undefined; unit = units.find(splits)) {
    cut = Math.min(...unit);
  }
  const covered = list
    .slice(0, cut)
    .filter(({ isIn, isFixed }) => isIn && !isFixed)
    .map(({ id }) => id);
  const { open } = contextOf(world, step.branch);
  const waiting = pendingApprovals(world, step.branch).map(({ call }) => call.message);
  const still = openCallsOf(world, step.branch).map(({ message }) => message);
  const isHeld = covered.some(
    (id) =>
      waiting.includes(id) || still.includes(id) || open.some((name) => name.endsWith(` ${id}`)),
  );
  return covered.length === 0 || isHeld ? undefined : covered;
};

export const compact = (world: World, step: Of<'compact'>, run: string): Expected => {
  const { branch } = step;
  const seen = seenBy(world, branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const covered = coveredBy(world, step);
  const all = covered === undefined ? [] : follow(world, branch, covered);
  const runs = runsOver(surfaceOf(world, branch), all);
  const overlaps = madeOn(world, branch).some(({ entry }) => isPartOver(entry.runs, runs));
  const refused = guardFault(seen, run);
  const isKnown = messagesOf(world, branch).some(({ id }) => id === step.id);
  const tags = [
    ...(covered === undefined || overlaps ? ['CompactionInvalid'] : []),
    ...(refused === undefined ? [] : [refused]),
    ...(isKnown ? ['MessageIdConflict'] : []),
  ];
  if (covered === undefined || tags.length > 0) return fault(...tags);
  const compaction = world.compactions++;
  const { id, text, madeBy } = step;
  const made = madeBy === undefined ? {} : { madeBy };
  const entry: Entry = { is: 'compacted', compaction, id, text, covered, runs, ...made };
  const answer = { compaction, covered };
  write(world, branch, [entry], commandOf(step, answer));
  return done(answer);
};

export const undo = (world: World, step: Of<'undo'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const { compaction } = step;
  const isKnown = seen.some(
    ({ entry }) => entry.is === 'reverted' && entry.compaction === compaction,
  );
  if (isKnown) return done({ compaction }, true);
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const isThere = madeOn(world, step.branch).some((made) => made.entry.compaction === compaction);
  if (!isThere) return fault('NotFound');
  write(world, step.branch, [{ is: 'reverted', compaction }], commandOf(step, { compaction }));
  return done({ compaction }, false);
};

/** Copies of messages of another branch, as its surface has them now. */
export const merge = (world: World, step: Of<'merge'>, run: string): Expected => {
  const { branch, from, ids } = step;
  const seen = seenBy(world, branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const picked = surfaceOf(world, from).filter(({ id }) => ids.includes(id));
  if (ids.some((id) => !picked.some((message) => message.id === id))) return fault('NotFound');
  const isTorn = picked.some(
    (message) =>
      stateReason(message) !== undefined || message.role === 'tool' || message.calls.length > 0,
  );
  if (isTorn) return fault('InvalidShape');
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  if (picked.length === 0) return fault('InvalidShape');
  const copies = picked.map((message, index): Entry => ({
    is: 'message',
    id: `auto ${world.batches} ${index}`,
    role: message.role,
    text: message.text,
    calls: [],
    status: 'confirmed',
    origin: { id: message.id, branch: message.branch, at: message.at },
  }));
  const answer = { copies: copies.length };
  write(world, branch, [{ is: 'merged' }, ...copies], commandOf(step, answer));
  return done(answer, false);
};
