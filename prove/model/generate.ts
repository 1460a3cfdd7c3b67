import type { Random } from '../support/random.js';
import {
  anyCall,
  anyId,
  appendAction,
  callsFor,
  fresh,
  known,
  text,
  type Choosing,
} from './generate-items.js';
import { isConversationClosed } from './naive-branches.js';
import { openModelCalls } from './naive-calls.js';
import { pendingApprovals } from './naive-tools.js';
import { headOf, openCallsOf, seenBy, turnOf, type World } from './naive.js';
import type { Action, Effect, ForkAt, RecoverChoice, Status, Step } from './steps.js';

export type { Choosing } from './generate-items.js';

const completeAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  const open = random.any(openModelCalls(seenBy(world, branch)));
  const call = open === undefined || random.chance(10) ? random.below(world.calls + 1) : open;
  const calls = random.chance(50) ? callsFor(choosing) : [];
  const status = random.pick([
    'confirmed',
    'confirmed',
    'confirmed',
    'confirmed',
    'draft',
    'blocked',
  ] as const);
  const id = random.chance(5) ? anyId(choosing, branch) : `m${call}`;
  return {
    do: 'complete',
    call,
    answer: { id, text: calls.length > 0 ? '' : text(choosing), calls, status },
  };
};

const failAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  const open = random.any(openModelCalls(seenBy(world, branch)));
  const call = open === undefined || random.chance(10) ? random.below(world.calls + 1) : open;
  const ends = random.chance(40)
    ? { ends: random.pick(['failed', 'interrupted', 'lost'] as const) }
    : {};
  const id = random.chance(10) ? anyId(choosing, branch) : `p${call}`;
  const partial = random.chance(40) ? { partial: { id, text: text(choosing) } } : {};
  const kind = random.pick(['transport', 'provider', 'interrupted'] as const);
  return { do: 'fail', call, kind, ...partial, ...ends };
};

const statusAction = (choosing: Choosing, branch: number): Action => {
  const { random } = choosing;
  const message = random.any(known(choosing, branch));
  const to = random.pick<Status>(['confirmed', 'confirmed', 'draft', 'blocked', 'superseded']);
  // A half answer is never run, whoever confirms it.
  const isHalf = message?.recorded === 'interrupted';
  return { do: 'status', id: message?.id ?? 'nobody', to: isHalf ? 'superseded' : to };
};

const recoverAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  const tools: RecoverChoice[] = [];
  for (const { message, index } of openCallsOf(world, branch)) {
    if (random.chance(50)) {
      const choice = random.pick(['unknown', 'abandon', 'result'] as const);
      tools.push({ call: { message, index }, do: choice });
    }
  }
  const ends = random.chance(20) ? { ends: random.pick(['lost', 'interrupted'] as const) } : {};
  return { do: 'recover', tools, ...ends };
};

const toolAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  const call = anyCall(choosing, branch);
  const effect = random.pick<Effect>(['read_only', 'idempotent', 'non_idempotent']);
  const kind = random.below(14);
  if (kind < 6) return { do: 'startTool', call, effect, key: fresh(choosing, 'k') };
  if (kind < 7) return { do: 'abandon', call };
  const isFree = openCallsOf(world, branch).some(
    ({ message, index, state }) =>
      message === call.message && index === call.index && state !== 'awaiting_approval',
  );
  const pending = random.any(pendingApprovals(world, branch));
  if (kind < 10 && (isFree || pending === undefined)) {
    const request = random.chance(85)
      ? fresh(choosing, 'ask')
      : `ask${random.below(choosing.made)}`;
    const expires = random.chance(30) ? { expires: random.pick(['past', 'future'] as const) } : {};
    return { do: 'ask', call, request, ...expires };
  }
  if (pending === undefined && random.chance(80))
    return { do: 'startTool', call, effect, key: 'k' };
  const request = pending?.request ?? `ask${random.below(choosing.made + 1)}`;
  return { do: 'resolve', request, outcome: random.chance(65) ? 'approved' : 'denied' };
};

const compactAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  const summaries = seenBy(world, branch).flatMap(({ entry }) =>
    entry.is === 'completed' && !entry.late ? [entry.call] : [],
  );
  const call = random.any(summaries);
  const madeBy = call !== undefined && random.chance(50) ? { madeBy: call } : {};
  const keepFrom = random.chance(25) ? null : anyId(choosing, branch);
  return { do: 'compact', keepFrom, text: text(choosing), id: fresh(choosing, 'z'), ...madeBy };
};

const forkAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  const kind = random.below(10);
  let at: ForkAt = { revision: random.below(headOf(world, branch) + 2) };
  if (kind >= 3 && kind < 6) at = { after: anyId(choosing, branch) };
  if (kind >= 6 && kind < 8) at = { before: anyId(choosing, branch) };
  if (kind >= 8) at = { beforeCall: random.below(world.calls + 1) };
  return { do: 'fork', at, name: random.pick(['side', 'try', 'main']) };
};

const retryAction = (choosing: Choosing, branch: number): Action => {
  const { random, world } = choosing;
  if (random.chance(30)) return { do: 'retry', ofCall: random.below(world.calls + 1) };
  const before = random.any(known(choosing, branch).filter(({ role }) => role === 'user'))?.id;
  const replace = random.chance(70)
    ? { replace: { id: fresh(choosing, 'e'), text: text(choosing) } }
    : {};
  return { do: 'retry', ...(before === undefined ? {} : { before }), ...replace };
};

const undoAction = ({ random, world }: Choosing, branch: number): Action => {
  const made = seenBy(world, branch).flatMap(({ entry }) =>
    entry.is === 'compacted' ? [entry.compaction] : [],
  );
  if (made.length === 0 && random.chance(80)) return { do: 'promote' };
  return { do: 'undo', compaction: random.any(made) ?? random.below(world.compactions + 1) };
};

const mergeAction = (choosing: Choosing): Action => {
  const { random, world } = choosing;
  const from = random.below(world.branches.length);
  const picked = known(choosing, from).filter(
    ({ role, calls }) => role !== 'tool' && calls.length === 0,
  );
  const ids = [
    random.any(picked)?.id ?? 'nobody',
    random.any(known(choosing, from))?.id ?? 'nobody',
  ];
  return { do: 'merge', from, ids: random.chance(70) ? ids.slice(0, 1) : [...new Set(ids)] };
};

const directoryAction = (choosing: Choosing): Action => {
  const { random } = choosing;
  const kind = random.below(10);
  if (kind < 3) return { do: 'label', name: random.pick(['best', 'old', 'main']) };
  if (kind < 6) return { do: 'promote' };
  return kind < 9
    ? { do: 'annotate', feedback: random.chance(50), value: text(choosing) }
    : { do: 'start' };
};

const endTurnAction = ({ random }: Choosing): Action => ({
  do: 'endTurn',
  outcome: random.pick(['completed', 'interrupted', 'lost']),
});

const requestAction = (random: Random, world: World): Action => ({
  do: 'request',
  purpose: random.pick(['turn', 'turn', 'turn', 'compaction', 'judge']),
  ...(random.chance(20) ? { retryOf: random.below(world.calls + 1) } : {}),
});

const instructionsAction = ({ random }: Choosing): Action => ({
  do: 'instructions',
  name: random.pick(['main', 'other']),
  text: `rules ${random.below(3)}`,
  ...(random.chance(5) ? { as: 'end_user' } : {}),
});

type Maker = (choosing: Choosing, branch: number) => Action;

/** What there is on the branch that a step could be about. */
interface Situation {
  readonly hasModelCall: boolean;
  readonly hasToolCall: boolean;
  readonly isOthersTurn: boolean;
}

const makers: readonly (readonly [weight: (now: Situation) => number, make: Maker])[] = [
  [() => 26, appendAction],
  [({ hasModelCall }) => (hasModelCall ? 24 : 3), completeAction],
  [
    ({ hasModelCall }) => (hasModelCall ? 4 : 14),
    ({ random, world }) => requestAction(random, world),
  ],
  [({ hasToolCall }) => (hasToolCall ? 32 : 2), toolAction],
  [({ hasModelCall }) => (hasModelCall ? 8 : 1), failAction],
  [() => 4, statusAction],
  [() => 4, recoverAction],
  [() => 2, endTurnAction],
  [({ isOthersTurn }) => (isOthersTurn ? 10 : 1), () => ({ do: 'claim' })],
  [() => 2, (choosing, branch) => ({ do: 'withdraw', ids: [anyId(choosing, branch)] })],
  [() => 2, (choosing, branch) => ({ do: 'redact', id: anyId(choosing, branch) })],
  [() => 3, instructionsAction],
  [() => 4, compactAction],
  [({ hasToolCall }) => (hasToolCall ? 1 : 2), undoAction],
  [() => 2, mergeAction],
  [() => 4, forkAction],
  [() => 3, retryAction],
  [() => 3, directoryAction],
  [() => 1, () => ({ do: 'close' })],
];

