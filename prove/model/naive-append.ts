import {
  done,
  fault,
  headOf,
  isSealed,
  messagesOf,
  openCallsOf,
  sameCall,
  seenBy,
  turnFault,
  write,
  type Answered,
  type Entry,
  type OpenCall,
  type Seen,
  type SeenMessage,
  type World,
  type Written,
} from './naive.js';
import type { Expected, Item, Step } from './steps.js';

type Append = Extract<Step, { readonly do: 'append' }>;

/** What of a step counts as its input, for command ids. */
export const inputOf = (step: Step): string => {
  const { handle: _handle, branch, commandId: _commandId, ...action } = step;
  if (action.do === 'append') return JSON.stringify(action.items);
  // In the directory the branch is a part of the input; on a branch it is where the command is known.
  return JSON.stringify(ofDirectory.includes(action.do) ? [branch, action] : action);
};

const ofDirectory: readonly Step['do'][] = [
  'label',
  'promote',
  'annotate',
  'redact',
  'fork',
  'retry',
];

/** The answer of a command that was given before; undefined for one that is new. */
export const knownCommand = (
  written: readonly Written<unknown>[],
  step: Step,
): Expected | undefined => {
  if (step.commandId === undefined) return undefined;
  for (const { command } of written) {
    if (command?.id !== step.commandId) continue;
    return command.input === inputOf(step) ? command.answer : fault('CommandConflict');
  }
  return undefined;
};

/** What is kept with the first event of a command. */
export const commandOf = (step: Step, answer: unknown): Written<Entry>['command'] =>
  step.commandId === undefined
    ? undefined
    : { id: step.commandId, input: inputOf(step), answer: done(answer, true) };

const named = (item: Item, call: Answered): boolean => {
  if (item.answers === undefined) return false;
  return 'ref' in item.answers
    ? sameCall(item.answers.ref, call)
    : item.answers.callId === call.callId;
};

const sameContent = (item: Item, known: SeenMessage): boolean =>
  item.role === known.role &&
  item.text === known.text &&
  JSON.stringify(item.calls ?? []) === JSON.stringify(known.calls) &&
  (item.role === 'tool' ? (item.outcome ?? 'ok') : undefined) === known.outcome &&
  (known.answers === undefined || named(item, known.answers));

interface Place {
  readonly id: string;
  readonly status: 'written' | 'replayed';
  readonly branch: number;
  readonly at: number;
}

const known = ({ id, branch, at }: SeenMessage): Place => ({ id, status: 'replayed', branch, at });

interface Split {
  readonly places: readonly Place[];
  readonly rest: readonly Item[];
  readonly fault?: Expected;
}

/** ID2 and ID3 for a batch: a prefix may be known, the rest must be new. */
const split = (world: World, step: Append): Split => {
  const messages = messagesOf(world, step.branch);
  const found = step.items.map((item) => messages.find((message) => message.id === item.id));
  for (const [index, item] of step.items.entries()) {
    const before = found[index];
    const clash = before !== undefined && !sameContent(item, before);
    if (clash) return { places: [], rest: [], fault: fault('MessageIdConflict') };
  }
  const firstNew = found.findIndex((message) => message === undefined);
  if (firstNew < 0) {
    return { places: found.flatMap((message) => (message ? [known(message)] : [])), rest: [] };
  }
  if (found.some((message, index) => index > firstNew && message !== undefined)) {
    return { places: [], rest: [], fault: fault('BatchPartlyKnown') };
  }
  return {
    places: found.slice(0, firstNew).flatMap((message) => (message ? [known(message)] : [])),
    rest: step.items.slice(firstNew),
  };
};

const lastOpen = (open: readonly OpenCall[], item: Item): OpenCall | undefined => {
  const { answers } = item;
  if (answers === undefined) return undefined;
  if ('ref' in answers) return open.find((call) => sameCall(call, answers.ref));
  // The newest message with such an open call counts, and within it the first.
  const newest = open.filter((call) => call.callId === answers.callId).at(-1)?.message;
  return open.find((call) => call.message === newest && call.callId === answers.callId);
};

interface Closed {
  readonly call: Answered;
  readonly message?: SeenMessage;
}

const closedCalls = (world: World, branch: number, item: Item): readonly Closed[] => {
  const closed: Closed[] = [];
  const messages = messagesOf(world, branch);
  for (const { entry } of seenBy(world, branch)) {
    if (entry.is === 'result' && named(item, entry.answers)) {
      const message = messages.find(({ id }) => id === entry.id);
      closed.push({ call: entry.answers, ...(message === undefined ? {} : { message }) });
    }
    if (entry.is !== 'abandoned') continue;
    const call = { ...entry.call, callId: entry.callId };
    if (named(item, call)) closed.push({ call });
  }
  return closed;
};

interface Planning {
  open: OpenCall[];
  readonly entries: Entry[];
  readonly places: Place[];
}

