import * as E from 'fp-ts/lib/Either.js';
import { deriveUid, publicUid } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import { NO_UID, type Uid } from '../domain/ids.js';
import { governanceStream } from '../domain/stream-name.js';
import { readAll } from './event-reader.js';
import { writeBatch } from './event-writer.js';
import type { Runtime, Task } from './runtime.js';

/** A tenant as an engine works for it: its uid, and the secret that derives uids from foreign ids. */
export interface Tenant {
  readonly tenant: Uid;
  readonly secret: Uint8Array;
}

/** Uid of a tenant's name; no secret is in it, so that a node without the secret finds that it is missing. */
export const tenantUid = (name: string): Uid => publicUid('tenant', name);

const fingerprintOf = (secret: Uint8Array): string => deriveUid(secret, 'fingerprint', '');

const recordedFingerprint =
  (runtime: Runtime, tenant: Uid): Task<string | undefined> =>
  async () => {
    const events = await readAll(runtime, governanceStream(tenant), undefined, 0)();
    if (E.isLeft(events)) return events;
    const event = events.right[0]?.event;
    return E.right(event?.type === 'TenantEstablished' ? event.data.fingerprint : undefined);
  };

const establish =
  (runtime: Runtime, tenant: Uid, secret: Uint8Array): Task<void> =>
  async () => {
    const batch = writeBatch(
      {
        stream: governanceStream(tenant),
        conversation: NO_UID,
        branch: NO_UID,
        head: -1,
        hash: '',
        at: '',
        now: runtime.now(),
        actor: 'engine',
        via: runtime.via,
      },
      [
        {
          event: { type: 'TenantEstablished', data: { fingerprint: fingerprintOf(secret) } },
          keys: [],
        },
      ],
    );
    if (E.isLeft(batch)) return batch;
    const [written] = batch.right;
    if (written === undefined) return E.right(undefined);
    const stream = governanceStream(tenant);
    const appended = await runtime.events.append(stream, 'none', [written.stored])();
    // Another node was first: what it wrote is compared by the caller.
    if (E.isLeft(appended) && appended.left._tag !== 'WrongRevision') return appended;
    return E.right(undefined);
  };

const compare = (secret: Uint8Array, fingerprint: string): E.Either<StemmaFault, void> => {
  const found = fingerprintOf(secret);
  return found === fingerprint
    ? E.right(undefined)
    : E.left({ _tag: 'KeysMismatch', fingerprint, found });
};

/**
 * Opens a tenant: its secret must be the one that its store was begun with. A store that knows a
 * tenant is never given a new secret (store.md, KeyStore). `readOnly`: nothing is made.
 */
export const openTenant =
  (runtime: Runtime, tenant: Uid, readOnly: boolean): Task<Tenant> =>
  async () => {
    const recorded = await recordedFingerprint(runtime, tenant)();
    if (E.isLeft(recorded)) return recorded;
    const present = await runtime.keyStore.secret(tenant)();
    if (E.isLeft(present)) return present;
    if (recorded.right !== undefined) {
      if (present.right === undefined) {
        return E.left({ _tag: 'KeysMissing', fingerprint: recorded.right });
      }
      const same = compare(present.right, recorded.right);
      return E.isLeft(same) ? same : E.right({ tenant, secret: present.right });
    }
    if (readOnly) return E.right({ tenant, secret: present.right ?? new Uint8Array(32) });
    const secret = await runtime.keyStore.create(tenant)();
    if (E.isLeft(secret)) return secret;
    const established = await establish(runtime, tenant, secret.right)();
    if (E.isLeft(established)) return established;
    const now = await recordedFingerprint(runtime, tenant)();
    if (E.isLeft(now)) return now;
    const same = compare(secret.right, now.right ?? fingerprintOf(secret.right));
    return E.isLeft(same) ? same : E.right({ tenant, secret: secret.right });
  };
