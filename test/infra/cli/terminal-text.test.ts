import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  oneLine,
  padTo,
  safeJson,
  safeText,
  widthOf,
} from '../../../src/infra/cli/terminal-text.js';

const ESC = '\u001b';
const BEL = '\u0007';

/** Texts that try to move, hide, rename, copy, link or reorder something on a terminal. */
const hostile: readonly (readonly [name: string, payload: string])[] = [
  ['clear screen', `${ESC}[2J`],
  ['clear line', `${ESC}[2K`],
  ['cursor home', `${ESC}[H`],
  ['cursor up', `${ESC}[1A`],
  ['cursor to column', `${ESC}[1G`],
  ['save and restore cursor', `${ESC}7${ESC}8`],
  ['scroll region', `${ESC}[1;2r`],
  ['colour', `${ESC}[31mred${ESC}[0m`],
  ['concealed text', `${ESC}[8mhidden${ESC}[28m`],
  ['alternate screen', `${ESC}[?1049h`],
  ['mouse reporting', `${ESC}[?1000h`],
  ['bracketed paste off', `${ESC}[?2004l`],
  ['reset', `${ESC}c`],
  ['soft reset', `${ESC}[!p`],
  ['window title', `${ESC}]0;root@prod${BEL}`],
  ['window title report', `${ESC}[21t`],
  ['clipboard write', `${ESC}]52;c;cm0gLXJmIH4=${BEL}`],
  ['clipboard write ended by ST', `${ESC}]52;c;cm0=${ESC}\\`],
  ['clipboard by eight-bit OSC', '\u009d52;c;cm0=\u009c'],
  ['link with false text', `${ESC}]8;;https://evil.example${ESC}\\bank${ESC}]8;;${ESC}\\`],
  ['link by eight-bit OSC', '\u009d8;;https://evil.example\u009cbank\u009d8;;\u009c'],
  ['notification', `${ESC}]9;pay now${BEL}`],
  ['iTerm file', `${ESC}]1337;File=name=eA==:AAAA${BEL}`],
  ['palette change', `${ESC}]4;0;rgb:ff/ff/ff${BEL}`],
  ['DCS request', `${ESC}P$q"p${ESC}\\`],
  ['DCS sixel', `${ESC}Pq#0;2;0;0;0${ESC}\\`],
  ['eight-bit DCS', '\u0090$qm\u009c'],
  ['APC kitty graphics', `${ESC}_Ga=T,f=100;AAAA${ESC}\\`],
  ['eight-bit APC', '\u009fGa=T\u009c'],
  ['PM', `${ESC}^x${ESC}\\`],
  ['SOS', `${ESC}Xx${ESC}\\`],
  ['eight-bit CSI', '\u009b2J'],
  ['device attributes report', `${ESC}[c`],
  ['device status report', `${ESC}[6n`],
  ['answerback', '\u0005'],
  ['keypad mode', `${ESC}=`],
  ['character set shift', '\u000e\u000f'],
  ['charset G0 drawing', `${ESC}(0`],
  ['lone escape at the end', `ok${ESC}`],
  ['carriage return overwrite', 'rm -rf /\rls      '],
  ['backspace overwrite', 'evil\b\b\b\bgood'],
  ['delete', 'a\u007fb'],
  ['bell', BEL],
  ['NUL', 'a\u0000b'],
  ['vertical tab and form feed', 'a\u000b\u000cb'],
  ['XON and XOFF', '\u0011\u0013'],
  ['substitute', '\u001a'],
  ['next line', 'a\u0085b'],
  ['right-to-left override', 'invoice\u202efdp.exe'],
  ['left-to-right override', '\u202dabc\u202c'],
  ['embeddings', '\u202a\u202bx\u202c'],
  ['isolates', '\u2066\u2067\u2068x\u2069'],
  ['direction marks', 'a\u200e\u200fb'],
  ['Arabic letter mark', 'a\u061cb'],
  ['zero-width space', 'pay\u200bpal'],
  ['zero-width non-joiner', 'pay\u200cpal'],
  ['zero-width joiner between letters', 'pay\u200dpal'],
  ['zero-width joiner before an emoji', 'a\u200d😀'],
  ['zero-width joiner behind an emoji', '😀\u200da'],
  ['word joiner', 'a\u2060b'],
  ['invisible operators', 'a\u2061\u2062\u2063\u2064b'],
  ['byte order mark', '\ufeffa\ufeffb'],
  ['soft hyphen', 'pay\u00adpal'],
  ['combining grapheme joiner', 'a\u034fb'],
  ['Mongolian vowel separator', 'a\u180eb'],
  ['Hangul fillers', 'a\u115f\u1160\u3164\uffa0b'],
  ['Khmer inherent vowels', 'a\u17b4\u17b5b'],
  [
    'tag characters',
    `hi${Array.from('ignore all', (c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('')}`,
  ],
  ['language tag', '\u{e0001}\u{e007f}'],
  ['flag with tags', '🏴\u{e0067}\u{e0062}\u{e007f}'],
  ['bytes in variation selectors', '😀\u{e0100}\u{e0110}\u{e0120}'],
  ['selectors in a row', 'a\ufe0f\ufe0f\ufe00\ufe01'],
  ['selector behind a letter', 'a\ufe0f'],
  ['line separator', 'a\u2028b'],
  ['paragraph separator', 'a\u2029b'],
  ['half surrogate pairs', 'a\ud800b\udc00'],
  ['interlinear annotation', 'a\ufff9b\ufffac\ufffb'],
  ['musical controls', '\u{1d173}\u{1d17a}'],
  ['shorthand controls', '\u{1bca0}'],
  ['private use', '\ue000\u{f0000}\u{10fffd}'],
  ['unassigned', '\u0378\u{e0fff}'],
  ['noncharacters', '\uffff\ufdd0'],
  ['deprecated format characters', '\u206a\u206f'],
];

