import { append, commandOf, knownCommand } from './naive-append.js';
import { endTurn, openModelCalls } from './naive-calls.js';
import {
  done,
  fault,
  guardFault,
  isClosedCall,
  isSealed,
  openCallsOf,
  sameCall,
  seenBy,
  write,
  type OpenCall,
  type Seen,
  type World,
} from './naive.js';
import type { CallName, Expected, RecoverChoice, Step } from './steps.js';

type Of<K extends Step['do']> = Extract<Step, { readonly do: K }>;

const findOpen = (world: World, branch: number, name: CallName): OpenCall | undefined =>
  openCallsOf(world, branch).find((call) => sameCall(call, name));

const notOpen = (seen: readonly Seen[], name: CallName): Expected =>
  fault(isClosedCall(seen, name) ? 'DuplicateToolResult' : 'NotFound');

/** A tool that may have acted never runs again unasked; one approval never pays twice. */
export const mayNotStart = (call: OpenCall, effect: string): boolean => {
  const harmful = (call.effect ?? effect) === 'non_idempotent';
  if (call.state === 'awaiting_approval' || call.state === 'denied') return true;
  if (call.state === 'started' && harmful) return true;
  return call.inherited && harmful && !call.approved;
};

export const startTool = (world: World, step: Of<'startTool'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const call = findOpen(world, step.branch, step.call);
  if (call === undefined) return notOpen(seen, step.call);
  if (mayNotStart(call, step.effect)) return fault('InvalidArgument');
  const attempt = call.attempt + 1;
  const key = call.key ?? step.key;
  const { effect } = step;
  const answer = { attempt, key };
  write(
    world,
    step.branch,
    [{ is: 'started', call: step.call, attempt, effect, key }],
    commandOf(step, answer),
  );
  return done(answer, false);
};

export const abandon = (world: World, step: Of<'abandon'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const isKnown = seen.some(
    ({ entry }) => entry.is === 'abandoned' && sameCall(entry.call, step.call),
  );
  if (isKnown) return done({}, true);
  const call = findOpen(world, step.branch, step.call);
  if (call === undefined) return notOpen(seen, step.call);
  const { callId } = call;
  write(world, step.branch, [{ is: 'abandoned', call: step.call, callId }], commandOf(step, {}));
  return done({}, false);
};

export const ask = (world: World, step: Of<'ask'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  // An approval that was asked for on a parent is not one of this branch.
  const known = seen.find(
    ({ entry, own }) => own && entry.is === 'asked' && entry.request === step.request,
  )?.entry;
  if (known?.is === 'asked') {
    return sameCall(known.call, step.call)
      ? done({ request: step.request }, true)
      : fault('InvalidArgument');
  }
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  if (findOpen(world, step.branch, step.call) === undefined) return notOpen(seen, step.call);
  const { call, request, expires } = step;
  const answer = { request };
  write(
    world,
    step.branch,
    [{ is: 'asked', call, request, ...(expires === undefined ? {} : { expires }) }],
    commandOf(step, answer),
  );
  return done(answer, false);
};

export interface PendingApproval {
  readonly request: string;
  readonly call: CallName;
  readonly expires?: 'past' | 'future';
}

/** Asked on this branch, unanswered, and their call still waits. */
export const pendingApprovals = (world: World, branch: number): readonly PendingApproval[] => {
  const seen = seenBy(world, branch).filter(({ own }) => own);
  return seen.flatMap(({ entry }) => {
    if (entry.is !== 'asked' || isClosedCall(seen, entry.call)) return [];
    const isResolved = seen.some(
      (one) => one.entry.is === 'resolved' && one.entry.request === entry.request,
    );
    const { request, call, expires } = entry;
    return isResolved ? [] : [{ request, call, ...(expires === undefined ? {} : { expires }) }];
  });
};

export const resolve = (world: World, step: Of<'resolve'>): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  if (isSealed(seen)) return fault('ConversationIsClosed');
  const { request, outcome } = step;
  if (!pendingApprovals(world, step.branch).some((pending) => pending.request === request)) {
    const before = seen.find(
      ({ entry, own }) => own && entry.is === 'resolved' && entry.request === request,
    )?.entry;
    if (before?.is !== 'resolved') return fault('NotFound');
    return before.outcome === outcome ? done({ outcome }, true) : fault('InvalidArgument');
  }
  write(world, step.branch, [{ is: 'resolved', request, outcome }], commandOf(step, { outcome }));
  return done({ outcome }, false);
};

/** A started call whose tool may have acted. */
export const needsWord = (call: OpenCall): boolean =>
  call.state === 'started' && call.effect === 'non_idempotent';

export const UNKNOWN_TEXT =
  'The outcome of this call is not known: the process that ran it stopped.';

const closeTool = (
  world: World,
  step: Of<'recover'>,
  choice: RecoverChoice,
  run: string,
): Expected => {
  const { branch, handle } = step;
  const { call } = choice;
  const commandId = `recover.${run}.tool.${call.index} ${call.message}`;
  const on = { branch, handle, commandId };
  if (choice.do === 'abandon') return abandon(world, { do: 'abandon', call, ...on }, run);
  const text = choice.do === 'unknown' ? UNKNOWN_TEXT : `recovered ${call.message}`;
  const item = {
    id: `auto ${world.batches}`,
    role: 'tool' as const,
    text,
    answers: { ref: call },
    outcome: choice.do === 'unknown' ? ('unknown' as unknown as 'ok') : ('ok' as const),
  };
  return append(world, { do: 'append', items: [item], ...on }, run);
};

/** Closes what is open, one thing after the other; stops at the first that is refused. */
export const recover = (world: World, step: Of<'recover'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const lost = openModelCalls(seen);
  const open = openCallsOf(world, step.branch);
  const choices = step.tools.filter(({ call }) => open.some((one) => sameCall(one, call)));
  const expired = pendingApprovals(world, step.branch).filter(({ expires }) => expires === 'past');
  for (const call of lost) {
    const refused = guardFault(seenBy(world, step.branch), run);
    if (refused !== undefined) return fault(refused);
    write(world, step.branch, [{ is: 'failed', call, lost: true }]);
  }
  for (const { request } of expired) {
    if (isSealed(seen)) return fault('ConversationIsClosed');
    write(world, step.branch, [{ is: 'resolved', request, outcome: 'expired' }]);
  }
  for (const choice of choices) {
    const closed = closeTool(world, step, choice, run);
    if (closed.kind === 'fault') return closed;
  }
  if (step.ends !== undefined) {
    const { branch, handle } = step;
    const ended = endTurn(world, { do: 'endTurn', outcome: step.ends, branch, handle }, run);
    if (ended.kind === 'fault') return ended;
  }
  const undecided = openCallsOf(world, step.branch)
    .filter((call) => needsWord(call) && !step.tools.some((choice) => sameCall(choice.call, call)))
    .map(({ message, index }) => ({ message, index }));
  const closed = choices.map(({ call }) => call);
  return done({ lost, closed, expired: expired.map(({ request }) => request), undecided });
};
