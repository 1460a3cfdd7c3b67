import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { at, listAt, newPlace, textAt, type Place } from '../infra/cli/cli-run.js';

/** What a terminal, a log or a reader could be made to believe or do by it. */
const payloads: readonly (readonly [name: string, text: string])[] = [
  ['clipboard (OSC 52)', '\u001b]52;c;ZXZpbA==\u0007'],
  ['clipboard by C1', '\u009d52;c;ZXZpbA==\u009c'],
  ['window title', '\u001b]0;evil\u0007'],
  ['link with other text (OSC 8)', '\u001b]8;;https://evil.example\u001b\\bank\u001b]8;;\u001b\\'],
  ['clear screen', '\u001b[2J\u001b[H'],
  ['clear by C1', '\u009b2J'],
  ['colour that stays', '\u001b[31m'],
  ['hidden text', '\u001b[8msecret\u001b[28m'],
  ['cursor up and overwrite', '\u001b[1A\u001b[2Kok   intact'],
  ['DCS', '\u001bPq#0;2;0;0;0\u001b\\'],
  ['APC', '\u001b_Gf=100;AAAA\u001b\\'],
  ['PM', '\u001b^private\u001b\\'],
  ['SOS', '\u001bXstring\u001b\\'],
  ['report request', '\u001b[6n\u001b[c\u001b[5n'],
  ['answerback', '\u0005'],
  ['alternate screen', '\u001b[?1049h'],
  ['bracketed paste off', '\u001b[?2004l'],
  ['mouse on', '\u001b[?1003h'],
  ['character set', '\u001b(0\u000e'],
  ['reset', '\u001bc'],
  ['carriage return overwrite', 'rm -rf /\rls        '],
  ['backspace overwrite', 'evil\b\b\b\bgood'],
  ['bell', '\u0007'],
  ['form feed', '\f'],
  ['vertical tab', '\v'],
  ['NUL', 'a\u0000b'],
  ['delete', 'a\u007fb'],
  ['next line', 'a\u0085fake'],
  ['line separator', 'a\u2028fake'],
  ['paragraph separator', 'a\u2029fake'],
  ['false log line', 'x\nerror  Damaged  everything is lost'],
  ['false line with CRLF', 'x\r\nintact: every event'],
  ['bidi override', 'abc\u202egnp.exe'],
  ['bidi embedding', '\u202aabc\u202c'],
  ['bidi isolate', '\u2066abc\u2069'],
  ['right-to-left mark', 'abc\u200f1'],
  ['arabic letter mark', 'abc\u061c1'],
  ['zero width space', 'pass\u200bword'],
  ['zero width joiner', 'pass\u200dword'],
  ['word joiner', 'pass\u2060word'],
  ['byte order mark', '\ufeffabc'],
  ['soft hyphen', 'pass\u00adword'],
  ['tag characters', 'hi\u{e0041}\u{e0042}\u{e007f}'],
  ['variation selectors', 'a\ufe00\ufe01\u{e0100}\u{e01ef}'],
  ['invisible operators', 'a\u2061\u2062\u2063\u2064b'],
  ['deprecated format', 'a\u206a\u206fb'],
  ['interlinear annotation', 'a\ufff9b\ufffac\ufffb'],
  ['hangul filler', 'a\u3164b\u115f\u1160'],
  ['half width filler', 'a\uffa0b'],
  ['khmer vowels', 'a\u17b4\u17b5b'],
  ['mongolian separator', 'a\u180eb'],
  ['musical format', 'a\u{1d173}\u{1d17a}b'],
  ['shorthand format', 'a\u{1bca0}b'],
  ['private use', 'a\ue000\u{f0000}\u{10fffd}b'],
  ['lone high surrogate', 'a\ud800b'],
  ['lone low surrogate', 'a\udc00b'],
  ['noncharacter', 'a\uffff\ufdd0b'],
  ['unassigned', 'a\u0378b'],
  ['pile of marks', `a${'\u0301'.repeat(200)}`],
  ['long run', 'A'.repeat(400)],
  ['sixel within text', 'before\u001bPq~~\u001b\\after'],
  ['escape at the end', 'end\u001b'],
];

// Written apart from the code that is tested: controls, format characters, what is drawn as nothing,
// half characters, private use.
const forbidden: readonly (readonly [from: number, to: number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xe000, 0xf8ff],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xfffe, 0xffff],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
  [0xf0000, 0x10ffff],
];

const isForbidden = (point: string): boolean => {
  const code = point.codePointAt(0) ?? 0;
  return forbidden.some(([from, to]) => from <= code && code <= to);
};

const withoutOwnColors = (text: string): string =>
  ['0', '1', '2', '22', '31', '32', '33', '39'].reduce(
    (rest, number) => rest.replaceAll(`\u001b[${number}m`, ''),
    text,
  );

