import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { FaultOf, StoreFault } from './errors.js';

/** Tenant secrets, kept outside the event file. A secret that is there is never replaced. */
export interface KeyStore {
  /** The secret of a tenant (32 bytes); undefined when this node has none. */
  readonly secret: (tenant: string) => TE.TaskEither<StoreFault, Uint8Array | undefined>;
  /** Makes the secret, or gives the one that another node made first. */
  readonly create: (
    tenant: string,
  ) => TE.TaskEither<StoreFault | FaultOf<'KeysMissing'>, Uint8Array>;
}
