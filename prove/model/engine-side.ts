import type { EngineStores, Runtime } from '../../src/engine/runtime.js';
import type { Uid } from '../../src/domain/ids.js';
import { start } from '../../src/engine/conversation-commands.js';
import type { BranchContext, EngineContext } from '../../src/engine/engine-context.js';
import { loadDirectory } from '../../src/engine/branch-loader.js';
import { coldEngine, runtimeOf, steadyClock, value } from '../support/engine.js';
import type { Random } from '../support/random.js';

/** Numbers and names of the naive side, with what they are called in the engine. */
export interface Names {
  readonly branches: Uid[];
  readonly calls: string[];
  readonly compactions: string[];
  /** Names of messages whose ids the engine made, with these ids. */
  readonly made: Map<string, string>;
}

interface Handle {
  engine: EngineContext;
  run: string;
}

/** The engine as the two handles use it: one conversation, on stores that both share. */
export interface EngineSide {
  readonly id: string;
  readonly runtime: Runtime;
  readonly conversation: Uid;
  readonly handles: [Handle, Handle];
  readonly names: Names;
}

export const openSide = async (
  stores: EngineStores,
  random: Random,
  id: string,
): Promise<EngineSide> => {
  const runtime = runtimeOf(stores, random, steadyClock());
  const [one, two] = [await coldEngine(runtime), await coldEngine(runtime)];
  const { conversation, main } = await value(start(one, { id }));
  return {
    id,
    runtime,
    conversation,
    handles: [
      { engine: one, run: 'run-a' },
      { engine: two, run: 'run-b' },
    ],
    names: { branches: [main], calls: [], compactions: [], made: new Map() },
  };
};

/** The handle goes away and comes back with nothing in memory. */
export const restart = async (side: EngineSide, handle: 0 | 1, run: string): Promise<void> => {
  side.handles[handle] = { engine: await coldEngine(side.runtime), run };
};

export const contextFor = (side: EngineSide, handle: 0 | 1, branch: number): BranchContext => {
  const { engine, run } = side.handles[handle];
  const uid = side.names.branches[branch];
  if (uid === undefined) throw new Error(`no branch ${branch}`);
  const key = { tenant: engine.tenant, conversation: side.conversation, branch: uid };
  return { ...engine, key, run, as: { kind: 'app' } };
};

/** Numbers the branches that came to be since. */
export const noteBranches = async (side: EngineSide): Promise<void> => {
  const { engine } = side.handles[0];
  const key = { tenant: engine.tenant, conversation: side.conversation };
  const { state } = await value(loadDirectory(engine.runtime, engine.states, key));
  for (const uid of state.branches.keys()) {
    if (!side.names.branches.includes(uid)) side.names.branches.push(uid);
  }
};

export const branchNumber = (side: EngineSide, uid: string): number =>
  side.names.branches.findIndex((known) => known === uid);

/** The engine's id for a name of the naive side. */
export const realId = (side: EngineSide, name: string): string => side.names.made.get(name) ?? name;

/** The naive side's name for an id of the engine. */
export const nameOf = (side: EngineSide, id: string): string => {
  for (const [name, real] of side.names.made) if (real === id) return name;
  return id;
};