/** The surroundings of the first thing that is forbidden, escaped; undefined for none. */
const leakIn = (text: string): string | undefined => {
  const points = Array.from(text);
  const at = points.findIndex(isForbidden);
  return at < 0 ? undefined : JSON.stringify(points.slice(Math.max(0, at - 40), at + 40).join(''));
};

const all = payloads.map(([, text]) => text).join(' | ');
/** The same without half characters, which keys may not hold (B16). */
const whole = all.replaceAll(/\p{Surrogate}/gu, '');
/** Ids may hold what is invisible, though no control character (B18). */
const hostileId = 'id\u202eevil\u200b\u{e0041}';

let place: Place;
let call = '';

const toolCalls = (): readonly unknown[] => [
  { id: `call${hostileId}`, name: `tool${all}`, arguments: `{"x":${JSON.stringify(all)}}` },
];

beforeAll(async () => {
  place = newPlace();
  const must = async (...argv: readonly string[]): Promise<void> => {
    const { code, err } = await place.cli(argv);
    if (code !== 0) throw new Error(`${JSON.stringify(argv.slice(0, 2))} ${err}`);
  };
  place.write('system.txt', whole);
  await must(
    'new',
    '--id',
    `c-${hostileId}`,
    '--title',
    all,
    '--label',
    `l${hostileId}=${hostileId}`,
  );
  const ref = `c-${hostileId}`;
  await must(
    'instructions',
    'set',
    ref,
    '--text',
    all,
    '--slot',
    `slot${hostileId}`,
    '--as',
    `operator:${hostileId}`,
  );
  const said = payloads.map(([, text], index) => {
    return { role: 'user', id: `m-${String(index)}`, content: text, name: hostileId };
  });
  const batch = [
    ...said,
    { role: 'assistant', id: `a${hostileId}`, content: all, toolCalls: toolCalls() },
    {
      role: 'tool',
      id: `t${hostileId}`,
      toolCallId: `call${hostileId}`,
      content: all,
      outcome: 'error',
    },
    { role: 'user', id: `u${hostileId}`, content: all, metadata: { [whole]: all } },
  ];
  // As a file carries it: escaped, so that half characters come through.
  place.write('batch.json', JSON.stringify(batch));
  await must('append', ref, '--batch', 'batch.json', '--as', `app:${hostileId}`);
  const made = await place.json('call', 'request', ref, '--run', `run${hostileId}`);
  call = textAt(made, 'modelCallId');
  await must(
    'call',
    'fail',
    call,
    '--reason',
    all,
    '--code',
    all,
    '--final',
    '--run',
    `run${hostileId}`,
  );
  await must('compact', ref, '--summary-file', 'system.txt', '--keep-last', '2');
  await must('retry', ref, '--at', `m:u${hostileId}`, '--name', `b${hostileId}`);
  await must('redact', 'm-0', '--reason', all);
});

const commands = (): readonly (readonly string[])[] => {
  const ref = `c-${hostileId}`;
  const fork = `${ref}/b${hostileId}`;
  return [
    ['conversations'],
    ['history', ref, '--all', '--limit', '1000'],
    ['history', ref],
    ['history', fork, '--events', '--limit', '1000'],
    ['search', 'evil'],
    ['search', all],
    ['context', ref, '--why'],
    ['context', ref, '--payload'],
    ['context', `c:${call}`, '--why'],
    ['calls', 'ls', ref],
    ['calls', 'show', call],
    ['why', `a${hostileId}`, '--call', call],
    ['check', ref, '--profile', 'openai-chat'],
    ['check', ref, '--profile', 'anthropic'],
    ['exposure', `a${hostileId}`],
    ['status', ref],
    ['branch', 'ls', ref],
    ['compact', fork, '--dry-run', '--keep-last', '1'],
    ['diff', ref, fork],
    ['diff', ref, fork, '--of', 'events'],
    ['diff', `c:${call}`, `c:${call}`, '--of', 'payload'],
    ['replay', ref],
    ['verify', ref],
    ['projections', 'rebuild', ref],
    ['doctor'],
    // Refusals repeat what was asked for.
    ['history', all],
    ['history', ref, `--${all}`],
    ['history', ref, '--role', all],
    [all],
    ['schema', all],
    ['append', ref, '--id', `m-1`, '--text', `other ${all}`],
    ['append', ref, '--tool-call-id', `x${hostileId}`, '--text', all],
    ['import', `${hostileId}.jsonl`],
    ['export', ref, '-o', `missing${hostileId}/x.jsonl`],
    ['verify', all],
    ['branch', ref, '--at', `m:${all}`],
    ['why', all, '--call', call],
    ['tool', 'start', all],
    ['approve', all, '--outcome', 'approved'],
    ['--store', `x${hostileId}`, 'history', ref],
  ];
};

