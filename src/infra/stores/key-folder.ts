import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { StoreFault } from '../../domain/errors.js';
import type { KeyStore } from '../../domain/key-store.js';
import { errorCode, makeFolder, publishFile } from './publish-file.js';
import { systemFault } from './system-fault.js';

const SECRET_BYTES = 32;

/**
 * The file of a tenant: named by a digest, since uids differ in letter case alone, which some file
 * systems do not keep apart.
 */
const fileOf = (folder: string, tenant: string): string =>
  path.join(folder, `tenant-${createHash('sha256').update(tenant).digest('hex').slice(0, 32)}.key`);

const read = (file: string): E.Either<StoreFault, Uint8Array | undefined> => {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return E.right(undefined);
    throw error;
  }
  return bytes.length === SECRET_BYTES
    ? E.right(Uint8Array.from(bytes))
    : E.left({ _tag: 'Damaged', check: 'seal' });
};

const writeSynced = (file: string, bytes: Uint8Array): void => {
  const descriptor = fs.openSync(file, 'wx', 0o600);
  try {
    fs.writeSync(descriptor, bytes);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
};

/** Puts the secret there whole or not at all; one that another process put first stays. */
const publish = (folder: string, file: string): void => {
  const draft = path.join(folder, `.${randomBytes(8).toString('hex')}`);
  writeSynced(draft, randomBytes(SECRET_BYTES));
  try {
    publishFile(draft, file);
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

const asFault = <A>(
  folder: string,
  run: () => E.Either<StoreFault, A>,
): E.Either<StoreFault, A> => {
  try {
    return run();
  } catch (error) {
    return E.left(systemFault(error, folder));
  }
};

/**
 * Tenant secrets as files of a folder (0700, files 0600), made at the first secret. All nodes that
 * share the folder agree on every secret; none is ever replaced.
 */
export const keyFolder = (folder: string): KeyStore => ({
  secret: (tenant) => () => Promise.resolve(asFault(folder, () => read(fileOf(folder, tenant)))),
  create: (tenant) => () =>
    Promise.resolve(
      asFault(folder, () => {
        const file = fileOf(folder, tenant);
        const known = read(file);
        if (E.isLeft(known)) return known;
        if (known.right !== undefined) return E.right(known.right);
        makeFolder(folder);
        publish(folder, file);
        const made = read(file);
        if (E.isLeft(made)) return made;
        return made.right === undefined
          ? E.left<StoreFault>({ _tag: 'Unavailable', reason: 'path', path: folder })
          : E.right(made.right);
      }),
    ),
});

/** The secrets that are there; a new one is refused with `ReadOnly`. */
export const readOnlyKeys = (keys: KeyStore, folder: string): KeyStore => ({
  secret: keys.secret,
  create:
    (tenant): TE.TaskEither<StoreFault, Uint8Array> =>
    async () => {
      const known = await keys.secret(tenant)();
      if (E.isLeft(known)) return known;
      return known.right === undefined
        ? E.left({ _tag: 'ReadOnly', path: folder })
        : E.right(known.right);
    },
});
