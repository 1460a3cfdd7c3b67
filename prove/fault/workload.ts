import type { EventStore } from '../../src/domain/event-store.js';
import type { MessageInput } from '../../src/domain/intake.js';
import type { Branch } from '../../src/face/branch-face.js';
import type { Stemma } from '../../src/face/stemma-face.js';
import { openStemma } from '../../src/index.js';
import { sqliteStores, type SqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { value } from '../support/engine.js';
import { type Random } from '../support/random.js';

export interface WorkOptions {
  readonly path: string;
  readonly random: Random;
  /** Begins the ids of all messages; another run on the same store has another one. */
  readonly name: string;
  readonly sync?: 'full' | 'normal';
  /** Puts something around the event store: what an append is told, what becomes of it. */
  readonly around: (events: EventStore) => EventStore;
}

/** An engine at work on a store, as an application would use it. */
export interface Work extends WorkOptions {
  stores: SqliteStores;
  stemma: Stemma;
  branches: Branch[];
  messages: number;
}

const CONVERSATIONS = 4;

const open = async (
  options: WorkOptions,
): Promise<Pick<Work, 'stores' | 'stemma' | 'branches'>> => {
  const { path, sync = 'full', around } = options;
  const stores = await value(sqliteStores({ path, sync }));
  const stemma = await openStemma({ store: { ...stores, events: around(stores.events) } });
  return { stores, stemma, branches: [] };
};

export const startWork = async (options: WorkOptions): Promise<Work> => ({
  ...options,
  ...(await open(options)),
  messages: 0,
});

const branchOf = async (work: Work): Promise<Branch> => {
  if (work.branches.length < CONVERSATIONS) {
    const branch = await work.stemma.start({ id: `c${work.branches.length}`, title: work.name });
    work.branches.push(branch);
    return branch;
  }
  return work.branches[work.random.below(work.branches.length)] ?? branchOf(work);
};

const words = (random: Random, bytes: number): string =>
  Buffer.from(random.bytes(Math.ceil(bytes * 0.75))).toString('base64');

const messageOf = (work: Work, bytes: number): MessageInput => {
  work.messages += 1;
  const role = work.random.chance(50) ? 'user' : 'assistant';
  const content = words(work.random, bytes);
  return { id: `${work.name}-${work.messages}`, role, content };
};

const batchOf = (work: Work, count: number, bytes = 20 + work.random.below(800)): MessageInput[] =>
  Array.from({ length: count }, () => messageOf(work, bytes));

type Step = (work: Work) => Promise<unknown>;

const appendSome: Step = async (work) =>
  (await branchOf(work)).append(batchOf(work, 1 + work.random.below(5)));

const appendMany: Step = async (work) =>
  (await branchOf(work)).append(batchOf(work, 10 + work.random.below(41), 60));

/** A body that is kept as a blob. */
const appendLarge: Step = async (work) =>
  (await branchOf(work)).append(batchOf(work, 1, 66_000 + work.random.below(5_000)));

/** Appends of several writers at once, which share a commit. */
const appendTogether: Step = async (work) => {
  await branchOf(work);
  await Promise.all(
    work.branches.map((branch) => branch.append(batchOf(work, 1 + work.random.below(3)))),
  );
};

const fork: Step = async (work) => {
  const branch = await branchOf(work);
  const { entries } = await branch.history();
  const last = entries.findLast((entry) => 'message' in entry);
  if (last === undefined || !('message' in last)) return;
  work.messages += 1;
  const name = `${work.name}-fork-${work.messages}`;
  work.branches.push(await branch.fork({ after: last.message.id }, { name }));
};

const checkpoint: Step = (work) => value(work.stores.checkpoint());

const reopen: Step = async (work) => {
  await work.stemma.close();
  Object.assign(work, await open(work));
};

const steps: readonly (readonly [share: number, step: Step])[] = [
  [44, appendSome],
  [24, appendTogether],
  [14, appendMany],
  [5, appendLarge],
  [5, fork],
  [4, checkpoint],
  [4, reopen],
];

/** One thing that an application does, chosen at random. */
export const doStep = async (work: Work): Promise<void> => {
  let roll = work.random.below(100);
  for (const [share, step] of steps) {
    if (roll < share) {
      await step(work);
      return;
    }
    roll -= share;
  }
};
