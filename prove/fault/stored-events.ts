import { DatabaseSync } from '@photostructure/sqlite';
import { idFromHash } from '../../src/domain/envelope.js';

/** An event as the file itself holds it. */
export interface RawEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

const EVENTS = `SELECT position, name, revision, hash FROM events
  JOIN streams ON streams.id = events.stream ORDER BY position`;

interface Row {
  readonly position: number;
  readonly name: string;
  readonly revision: number;
  readonly hash: Uint8Array;
}

/** All events of a store, read past the product: what its answers are compared with. */
export const rawEvents = (file: string): readonly RawEvent[] => {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db.prepare(EVENTS).all() as readonly Row[];
    return rows.map(({ position, name: stream, revision, hash }) => {
      const id = idFromHash(Buffer.from(hash).toString('base64url'));
      return { position, stream, revision, id };
    });
  } finally {
    db.close();
  }
};
