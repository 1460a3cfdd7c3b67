import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { AppendFault, StoreFault } from './errors.js';

/** Bodies above 64 KiB, by name within a tenant. A blob is stored before the event that names it. */
export interface BlobStore {
  readonly put: (
    tenant: string,
    name: string,
    bytes: Uint8Array,
  ) => TE.TaskEither<AppendFault, 'stored' | 'already'>;
  readonly get: (tenant: string, name: string) => TE.TaskEither<StoreFault, Uint8Array | undefined>;
  readonly has: (
    tenant: string,
    names: readonly string[],
  ) => TE.TaskEither<StoreFault, ReadonlySet<string>>;
}
