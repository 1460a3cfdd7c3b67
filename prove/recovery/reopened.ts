import path from 'node:path';
import { openEngine } from '../../src/open.js';
import { branchFace, type Branch } from '../../src/face/branch-face.js';
import { isStemmaError } from '../../src/face/stemma-error.js';
import { stemmaFace, type Stemma } from '../../src/face/stemma-face.js';
import { findConversation, resolve } from '../../src/engine/queries.js';
import { readStored, type Recorded } from '../../src/domain/recorded.js';
import type { BranchContext, EngineContext } from '../../src/engine/engine-context.js';
import * as E from 'fp-ts/lib/Either.js';
import { value } from '../support/engine.js';

/** The store as another process finds it after the first one is gone. */
export interface Reopened {
  readonly engine: EngineContext;
  readonly stemma: Stemma;
  readonly folder: string;
  /** What is not as the recovery table says. */
  readonly wrong: string[];
}

export const reopen = async (folder: string): Promise<Reopened> => {
  const engine = await value(openEngine({ store: path.join(folder, 'store') }));
  return { engine, stemma: stemmaFace(engine, { kind: 'app' }), folder, wrong: [] };
};

export const contextOn = async (
  { engine }: Reopened,
  run: string,
  reference = 'c',
): Promise<BranchContext> => {
  const { conversation, entry } = await value(resolve(engine, reference));
  const key = { tenant: engine.tenant, conversation, branch: entry.branch };
  return { ...engine, key, run, as: { kind: 'app' } };
};

export const branchOn = async (reopened: Reopened, run: string, reference = 'c'): Promise<Branch> =>
  branchFace(await contextOn(reopened, run, reference), reference);

/** Notes what does not hold. */
export const holds = ({ wrong }: Reopened, what: string, isSo: boolean): void => {
  if (!isSo) wrong.push(what);
};

export const same = (reopened: Reopened, what: string, got: unknown, must: unknown): void => {
  const [a, b] = [JSON.stringify(got), JSON.stringify(must)];
  if (a !== b) reopened.wrong.push(`${what}: ${a} and not ${b}`);
};

/** The tag of the fault that something throws; undefined when it throws none. */
export const thrown = async (work: () => Promise<unknown>): Promise<string | undefined> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isStemmaError(error)) return error._tag;
    throw error;
  }
};

/** Every stored event of the conversation, in the order of the store. */
export const eventsOf = async ({ engine }: Reopened): Promise<readonly Recorded[]> => {
  const conversation = await value(findConversation(engine, 'c'));
  const stop = new AbortController();
  const events: Recorded[] = [];
  const options = { categories: [], after: 'start' as const, signal: stop.signal };
  for await (const item of engine.runtime.events.feed(options)) {
    if (item._tag === 'CaughtUp' || item._tag === 'Fault') break;
    if (item._tag !== 'Events') continue;
    for (const stored of item.events) {
      const recorded = readStored(stored);
      if (E.isRight(recorded) && recorded.right.meta.conv === conversation) {
        events.push(recorded.right);
      }
    }
  }
  stop.abort();
  return events;
};

export const countOf = async (reopened: Reopened, type: string): Promise<number> =>
  (await eventsOf(reopened)).filter(({ event }) => event?.type === type).length;

/** What holds after every kill: the log is sound, and what was acknowledged is in it. */
export const checkAlways = async (reopened: Reopened, acks: readonly string[]): Promise<void> => {
  const { ok, faults } = await reopened.stemma.verify();
  holds(reopened, `verify: ${JSON.stringify(faults)}`, ok);
  const main = await branchOn(reopened, 'look');
  const { entries } = await main.history();
  const ids = entries.flatMap((entry) => (entry.kind === 'instructions' ? [] : [entry.message.id]));
  for (const ack of acks.filter((label) => /^[uaw]\d+$/.test(label))) {
    holds(reopened, `acknowledged and lost: ${ack}`, ids.includes(ack));
  }
  holds(reopened, `ids twice in ${ids.join(' ')}`, new Set(ids).size === ids.length);
};
