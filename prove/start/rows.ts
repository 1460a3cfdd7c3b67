// Prints, one line of JSON each, the events of a store file: id, stream, and bytes to know it by.
import { openDatabase } from '../../src/infra/stores/sqlite/driver.js';
import { bytesOf, textOf } from '../../src/infra/stores/sqlite/rows.js';
import { idOfHash } from '../../src/infra/stores/event-id.js';

const EVENTS = `SELECT events.hash, events.data, streams.name FROM events
  JOIN streams ON streams.id = events.stream
  WHERE events.type = 'MessageAppended' ORDER BY events.position`;

const [file = ''] = process.argv.slice(2);
const db = openDatabase(file, { readOnly: true, immutable: true, blockMs: 0 });
for (const row of db.sql(EVENTS).all()) {
  const data = Buffer.from(bytesOf(row, 'data'));
  const line = {
    id: idOfHash(bytesOf(row, 'hash')),
    stream: textOf(row, 'name'),
    data: data.toString('hex'),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
db.close();
