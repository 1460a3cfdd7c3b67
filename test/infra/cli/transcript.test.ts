import { describe, expect, it } from 'vitest';
import type { Uid } from '../../../src/domain/ids.js';
import type { HistoryRow } from '../../../src/infra/cli/history-rows.js';
import { paintOf } from '../../../src/infra/cli/paint.js';
import type { Look } from '../../../src/infra/cli/result.js';
import { htmlPage, markdown } from '../../../src/infra/cli/transcript.js';
import { wordsIn } from '../../../src/infra/cli/words/words.js';

const look: Look = {
  words: wordsIn('en'),
  paint: paintOf(false),
  isColored: false,
  width: Number.POSITIVE_INFINITY,
  format: 'text',
};

const of = { id: 'c-1', title: 'Refund', branchName: 'main', revision: 7 };

const row = (text: string, more: Partial<HistoryRow> = {}): HistoryRow => ({
  kind: 'message',
  sequence: 1,
  place: { branch: 'b' as Uid, revision: 3, hash: 'h' },
  branchName: 'main',
  at: '2026-01-02T03:04:05.678Z',
  actor: 'app',
  id: 'm-1',
  role: 'user',
  status: 'confirmed',
  tokens: 1,
  text,
  blocks: [],
  toolCalls: [],
  answers: [],
  ...more,
});

const md = (rows: readonly HistoryRow[], title = of.title): string =>
  [...markdown({ ...of, title }, rows, look)].join('');
const html = (rows: readonly HistoryRow[], title = of.title): string =>
  [...htmlPage({ ...of, title }, rows, look)].join('');

/** Control characters but line feed and tab, and bidi overrides. */
const rawIn = (text: string): readonly string[] =>
  Array.from(text).filter((sign) => /[\p{Cc}\p{Cf}\p{Cs}]/u.test(sign) && !'\n\t'.includes(sign));

const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '</pre><script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  '[click](javascript:alert(1))',
  '![beacon](https://evil.example/x.png)',
  '<https://evil.example>',
  '```\n# not a heading\n```',
  '````````\nmore\n````````',
  '~~~\nx\n~~~',
  "=cmd|' /C calc'!A0",
  '| a | b |\n|---|---|',
  '&lt;script&gt;',
  '\u001b]52;c;eA==\u0007',
  'a\u202eb',
  '\ud800',
];

describe('Markdown', () => {
  it('S04 is headings and fenced text', () => {
    const call = { id: 'call_1', name: 'find', arguments: '{"id":1}' };
    const rows = [
      row('Where is it?'),
      row('', { kind: 'message', id: 'm-2', role: 'assistant', toolCalls: [call] }),
    ];
    expect(md(rows)).toBe(
      [
        '# Refund',
        '',
        'c&#45;1 main&#64;7',
        '',
        '## user · 2026&#45;01&#45;02 03&#58;04&#58;05 · main&#64;3 · m&#45;1',
        '',
        '```text',
        'Where is it?',
        '```',
        '',
        '## assistant · 2026&#45;01&#45;02 03&#58;04&#58;05 · main&#64;3 · m&#45;2',
        '',
        '```text',
        'calls find({"id":1}) call_1',
        '```',
        '',
      ].join('\n'),
    );
  });

  it.each(hostile)('S04 keeps %j within its fence', (text) => {
    const lines = md([row(text)]).split('\n');
    const start = lines.findIndex((line) => /^`{3,}text$/.test(line));
    const fence = lines[start]?.replace('text', '') ?? '';
    const end = lines.findIndex((line, index) => index > start && line === fence);
    // Nothing of the content is outside, and the fence closes once.
    expect(lines.slice(end + 1)).toEqual(['']);
    expect(lines.slice(0, start).join('\n')).not.toContain('evil');
    expect(rawIn(lines.join('\n'))).toEqual([]);
  });

  it.each(hostile)('S04 makes a title of %j plain text', (text) => {
    const [heading = ''] = md([], text).split('\n\n');
    const said = heading.replace('# ', '').replaceAll(/&#\d+;/g, '');
    expect(said).not.toMatch(/[\\`*_{}[\]<>()#+!|~&=@$"'\n-]/);
  });
});

describe('HTML', () => {
  it('S04 is one page of text with a policy against everything else', () => {
    const page = html([row('Where is it?')]);
    expect(page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">`,
    );
    expect(page).toContain('<pre dir="auto">Where is it?</pre>');
    expect(page).toContain('<h1><bdi>Refund</bdi></h1>');
  });

  it.each(hostile)('S04 shows %j as text', (text) => {
    const page = html([row(text, { id: text })], text);
    // Only the tags of the page itself.
    const tags = [...page.matchAll(/<\/?([a-z!][a-z0-9]*)/gi)].map(([, name]) => name);
    const own = ['!doctype', 'html', 'head', 'meta', 'title', 'style', 'body', 'h1', 'bdi', 'p'];
    expect(tags.filter((tag) => ![...own, 'article', 'h2', 'pre'].includes(tag ?? ''))).toEqual([]);
    expect(page).not.toMatch(/<[^>]*\son\w+=/i);
    expect(page).not.toMatch(/<[^>]*\s(href|src|srcset|action)=/i);
    expect(rawIn(page)).toEqual([]);
  });

  it('S04 names what it does not show', () => {
    const page = html([
      row('', {
        out: { reason: 'redacted', cause: { branch: 'b' as Uid, revision: 1, hash: 'h' } },
      }),
      row('x', {
        blocks: [{ type: 'image', mediaType: 'image/png', url: 'https://evil.example/x' }],
      }),
    ]);
    expect(page).toContain('redacted');
    expect(page).toContain('[image image/png]');
    expect(page).not.toContain('evil');
  });
});
