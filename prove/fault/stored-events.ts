import { DatabaseSync } from '@photostructure/sqlite';
import { idFromHash } from '../../src/domain/envelope.js';

/** An event as the file itself holds it. */
export interface RawEvent {
  readonly position: number;
  readonly stream: string;
  /** What stands for the stream in the file. */
  readonly streamNumber: number;
  readonly revision: number;
  readonly id: string;
}

const EVENTS = `SELECT position, name, stream, revision, hash FROM events
  JOIN streams ON streams.id = events.stream ORDER BY position`;

interface Row {
  readonly position: number;
  readonly name: string;
  readonly stream: number;
  readonly revision: number;
  readonly hash: Uint8Array;
}

/** All events of a store, read past the product: what its answers are compared with. */
export const rawEvents = (file: string): readonly RawEvent[] => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db.prepare(EVENTS).all() as readonly Row[];
    return rows.map(({ position, name, stream: streamNumber, revision, hash }) => {
      const id = idFromHash(Buffer.from(hash).toString('base64url'));
      return { position, stream: name, streamNumber, revision, id };
    });
  } finally {
    db.close();
  }
};
