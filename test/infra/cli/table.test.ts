import { describe, expect, it } from 'vitest';
import { table } from '../../../src/infra/cli/table.js';
import { widthOf } from '../../../src/infra/cli/terminal-text.js';

describe('B22 tables', () => {
  const columns = [
    { header: 'rev', align: 'right' },
    { header: 'role' },
    { header: 'text' },
  ] as const;
  const rows = [
    ['1', 'user', '你好'],
    ['10', 'assistant', '👨‍👩‍👧 hi'],
    ['100', 'tool', 'é'],
  ];

  it('B22 aligns Chinese and emoji, numbers to the right', () => {
    expect(table(columns, rows)).toBe(
      [
        'rev  role       text',
        '  1  user       你好',
        ' 10  assistant  👨‍👩‍👧 hi',
        '100  tool       é',
      ].join('\n'),
    );
  });

  it('B22 aligns what follows a wide cell', () => {
    const lines = table(
      [{}, {}],
      [
        ['你好', 'x'],
        ['👩‍⚕️', 'x'],
        ['ab', 'x'],
      ],
    ).split('\n');
    expect(lines.map(widthOf)).toEqual([7, 7, 7]);
    expect(lines.every((line) => line.endsWith('  x'))).toBe(true);
  });

  it('B22 has no header line when no column has one', () => {
    expect(table([{}, {}], [['a', 'b']])).toBe('a  b');
    expect(table([{}], [])).toBe('');
  });

  it('B22 keeps to the width; the widest columns give way', () => {
    const wide = [['1', 'system', '中文'.repeat(100)]];
    for (const width of [20, 33, 80]) {
      const lines = table(columns, wide, { width }).split('\n');
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
      expect(lines[1]).toContain('system');
      expect(lines[1]).toContain('…');
    }
  });

  it('B22 keeps a column to its own maximum', () => {
    expect(table([{ max: 4 }, {}], [['abcdefgh', 'x']])).toBe('abc…  x');
  });

  it('S03 shows hostile cells and headers on one line', () => {
    const text = table([{ header: 'a\u001b[2J' }], [['x\ny\u202ez'], ['\r\b']]);
    expect(text).toBe('a\\x1b[2J\nx y‹U+202E›z\n\\x08');
  });

  it('B22 fills in missing cells', () => {
    expect(table([{}, {}], [['a'], ['b', 'c']])).toBe('a\nb  c');
  });
});
