import { checkMessages, type FoundViolation } from '../../src/domain/context/check.js';
import type { ContextPlan } from '../../src/domain/context/plan.js';
import type { ContextPolicy } from '../../src/domain/context/policy.js';
import type { Profile } from '../../src/domain/profiles/profile.js';
import * as E from 'fp-ts/lib/Either.js';
import type { Branch } from '../../src/index.js';
import { parseStream } from '../../src/domain/stream-name.js';
import { StemmaError } from '../../src/index.js';
import { itemBack, messageBack } from './canonical.js';
import { contextIds, contextResults, droppedIds, tokensById, wireOf } from './context-facts.js';
import { addedSince, rewritten } from './moment.js';
import type { Facts, HistoryItem, Roots } from './run.js';
import type { Fields } from './shape.js';
import { branchesOf, itemsOf, nameOf, rowsOf, type Talk } from './talk.js';
import type { Snapshot } from './world.js';

/** Messages of a branch in log order, with what the case gave for each. */
export const historyItems = async (
  talk: Talk,
  branch: Branch = talk.branch,
): Promise<readonly HistoryItem[]> => {
  const byId = new Map((await itemsOf(talk, branch)).map((item) => [item.message.id, item]));
  const rows = await rowsOf(talk, branch);
  return rows.flatMap(({ id, name }, index) => {
    const item = byId.get(id);
    const given = talk.given.get(id);
    const parent = rows[index - 1]?.name ?? null;
    return item === undefined
      ? []
      : [{ name, parent, item, ...(given === undefined ? {} : { given }) }];
  });
};

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/** Names of the messages of a branch, in log order. */
export const pathOf = async (
  talk: Talk,
  branch: Branch = talk.branch,
): Promise<readonly string[]> => unique((await rowsOf(talk, branch)).map(({ name }) => name));

/** Names of the messages of a branch that may be sent. */
export const sendablePath = async (
  talk: Talk,
  branch: Branch = talk.branch,
): Promise<readonly string[]> =>
  unique(
    (await historyItems(talk, branch))
      .filter(({ item }) => item.out === undefined)
      .map(({ name }) => name),
  );

const allPaths = async (talk: Talk): Promise<readonly (readonly string[])[]> => {
  const paths: (readonly string[])[] = [];
  for (const branch of await branchesOf(talk)) paths.push(await pathOf(talk, branch));
  return paths;
};

const isPrefix = (a: readonly string[], b: readonly string[]): boolean =>
  a.length < b.length && a.every((name, index) => b[index] === name);

/** Root-to-leaf paths: one that another goes on from is none. */
export const leafPaths = async (talk: Talk): Promise<readonly (readonly string[])[]> => {
  const paths = (await allPaths(talk)).filter((path) => path.length > 0);
  return paths.filter((path) => !paths.some((other) => isPrefix(path, other)));
};

/** Where each message stands in the order of the whole store. */
const placesIn = (events: Snapshot): ReadonlyMap<string, number> =>
  new Map(
    events.flatMap(({ stream, revision }, at) => {
      const name = parseStream(stream);
      return name?.kind === 'branch' ? [[`${name.branch}@${String(revision)}`, at]] : [];
    }),
  );

/** Children by parent, in the order in which they were appended. */
export const childrenOf = async (talk: Talk): Promise<ReadonlyMap<string, readonly string[]>> => {
  const places = placesIn(await talk.world.snapshot());
  const order = new Map<string, number>();
  const children = new Map<string, Set<string>>();
  for (const branch of await branchesOf(talk)) {
    let parent: string | undefined;
    for (const { name, entry } of await rowsOf(talk, branch)) {
      order.set(name, places.get(`${entry.place.branch}@${String(entry.place.revision)}`) ?? 0);
      if (parent !== undefined) {
        children.set(parent, (children.get(parent) ?? new Set()).add(name));
      }
      parent = name;
    }
  }
  const inOrder = (names: ReadonlySet<string>): readonly string[] =>
    [...names].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  return new Map([...children].map(([parent, names]) => [parent, inOrder(names)]));
};

/** The message before one on the branch at hand. */
export const parentOf = async (talk: Talk, name: string): Promise<string | null> => {
  const path = await pathOf(talk);
  const at = path.indexOf(name);
  return at > 0 ? (path[at - 1] ?? null) : null;
};

const bookkeeping: ReadonlySet<string> = new Set([
  'TurnStarted',
  'TurnClaimed',
  'TurnEnded',
  'ModelCallRequested',
  'ModelCallCompleted',
  'ModelCallFailed',
  'ModelOutputCheckpointed',
]);

const messageIdIn = (data: string): string | undefined => {
  const parsed = JSON.parse(data) as { readonly message?: { readonly id?: string } };
  return parsed.message?.id;
};

/**
 * Types of events that were added, without turn and call bookkeeping and what was set up; `given`
 * are messages of the case itself.
 */
