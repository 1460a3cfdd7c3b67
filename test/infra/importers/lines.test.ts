import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteOffset, splitLines } from '../../../src/infra/importers/lines.js';
import { utf8 } from './sessions.js';

describe('lines of a file', () => {
  it('B21 take one byte order mark off, at the start of the file alone', () => {
    const { lines, bom } = splitLines(utf8('\uFEFF{"a":1}\n\uFEFF{"b":2}\n'));
    expect(bom).toBe(true);
    expect(lines.map(({ text }) => text)).toEqual(['{"a":1}', '\uFEFF{"b":2}']);
    expect(lines[1]?.start).toBe(11);
    expect(byteOffset(lines[0]!, 2, bom)).toBe(5);
  });

  it('B20 name the line and the byte that are no UTF-8, and keep all other lines', () => {
    const bytes = Uint8Array.from([...utf8('é\n'), 0x61, 0xff, 0x0a, ...utf8('ü\n')]);
    const { lines, undecodable } = splitLines(bytes);
    expect(lines.map(({ text }) => text)).toEqual(['é', 'ü']);
    expect(undecodable).toEqual([{ number: 2, start: 3, byte: 4 }]);
  });

  it('B58 know the last line that says something and whether a line feed ends the file', () => {
    expect(splitLines(utf8('a\nb\n\n \n'))).toMatchObject({ last: 2, finalNewline: true });
    expect(splitLines(utf8('a\nb'))).toMatchObject({ last: 2, finalNewline: false });
    expect(splitLines(utf8(''))).toMatchObject({ last: 0, lines: [], finalNewline: false });
  });

  it('B58 give the lines of any text with their byte offsets', () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', '')));
    fc.assert(
      fc.property(text, (texts) => {
        const whole = texts.join('\n');
        const bytes = utf8(whole);
        for (const { number, start, text: line } of splitLines(bytes).lines) {
          expect(line).toBe(number === 1 ? texts[0]?.replace(/^\uFEFF/, '') : texts[number - 1]);
          expect(bytes.length - start).toBe(utf8(texts.slice(number - 1).join('\n')).length);
        }
      }),
    );
  });

  it('B23 split a million lines in a moment', () => {
    const bytes = utf8('{"a":1}\n'.repeat(1_000_000));
    const start = performance.now();
    expect(splitLines(bytes).lines.length).toBe(1_000_000);
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});
