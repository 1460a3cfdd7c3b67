import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { AppendFault } from '../../src/domain/errors.js';
import type {
  Appended,
  EventStore,
  ExpectedRevision,
  NewEvent,
} from '../../src/domain/event-store.js';
import type { KeyStore } from '../../src/domain/key-store.js';
import type { EngineStores } from '../../src/engine/runtime.js';

const derived = (purpose: string, name: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(`${purpose} ${name}`).digest());

/** Tenant secrets that follow from the tenant's uid, so that two runs derive the same uids. */
export const fixedKeys = (): KeyStore => {
  const made = new Set<string>();
  const secret = (tenant: string): Uint8Array => derived('secret', tenant);
  return {
    secret: (tenant) => () =>
      Promise.resolve(E.right(made.has(tenant) ? secret(tenant) : undefined)),
    create: (tenant) => () => {
      made.add(tenant);
      return Promise.resolve(E.right(secret(tenant)));
    },
  };
};

/** Bytes that look random and are the same in every run. */
export const fixedRandom = (): ((bytes: number) => Uint8Array) => {
  let count = 0;
  return (bytes) => {
    const out = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += 32) {
      count += 1;
      out.set(derived('random', String(count)).subarray(0, Math.min(32, bytes - at)), at);
    }
    return out;
  };
};

type AppendResult = E.Either<AppendFault, Appended>;
type Append = (
  stream: string,
  expected: ExpectedRevision,
  events: readonly [NewEvent, ...NewEvent[]],
) => Promise<AppendResult>;

/** A switch: while it is on, appends are stored and their answers are lost. */
export interface LostAnswers {
  on: boolean;
  /** Appends whose answer was lost. */
  lost: number;
}

const losing =
  (append: Append, answers: LostAnswers): Append =>
  async (stream, expected, events) => {
    const result = await append(stream, expected, events);
    if (!answers.on || E.isLeft(result)) return result;
    answers.lost += 1;
    const ids = events.map(({ id }) => id);
    return E.left({ _tag: 'OutcomeUnknown', stream, expected, ids });
  };

/** Blobs that were put, so that the bytes of a store in memory can be counted and compared. */
export type PutBlobs = Map<string, number>;

const withAppend = (events: EventStore, append: Append): EventStore => ({
  ...events,
  append: (stream, expected, batch) => () => append(stream, expected, batch),
});

/** The same stores with a fault to be switched on, fixed secrets, and a list of the blobs. */
export const instrumented = (
  stores: EngineStores,
  keyStore: KeyStore,
  answers: LostAnswers,
  blobs: PutBlobs,
): EngineStores => ({
  ...stores,
  keyStore,
  events: withAppend(
    stores.events,
    losing((stream, expected, events) => stores.events.append(stream, expected, events)(), answers),
  ),
  blobs: {
    ...stores.blobs,
    put: (tenant, name, bytes) => async () => {
      const put = await stores.blobs.put(tenant, name, bytes)();
      if (E.isRight(put)) blobs.set(`${tenant} ${name}`, bytes.length);
      return put;
    },
  },
});

const headOf = async (events: EventStore, stream: string): Promise<number> => {
  const page = await events.read({
    stream,
    from: 'end',
    direction: 'backwards',
    limit: 1,
    maxBytes: 1,
  })();
  return E.isRight(page) ? (page.right.events[0]?.revision ?? -1) : -1;
};

/**
 * Idempotency as EventStoreDB has it: ids that stand at their exact revision are acknowledged and
 * not written again, and at the head the same ids are written a second time.
 */
export const kurrentLike = (stores: EngineStores): EngineStores => ({
  ...stores,
  events: withAppend(stores.events, async (stream, expected, events) => {
    const head = await headOf(stores.events, stream);
    const first = expected === 'none' ? 0 : expected + 1;
    if (first > head) return stores.events.append(stream, expected, events)();
    const page = await stores.events.read({
      stream,
      from: first,
      direction: 'forwards',
      limit: events.length,
      maxBytes: Number.MAX_SAFE_INTEGER,
    })();
    if (E.isLeft(page)) return page;
    const stored = page.right.events;
    const isSame =
      stored.length === events.length && events.every(({ id }, at) => stored[at]?.id === id);
    return isSame
      ? E.right({ first, last: first + events.length - 1 })
      : E.left({ _tag: 'WrongRevision', expected, actual: head });
  }),
});
