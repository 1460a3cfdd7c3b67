import { createHash } from 'node:crypto';
import { randomOf } from '../support/random.js';
import type { Generated } from './generate.js';
import { digestsOf, readEvents, type Cut } from './views.js';

/** A history with the digests that its projections had, each way of folding giving one set. */
export interface Folded {
  readonly seed: number;
  /** Projection to the digests that were found: one, if it is a function of the events alone. */
  readonly digests: Readonly<Record<string, readonly string[]>>;
}

const never = (): boolean => false;
const always = (): boolean => true;

/** Folds a history in every way: batches of 1, 7 and 1000, from checkpoints, streams mixed. */
export const foldAllWays = ({ seed, events }: Generated): Folded => {
  const random = randomOf(seed);
  const read = readEvents(events);
  const ways: readonly (readonly [Cut, () => boolean])[] = [
    [{ size: 1000, rests: never }, never],
    [{ size: 1000, rests: never }, always],
    [{ size: 7, rests: always }, () => random.chance(30)],
    [{ size: 1, rests: () => random.chance(10) }, () => random.chance(60)],
  ];
  const found = new Map<string, Set<string>>();
  for (const [cut, takesDirectory] of ways) {
    for (const [name, digest] of Object.entries(digestsOf(read, cut, takesDirectory))) {
      found.set(name, (found.get(name) ?? new Set()).add(digest));
    }
  }
  return {
    seed,
    digests: Object.fromEntries([...found].map(([name, digests]) => [name, [...digests]])),
  };
};

/** The digest of the stored bytes: the same seed gives the same bytes in every place. */
export const bytesDigest = ({ events }: Generated): string =>
  createHash('sha256').update(JSON.stringify(events)).digest('hex');
