import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../../src/domain/errors.js';
import {
  newId,
  type Actor,
  type BranchContext,
  type EngineContext,
} from '../../src/engine/engine-context.js';
import { start } from '../../src/engine/conversation-commands.js';
import type { Task } from '../../src/engine/runtime.js';
import { openEngine, type OpenOptions } from '../../src/open.js';

/** The value of a task that must succeed. */
export const right = async <A>(task: Task<A>): Promise<A> => {
  const result = await task();
  if (E.isLeft(result)) throw new Error(JSON.stringify(result.left));
  return result.right;
};

/** The fault of a task that must fail. */
export const fault = async <A>(task: Task<A>): Promise<StemmaFault> => {
  const result = await task();
  if (E.isRight(result)) throw new Error('expected a fault');
  return result.left;
};

export const memoryEngine = (options: OpenOptions = {}): Promise<EngineContext> =>
  right(openEngine({ store: 'memory:', ...options }));

/** A new conversation and its main branch. */
export const mainBranch = async (
  engine: EngineContext,
  id?: string,
  as: Actor = { kind: 'app' },
): Promise<BranchContext> => {
  const { conversation, main } = await right(start(engine, id === undefined ? {} : { id }));
  return {
    ...engine,
    key: { tenant: engine.tenant, conversation, branch: main },
    run: newId(engine, 'r'),
    as,
  };
};
