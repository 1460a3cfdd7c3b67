import type { Random } from '../support/random.js';
import { headOf, messagesOf, openCallsOf, type SeenMessage, type World } from './naive.js';
import type { Action, CallName, Item, Status, Step } from './steps.js';

/** What the choice of the next step depends on. */
export interface Choosing {
  readonly random: Random;
  readonly world: World;
  readonly runs: readonly [string, string];
  /** Steps given so far, to be given again. */
  readonly given: Step[];
  made: number;
}

export const fresh = (choosing: Choosing, prefix: string): string => `${prefix}${choosing.made++}`;

const texts = [
  'hello',
  'yes',
  'one two three',
  'a\ud800b',
  'nul \0 in it',
  '{"a":1}',
  'é',
  'e\u0301',
] as const;

export const text = ({ random }: Choosing): string => {
  // Now and then one that is too large to stand in the event itself.
  if (random.below(400) === 0) return `${random.below(1_000)} `.repeat(20_000);
  return `${random.pick(texts)} ${random.below(50)}`;
};

const callIds = ['c1', 'c2', 'c3', 'c4', 'call_é', ''] as const;

export const callsFor = ({ random }: Choosing): readonly string[] =>
  Array.from({ length: 1 + random.below(3) }, () => random.pick(callIds));

export const known = ({ world }: Choosing, branch: number): readonly SeenMessage[] =>
  messagesOf(world, branch).filter(({ kind }) => kind !== 'summary');

export const anyId = (choosing: Choosing, branch: number): string =>
  choosing.random.chance(8)
    ? 'nobody'
    : (choosing.random.any(known(choosing, branch))?.id ?? 'nobody');

/** Any call that was ever made on the branch, open or not; sometimes one that was not. */
export const anyCall = (choosing: Choosing, branch: number): CallName => {
  const { random, world } = choosing;
  const open = random.any(openCallsOf(world, branch));
  if (open !== undefined && random.chance(80)) return { message: open.message, index: open.index };
  const caller = random.any(known(choosing, branch).filter(({ calls }) => calls.length > 0));
  return caller === undefined || random.chance(10)
    ? { message: 'nobody', index: 0 }
    : { message: caller.id, index: random.below(caller.calls.length) };
};

const userItem = (choosing: Choosing): Item => ({
  id: fresh(choosing, 'u'),
  role: 'user',
  text: text(choosing),
});

const callingItem = (choosing: Choosing): Item => ({
  id: fresh(choosing, 'a'),
  role: 'assistant',
  text: '',
  calls: callsFor(choosing),
});

const assistantItem = (choosing: Choosing): Item => {
  const { random } = choosing;
  const status = random.pick<Status>(['confirmed', 'confirmed', 'confirmed', 'draft', 'blocked']);
  const more = status === 'confirmed' && random.chance(70) ? {} : { status };
  return random.chance(60)
    ? { id: fresh(choosing, 'a'), role: 'assistant', text: '', calls: callsFor(choosing), ...more }
    : { id: fresh(choosing, 'a'), role: 'assistant', text: text(choosing), ...more };
};

const resultItem = (choosing: Choosing, branch: number): Item => {
  const { random, world } = choosing;
  const isAsked = known(choosing, branch).some(({ calls }) => calls.length > 0);
  // Results that nobody asked for are refused in the same way each time: a few are enough.
  if (!isAsked && random.chance(85)) return callingItem(choosing);
  const call = anyCall(choosing, branch);
  const caller = messagesOf(world, branch).find(({ id }) => id === call.message);
  const callId = caller?.calls[call.index] ?? 'c9';
  const answers = callId === '' || random.chance(30) ? { ref: call } : { callId };
  return {
    id: fresh(choosing, 't'),
    role: 'tool',
    text: `result ${random.below(3)}`,
    answers,
    ...(random.chance(20) ? { outcome: 'error' as const } : {}),
    ...(random.chance(15) ? { late: true as const } : {}),
  };
};

const otherItem = (choosing: Choosing): Item => ({
  id: fresh(choosing, 's'),
  role: choosing.random.pick(['system', 'developer']),
  text: text(choosing),
});

const anyItem = (choosing: Choosing, branch: number): Item => {
  const kind = choosing.random.below(10);
  if (kind < 4) return userItem(choosing);
  if (kind < 7) return assistantItem(choosing);
  return kind < 9 ? resultItem(choosing, branch) : otherItem(choosing);
};

/** A call and its results in one batch, as importers and session adapters append them. */
const exchange = (choosing: Choosing): readonly Item[] => {
  const caller = { ...assistantItem(choosing), text: '', calls: ['b1', 'b2'] };
  const results = ['b2', 'b1'].map((callId) => ({
    id: fresh(choosing, 't'),
    role: 'tool' as const,
    text: 'batched',
    answers: { callId },
  }));
  const items: readonly Item[] = [caller, ...results];
  return choosing.random.chance(10) ? [...items].reverse() : items;
};

/** Items that are known already, before, behind or among new ones. */
const withKnown = (choosing: Choosing, branch: number, items: readonly Item[]): readonly Item[] => {
  const { random } = choosing;
  const before = random.any(known(choosing, branch).filter(({ role }) => role === 'user'));
  if (before === undefined) return items;
  const { id, text: content } = before;
  const again: Item = { id, role: 'user', text: random.chance(85) ? content : `${content}!` };
  return random.chance(70) ? [again, ...items] : [...items, again];
};

const expectedHead = ({ random, world }: Choosing, branch: number) => {
  if (!random.chance(25)) return {};
  const head = headOf(world, branch);
  const kind = random.below(10);
  if (kind < 6) return { expected: head };
  if (kind < 8) return { expected: head - 1 - random.below(3) };
  return { expected: kind === 8 ? head + 1 : 0.5 };
};

export const appendAction = (choosing: Choosing, branch: number): Action => {
  const { random } = choosing;
  const kind = random.below(20);
  let items: readonly Item[] = [userItem(choosing)];
  if (kind >= 6 && kind < 12) items = [anyItem(choosing, branch)];
  if (kind >= 12 && kind < 16) items = [resultItem(choosing, branch)];
  if (kind === 16) items = exchange(choosing);
  if (kind === 17) items = [anyItem(choosing, branch), anyItem(choosing, branch)];
  if (kind === 18) items = withKnown(choosing, branch, [userItem(choosing)]);
  if (kind === 19) items = random.chance(20) ? [] : [userItem(choosing), anyItem(choosing, branch)];
  const [first] = items;
  if (items.length === 2 && first !== undefined && random.chance(10)) {
    items = [first, { ...first, text: `${first.text} twice` }];
  }
  const as = random.chance(4) ? { as: random.pick(['end_user', 'tool'] as const) } : {};
  return { do: 'append', items, ...expectedHead(choosing, branch), ...as };
};
