import { hashEvent, idFromHash } from '../domain/envelope.js';
import type { EventStore, NewEvent, Page, StoredEvent } from '../domain/event-store.js';
import type { Revision } from '../domain/ids.js';
import { valueOf } from './answers.js';

/** What a sample event should have that matters to its case. */
export interface Sample {
  readonly conversation?: string;
  readonly type?: string;
  readonly keys?: readonly string[];
  readonly data?: string;
  /** The whole text of the envelope, for cases about texts. */
  readonly meta?: string;
}

export type Batch = readonly [NewEvent, ...NewEvent[]];

const metaOf = (stream: string, sample: Sample): string => {
  const { conversation = 'conversation', keys } = sample;
  const shared = { fmt: 'stemma/0', sv: '1', compat: 'must', conv: conversation, branch: stream };
  return JSON.stringify(keys === undefined ? shared : { ...shared, keys: keys.join(' ') });
};

/** A well-formed event for this place; other samples at the same place have other ids. */
export const sampleEvent = (stream: string, revision: Revision, sample: Sample = {}): NewEvent => {
  const { conversation: conv = 'conversation', type = 'SampleRecorded' } = sample;
  const meta = sample.meta ?? metaOf(stream, sample);
  const data = sample.data ?? JSON.stringify({ stream, revision });
  const hash = hashEvent({ fmt: 'stemma/0', conv, branch: stream, revision }, type, meta, data);
  return { id: idFromHash(hash), hash, type, meta, data };
};

/** `count` events for a stream, the first of them at revision `from`. */
export const sampleBatch = (
  stream: string,
  from: Revision,
  count: number,
  sample: Sample = {},
): Batch => {
  const rest = Array.from({ length: count - 1 }, (_, index) =>
    sampleEvent(stream, from + 1 + index, sample),
  );
  return [sampleEvent(stream, from, sample), ...rest];
};

/** An event with a body of exactly so many bytes of type, envelope and data together. */
export const eventOfBytes = (stream: string, revision: Revision, bytes: number): NewEvent => {
  const { meta, type } = sampleEvent(stream, revision);
  return sampleEvent(stream, revision, { data: 'x'.repeat(bytes - meta.length - type.length) });
};

/** Appends sample events to the end of a stream that has `from` of them. */
export const fill = async (
  events: EventStore,
  stream: string,
  count: number,
  from: Revision = 0,
): Promise<Batch> => {
  const batch = sampleBatch(stream, from, count);
  await valueOf(events.append(stream, from === 0 ? 'none' : from - 1, batch));
  return batch;
};

const AMPLE = 1_000_000_000;

/** Everything in a stream, read in pages. */
export const readAll = async (
  events: EventStore,
  stream: string,
  limit = 1_000,
): Promise<readonly StoredEvent[]> => {
  const all: StoredEvent[] = [];
  let from: Revision | 'start' | undefined = 'start';
  while (from !== undefined) {
    const page: Page = await valueOf(
      events.read({ stream, from, direction: 'forwards', limit, maxBytes: AMPLE }),
    );
    all.push(...page.events);
    from = page.next;
  }
  return all;
};

export const idsOf = (events: readonly { readonly id: string }[]): readonly string[] =>
  events.map((event) => event.id);

export const revisionsOf = (events: readonly StoredEvent[]): readonly Revision[] =>
  events.map((event) => event.revision);

/** Whole numbers from 0 below `count`. */
export const countTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index);
