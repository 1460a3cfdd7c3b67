// A process that flips one bit after the other in copies of a store, and looks whether the product
// finds it. One line of JSON for each.
import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { verifyConversation } from '../../src/engine/verification.js';
import { isStemmaError } from '../../src/face/stemma-error.js';
import { openEngine } from '../../src/open.js';
import { randomOf } from '../support/random.js';
import { changedRows, contentOf, isIntegral, type Content } from './content.js';
import { readOrders } from './orders.js';
import { rawEvents } from './stored-events.js';

export interface FlipOrders {
  /** A store that was closed. */
  readonly store: string;
  /** An empty folder for the copies. */
  readonly folder: string;
  readonly seed: number;
  readonly flips: number;
}

export interface Place {
  readonly stream: string;
  readonly revision: number;
}

/** A fault as the product named it. */
export interface NamedFault {
  readonly tag: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly check?: string;
}

export interface Flip {
  readonly byte: number;
  readonly bit: number;
  /** Rows whose content is another one now, a few of them. */
  readonly truth: readonly string[];
  readonly derived: readonly string[];
  /** Events that those rows are, as they were before. */
  readonly places: readonly Place[];
  readonly isUnreadable: boolean;
  /** Where the product refused: at opening, or while it verified. */
  readonly refusedBy: 'open' | 'verify' | 'nobody';
  readonly faults: readonly NamedFault[];
  /** An error that is no fault of the closed union. */
  readonly raw?: string;
  /** Whether SQLite's own check would have found it. */
  readonly isFoundBySqlite: boolean;
}

const orders = readOrders() as FlipOrders;
const random = randomOf(orders.seed);
const sourceFile = path.join(orders.store, 'store.db');
const original = fs.readFileSync(sourceFile);
const eventsBefore = rawEvents(sourceFile);
const before: Content = contentOf(sourceFile, eventsBefore);
const placeByRow = new Map<string, Place>(
  eventsBefore.flatMap(({ position, streamNumber, stream, revision }) => [
    [`event ${position}`, { stream, revision }],
    [`place ${streamNumber} ${revision}`, { stream, revision }],
    [`probe ${streamNumber} ${revision}`, { stream, revision }],
  ]),
);

type Found = Pick<Flip, 'refusedBy' | 'faults' | 'raw'>;

const named = (fault: object): NamedFault => {
  const { _tag, ...rest } = fault as { readonly _tag: string };
  return { ...rest, tag: _tag };
};

const look = async (store: string): Promise<Found> => {
  const engine = await openEngine({ store, readOnly: true })();
  if (E.isLeft(engine)) return { refusedBy: 'open', faults: [named(engine.left)] };
  try {
    const found = await verifyConversation(engine.right)();
    if (E.isLeft(found)) return { refusedBy: 'verify', faults: [named(found.left)] };
    const faults = found.right.faults.map((fault) => ({ tag: 'Damaged', ...fault }));
    return { refusedBy: 'nobody', faults };
  } finally {
    await engine.right.runtime.events.close()();
  }
};

const lookSafely = async (store: string): Promise<Found> => {
  try {
    return await look(store);
  } catch (error) {
    if (isStemmaError(error)) return { refusedBy: 'verify', faults: [{ tag: error._tag }] };
    const raw = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { refusedBy: 'nobody', faults: [], raw };
  }
};

const SHOWN = 12;

const flipOne = async (index: number): Promise<Flip> => {
  const store = path.join(orders.folder, `copy-${index}`);
  fs.cpSync(orders.store, store, { recursive: true });
  const [byte, bit] = [random.below(original.length), random.below(8)];
  const flipped = Buffer.from(original);
  flipped.writeUInt8(flipped.readUInt8(byte) ^ (1 << bit), byte);
  const file = path.join(store, 'store.db');
  fs.writeFileSync(file, flipped);
  const after = contentOf(file, eventsBefore);
  const isFoundBySqlite = !isIntegral(file);
  // Looking at a file that says it has a log leaves files beside it.
  for (const ending of ['-wal', '-shm', '-journal']) fs.rmSync(file + ending, { force: true });
  fs.writeFileSync(file, flipped);
  const found = await lookSafely(store);
  fs.rmSync(store, { recursive: true, force: true });
  const truth = changedRows(before.truth, after.truth);
  return {
    byte,
    bit,
    truth: truth.slice(0, SHOWN),
    places: truth.map((row) => placeByRow.get(row)).filter((place) => place !== undefined),
    derived: changedRows(before.derived, after.derived).slice(0, SHOWN),
    isUnreadable: after.isUnreadable,
    isFoundBySqlite,
    ...found,
  };
};

for (let index = 0; index < orders.flips; index += 1) {
  process.stdout.write(`${JSON.stringify(await flipOne(index))}\n`);
  if (index % 8 === 0) globalThis.gc?.();
}
