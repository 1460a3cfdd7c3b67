import { describe, expect, it } from 'vitest';
import { runShare } from '../../prove/model/share.js';
import { seedOf } from '../../prove/support/random.js';

const seeds = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_item, index) => seedOf(from, index));

describe('the naive model', () => {
  it('R6 and the engine say the same of random commands', async () => {
    const { divergences, steps } = await runShare({ memory: seeds(2026, 60), sqlite: [] });
    expect(divergences).toEqual([]);
    expect(steps).toBeGreaterThan(60 * 30);
  });

  it('R6 and the engine on SQLite say the same', async () => {
    const { divergences } = await runShare({ memory: [], sqlite: seeds(7, 6) });
    expect(divergences).toEqual([]);
  });
});
