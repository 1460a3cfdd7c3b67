/**
 * The engine again, as slowly and plainly as can be: arrays of what happened, and loops over them.
 * Written from the words of the design, apart from the engine: nothing of `src` is used here.
 */
import type {
  Answered,
  DirectoryEntry,
  Entry,
  NaiveBranch,
  Origin,
  World,
  Written,
} from './naive-log.js';
import type { CallName, Effect, Expected, Item, Status } from './steps.js';

export type { Answered, DirectoryEntry, Entry, Origin, Run, World, Written } from './naive-log.js';

/** An event as a branch sees it: where it stands, and whether it was written after the fork. */
export interface Seen extends Written<Entry> {
  readonly branch: number;
  readonly at: number;
  readonly own: boolean;
}

export const newWorld = (): World => ({
  branches: [{ log: [{ entry: { is: 'begun' }, batch: 0 }] }],
  directory: [
    { entry: { is: 'started' }, batch: 0 },
    { entry: { is: 'registered', branch: 0, name: 'main' }, batch: 0 },
  ],
  batches: 1,
  calls: 0,
  compactions: 0,
});

/** What was worked out for each branch, until something is written: it is asked for again and again. */
interface Remembered {
  batches: number;
  readonly seen: Map<number, readonly Seen[]>;
  readonly messages: Map<number, readonly SeenMessage[]>;
}

const remembered = new WeakMap<World, Remembered>();

const memoryOf = (world: World): Remembered => {
  const known = remembered.get(world) ?? { batches: -1, seen: new Map(), messages: new Map() };
  if (known.batches !== world.batches) {
    known.seen.clear();
    known.messages.clear();
    known.batches = world.batches;
  }
  remembered.set(world, known);
  return known;
};

/** The events that a branch sees: its ancestors up to each fork point, then its own. */
export const seenBy = (world: World, branch: number): readonly Seen[] => {
  const { seen } = memoryOf(world);
  const known = seen.get(branch);
  if (known !== undefined) return known;
  const all: Seen[] = [];
  let upTo = Number.MAX_SAFE_INTEGER;
  for (let at: number | undefined = branch; at !== undefined;) {
    const here: NaiveBranch | undefined = world.branches[at];
    if (here === undefined) break;
    const part: Seen[] = [];
    for (const [index, written] of here.log.entries()) {
      if (index > upTo) break;
      part.push({ ...written, branch: at, at: index, own: at === branch });
    }
    all.unshift(...part);
    upTo = here.parent?.upTo ?? -1;
    at = here.parent?.branch;
  }
  seen.set(branch, all);
  return all;
};

export const headOf = (world: World, branch: number): number =>
  (world.branches[branch]?.log.length ?? 0) - 1;

export const isSealed = (seen: readonly Seen[]): boolean => {
  let sealed = false;
  for (const { entry, own } of seen) {
    if (own && entry.is === 'sealed') sealed = true;
    if (own && entry.is === 'unsealed') sealed = false;
  }
  return sealed;
};

/** The run that has the open turn, and the runs that had it before. */
export const turnOf = (
  seen: readonly Seen[],
): { readonly run: string; readonly former: readonly string[] } | undefined => {
  let runs: string[] = [];
  for (const { entry, own } of seen) {
    if (!own) continue;
    if (entry.is === 'turn') runs = [entry.run];
    if (entry.is === 'claimed') runs.push(entry.run);
    if (entry.is === 'ended') runs = [];
  }
  const run = runs.at(-1);
  return run === undefined ? undefined : { run, former: runs.filter((earlier) => earlier !== run) };
};

/** A turn has one writer; who had it before is told so. */
export const turnFault = (seen: readonly Seen[], run: string): string | undefined => {
  const turn = turnOf(seen);
  if (turn === undefined || turn.run === run) return undefined;
  return turn.former.includes(run) ? 'RunSuperseded' : 'TurnOpen';
};

export const guardFault = (seen: readonly Seen[], run: string): string | undefined =>
  isSealed(seen) ? 'ConversationIsClosed' : turnFault(seen, run);

export interface SeenMessage {
  readonly id: string;
  readonly kind: 'message' | 'result' | 'summary';
  readonly role: Item['role'];
  readonly text: string;
  readonly calls: readonly string[];
  readonly answers?: Answered;
  readonly outcome?: string;
  readonly late: boolean;
  readonly origin?: Origin;
  readonly recorded: Status;
  readonly branch: number;
  readonly at: number;
  readonly own: boolean;
  status: Status;
  withdrawn: boolean;
  readonly redacted: boolean;
}

const isRedacted = (world: World, place: { readonly branch: number; readonly at: number }) =>
  world.directory.some(
    ({ entry }) =>
      entry.is === 'redacted' && entry.branch === place.branch && entry.at === place.at,
  );

/** A copy is hidden with its original, and that with the one that it is a copy of. */
const isHidden = (
  world: World,
  seen: { readonly branch: number; readonly at: number },
): boolean => {
  if (isRedacted(world, seen)) return true;
  const entry = world.branches[seen.branch]?.log[seen.at]?.entry;
  const origin = entry?.is === 'message' ? entry.origin : undefined;
  return origin !== undefined && isHidden(world, origin);
};

