import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import { utf8Bytes } from '../../src/domain/text.js';
import type { Upcasts } from '../../src/domain/events/catalog.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { openStemma, StemmaError, type Stemma } from '../../src/index.js';
import {
  fixedKeys,
  fixedRandom,
  instrumented,
  kurrentLike,
  type LostAnswers,
  type PutBlobs,
} from './stores.js';
import type { StoreName } from './words.js';

/** All that a store holds, event by event in the order of the whole store. */
export type Snapshot = readonly StoredEvent[];

/** A fresh store with an engine on it, a clock that the case sets, and fixed ids. */
export interface World {
  readonly store: StoreName;
  readonly engine: () => Stemma;
  /** The engine of another tenant on the same store. */
  readonly tenant: (name: string) => Promise<Stemma>;
  readonly clock: { now: number };
  readonly answers: LostAnswers;
  readonly stores: () => EngineStores;
  /** A new process: nothing in memory is left, and the store is opened again where it is a file. */
  readonly reopen: () => Promise<void>;
  readonly snapshot: () => Promise<Snapshot>;
  readonly blobs: PutBlobs;
  /** Closes the engine and counts the bytes that the store keeps. */
  readonly closedBytes: () => Promise<number>;
  readonly dispose: () => Promise<void>;
}

const START = Date.parse('2026-01-01T00:00:00.000Z');

interface Place {
  readonly open: () => Promise<EngineStores>;
  readonly shared: boolean;
  readonly folder?: string;
}

const inMemory = (store: StoreName): Place => {
  const stores = memoryStores();
  const seen = store === 'kurrent-like' ? kurrentLike(stores) : stores;
  return { open: () => Promise.resolve(seen), shared: true };
};

const inFile = (): Place => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stemma-case-'));
  return {
    folder,
    shared: false,
    open: async () => {
      const opened = await sqliteStores({ path: path.join(folder, 'case.db') })();
      if (E.isLeft(opened)) throw new StemmaError(opened.left);
      return opened.right;
    },
  };
};

const everything = async (stores: EngineStores): Promise<Snapshot> => {
  const stop = new AbortController();
  const all: StoredEvent[] = [];
  const feed = stores.events.feed({ categories: [], after: 'start', signal: stop.signal });
  for await (const item of feed) {
    if (item._tag === 'Fault') throw new StemmaError(item.fault);
    if (item._tag === 'CaughtUp') break;
    if (item._tag === 'Events') all.push(...item.events);
  }
  stop.abort();
  return all;
};

/** Bytes of events and blobs, whatever the store puts around them. */
export const loggedBytes = (events: Snapshot, blobs: PutBlobs): number =>
  events.reduce(
    (sum, { id, type, meta, data }) => sum + utf8Bytes(id + type + meta + data),
    [...blobs.values()].reduce((sum, bytes) => sum + bytes, 0),
  );

const folderBytes = (folder: string): number =>
  fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0);

/** Opens a fresh store of this kind. */
export const openWorld = async (store: StoreName, upcasts: Upcasts = {}): Promise<World> => {
  const place = store === 'sqlite' ? inFile() : inMemory(store);
  const clock = { now: START };
  const random = fixedRandom();
  const keys = fixedKeys();
  const answers: LostAnswers = { on: false, lost: 0 };
  const blobs: PutBlobs = new Map();
  let bare = await place.open();
  let stores = instrumented(bare, keys, answers, blobs);
  const open = (tenant?: string): Promise<Stemma> =>
    openStemma({
      store: stores,
      now: () => clock.now,
      random,
      upcasts,
      ...(tenant === undefined ? {} : { tenant }),
    });
  let engine = await open();
  const close = async (): Promise<void> => {
    await bare.events.close()();
  };
  const reopen = async (): Promise<void> => {
    if (!place.shared) {
      await close();
      bare = await place.open();
      stores = instrumented(bare, keys, answers, blobs);
    }
    engine = await open();
  };
  return {
    store,
    engine: () => engine,
    tenant: open,
    clock,
    answers,
    stores: () => stores,
    reopen,
    snapshot: () => everything(bare),
    blobs,
    closedBytes: async () => {
      if (place.folder === undefined) return loggedBytes(await everything(bare), blobs);
      await close();
      const bytes = folderBytes(place.folder);
      bare = await place.open();
      stores = instrumented(bare, keys, answers, blobs);
      engine = await open();
      return bytes;
    },
    dispose: async () => {
      await close();
      if (place.folder !== undefined) fs.rmSync(place.folder, { recursive: true, force: true });
    },
  };
};
