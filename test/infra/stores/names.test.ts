import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createStore } from '../../../src/infra/stores/sqlite/create.js';
import { openDatabase } from '../../../src/infra/stores/sqlite/driver.js';
import { nameTable } from '../../../src/infra/stores/sqlite/names.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('numbers that stand for names', () => {
  it('SQ95 remembers none that was undone, whoever asked for it meanwhile', () => {
    const file = path.join(tempFolder('names'), 'names.db');
    createStore(file);
    const db = openDatabase(file, { readOnly: false, blockMs: 0 });
    const streams = nameTable(db, 'streams');
    db.exec('BEGIN IMMEDIATE');
    const undone = streams.make('branch-a');
    expect(streams.find('branch-a')).toBe(undone);
    db.exec('ROLLBACK');
    streams.ended(false);
    expect(streams.find('branch-a')).toBeUndefined();
    db.exec('BEGIN IMMEDIATE');
    streams.make('branch-b');
    const made = streams.make('branch-a');
    db.exec('COMMIT');
    streams.ended(true);
    expect(made).not.toBe(undone);
    expect(streams.find('branch-a')).toBe(made);
    expect(streams.nameOf(made)).toBe('branch-a');
    db.close();
  });

  it('SQ96 remembers none of a job that was undone inside a transaction that was kept', () => {
    const file = path.join(tempFolder('names'), 'names.db');
    createStore(file);
    const db = openDatabase(file, { readOnly: false, blockMs: 0 });
    const streams = nameTable(db, 'streams');
    db.exec('BEGIN IMMEDIATE; SAVEPOINT job');
    streams.make('branch-a');
    streams.find('branch-a');
    db.exec('ROLLBACK TO job; RELEASE job; COMMIT');
    streams.ended(true);
    expect(streams.find('branch-a')).toBeUndefined();
    db.close();
  });
});
