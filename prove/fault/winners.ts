import type { Ack } from './acks.js';
import type { RawEvent } from './stored-events.js';

/** How often something is other than it must be among the events of a store and their writers. */
export interface Verdict {
  /** Places of the whole store, or of a stream, that are left out or taken twice. */
  readonly gaps: number;
  /** Revisions that several writers believe to have won. */
  readonly sharedWins: number;
  /** Acknowledged, and not there. */
  readonly lost: number;
  /** There, and acknowledged to nobody. */
  readonly unclaimed: number;
}

const keyOf = ({ stream, revision }: Pick<RawEvent, 'stream' | 'revision'>): string =>
  `${stream} ${revision}`;

const gapsIn = (events: readonly RawEvent[]): number => {
  const heads = new Map<string, number>();
  let gaps = 0;
  for (const [index, { position, stream, revision }] of events.entries()) {
    if (position !== index + 1) gaps += 1;
    if (revision !== (heads.get(stream) ?? -1) + 1) gaps += 1;
    heads.set(stream, revision);
  }
  return gaps;
};

/** Compares what a store holds with what each of its writers was told. */
export const judge = (
  events: readonly RawEvent[],
  writers: readonly (readonly Ack[])[],
): Verdict => {
  const stored = new Map(events.map((event) => [keyOf(event), event.id]));
  const winners = new Map<string, number>();
  let lost = 0;
  for (const ack of writers.flat()) {
    winners.set(keyOf(ack), (winners.get(keyOf(ack)) ?? 0) + 1);
    if (stored.get(keyOf(ack)) !== ack.id) lost += 1;
  }
  return {
    gaps: gapsIn(events),
    sharedWins: [...winners.values()].filter((count) => count > 1).length,
    lost,
    unclaimed: [...stored.keys()].filter((key) => !winners.has(key)).length,
  };
};
