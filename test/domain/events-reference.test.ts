import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compatOf } from '../../src/domain/envelope.js';
import { codecs, type EventType } from '../../src/domain/events/catalog.js';

const rows = readFileSync('docs/reference/events.md', 'utf8')
  .split('\n')
  .flatMap((line) => {
    const cells = /^\| `(\w+)` \| (\w) \| (\w+) \|/.exec(line);
    return cells === null ? [] : [{ type: cells[1] ?? '', compat: cells[3] }];
  });

describe('the page of events', () => {
  it('DC1 lists every event type that can be written, and no other', () => {
    expect(rows.map(({ type }) => type).sort()).toEqual(Object.keys(codecs).sort());
  });

  it('UP1 says of each type what a reader that does not know it has to do', () => {
    for (const { type, compat } of rows) expect(compat, type).toBe(compatOf(type as EventType));
  });
});
