import stringWidth from 'string-width';
import { beforeAll, describe, expect, it } from 'vitest';
import { isWellFormed } from '../../src/domain/text.js';
import { newPlace, type Place } from '../infra/cli/cli-run.js';

const HAN = /\p{Script=Han}/u;

let place: Place;

beforeAll(async () => {
  place = newPlace();
  await place.json('demo', '--lang', 'zh');
  await place.json('new', '--id', 'mixed', '--title', '退款 👩‍👩‍👧‍👦');
  const said: readonly (readonly [string, string])[] = [
    ['m-1', 'plain'],
    ['消息-2', '订单 8812 想退款'],
    ['m-👨‍👩‍👧‍👦', 'family 👨‍👩‍👧‍👦 and flag 🇨🇳 here'],
    ['m-é', 'café and cafe\u0301'],
    ['m-ไทย', 'สวัสดีครับ'],
    ['m-עברית', 'שלום עולם'],
    ['m-full', 'ｆｕｌｌ　ｗｉｄｔｈ'],
    ['m-ｶﾅ', 'ﾊﾝｶｸ カナ'],
    ['m-한국', '안녕하세요'],
    ['m-zwj', '1️⃣ ☎️ ☎ ✈️'],
  ];
  for (const [id, text] of said) await place.json('append', 'mixed', '--id', id, '--text', text);
});

describe('alignment', () => {
  it('CLI8 lines up whatever is said, in columns of the terminal', async () => {
    const { out } = await place.cli(['history', 'mixed']);
    const [, head = '', ...rows] = out.trimEnd().split('\n');
    const at = stringWidth(head.slice(0, head.indexOf('what')));
    const texts = [
      'plain',
      '订单 8812 想退款',
      'family 👨‍👩‍👧‍👦 and flag 🇨🇳 here',
      'café and',
      'สวัสดีครับ',
      'שלום עולם',
      'ｆｕｌｌ　ｗｉｄｔｈ',
      'ﾊﾝｶｸ カナ',
      '안녕하세요',
      '1️⃣ ☎️ ☎ ✈️',
    ];
    expect(rows).toHaveLength(texts.length);
    rows.forEach((row, index) => {
      const text = texts[index] ?? '';
      expect([text, stringWidth(row.slice(0, row.indexOf(text)))]).toEqual([text, at]);
    });
  });

  it('CLI8 lines up with Chinese words around the data', async () => {
    const { out } = await place.cli(['history', 'demo-zh', '--lang', 'zh', '--all']);
    const [, head = '', ...rows] = out.trimEnd().split('\n');
    const at = stringWidth(head.slice(0, head.indexOf('角色')));
    for (const row of rows) {
      const role = /(system|user|assistant|tool|摘要)/.exec(row);
      expect(stringWidth(row.slice(0, role?.index ?? 0))).toBe(at);
    }
  });

  it('CLI8 cuts a preview between characters and fits the terminal', async () => {
    for (const columns of [30, 41, 60, 80, 120]) {
      const { out } = await place.cli(['history', 'mixed'], { tty: true, columns });
      const [, ...lines] = out.trimEnd().split('\n');
      for (const line of lines) {
        // eslint-disable-next-line no-control-regex
        const plain = line.replaceAll(/\u001b\[\d+m/g, '');
        expect(stringWidth(plain)).toBeLessThanOrEqual(columns);
        expect(isWellFormed(plain)).toBe(true);
      }
    }
  });
});

describe('language', () => {
  it.each([
    [['status', 'demo-zh']],
    [['context', 'demo-zh', '--why']],
    [['calls', 'ls', 'demo-zh']],
    [['check', 'demo-zh']],
    [['diff', 'demo-zh/main', 'demo-zh/retry']],
    [['replay', 'demo-zh']],
    [['verify', 'demo-zh']],
    [['branch', 'ls', 'demo-zh']],
    [['doctor']],
    [['projections', 'status']],
    [['schema']],
  ])('CLI2 %j speaks the language that is asked for', async (argv) => {
    const chinese = await place.cli(argv, { env: { STEMMA_LANG: 'zh' } });
    const english = await place.cli(argv, { env: { STEMMA_LANG: 'en' } });
    expect([chinese.code, english.code]).toEqual([0, 0]);
    const [first = ''] = chinese.out.split('\n');
    expect(first).toMatch(HAN);
    expect(english.out.split('\n')[0]).not.toMatch(HAN);
  });

  it('CLI2 never changes the data: JSON is the same in every language', async () => {
    const commands = [
      ['history', 'mixed'],
      ['status', 'mixed'],
      ['verify', 'mixed'],
      ['branch', 'ls', 'mixed'],
      ['context', 'mixed', '--why'],
      ['check', 'demo-zh'],
      ['calls', 'ls', 'demo-zh'],
      ['diff', 'demo-zh/main', 'demo-zh/retry'],
      ['why', 'm-1', '--call', 'demo-zh/retry'],
      ['conversations'],
      ['schema'],
      ['projections', 'status'],
    ];
    for (const argv of commands) {
      const [zh, en] = [
        await place.cli([...argv, '--json', '--lang', 'zh']),
        await place.cli([...argv, '--json', '--lang', 'en']),
      ];
      expect(zh).toEqual(en);
    }
  });

  it('B19 takes composed and decomposed ids for two', async () => {
    await place.json('append', 'mixed', '--id', 'id-\u00e9', '--text', 'composed');
    await place.json('append', 'mixed', '--id', 'id-e\u0301', '--text', 'decomposed');
    expect(
      (await place.cli(['append', 'mixed', '--id', 'id-\u00e9', '--text', 'composed'])).out,
    ).toMatch(/^unchanged/);
  });
});
