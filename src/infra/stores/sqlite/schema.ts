import type { Database } from './driver.js';
import { integerOf } from './rows.js';

// Everything named here is on disk: add a migration, never change one that was released.

/** Marks the file as ours: the bytes `stem` at offset 68 of the header. */
export const APPLICATION_ID = 0x7374656d;

/** The schema this build writes. */
export const SCHEMA_VERSION = 1;

/** Set in `user_version` of the file itself while its log holds more than it does (writer.ts). */
const OPEN_MARK = 0x40000000;

const fresh = `
CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  store_id TEXT NOT NULL
) STRICT;
CREATE TABLE streams (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  hash BLOB NOT NULL,
  type TEXT NOT NULL,
  meta BLOB NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (stream, revision)
) STRICT;
CREATE TABLE conversations (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE keys (
  conv INTEGER NOT NULL,
  key BLOB NOT NULL,
  stream INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (conv, key, stream, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (tenant, name)
) STRICT;
CREATE TABLE snapshots (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER streams_are_never_changed BEFORE UPDATE ON streams
BEGIN SELECT RAISE(ABORT, 'streams are never changed'); END;
CREATE TRIGGER streams_are_never_deleted BEFORE DELETE ON streams
BEGIN SELECT RAISE(ABORT, 'streams are never deleted'); END;
CREATE TRIGGER blobs_are_never_changed BEFORE UPDATE ON blobs
BEGIN SELECT RAISE(ABORT, 'blobs are never changed'); END;
`;

/** The step from schema `index` to `index + 1`. */
const migrations: readonly string[] = [fresh];

/** What the number in `user_version` says. */
export interface SchemaState {
  readonly version: number;
  readonly isMarkedOpen: boolean;
}

export const schemaStateOf = (userVersion: number): SchemaState => ({
  version: userVersion & ~OPEN_MARK,
  isMarkedOpen: (userVersion & OPEN_MARK) !== 0,
});

export const schemaState = (db: Database): SchemaState =>
  schemaStateOf(integerOf(db.sql('PRAGMA user_version').get(), 'user_version'));

/** Writes version and mark. A pragma takes no bound value; both parts are numbers of ours. */
export const writeSchemaState = (db: Database, state: SchemaState): void => {
  db.exec(`PRAGMA user_version = ${String(state.version | (state.isMarkedOpen ? OPEN_MARK : 0))}`);
};

/** Runs the missing steps. The caller holds the write transaction, so a kill leaves none half done. */
export const migrate = (db: Database, from: number): void => {
  for (const step of migrations.slice(from)) db.exec(step);
};
