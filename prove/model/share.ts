import path from 'node:path';
import { memoryStores } from '../../src/infra/stores/memory-store.js';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { value } from '../support/engine.js';
import { withTempFolder } from '../support/temp.js';
import { runSequence, type Divergence } from './sequence.js';

/** Seeds of sequences to run, by the store that they run on. */
export interface Share {
  readonly memory: readonly number[];
  readonly sqlite: readonly number[];
}

export interface ShareResult {
  readonly memory: number;
  readonly sqlite: number;
  readonly steps: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly divergences: readonly Divergence[];
}

interface Tally {
  steps: number;
  readonly counts: Map<string, number>;
  readonly divergences: Divergence[];
}

const crashed = (seed: number, error: unknown): Divergence => ({
  seed,
  step: -1,
  given: 'a sequence',
  difference: {
    what: 'it broke',
    naive: 'no exception',
    engine: error instanceof Error ? (error.stack ?? error.message) : String(error),
  },
});

const runOne = async (tally: Tally, stores: EngineStores, seed: number, id: string) => {
  try {
    const { steps, counts, divergence } = await runSequence(stores, seed, id);
    tally.steps += steps;
    for (const [name, count] of counts) {
      tally.counts.set(name, (tally.counts.get(name) ?? 0) + count);
    }
    if (divergence !== undefined) tally.divergences.push(divergence);
  } catch (error) {
    tally.divergences.push(crashed(seed, error));
  }
};

const SEQUENCES_A_STORE = 100;

const runOnSqlite = async (tally: Tally, seeds: readonly number[]): Promise<void> => {
  for (let from = 0; from < seeds.length; from += SEQUENCES_A_STORE) {
    await withTempFolder('model', async (folder) => {
      const stores = await value(sqliteStores({ path: path.join(folder, 'store.db') }));
      for (const [at, seed] of seeds.slice(from, from + SEQUENCES_A_STORE).entries()) {
        await runOne(tally, stores, seed, `c${at}`);
      }
      await value(stores.events.close());
    });
  }
};

/** Runs the sequences of a share, one after the other. */
export const runShare = async ({ memory, sqlite }: Share): Promise<ShareResult> => {
  const tally: Tally = { steps: 0, counts: new Map(), divergences: [] };
  for (const seed of memory) await runOne(tally, memoryStores(), seed, `c${seed}`);
  await runOnSqlite(tally, sqlite);
  return { memory: memory.length, sqlite: sqlite.length, ...tally };
};