const situationOf = ({ world }: Choosing, branch: number, run: string): Situation => {
  const seen = seenBy(world, branch);
  const owner = turnOf(seen)?.run;
  return {
    hasModelCall: openModelCalls(seen).length > 0,
    hasToolCall: openCallsOf(world, branch).length > 0,
    isOthersTurn: owner !== undefined && owner !== run,
  };
};

const makeAction = (choosing: Choosing, branch: number, run: string): Action => {
  const { random, world } = choosing;
  if (isConversationClosed(world) && random.chance(40)) return { do: 'reopen' };
  const now = situationOf(choosing, branch, run);
  const total = makers.reduce((sum, [weight]) => sum + weight(now), 0);
  let at = random.below(total);
  for (const [weight, make] of makers) {
    if (at < weight(now)) return make(choosing, branch);
    at -= weight(now);
  }
  return { do: 'claim' };
};

const takesCommandId = (action: Action): boolean =>
  !['claim', 'endTurn', 'recover', 'close', 'reopen', 'start'].includes(action.do);

/** The handle whose turn it is more often than not, so that turns come to an end. */
const chooseHandle = (choosing: Choosing, branch: number): 0 | 1 => {
  const { random, world, runs } = choosing;
  const turn = turnOf(seenBy(world, branch));
  // One that lost its turn goes on as if it had not.
  const late = runs.findIndex((run) => turn?.former.includes(run) === true);
  if (late >= 0 && random.chance(50)) return late === 0 ? 0 : 1;
  const index = runs.indexOf(turn?.run ?? '');
  if (index >= 0 && random.chance(75)) return index === 0 ? 0 : 1;
  return random.chance(50) ? 0 : 1;
};

/** The same command id or message id with other content. */
const altered = (step: Step): Step => {
  if (step.do === 'append') {
    return { ...step, items: step.items.map((item) => ({ ...item, text: `${item.text} ` })) };
  }
  if (step.do === 'complete') {
    return { ...step, answer: { ...step.answer, calls: [], text: `${step.answer.text} other` } };
  }
  if (step.do === 'label') return { ...step, name: `${step.name} other` };
  if (step.do === 'annotate') return { ...step, value: `${step.value} other` };
  if (step.do === 'status') return { ...step, to: step.to === 'draft' ? 'blocked' : 'draft' };
  if (step.do === 'instructions') return { ...step, text: `${step.text} other` };
  return step;
};

const repeated = (choosing: Choosing): Step | undefined => {
  const { random, given, world } = choosing;
  const before = random.any(given.slice(-12));
  if (before === undefined) return undefined;
  const step = random.chance(25) ? altered(before) : before;
  const elsewhere = random.chance(10) ? { branch: random.below(world.branches.length) } : {};
  return {
    ...step,
    handle: random.chance(70) ? step.handle : random.chance(50) ? 0 : 1,
    ...elsewhere,
  };
};

/** The next step: mostly something new, often enough something that was given before. */
export const nextStep = (choosing: Choosing): Step => {
  const { random, world, given } = choosing;
  const again = random.chance(12) ? repeated(choosing) : undefined;
  if (again !== undefined) return again;
  const branch = random.chance(60)
    ? world.branches.length - 1
    : random.below(world.branches.length);
  const handle = chooseHandle(choosing, branch);
  const action = makeAction(choosing, branch, choosing.runs[handle]);
  const commandId =
    takesCommandId(action) && random.chance(35) ? { commandId: fresh(choosing, 'x') } : {};
  const step: Step = { ...action, handle, branch, ...commandId };
  given.push(step);
  return step;
};
