import * as E from 'fp-ts/lib/Either.js';
import { chainFault, type Link } from '../domain/chain.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Page, StoredEvent } from '../domain/event-store.js';
import type { Revision } from '../domain/ids.js';
import { readStored, type Recorded } from '../domain/recorded.js';
import type { Runtime, Task } from './runtime.js';

const PAGE_EVENTS = 500;
const PAGE_BYTES = 4_000_000;

/** Called for each event in order; a fault stops the reading. */
export type Step = (recorded: Recorded) => StemmaFault | undefined;

const readPage = (
  runtime: Runtime,
  stream: string,
  from: Revision,
): Promise<E.Either<StemmaFault, Page>> =>
  runtime.events.read({
    stream,
    from,
    direction: 'forwards',
    limit: PAGE_EVENTS,
    maxBytes: PAGE_BYTES,
  })();

/**
 * A stream that had events and gives none, or not its first ones, was deleted or truncated in the
 * store: that is never taken for a stream without events (B69).
 */
const isCut = (page: Page, after: Link | undefined): boolean => {
  const first = page.events[0];
  if (after !== undefined) return !page.exists;
  return first === undefined ? page.exists : first.revision > 0;
};

/**
 * Reads a stream from behind `after` up to and with `upTo`, page by page. Each event is decoded and
 * checked against its hash and the event before it.
 */
export const readForward =
  (
    runtime: Runtime,
    stream: string,
    after: Link | undefined,
    upTo: Revision,
    step: Step,
  ): Task<Link | undefined> =>
  async () => {
    let last = after;
    let from: Revision | undefined = (after?.revision ?? -1) + 1;
    while (from !== undefined && from <= upTo) {
      const page = await readPage(runtime, stream, from);
      if (E.isLeft(page)) return page;
      if (isCut(page.right, last)) return E.left({ _tag: 'StreamDeleted', stream });
      for (const stored of page.right.events) {
        if (stored.revision > upTo) return E.right(last);
        const recorded = readStored(stored, runtime.upcasts);
        if (E.isLeft(recorded)) return recorded;
        const fault = chainFault(last, recorded.right) ?? step(recorded.right);
        if (fault !== undefined) return E.left(fault);
        last = { revision: recorded.right.revision, hash: recorded.right.hash };
      }
      from = page.right.next;
    }
    return E.right(last);
  };

/**
 * A fork hangs on an event of its parent. Where that event is missing or another one, the past of
 * the fork is damaged, never just shorter (B44).
 */
export const forkPointFault = (
  stream: string,
  point: Link,
  last: Link | undefined,
): StemmaFault | undefined => {
  if (last?.hash === point.hash) return undefined;
  const check = last?.revision === point.revision ? 'chain' : 'tail';
  return { _tag: 'Damaged', stream, revision: point.revision, check };
};

/** All events of a stream behind `after`, as a list. */
export const readAll =
  (
    runtime: Runtime,
    stream: string,
    after?: Link,
    upTo: Revision = Number.MAX_SAFE_INTEGER,
  ): Task<readonly Recorded[]> =>
  async () => {
    const events: Recorded[] = [];
    const read = await readForward(runtime, stream, after, upTo, (recorded) => {
      events.push(recorded);
      return undefined;
    })();
    return E.isLeft(read) ? read : E.right(events);
  };

/** The stored event at a place, undecoded; undefined when there is none. */
export const readOne =
  (runtime: Runtime, stream: string, revision: Revision): Task<StoredEvent | undefined> =>
  async () => {
    const page = await runtime.events.read({
      stream,
      from: revision,
      direction: 'forwards',
      limit: 1,
      maxBytes: PAGE_BYTES,
    })();
    if (E.isLeft(page)) return page;
    const event = page.right.events[0];
    return E.right(event?.revision === revision ? event : undefined);
  };

/** `count` events from `from` on, decoded but not checked against the event before them. */
export const readBatch =
  (runtime: Runtime, stream: string, from: Revision, count: number): Task<readonly Recorded[]> =>
  async () => {
    const events: Recorded[] = [];
    for (let next: Revision | undefined = from; next !== undefined && events.length < count;) {
      const page = await readPage(runtime, stream, next);
      if (E.isLeft(page)) return page;
      for (const stored of page.right.events.slice(0, count - events.length)) {
        const recorded = readStored(stored, runtime.upcasts);
        if (E.isLeft(recorded)) return recorded;
        events.push(recorded.right);
      }
      next = page.right.next;
    }
    return E.right(events);
  };
