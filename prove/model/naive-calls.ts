import { commandOf, knownCommand } from './naive-append.js';
import { contextOf } from './naive-context.js';
import {
  done,
  fault,
  guardFault,
  isSealed,
  messagesOf,
  seenBy,
  turnFault,
  turnOf,
  write,
  type Entry,
  type Seen,
  type World,
} from './naive.js';
import type { Expected, Step } from './steps.js';

type Of<K extends Step['do']> = Extract<Step, { readonly do: K }>;

/** Requested and neither answered nor failed; calls of a parent are not this branch's to answer. */
export const openModelCalls = (seen: readonly Seen[]): readonly number[] => {
  const open: number[] = [];
  for (const { entry, own } of seen) {
    if (own && entry.is === 'requested') open.push(entry.call);
    const isOver = entry.is === 'completed' || entry.is === 'failed';
    if (isOver && open.includes(entry.call)) open.splice(open.indexOf(entry.call), 1);
  }
  return open;
};

/** Finished summaries that no compaction used. */
export const unusedSummaries = (seen: readonly Seen[]): readonly number[] => {
  const unused: number[] = [];
  for (const { entry, own } of seen) {
    if (!own || entry.is !== 'completed' || entry.late) continue;
    const request = seen.find(
      (one) => one.entry.is === 'requested' && one.entry.call === entry.call,
    )?.entry;
    const isUsed = seen.some(
      (one) => one.entry.is === 'compacted' && one.entry.madeBy === entry.call,
    );
    if (request?.is === 'requested' && request.purpose === 'compaction' && !isUsed) {
      unused.push(entry.call);
    }
  }
  return unused;
};

const requestOf = (seen: readonly Seen[], call: number) => {
  for (const { entry } of seen) {
    if (entry.is === 'requested' && entry.call === call) return entry;
  }
  return undefined;
};

export const request = (world: World, step: Of<'request'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const before = step.retryOf === undefined ? undefined : requestOf(seen, step.retryOf);
  if (step.retryOf !== undefined && before === undefined) return fault('NotFound');
  const refused = guardFault(seen, run);
  const { open } = contextOf(world, step.branch);
  const tags = [
    ...(refused === undefined ? [] : [refused]),
    ...(open.length > 0 ? ['OpenToolCalls'] : []),
  ];
  if (tags.length > 0) return fault(...tags);
  const call = world.calls++;
  const attempt = (before?.attempt ?? 0) + 1;
  const opens = step.purpose === 'turn' && turnOf(seen) === undefined;
  const answer = { call, attempt };
  write(
    world,
    step.branch,
    [
      ...(opens ? [{ is: 'turn', run } as const] : []),
      { is: 'requested', call, purpose: step.purpose, attempt },
    ],
    commandOf(step, answer),
  );
  return done(answer);
};

const contentOf = ({ answer: { id, text, calls } }: Of<'complete'>): string =>
  JSON.stringify([id, text, calls]);

/** An answer to a call that is over: known, another one, or late, which is for audit only. */
const completeClosed = (world: World, step: Of<'complete'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const requested = requestOf(seen, step.call);
  if (requested === undefined) return fault('NotFound');
  const over = seen.flatMap(({ entry }) =>
    (entry.is === 'completed' || entry.is === 'failed') && entry.call === step.call ? [entry] : [],
  );
  const completed = over.find((entry) => entry.is === 'completed');
  if (completed?.is === 'completed') {
    if (completed.late) return done({}, true);
    if (requested.purpose !== 'turn') return done({}, true);
    return completed.content === contentOf(step)
      ? done({ message: step.answer.id }, true)
      : fault('MessageIdConflict');
  }
  const failed = over.find((entry) => entry.is === 'failed');
  if (failed?.is !== 'failed' || !failed.lost) return fault('NotFound');
  const refused = [
    ...(isSealed(seen) ? ['ConversationIsClosed'] : []),
    ...(turnFault(seen, run) === 'RunSuperseded' ? ['RunSuperseded'] : []),
  ];
  if (refused.length > 0) return fault(...refused);
  const late: Entry = { is: 'completed', call: step.call, late: true, content: contentOf(step) };
  write(world, step.branch, [late], commandOf(step, {}));
  return done({}, false);
};

export const complete = (world: World, step: Of<'complete'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  if (!openModelCalls(seen).includes(step.call)) return completeClosed(world, step, run);
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const purpose = requestOf(seen, step.call)?.purpose;
  const { id, text, calls, status } = step.answer;
  const completed = { is: 'completed', call: step.call, late: false, content: contentOf(step) };
  if (purpose !== 'turn') {
    write(world, step.branch, [completed as Entry], commandOf(step, {}));
    return done({}, false);
  }
  if (messagesOf(world, step.branch).some((message) => message.id === id)) {
    return fault('MessageIdConflict');
  }
  const ends = calls.length === 0 && turnOf(seen) !== undefined;
  write(
    world,
    step.branch,
    [
      { is: 'message', id, role: 'assistant', text, calls, status },
      { ...completed, message: id } as Entry,
      ...(ends ? [{ is: 'ended', outcome: 'completed' } as const] : []),
    ],
    commandOf(step, { message: id }),
  );
  return done({ message: id }, false);
};

export const fail = (world: World, step: Of<'fail'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const { call, partial, ends } = step;
  const answer = partial === undefined ? {} : { message: partial.id };
  if (!openModelCalls(seen).includes(call)) {
    const known = seen.find(({ entry }) => entry.is === 'failed' && entry.call === call)?.entry;
    if (known?.is !== 'failed') return fault('NotFound');
    return done(known.partial === undefined ? {} : { message: known.partial }, true);
  }
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const isKnown = messagesOf(world, step.branch).some(({ id }) => id === partial?.id);
  if (isKnown) return fault('MessageIdConflict');
  const message: Entry[] =
    partial === undefined
      ? []
      : [{ is: 'message', role: 'assistant', calls: [], status: 'interrupted', ...partial }];
  const ended: Entry[] =
    ends === undefined || turnOf(seen) === undefined ? [] : [{ is: 'ended', outcome: ends }];
  write(
    world,
    step.branch,
    [
      ...message,
      { is: 'failed', call, lost: false, ...(partial && { partial: partial.id }) },
      ...ended,
    ],
    commandOf(step, answer),
  );
  return done(answer, false);
};

export const claim = (world: World, step: Of<'claim'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  if (isSealed(seen)) return fault('ConversationIsClosed');
  const turn = turnOf(seen);
  if (turn === undefined || turn.run === run) return done({}, true);
  write(world, step.branch, [{ is: 'claimed', run }]);
  return done({}, false);
};

export const endTurn = (world: World, step: Of<'endTurn'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  if (turnOf(seen) === undefined) return done({}, true);
  write(world, step.branch, [{ is: 'ended', outcome: step.outcome }]);
  return done({}, false);
};
