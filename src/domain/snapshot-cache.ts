import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { StoreFault } from './errors.js';

/** Disposable texts by name: never truth, may vanish at any time, takes no place in the event order. */
export interface SnapshotCache {
  readonly get: (name: string) => TE.TaskEither<StoreFault, string | undefined>;
  readonly put: (name: string, value: string) => TE.TaskEither<StoreFault, void>;
  readonly drop: (prefix: string) => TE.TaskEither<StoreFault, void>;
}