const planResult = (
  world: World,
  step: Append,
  planning: Planning,
  item: Item,
  later: readonly Item[],
): Expected | undefined => {
  const { id, text, outcome = 'ok', status = 'confirmed' } = item;
  const attach = (answers: Answered, late: boolean): undefined => {
    planning.entries.push({ is: 'result', id, text, outcome, answers, late, status });
    const at = headOf(world, step.branch) + planning.entries.length;
    planning.places.push({ id, status: 'written', branch: step.branch, at });
  };
  const call = lastOpen(planning.open, item);
  if (call !== undefined) {
    planning.open = planning.open.filter((other) => other !== call);
    return attach({ message: call.message, index: call.index, callId: call.callId }, false);
  }
  const closed = closedCalls(world, step.branch, item);
  const last = closed.at(-1);
  if (last === undefined) {
    const { answers } = item;
    const inBatch = planning.entries.some(
      (entry) => entry.is === 'result' && named(item, entry.answers),
    );
    if (inBatch) return fault('DuplicateToolResult', 'OrphanToolResult');
    const isEarly =
      answers !== undefined &&
      'callId' in answers &&
      later.some(({ calls = [] }) => calls.includes(answers.callId));
    return fault(isEarly ? 'OrderViolation' : 'OrphanToolResult');
  }
  const same = closed.find(({ message }) => message?.text === text && message.outcome === outcome);
  if (same?.message !== undefined) {
    planning.places.push(known(same.message));
    return undefined;
  }
  return item.late === true ? attach(last.call, true) : fault('DuplicateToolResult');
};

const planMessage = (world: World, step: Append, planning: Planning, item: Item): void => {
  const { id, role, text, calls = [], status = 'confirmed' } = item;
  planning.entries.push({ is: 'message', id, role, text, calls, status });
  const at = headOf(world, step.branch) + planning.entries.length;
  planning.places.push({ id, status: 'written', branch: step.branch, at });
  if (status !== 'confirmed') return;
  for (const [index, callId] of calls.entries()) {
    planning.open.push({
      message: id,
      index,
      callId,
      inherited: false,
      state: 'not_started',
      approved: false,
      attempt: 0,
    });
  }
};

const inputFault = (step: Append): Expected | undefined => {
  const { expected, items, as } = step;
  if (expected !== undefined && (!Number.isSafeInteger(expected) || expected < 0)) {
    return fault('InvalidArgument');
  }
  if (items.length === 0) return fault('InvalidShape');
  if (items.some(({ role, answers }) => role === 'tool' && answers === undefined)) {
    return fault('MissingToolCallId');
  }
  return as !== undefined && items.some(({ role }) => role !== allowed[as])
    ? fault('RoleNotAllowed')
    : undefined;
};

const allowed = { end_user: 'user', tool: 'tool' } as const;

/** A user's message needs no turn; a tool's result may come from anywhere but a superseded run. */
const writerFault = (seen: readonly Seen[], step: Append, run: string): string | undefined => {
  const { items } = step;
  if (isSealed(seen)) return 'ConversationIsClosed';
  if (items.every(({ role }) => role === 'user')) return undefined;
  const turn = turnFault(seen, run);
  const onlyResults = items.every(({ role }) => role === 'user' || role === 'tool');
  return onlyResults && turn !== 'RunSuperseded' ? undefined : turn;
};

/** Within a batch, too, an id stands for one content: the same again counts once. */
const distinct = (items: readonly Item[]): readonly Item[] | undefined => {
  const first: Item[] = [];
  for (const item of items) {
    const before = first.find(({ id }) => id === item.id);
    if (before === undefined) first.push(item);
    else if (JSON.stringify(before) !== JSON.stringify(item)) return undefined;
  }
  return first;
};

/** Appends a batch: all of it or nothing. */
export const append = (world: World, step: Append, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const bad = inputFault(step);
  if (bad !== undefined && !(bad.kind === 'fault' && bad.tags[0] === 'RoleNotAllowed')) return bad;
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const items = distinct(step.items);
  if (items === undefined) return fault('MessageIdConflict');
  if (bad !== undefined) return bad;
  const { places, rest, fault: clash } = split(world, { ...step, items });
  if (clash !== undefined) return clash;
  if (rest.length === 0) return done(places, true);
  if (step.expected !== undefined && step.expected !== headOf(world, step.branch)) {
    return fault('RevisionConflict');
  }
  const refused = writerFault(seen, step, run);
  if (refused !== undefined) return fault(refused);
  const planning: Planning = {
    open: [...openCallsOf(world, step.branch)],
    entries: [],
    places: [...places],
  };
  for (const [index, item] of rest.entries()) {
    const planned =
      item.role === 'tool'
        ? planResult(world, step, planning, item, rest.slice(index + 1))
        : planMessage(world, step, planning, item);
    if (planned !== undefined) return planned;
  }
  const again = planning.places.map((place) => ({ ...place, status: 'replayed' }));
  write(world, step.branch, planning.entries, commandOf(step, again));
  return done(planning.places, planning.entries.length === 0);
};