const base = (world: World, seen: Seen) => ({
  branch: seen.branch,
  at: seen.at,
  own: seen.own,
  late: false,
  withdrawn: false,
  redacted: isHidden(world, seen),
});

const messageIn = (world: World, seen: Seen): SeenMessage | undefined => {
  const { entry } = seen;
  const common = base(world, seen);
  if (entry.is === 'message') {
    const { id, role, text, calls, status, origin } = entry;
    const own = { id, role, text, calls, recorded: status, status };
    return { ...common, kind: 'message', ...own, ...(origin === undefined ? {} : { origin }) };
  }
  if (entry.is === 'result') {
    const { id, text, answers, outcome, late, status } = entry;
    const own = { id, text, answers, outcome, late, calls: [], recorded: status, status };
    return { ...common, kind: 'result', role: 'tool', ...own };
  }
  if (entry.is !== 'compacted') return undefined;
  const { id, text } = entry;
  const own = { id, text, calls: [], recorded: 'confirmed', status: 'confirmed' } as const;
  return { ...common, kind: 'summary', role: 'user', ...own };
};

/** Messages in log order, each with what became of it. */
export const messagesOf = (world: World, branch: number): readonly SeenMessage[] => {
  const memory = memoryOf(world);
  const before = memory.messages.get(branch);
  if (before !== undefined) return before;
  const messages: SeenMessage[] = [];
  for (const seen of seenBy(world, branch)) {
    const message = messageIn(world, seen);
    if (message !== undefined) messages.push(message);
    const { entry } = seen;
    for (const known of messages) {
      if (entry.is === 'status' && entry.id === known.id) known.status = entry.to;
      if (entry.is === 'withdrawn' && entry.ids.includes(known.id)) known.withdrawn = true;
    }
  }
  memory.messages.set(branch, messages);
  return messages;
};

export const sameCall = (a: CallName, b: CallName): boolean =>
  a.message === b.message && a.index === b.index;

export interface OpenCall extends CallName {
  readonly callId: string;
  readonly inherited: boolean;
  state: 'not_started' | 'started' | 'awaiting_approval' | 'denied';
  approved: boolean;
  attempt: number;
  effect?: Effect;
  key?: string;
}

/** What happened to a call on this branch itself: starts and approvals do not come with a fork. */
const live = (call: OpenCall, seen: readonly Seen[]): OpenCall => {
  for (const { entry, own } of seen) {
    if (!own) continue;
    if (entry.is === 'started' && sameCall(entry.call, call)) {
      const { attempt, effect, key } = entry;
      Object.assign(call, { state: 'started', attempt, effect, key: call.key ?? key });
    }
    if (entry.is === 'asked' && sameCall(entry.call, call)) {
      Object.assign(call, { state: 'awaiting_approval', approved: false });
    }
    if (entry.is !== 'resolved') continue;
    const { request, outcome } = entry;
    const asked = seen.some(
      (other) =>
        other.own &&
        other.entry.is === 'asked' &&
        other.entry.request === request &&
        sameCall(other.entry.call, call),
    );
    if (!asked) continue;
    // A word about a call that has started says nothing about running it once more.
    call.approved = outcome === 'approved';
    call.state = call.attempt > 0 ? 'started' : call.approved ? 'not_started' : 'denied';
  }
  return call;
};

export const isClosedCall = (seen: readonly Seen[], call: CallName): boolean =>
  seen.some(
    ({ entry }) =>
      (entry.is === 'result' && sameCall(entry.answers, call)) ||
      (entry.is === 'abandoned' && sameCall(entry.call, call)),
  );

/** Calls of confirmed messages that have neither a result nor an abandonment. */
export const openCallsOf = (world: World, branch: number): readonly OpenCall[] => {
  const seen = seenBy(world, branch);
  const open: OpenCall[] = [];
  for (const { id, calls, status, withdrawn, own } of messagesOf(world, branch)) {
    if (status !== 'confirmed' || withdrawn) continue;
    for (const [index, callId] of calls.entries()) {
      const name = { message: id, index };
      if (isClosedCall(seen, name)) continue;
      const fresh = { state: 'not_started', approved: false, attempt: 0 } as const;
      open.push(live({ ...name, callId, inherited: !own, ...fresh }, seen));
    }
  }
  return open;
};

/** Writes events together; the first carries the command. */
export const write = (
  world: World,
  branch: number,
  entries: readonly Entry[],
  command?: Written<Entry>['command'],
): void => {
  const log = world.branches[branch]?.log;
  if (log === undefined || entries.length === 0) return;
  const batch = world.batches++;
  for (const [index, entry] of entries.entries()) {
    log.push({ entry, batch, ...(index === 0 && command !== undefined ? { command } : {}) });
  }
};

export const writeDirectory = (
  world: World,
  entries: readonly DirectoryEntry[],
  command?: Written<Entry>['command'],
): void => {
  const batch = world.batches++;
  for (const [index, entry] of entries.entries()) {
    const first = index === 0 && command !== undefined;
    world.directory.push({ entry, batch, ...(first ? { command } : {}) });
  }
};

export const fault = (...tags: readonly string[]): Expected => ({ kind: 'fault', tags });

export const done = (answer: unknown, replayed?: boolean): Expected => ({
  kind: 'done',
  answer,
  ...(replayed === undefined ? {} : { replayed }),
});
