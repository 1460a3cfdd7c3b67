import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import {
  cutGraphemes,
  cutUtf16,
  decodeUtf8,
  foreignId,
  graphemesOf,
  isRfc3339,
  isWellFormed,
  repairText,
  utf8Bytes,
} from '../../src/domain/text.js';

const anyText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom('\ud83d', '\ude00', '👨‍👩‍👧', 'é', 'e\u0301', '🇨🇳', '中'),
  ),
});

describe('B15 half surrogate pairs', () => {
  it.each([
    ['a\ud800b', 'a\ufffdb', 1],
    ['\udc00', '\ufffd', 1],
    ['\udc00\ud800', '\ufffd\ufffd', 2],
    ['\ud800\ud800\udc00', '\ufffd\ud800\udc00', 1],
    ['a😀b', 'a😀b', 0],
    ['', '', 0],
  ])('B15 repairs %j', (text, repairedText, repaired) => {
    expect(repairText(text)).toEqual({ text: repairedText, repaired });
    expect(isWellFormed(text)).toBe(repaired === 0);
  });

  it('B15 repairs as UTF-8 encoding does, and leaves well-formed text alone', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const repaired = repairText(text);
        expect(isWellFormed(repaired.text)).toBe(true);
        expect(repaired.text).toBe(
          new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text)),
        );
        expect(repaired.repaired === 0).toBe(repaired.text === text);
      }),
    );
  });

  it('B15 counts bytes as UTF-8 encoding does', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});

describe('B23 cutting', () => {
  it.each([
    ['a😀b', 2, 'a'],
    ['a😀b', 3, 'a😀'],
    ['a😀b', 0, ''],
    ['a😀b', -1, ''],
    ['a\ud800b', 2, 'a\ud800'],
    ['abc', 9, 'abc'],
  ])('B23 cuts %j at %d between code points', (text, max, cut) => {
    expect(cutUtf16(text, max)).toBe(cut);
  });

  it.each([
    ['e\u0301e\u0301', 3, 'e\u0301'],
    ['a👨‍👩‍👧b', 8, 'a'],
    ['a👨‍👩‍👧b', 9, 'a👨‍👩‍👧'],
    ['🇨🇳🇫🇷', 4, '🇨🇳'],
    ['🇨🇳🇫🇷', 6, '🇨🇳'],
    ['a\r\nb', 2, 'a'],
    ['नमस्ते', 3, 'नम'],
    ['👨‍👩‍👧', 3, '👨\u200d'],
  ])('B23 cuts %j at %d between graphemes', (text, max, cut) => {
    expect(cutGraphemes(text, max)).toBe(cut);
  });

  it('B23 cuts where the graphemes of the whole text end', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 30 }), (text, max) => {
        let expected = '';
        for (const grapheme of graphemesOf(text)) {
          if (expected.length + grapheme.length > max) break;
          expected += grapheme;
        }
        const cut = cutGraphemes(text, max);
        expect(cut).toBe(expected === '' ? cutUtf16(text, max) : expected);
      }),
      { numRuns: 500 },
    );
  });

  it('B23 cuts one grapheme of 5,000 combining marks, and ten megabytes, at once', () => {
    const long = '中'.repeat(10_000_000);
    const start = performance.now();
    expect(cutGraphemes(`e${'\u0301'.repeat(5_000)}`, 100)).toHaveLength(100);
    expect(cutGraphemes(long, 100)).toHaveLength(100);
    expect(performance.now() - start).toBeLessThan(200);
  });
});

describe('B52 timestamps', () => {
  it.each([
    '2024-02-29T00:00:00Z',
    '2000-02-29T23:59:59.999999999+14:00',
    '2026-01-31t09:30:00z',
    '2026-01-31T09:30:00-00:00',
    '9999-12-31T23:59:59+23:59',
    '0000-01-01T00:00:00Z',
    '1990-12-31T23:59:60Z',
    '1990-12-31T15:59:60-08:00',
    '1991-01-01T05:29:60+05:30',
  ])('B52 accepts %s', (text) => {
    expect(isRfc3339(text)).toBe(true);
  });

  it.each([
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-32T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:61Z',
    '2024-01-01T23:59:60Z',
    '1990-12-31T23:59:60+01:00',
    '1990-12-31T22:59:60Z',
    '1991-01-02T05:29:60+05:30',
    '2024-01-01T00:00:00',
    '2024-01-01T00:00:00+0100',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01T00:00:00+01:60',
    '2024-01-01 00:00:00Z',
    '2024-01-01T00:00Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00,5Z',
    '2024-1-1T00:00:00Z',
    '2024-01-01',
    '+002024-01-01T00:00:00Z',
    '2024-01-01T00:00:00Z\n',
    ' 2024-01-01T00:00:00Z',
    '２０２４-01-01T00:00:00Z',
    '',
  ])('B52 refuses %j', (text) => {
    expect(isRfc3339(text)).toBe(false);
  });

  it('B52 accepts what a clock prints', () => {
    const instant = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, (date) => {
        expect(isRfc3339(date.toISOString())).toBe(true);
      }),
    );
  });
});

