import { describe, expect, it } from 'vitest';
import { bytesDigest, foldAllWays } from '../../prove/rebuild/fold.js';
import { generate } from '../../prove/rebuild/generate.js';
import { seedOf } from '../../prove/support/random.js';

describe('rebuilding', () => {
  it('G10 gives one digest for each projection, however the fold is cut', async () => {
    for (let index = 0; index < 8; index += 1) {
      const made = await generate(seedOf(2026, index));
      expect(made.events.length).toBeGreaterThanOrEqual(50);
      const { digests } = foldAllWays(made);
      for (const [name, found] of Object.entries(digests)) {
        expect([name, found.length]).toEqual([name, 1]);
      }
    }
  });

  it('G10 the same seed makes the same bytes', async () => {
    expect(bytesDigest(await generate(5))).toBe(bytesDigest(await generate(5)));
  });
});
