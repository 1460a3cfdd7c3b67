import * as E from 'fp-ts/lib/Either.js';
import type { BranchState } from '../domain/branch-state.js';
import { digestOf } from '../domain/digest.js';
import { idFromHash } from '../domain/envelope.js';
import { freeze, thaw } from '../projections/checkpoint.js';
import { readOne } from './event-reader.js';
import type { Runtime } from './runtime.js';

/** Raised when the shape of the state or the rules of its fold change: older snapshots are passed by. */
const STATE_VERSION = 1;

/** Events folded since the last snapshot after which a new one is worth its write. */
export const SNAPSHOT_EVERY = 1_000;

const nameOf = (stream: string): string => `state/${stream}`;

const prefixOf = (frozen: string): string => `${String(STATE_VERSION)} ${digestOf(frozen)} `;

/** A text that was changed by anything would give wrong decisions: it carries its digest. */
const read = (text: string): BranchState | undefined => {
  const frozen = text.slice(text.indexOf(' ', text.indexOf(' ') + 1) + 1);
  return text.startsWith(prefixOf(frozen)) ? (thaw(frozen) as BranchState) : undefined;
};

/**
 * A state kept earlier, if the stream still holds the very event that it was folded to. Snapshots are
 * never truth: whatever does not fit is passed by and the stream is folded.
 */
export const loadSnapshot = async (
  runtime: Runtime,
  stream: string,
): Promise<BranchState | undefined> => {
  const text = await runtime.snapshots.get(nameOf(stream))();
  const state = E.isRight(text) && text.right !== undefined ? read(text.right) : undefined;
  if (state === undefined) return undefined;
  const event = await readOne(runtime, stream, state.head)();
  return E.isRight(event) && event.right?.id === idFromHash(state.hash) ? state : undefined;
};

/** Keeps a state; a store that takes none (read-only, full) goes on without. */
export const saveSnapshot = async (
  runtime: Runtime,
  stream: string,
  state: BranchState,
): Promise<void> => {
  const frozen = freeze(state);
  await runtime.snapshots.put(nameOf(stream), prefixOf(frozen) + frozen)();
};
