import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { StoreFault } from './errors.js';
import type { Revision } from './ids.js';

/** One stream of a lineage, seen up to and with this revision (-1: nothing of it). */
export interface LineagePart {
  readonly stream: string;
  readonly upTo: Revision;
}

export interface KeyPlace {
  readonly key: string;
  readonly stream: string;
  readonly revision: Revision;
}

export interface KeyLookup {
  readonly places: readonly KeyPlace[];
  /** Per stream: the index knows all keys up to this revision (-1: none). What follows must be scanned. */
  readonly validUpTo: ReadonlyMap<string, Revision>;
}

/** Where the lookup keys of messages, commands, calls and foreign records stand (`meta.keys`). */
export interface KeyIndex {
  readonly lookup: (
    conversation: string,
    lineage: readonly LineagePart[],
    keys: readonly string[],
  ) => TE.TaskEither<StoreFault, KeyLookup>;
}
