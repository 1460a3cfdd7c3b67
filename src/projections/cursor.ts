import type { Recorded } from '../domain/recorded.js';
import { isDirectory, stampOf, type Stamp } from './places.js';

/** Where a fold stands in a lineage. */
export interface Cursor {
  /** Number of events of the lineage folded so far. */
  sequence: number;
  /** Branch of the last event; empty before the first. */
  branch: string;
  /** `sequence` of the first event of that branch itself: what is before is inherited. */
  ownFrom: number;
  /** The open turn. */
  turn?: string;
}

export const startCursor = (): Cursor => ({ sequence: 0, branch: '', ownFrom: 0 });

/** The stamp of the event that is being folded. */
export const stampAt = (cursor: Cursor, recorded: Recorded): Stamp =>
  stampOf(recorded, cursor.sequence, cursor.turn);

const enterBranch = (cursor: Cursor, recorded: Recorded): void => {
  if (cursor.branch === recorded.meta.branch) return;
  cursor.branch = recorded.meta.branch;
  cursor.ownFrom = cursor.sequence;
  // A fork does not continue the turn of its parent.
  delete cursor.turn;
};

/** Folds one event of the lineage with `apply`; events of the directory are passed by. */
export const advance = (cursor: Cursor, recorded: Recorded, apply: () => void): void => {
  if (isDirectory(recorded)) return;
  const { event } = recorded;
  enterBranch(cursor, recorded);
  if (event?.type === 'TurnStarted' || event?.type === 'TurnClaimed') cursor.turn = event.data.turn;
  apply();
  if (event?.type === 'TurnEnded' && event.data.turn === cursor.turn) delete cursor.turn;
  cursor.sequence += 1;
};
