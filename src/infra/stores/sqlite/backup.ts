import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { FaultOf, StoreFault } from '../../../domain/errors.js';
import { publishFile } from '../publish-file.js';
import { BLOCK_MS, connect, inTransaction, journalMode, setSync } from './connection.js';
import { draftOf } from './create.js';
import { toStoreFault, withoutLocked } from './faults.js';
import { schemaState, writeSchemaState } from './schema.js';

export type BackupFault = StoreFault | FaultOf<'TargetExists'>;

/** The copy is a closed store of its own: one file without a log and without the mark. */
const closeCopy = (file: string): void => {
  const copy = connect(file, { readOnly: false, blockMs: BLOCK_MS });
  try {
    setSync(copy, 'full');
    journalMode(copy, 'DELETE');
    inTransaction(copy, () => {
      writeSchemaState(copy, { ...schemaState(copy), isMarkedOpen: false });
    });
  } finally {
    copy.close();
  }
};

const copyStore = async (file: string, target: string): Promise<boolean> => {
  const draft = draftOf(target);
  fs.closeSync(fs.openSync(draft, 'wx', 0o600));
  try {
    const source = connect(file, { readOnly: true, blockMs: BLOCK_MS });
    try {
      await source.copyTo(draft);
    } finally {
      source.close();
    }
    closeCopy(draft);
    return publishFile(draft, target);
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

/**
 * Copies the store as it is now, while it is being written: one read snapshot, taken in another
 * thread over a connection of its own. Never overwrites (`TargetExists`); no part of a copy is seen.
 */
export const backupStore =
  (file: string, target: string): TE.TaskEither<BackupFault, void> =>
  async () => {
    const place = path.resolve(target);
    try {
      if (fs.existsSync(place)) return E.left({ _tag: 'TargetExists', path: place });
      const isNew = await copyStore(file, place);
      return isNew ? E.right(undefined) : E.left({ _tag: 'TargetExists', path: place });
    } catch (error) {
      return E.left(withoutLocked(toStoreFault(error, place)));
    }
  };
