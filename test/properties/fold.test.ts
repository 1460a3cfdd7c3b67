import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextFor, restart } from '../../prove/model/engine-side.js';
import type { BranchState } from '../../src/domain/branch-state.js';
import { loadBranch } from '../../src/engine/branch-loader.js';
import { readHistory } from '../../src/engine/histories.js';
import { append } from '../../src/engine/message-commands.js';
import { session } from '../../src/engine/recover.js';
import { freeze, thaw } from '../../src/projections/checkpoint.js';
import { encodeView } from '../../src/projections/encode-view.js';
import { coldEngine, runtimeOf } from '../../prove/support/engine.js';
import { randomOf } from '../../prove/support/random.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';
import { mainBranch, right } from '../support/engine.js';
import { startWalk, type Walk } from './walk.js';

const viewsOf = async ({ side }: Walk, handle: 0 | 1): Promise<readonly string[]> => {
  const views: string[] = [];
  for (const branch of side.names.branches.keys()) {
    const { runtime, states, histories, key } = contextFor(side, handle, branch);
    const { state } = await right(loadBranch(runtime, states, key));
    views.push(encodeView(state), encodeView(await right(readHistory(runtime, histories, key))));
  }
  return views;
};

describe('states and histories', () => {
  it('G10 are the same from memory and from the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const walk = await startWalk(seed);
        for (let step = 0; step < 35; step += 1) await walk.next();
        const warm = await viewsOf(walk, 0);
        await restart(walk.side, 0, walk.side.handles[0].run);
        expect(await viewsOf(walk, 0)).toEqual(warm);
        expect(await viewsOf(walk, 1)).toEqual(warm);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  it('G10 a state comes back from its text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const walk = await startWalk(seed);
        for (let step = 0; step < 30; step += 1) await walk.next();
        for (const branch of walk.side.names.branches.keys()) {
          const { runtime, states, key } = contextFor(walk.side, 0, branch);
          const { state } = await right(loadBranch(runtime, states, key));
          expect(encodeView(thaw(freeze(state)) as BranchState)).toBe(encodeView(state));
        }
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('G10 a snapshot and the whole log give one state, and a damaged snapshot is passed by', async () => {
    const stores = memoryStores();
    const runtime = runtimeOf(stores, randomOf(1));
    const warm = await mainBranch(await coldEngine(runtime));
    for (let at = 0; at < 55; at += 1) {
      const items = Array.from({ length: 20 }, (_item, index) => ({
        id: `m${String(at)}-${String(index)}`,
        role: 'user' as const,
        content: 'x',
      }));
      await right(append(warm, items));
    }
    const cold = { ...warm, ...(await coldEngine(runtime)) };
    expect(await right(session(cold))).toEqual(await right(session(warm)));
    const named = (name: string): string => `state/${name}`;
    const stream = `branch-${warm.key.tenant}.${warm.key.conversation}.${warm.key.branch}`;
    const kept = await right(stores.snapshots.get(named(stream)));
    expect(kept).toBeDefined();
    await right(stores.snapshots.put(named(stream), (kept ?? '').replaceAll('not', 'yes')));
    const damaged = { ...warm, ...(await coldEngine(runtime)) };
    expect(await right(session(damaged))).toEqual(await right(session(warm)));
  });
});