const bytesOf = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes);

describe('B20 bytes that are no UTF-8', () => {
  it.each([
    ['a lone continuation', [0x80], 1, 0],
    ['an overlong slash', [0x61, 0xc0, 0xaf], 1, 1],
    ['an overlong NUL', [0xe0, 0x80, 0x80], 1, 0],
    ['an overlong four-byte form', [0xf0, 0x80, 0x80, 0x80], 1, 0],
    ['a surrogate', [0xed, 0xa0, 0x80], 1, 0],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 1, 0],
    ['0xF5', [0xf5, 0x80, 0x80, 0x80], 1, 0],
    ['0xFF', [0xff], 1, 0],
    ['Latin-1 on line 3', [0x0a, 0x61, 0x0a, 0xe9, 0x0a], 3, 3],
    ['a sequence cut by the end', [0x61, 0xe4, 0xb8], 1, 1],
    ['a sequence cut by a line feed', [0xe4, 0xb8, 0x0a], 1, 0],
    ['a sequence cut in its last byte', [0xf0, 0x9f, 0x98, 0x41], 1, 0],
    ['UTF-16', [0xff, 0xfe, 0x61, 0x00], 1, 0],
  ])('B20 refuses %s', (_name, bytes, line, byte) => {
    expect(decodeUtf8(bytesOf(...bytes))).toEqual(E.left({ _tag: 'InvalidUtf8', line, byte }));
  });

  it('B20 refuses exactly what the platform decoder refuses', () => {
    const hostile = fc.oneof(
      fc.nat({ max: 255 }),
      fc.constantFrom(0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xe0, 0xed, 0x9f, 0xa0, 0xef, 0xf0, 0x8f, 0x90),
      fc.constantFrom(0xf4, 0xf5, 0x0a, 0x41),
    );
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 8 }), (units) => {
        const bytes = Uint8Array.from(units);
        let expected: string | undefined;
        try {
          expected = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
        } catch {
          expected = undefined;
        }
        const decoded = decodeUtf8(bytes);
        expect(E.isRight(decoded)).toBe(expected !== undefined);
        if (E.isRight(decoded)) {
          expect((decoded.right.bom ? '\ufeff' : '') + decoded.right.text).toBe(expected);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('B21 byte order marks', () => {
  it('B21 takes the first off and reports it', () => {
    expect(decodeUtf8(bytesOf(0xef, 0xbb, 0xbf, 0x61))).toEqual(E.right({ text: 'a', bom: true }));
    expect(decodeUtf8(bytesOf(0x61))).toEqual(E.right({ text: 'a', bom: false }));
    expect(decodeUtf8(bytesOf())).toEqual(E.right({ text: '', bom: false }));
  });

  it('B21 keeps those inside content, also a second one at the start', () => {
    const text = '\ufeff\ufeffa\ufeffb';
    expect(decodeUtf8(new TextEncoder().encode(text))).toEqual(
      E.right({ text: '\ufeffa\ufeffb', bom: true }),
    );
  });

  it('B17 keeps NUL', () => {
    expect(decodeUtf8(bytesOf(0x61, 0, 0x62))).toEqual(E.right({ text: 'a\0b', bom: false }));
  });
});

describe('B16 B18 B19 foreign ids', () => {
  it.each([
    ['blank', ''],
    ['blank', '   '],
    ['blank', '\u3000\u00a0'],
    ['control_character', 'a\0b'],
    ['control_character', 'a\nb'],
    ['control_character', '\t'],
    ['control_character', 'a\u007f'],
    ['control_character', 'a\u009b31m'],
    ['control_character', '\u001b[2J'],
    ['too_long', 'a'.repeat(257)],
    ['too_long', '中'.repeat(86)],
  ])('B18 refuses %s %j', (reason, id) => {
    expect(foreignId('/id', id)).toEqual(E.left({ _tag: 'InvalidId', path: '/id', reason }));
  });

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800'])('B16 refuses %j', (id) => {
    expect(foreignId('/id', id)).toEqual(E.left({ _tag: 'IllFormedUnicode', path: '/id' }));
  });

  it.each([
    'a',
    'a'.repeat(256),
    '中'.repeat(85),
    'a/b',
    '..',
    '../../etc/passwd',
    '%2F%00',
    '$all',
    '$',
    ' padded ',
    "x') OR 1=1 --",
    '__proto__',
    'constructor',
    '0',
    '\u202eabc',
    '\ufeffa',
    '😀',
  ])('B18 takes %j as data', (id) => {
    expect(foreignId('/id', id)).toEqual(E.right(id));
  });

  it('B19 keeps composed and decomposed ids apart', () => {
    expect(foreignId('', '\u00e9')).toEqual(E.right('\u00e9'));
    expect(foreignId('', 'e\u0301')).toEqual(E.right('e\u0301'));
  });
});
