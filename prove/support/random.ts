/** Repeatable randomness: the same seed gives the same choices on every machine. */
export interface Random {
  /** A whole number from 0 up to and without `limit`. */
  readonly below: (limit: number) => number;
  /** True in `percent` of a hundred cases. */
  readonly chance: (percent: number) => boolean;
  readonly pick: <A>(items: readonly [A, ...A[]]) => A;
  /** One of the items; undefined when there is none. */
  readonly any: <A>(items: readonly A[]) => A | undefined;
  readonly bytes: (count: number) => Uint8Array;
}

/** Another seed for run `index` of seed `seed`. */
export const seedOf = (seed: number, index: number): number => {
  let mixed = Math.imul(seed ^ (index + 0x9e37_79b9), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35) ^ index;
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

/** Mulberry32: 32 bits of state, good enough to choose test steps with. */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / 4_294_967_296) * limit);
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (items) => items[below(items.length)] ?? items[0],
    any: (items) => items[below(items.length)],
    bytes: (count) => Uint8Array.from({ length: count }, () => below(256)),
  };
};