describe('hostile content on a terminal', () => {
  it('S03 has more than sixty payloads, each of which is told apart from plain text', () => {
    expect(payloads.length).toBeGreaterThanOrEqual(60);
    const harmless = ['pile of marks', 'long run', 'false log line', 'unassigned'];
    for (const [name, text] of payloads) {
      if (!harmless.includes(name))
        expect([name, Array.from(text).some(isForbidden)]).toEqual([name, true]);
    }
  });

  it.each([
    ['a pipe', {}],
    ['a terminal', { tty: true, columns: 60 }],
    ['a Chinese terminal', { tty: true, columns: 100, env: { STEMMA_LANG: 'zh' } }],
  ])('S03 no command writes any of it raw to %s', async (_name, options) => {
    for (const argv of commands()) {
      const { out, err } = await place.cli(argv, options);
      const shown = argv.slice(0, 2).map((part) => part.slice(0, 20));
      expect([shown, leakIn(withoutOwnColors(out))]).toEqual([shown, undefined]);
      expect([shown, leakIn(withoutOwnColors(err))]).toEqual([shown, undefined]);
    }
  });

  it('S03 writes its own colours and no other escape', async () => {
    for (const argv of commands()) {
      const { out, err } = await place.cli(argv, { env: { FORCE_COLOR: '1' } });
      expect(leakIn(withoutOwnColors(out))).toBeUndefined();
      expect(leakIn(withoutOwnColors(err))).toBeUndefined();
    }
  });

  it('S03 escapes in JSON what a terminal would act on, and reads back the same', async () => {
    for (const argv of commands()) {
      const { out, err } = await place.cli([...argv, '--json']);
      expect(leakIn(out)).toBeUndefined();
      expect(leakIn(err)).toBeUndefined();
      const text = out === '' ? err : out;
      if (!argv.includes(`--${all}`)) expect(() => JSON.parse(text) as unknown).not.toThrow();
    }
    const rows = listAt(await place.json('history', `c-${hostileId}`, '--limit', '1000'), 'rows');
    const said = new Map(rows.map((row) => [at(row, 'id'), at(row, 'text')]));
    payloads.forEach(([name, text], index) => {
      // The first was redacted.
      if (index > 0) expect([name, said.get(`m-${String(index)}`)]).toEqual([name, text]);
    });
  });

  it('S05 one event stays one line, whatever its content says', async () => {
    const { out } = await place.cli(['history', `c-${hostileId}`, '--all', '--limit', '1000']);
    const rows = listAt(await place.json('history', `c-${hostileId}`, '--limit', '1000'), 'rows');
    // A heading, the names of the columns, and the rows.
    expect(out.trimEnd().split('\n')).toHaveLength(rows.length + 2);
    expect(out).not.toMatch(/^error/m);
  });

  it('S03 a refusal shows each of them as marks', async () => {
    for (const [name, text] of payloads) {
      for (const argv of [['history', text], ['schema', text], [text], ['branch', 'x', text]]) {
        const { out, err } = await place.cli(argv);
        expect([name, out, leakIn(err)]).toEqual([name, '', undefined]);
      }
    }
  });

  it('S05 a refusal is one line with its hints, and holds no content', async () => {
    const { err } = await place.cli([
      'append',
      `c-${hostileId}`,
      '--id',
      'm-1',
      '--text',
      'secret words\nerror  Damaged  fake',
    ]);
    expect(err.split('\n').filter((line) => line.startsWith('error'))).toHaveLength(1);
    expect(err).not.toContain('secret words');
  });

  it('S04 exports it as text', async () => {
    for (const format of ['md', 'html', 'jsonl']) {
      const file = `out.${format}`;
      expect((await place.cli(['export', `c-${hostileId}`, '-o', file])).code).toBe(0);
      const text = fs.readFileSync(path.join(place.folder, file), 'utf8');
      if (format !== 'jsonl') expect([format, leakIn(text)]).toEqual([format, undefined]);
    }
    expect((await place.cli(['verify', 'out.jsonl'])).code).toBe(0);
    const { out } = await place.cli(['export', `c-${hostileId}`], { tty: true, columns: 80 });
    expect(leakIn(out)).toBeUndefined();
  });
});

describe('width', () => {
  it('S03 a terminal gets no line that is wider than it', async () => {
    const { out } = await place.cli(['history', `c-${hostileId}`, '--all'], {
      tty: true,
      columns: 80,
    });
    const [, ...rows] = out.trimEnd().split('\n');
    // ASCII here: every sign is one column wide.
    const ascii = rows.filter((line) => /^[\x20-\x7e…]*$/.test(line));
    expect(ascii.length).toBeGreaterThan(20);
    for (const line of ascii) expect(line.length).toBeLessThanOrEqual(80);
  });
});
