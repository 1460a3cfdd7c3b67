import { describe, expect, it } from 'vitest';
import { claudeCodeTable } from '../../../harness/data/claude-code-table.js';
import { openaiChatTable } from '../../../harness/data/openai-chat-table.js';
import { differences, isSame, type Imported, type Table } from '../../../harness/data/table.js';

const imported: Imported = {
  report: {
    format: 'x',
    records: 0,
    mapped: 0,
    kept: 0,
    duplicates: 0,
    notes: [],
    source: { seen: 3 },
  },
  view: { conversations: [] },
};

const table: Table = {
  seen: { from: 'report', how: 'as it is', value: ({ report }) => report.source['seen'] },
  'group.one': { from: 'store', how: 'one', value: () => 1 },
  list: { from: 'store', how: 'a list', value: () => [{ a: 1, b: 2 }] },
};

describe('the table of expected keys', () => {
  it('lets equal values pass, groups and lists too', () => {
    const expected = { seen: 3, group: { one: 1 }, list: [{ b: 2, a: 1 }] };
    expect(differences(table, imported, expected)).toEqual([]);
  });

  it('shows both values of a key that differs', () => {
    expect(differences(table, imported, { seen: 4, group: { one: null } })).toEqual([
      { key: 'seen', expected: 4, found: 3 },
      { key: 'group.one', expected: null, found: 1 },
    ]);
  });

  it('fails a key that it does not know, in a group too', () => {
    const keys = differences(table, imported, {
      other: 1,
      group: { one: 1, two: 2 },
      toString: 1,
    }).map(({ key }) => key);
    expect(keys).toEqual(['other', 'group.two', 'toString']);
    expect(differences(table, imported, { group: null }).length).toBe(1);
  });

  it('tells values apart', () => {
    expect(isSame([1, 2], [1])).toBe(false);
    expect(isSame({ a: 1 }, { a: 1, b: undefined })).toBe(false);
    expect(isSame(null, {})).toBe(false);
    expect(isSame([1], { 0: 1 })).toBe(false);
  });

  it.each([
    ['claude-code', claudeCodeTable],
    ['openai-chat', openaiChatTable],
  ])('says for each key of %s where it is read and how', (_format, rows) => {
    for (const { from, how } of Object.values(rows)) {
      expect(['store', 'report', 'both']).toContain(from);
      expect(how).not.toBe('');
    }
  });
});
