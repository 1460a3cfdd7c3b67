import * as E from 'fp-ts/lib/Either.js';
import { expect } from 'vitest';
import type { FaultTag, StemmaFault } from '../../src/domain/errors.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { isStemmaError, openStemma, type Branch, type Stemma } from '../../src/index.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';

/** An open engine whose store can be looked at from beside. */
export interface Watched {
  readonly stemma: Stemma;
  readonly stores: EngineStores;
  /** Every stored event and the name of every stored blob, exactly. */
  readonly image: () => Promise<readonly string[]>;
  readonly events: () => Promise<readonly StoredEvent[]>;
}

/** All events of a store in position order. */
export const storedEvents = async ({ events }: EngineStores): Promise<readonly StoredEvent[]> => {
  const all: StoredEvent[] = [];
  const stop = new AbortController();
  for await (const item of events.feed({ categories: [], after: 'start', signal: stop.signal })) {
    if (item._tag === 'Events') all.push(...item.events);
    if (item._tag === 'CaughtUp' || item._tag === 'Fault') break;
  }
  stop.abort();
  return all;
};

export interface WatchOptions {
  /** Changes the stores that the engine sees; what is looked at are the ones below. */
  readonly wrap?: (stores: EngineStores) => EngineStores;
  readonly now?: () => number;
}

export const watch = async ({ wrap, now }: WatchOptions = {}): Promise<Watched> => {
  const memory = memoryStores();
  const blobNames: string[] = [];
  const stores: EngineStores = {
    ...memory,
    blobs: {
      ...memory.blobs,
      put: (tenant, name, bytes) => async () => {
        const put = await memory.blobs.put(tenant, name, bytes)();
        if (E.isRight(put) && put.right === 'stored') blobNames.push(name);
        return put;
      },
    },
  };
  const store = wrap?.(stores) ?? stores;
  const stemma = await openStemma({ store, ...(now === undefined ? {} : { now }) });
  return {
    stemma,
    stores,
    image: async () => [
      ...(await storedEvents(stores)).map((event) => JSON.stringify(event)),
      ...blobNames,
    ],
    events: () => storedEvents(stores),
  };
};

/** A watched engine with one conversation. */
export const watchBranch = async (
  options: WatchOptions = {},
): Promise<Watched & { readonly branch: Branch }> => {
  const watched = await watch(options);
  return { ...watched, branch: await watched.stemma.start({ id: 'conversation' }) };
};

/** What was thrown, which must be a fault of the product; its texts hold none of `secrets`. */
export const faultOf = async (
  run: () => unknown,
  secrets: readonly string[] = [],
): Promise<StemmaFault> => {
  let thrown: unknown;
  try {
    const value = await run();
    throw new Error(`nothing was refused: ${JSON.stringify(value).slice(0, 300)}`);
  } catch (error) {
    thrown = error;
  }
  if (!isStemmaError(thrown)) throw thrown;
  const { message, hint, data, code } = thrown;
  expect(code).toBe(data._tag);
  const told = JSON.stringify({ message, hint, data });
  for (const secret of secrets) expect(told).not.toContain(secret);
  return data;
};

/** The fault of an action that must be refused and leave every byte of the store as it was. */
export const refused = async (
  watched: Watched,
  run: () => unknown,
  secrets: readonly string[] = [],
): Promise<StemmaFault> => {
  const before = await watched.image();
  const fault = await faultOf(run, secrets);
  expect(await watched.image()).toEqual(before);
  return fault;
};

export const tagOf = async (run: () => unknown): Promise<FaultTag> => (await faultOf(run))._tag;

/** Gives anything to a method whose type allows less, as a caller in plain JavaScript can. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export const loose = <A>(value: unknown): A => value as A;

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The texts of a branch's messages, in surface order. */
export const textsOf = async (branch: Branch): Promise<readonly string[]> =>
  (await branch.surface()).items.flatMap(({ message }) =>
    message.blocks.map((block) => ('text' in block ? block.text : JSON.stringify(block))),
  );