export const typesAdded = (
  talk: Talk,
  before: Snapshot,
  after: Snapshot,
  given: ReadonlySet<string> = new Set(),
): readonly string[] =>
  addedSince(before, after)
    .filter(({ type }) => !bookkeeping.has(type))
    .filter(({ type, data }) => {
      if (type !== 'MessageAppended') return true;
      const id = messageIdIn(data);
      return id === undefined || (!talk.setup.has(id) && !given.has(id));
    })
    .map(({ type }) => type);

/** Facts about the history of the branch at hand. */
export const historyFacts = (talk: Talk): Facts => ({
  history_ids: () => pathOf(talk),
  history: () => historyItems(talk),
  history_raw: () => historyItems(talk),
  stream_length: async () => (await rowsOf(talk)).length,
  positions: async () => (await rowsOf(talk)).map(({ position }) => position),
  active_path_ids: () => sendablePath(talk),
  active_path_after: () => sendablePath(talk),
  branches: () => leafPaths(talk),
  main_branch_ids: () => pathOf(talk, talk.main),
  siblings_of: () => childrenOf(talk),
  roots: async () => new Set((await leafPaths(talk)).map(([first]) => first)).size,
  roles: async () =>
    new Map((await everyItem(talk)).map(({ name, item }) => [name, item.message.role])),
  timestamps: async () =>
    new Map(
      (await everyItem(talk)).map(({ name, item }) => [name, instantOf(item.message.claimedAt)]),
    ),
});

const instantOf = (claimed: string | undefined): string | null =>
  claimed === undefined ? null : new Date(claimed).toISOString();

/** Messages of all branches. */
export const everyItem = async (talk: Talk): Promise<readonly HistoryItem[]> => {
  const items: HistoryItem[] = [];
  for (const branch of await branchesOf(talk)) items.push(...(await historyItems(talk, branch)));
  return items;
};

/** Facts about what the operation added to the store. */
export const eventFacts = (
  talk: Talk,
  before: () => Snapshot,
  given?: ReadonlySet<string>,
): Facts => ({
  events_appended: async () => typesAdded(talk, before(), await talk.world.snapshot(), given),
  stored_bytes_changed: async () => {
    const after = await talk.world.snapshot();
    return after.length !== before().length || rewritten(before(), after) !== undefined;
  },
});

/** Facts about a context. */
export const planFacts = (talk: Talk, plan: ContextPlan): Facts => ({
  context_ids: () => Promise.resolve(contextIds(talk, plan)),
  dropped_ids: () => droppedIds(talk, plan),
  output: () => Promise.resolve(wireOf(plan)),
  context_results: () => Promise.resolve(contextResults(talk, plan)),
  tokens: () => Promise.resolve(plan.tokens),
});

/** What the asserts look at in a context. */
export const planRoots = (talk: Talk, plan: ContextPlan): Roots => ({
  wire: () => Promise.resolve(wireOf(plan)),
  tokens: () => Promise.resolve(tokensById(talk, plan)),
  tokens_total: () => Promise.resolve(plan.tokens),
});

/** Messages read back in the form of the case. */
export const historyBack = async (
  talk: Talk,
  branch: Branch = talk.branch,
): Promise<readonly Fields[]> =>
  (await historyItems(talk, branch)).map(({ name, item, given }) => ({
    ...itemBack(item, given),
    id: name,
  }));

/** `read`: messages by id, the history, and the messages of the context. */
export const readRoot = (talk: Talk, plan?: ContextPlan): Roots => ({
  read: async () => {
    const history = await historyBack(talk);
    const items = await historyItems(talk);
    const sent = new Set(plan === undefined ? [] : contextIds(talk, plan));
    return {
      ...Object.fromEntries(history.map((row) => [String(row['id']), row])),
      history,
      ...(plan === undefined
        ? {}
        : {
            context: items
              .filter(({ name }) => sent.has(name))
              .map(({ name, item, given }) => ({ ...messageBack(item.message, given), id: name })),
          }),
    };
  },
});

/** What the profile says about the messages as they stand. */
export const rawViolations = async (
  talk: Talk,
  profile: Profile,
  policy: Partial<ContextPolicy>,
): Promise<readonly FoundViolation[]> => {
  const surface = await talk.branch.surface();
  const found = checkMessages({ surface, profile, policy });
  if (E.isLeft(found)) throw new StemmaError(found.left);
  const setUp = surface.items.flatMap(({ message }, at) =>
    talk.setup.has(message.id) ? [at] : [],
  );
  return found.right.map((violation) => {
    const { index } = violation;
    if (index === undefined) return violation;
    const before = setUp.filter((at) => at < index).length;
    return {
      ...violation,
      index: index - before,
      ids: violation.ids.map((id) => nameOf(talk, id)),
    };
  });
};
