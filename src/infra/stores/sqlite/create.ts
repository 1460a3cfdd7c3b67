import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { publishFile } from '../publish-file.js';
import { BLOCK_MS, connect, inTransaction, setSync } from './connection.js';
import { APPLICATION_ID, migrate, SCHEMA_VERSION, writeSchemaState } from './schema.js';

/** A name beside `file` that nobody else uses, for a file that is not finished yet. */
export const draftOf = (file: string): string =>
  path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);

const writeSchema = (draft: string): void => {
  const db = connect(draft, { readOnly: false, blockMs: BLOCK_MS });
  try {
    setSync(db, 'full');
    db.exec(`PRAGMA application_id = ${String(APPLICATION_ID)}`);
    inTransaction(db, () => {
      migrate(db, 0);
      writeSchemaState(db, { version: SCHEMA_VERSION, isMarkedOpen: false });
      const storeId = randomBytes(16).toString('base64url');
      db.sql('INSERT INTO store (one, store_id) VALUES (1, ?)').run(storeId);
    });
  } finally {
    db.close();
  }
};

/**
 * Writes a new store beside the place and links it there complete, so that no half of one is ever
 * seen, and of two processes that make it one wins and both use it.
 */
export const createStore = (file: string): void => {
  const draft = draftOf(file);
  fs.closeSync(fs.openSync(draft, 'wx', 0o600));
  try {
    writeSchema(draft);
    publishFile(draft, file);
  } finally {
    fs.rmSync(draft, { force: true });
  }
};