// Written as ranges on purpose, not as the categories that the code under test uses.
const forbidden: readonly (readonly [from: number, to: number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xf8ff],
  [0xfdd0, 0xfdef],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xfffe, 0xffff],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe00ff],
  [0xe01f0, 0x10ffff],
];

const hiddenIn = (text: string): readonly string[] =>
  Array.from(text, (point) => point.codePointAt(0) ?? 0)
    .filter((code) => forbidden.some(([from, to]) => code >= from && code <= to))
    .map((code) => code.toString(16));

describe('S03 B22 hostile text on a terminal', () => {
  it('S03 knows at least 60 payloads', () => {
    expect(hostile.length).toBeGreaterThanOrEqual(60);
  });

  it.each(hostile)('S03 %s is shown, not done', (_name, payload) => {
    const shown = safeText(`before ${payload} after`);
    expect(hiddenIn(shown)).toEqual([]);
    expect(shown).toMatch(/\\x[0-9a-f]{2}|‹U\+[0-9A-F]{4,6}›/);
    expect(shown.startsWith('before ') && shown.endsWith(' after')).toBe(true);
    expect(safeText(shown)).toBe(shown);
    expect(oneLine(payload, 200)).not.toMatch(/[\n\t]/);
    expect(hiddenIn(oneLine(payload, 200))).toEqual([]);
  });

  it.each([
    [`${ESC}[2J`, '\\x1b[2J'],
    ['\u009d52;c;', '\\x9d52;c;'],
    ['a\rb', 'a\\x0db'],
    ['a\u202eb', 'a‹U+202E›b'],
    ['\u{e0041}', '‹U+E0041›'],
    ['\ud800', '‹U+D800›'],
    ['\u200b', '‹U+200B›'],
    ['\ufeff', '‹U+FEFF›'],
    ['\u2028', '‹U+2028›'],
    ['\u00ad', '\\xad'],
  ])('S03 marks %j as %s', (text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  it('S03 lets nothing through for any text of single characters', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const shown = safeText(String.fromCodePoint(code));
      if (hiddenIn(shown).length > 0) expect.fail(`U+${code.toString(16)} passes`);
    }
  });

  it('S03 lets nothing through for any sequence', () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('\u200d', '\ufe0f', '👩', '🏽', '❤', '\u0301', '葛', '\u{e0100}', '\u202e'),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const shown = safeText(text);
        expect(hiddenIn(shown)).toEqual([]);
        expect(shown).not.toMatch(/(?:\ufe0e|\ufe0f){2}|\u200d{2}|[\u{e0100}-\u{e01ef}]{2}/u);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('B22 text that stays as it is', () => {
  it.each([
    'plain text, with\n\ttabs and lines',
    '您好，退款申请已提交。',
    'مرحبا بالعالم ١٢٣',
    'שלום עולם',
    'สวัสดีครับ',
    'नमस्ते दुनिया',
    'Tiếng Việt e\u0323\u0302',
    'Ünïcödé — “quotes” … €',
    '한국어 각',
    '👨‍👩‍👧‍👦 🧑🏽‍🤝‍🧑🏻 ❤️‍🔥 🏳️‍🌈 👁️‍🗨️ 1️⃣ 🇨🇳 ©︎',
    '葛\u{e0100}城',
    '٪ ۝ ؀١٢',
    '│ ┌─┐ ▓ ⎇ ✓ ∑',
    'non\u00a0breaking and\u3000wide spaces',
    'C:\\path\\x1b ‹U+202E›',
  ])('B22 %s', (text) => {
    expect(safeText(text)).toBe(text);
  });

  it('B23 counts long runs of combining marks instead of stacking them', () => {
    expect(safeText(`e${'\u0301'.repeat(5_000)}!`)).toBe(`e${'\u0301'.repeat(8)}‹+4992 marks›!`);
    expect(safeText(`e${'\u0301'.repeat(8)}`)).toBe(`e${'\u0301'.repeat(8)}`);
  });

  it('B23 shows ten megabytes without freezing', () => {
    const text = '中文 text \u202e'.repeat(900_000);
    const start = performance.now();
    safeText(text);
    expect(performance.now() - start).toBeLessThan(4_000);
  });
});

describe('B23 one line', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly te', 10, 'exactly te'],
    ['longer than ten', 10, 'longer th…'],
    ['中文中文中文', 6, '中文…'],
    ['中文中', 6, '中文中'],
    ['a中文中文', 6, 'a中文…'],
    ['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 5, '👨‍👩‍👧👨‍👩‍👧…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['a\n\n b\tc\r\nd', 20, 'a b c d'],
    ['\n  x\n', 20, 'x'],
    [`${ESC}[31m`, 20, '\\x1b[31m'],
    ['abc', 1, '…'],
    ['中', 1, '…'],
    ['abc', 0, ''],
    ['', 5, ''],
  ])('B23 previews %j in %d columns', (text, width, line) => {
    expect(oneLine(text, width)).toBe(line);
  });

  it('B23 never exceeds the width, never splits a character, for any text', () => {
    const unit = fc.constantFrom(
      'a',
      '中',
      '👨‍👩‍👧',
      'e\u0301',
      '\n',
      ESC,
      '\u202e',
      ' ',
      '🇨🇳',
      '\ud83d',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.nat({ max: 30 }), (text, width) => {
        const line = oneLine(text, width);
        expect(widthOf(line)).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/\p{Surrogate}|[\n\t]/u);
        expect(widthOf(padTo(text, width))).toBe(width);
        expect(widthOf(padTo(text, width, 'right'))).toBe(width);
      }),
      { numRuns: 1_000 },
    );
  });

  it('B23 previews ten megabytes and 5,000 combining marks at once', () => {
    const long = '中'.repeat(10_000_000);
    const blank = `${'\n'.repeat(10_000_000)}x`;
    const start = performance.now();
    expect(widthOf(oneLine(long, 40))).toBeLessThanOrEqual(40);
    expect(oneLine(`e${'\u0301'.repeat(5_000)}`, 40)).toContain('marks›');
    expect(oneLine(blank, 40)).toBe('…');
    expect(performance.now() - start).toBeLessThan(200);
  });

  it('B22 pads by columns, not by characters', () => {
    expect(padTo('中文', 6)).toBe('中文  ');
    expect(padTo('中文', 6, 'right')).toBe('  中文');
    expect(padTo('👨‍👩‍👧', 4)).toBe('👨‍👩‍👧  ');
    expect(padTo('中文中文', 5)).toBe('中文…');
    expect(padTo('中文中文', 4 - 1)).toBe('中…');
  });
});

describe('S03 JSON on a terminal', () => {
  it.each(hostile)('S03 %s is escaped and reads back the same', (_name, payload) => {
    const json = safeJson({ [payload]: [payload] });
    expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u);
    expect(JSON.parse(json)).toEqual({ [payload]: [payload] });
  });

  it('S03 leaves visible text readable', () => {
    expect(safeJson({ a: '中文 é' })).toBe('{"a":"中文 é"}');
    expect(safeJson({ a: 1 }, 2)).toBe('{\n  "a": 1\n}');
  });

  it('S03 escapes as JSON does', () => {
    expect(safeJson('\u009b\u202e\u{e0041}\u2028')).toBe('"\\u009b\\u202e\\udb40\\udc41\\u2028"');
    expect(safeJson(undefined)).toBe('null');
  });
});
