import { setTimeout as delay } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { EventStore } from '../../src/domain/event-store.js';

/** The last event of an append that was acknowledged. */
export interface Ack {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

/** What was acknowledged last in each stream. The chain vouches for everything before it. */
export type Acks = ReadonlyMap<string, Ack>;

export const ackLine = ({ stream, revision, id }: Ack): string => `ack ${stream} ${revision} ${id}`;

/** The acknowledgement that a line is; undefined for any other line. */
export const ackOf = (line: string): Ack | undefined => {
  const [, stream, revision, id] = /^ack (\S+) (\d+) (\S+)$/.exec(line) ?? [];
  return stream === undefined || id === undefined
    ? undefined
    : { stream, revision: Number(revision), id };
};

export const noteAck = (acks: Map<string, Ack>, ack: Ack): void => {
  const known = acks.get(ack.stream);
  if (known === undefined || known.revision < ack.revision) acks.set(ack.stream, ack);
};

/** All acknowledgements among these lines. A last line that was cut off is none. */
export const acksOf = (lines: readonly string[], before: Acks = new Map()): Acks => {
  const acks = new Map(before);
  for (const line of lines) {
    const ack = ackOf(line);
    if (ack !== undefined) noteAck(acks, ack);
  }
  return acks;
};

/**
 * When an append is told to be done: behind its answer; or, to see it noticed, as by a store that
 * answers at once and commits a little later.
 */
export type AckTime = 'answered' | 'asked';

const LATER_MS = 25;

/** The store, but that each append is told once it was acknowledged. */
export const ackingStore = (
  events: EventStore,
  tell: (line: string) => void,
  when: AckTime = 'answered',
): EventStore => ({
  ...events,
  append: (stream, expected, batch) => async () => {
    const last = batch[batch.length - 1] ?? batch[0];
    const revision = (expected === 'none' ? -1 : expected) + batch.length;
    const line = ackLine({ stream, revision, id: last.id });
    if (when === 'asked') {
      tell(line);
      await delay(LATER_MS);
    }
    const answer = await events.append(stream, expected, batch)();
    if (when === 'answered' && E.isRight(answer)) tell(line);
    return answer;
  },
});
