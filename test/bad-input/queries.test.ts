import { beforeEach, describe, expect, it } from 'vitest';
import { openStemma, type Branch, type Stemma } from '../../src/index.js';
import { faultOf, loose, refused, watch, watchBranch, type Watched } from './support.js';

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
let stemma: Stemma;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch, stemma } = watched);
});

const hostile = [
  '"',
  "'",
  '""',
  '"a',
  'a"b"',
  'AND',
  'OR',
  'NOT',
  'a AND',
  'col:',
  'body:x',
  'NEAR(',
  'NEAR(a b, 2)',
  '*',
  'a*',
  '^',
  '^a',
  'a-b',
  '-a',
  '+a',
  '(',
  ')',
  '()',
  '{a b}:c',
  '%',
  '_',
  'a%b_c',
  '[a-z]',
  '.*',
  '^(\\w+\\s?)*$',
  '\\',
  '\\u0041',
  ';',
  '--',
  '/* x */',
  "x') OR 1=1 --",
  "'; DROP TABLE events; --",
  '$.a"',
  '?1',
  ':name',
  '@x',
  '${x}',
  '\u0000',
  '\ud800',
  '\u202e',
  '订单',
  '单',
  'İ',
  'ß',
  '😀',
];

describe('search', () => {
  it.each(hostile)('B63 takes %j for itself', async (text) => {
    await branch.append([
      { id: 'with', role: 'user', content: `before ${text} behind` },
      { id: 'without', role: 'user', content: 'nothing to be seen here' },
    ]);
    const { hits } = await stemma.search(text);
    expect(hits.map(({ messageId }) => messageId)).toContain('with');
    for (const { text: found } of hits) {
      expect(found.toLowerCase().normalize('NFKC')).toContain(text.toLowerCase().normalize('NFKC'));
    }
  });

  it.each(hostile.filter((text) => !'nothing to be seen here'.includes(text.toLowerCase())))(
    'B63 finds nothing for %j where it is not',
    async (text) => {
      await branch.append({ role: 'user', content: 'nothing to be seen here' });
      expect((await stemma.search(text)).hits).toEqual([]);
    },
  );

  it.each(['', ' ', '\t\n'])('B63 finds no harm in %j', async (text) => {
    await branch.append({ role: 'user', content: 'x' });
    expect(Array.isArray((await stemma.search(text)).hits)).toBe(true);
  });

  it('B63 answers a very long text at once', async () => {
    await branch.append({ role: 'user', content: 'x'.repeat(50_000) });
    const before = performance.now();
    expect((await stemma.search('x'.repeat(100_000))).hits).toEqual([]);
    expect((await stemma.search('x'.repeat(50_000))).hits).toHaveLength(1);
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it('B65 runs no pattern of a caller', async () => {
    await branch.append({ role: 'user', content: `${'a '.repeat(50_000)}!` });
    const before = performance.now();
    expect((await stemma.search('^(\\w+\\s?)*$')).hits).toEqual([]);
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null])(
    'B66 refuses the limit %s of a search',
    async (limit) => {
      expect(await faultOf(() => stemma.search('x', { limit: loose(limit) }))).toMatchObject({
        _tag: 'InvalidArgument',
        name: 'limit',
      });
    },
  );

  it('B66 cuts a huge limit', async () => {
    const many = Array.from({ length: 1_100 }, () => ({ role: 'user' as const, content: 'same' }));
    await branch.append(many);
    expect((await stemma.search('same', { limit: 1e9 })).hits).toHaveLength(1_000);
  });

  it('B64 gives what one tenant wrote to no other', async () => {
    await branch.append({ role: 'user', content: 'of the first tenant' });
    const other = await openStemma({ store: watched.stores, tenant: 'other' });
    await (await other.start({ id: 'theirs' })).append({ role: 'user', content: 'of the second' });
    expect((await other.search('of the first')).hits).toEqual([]);
    expect((await other.conversations()).map(({ id }) => id)).toEqual(['theirs']);
    expect((await other.conversations({ id: 'conversation' })).map(({ id }) => id)).toEqual([]);
    const guessed = await faultOf(() => other.open(branch.conversation));
    const unknown = await faultOf(() => other.open('A'.repeat(22)));
    expect([guessed._tag, unknown._tag]).toEqual(['NotFound', 'NotFound']);
    expect(Object.keys(guessed)).toEqual(Object.keys(unknown));
  });
});

const keys = [
  "x') OR 1=1 --",
  '$.a"',
  '"quoted"',
  "it's",
  'a.b',
  'labels[0]',
  '../x',
  '$ne',
  'Label',
  'label ',
  'id; DROP TABLE events',
  '\u0000',
  '__proto__',
  'constructor',
  'toString',
  '',
  '订单',
];

describe('filters', () => {
  beforeEach(async () => {
    await stemma.start({ id: 'a', labels: { team: 'red', 'x.y': '1' } });
    await stemma.start({ id: 'b', labels: { team: 'blue' } });
    const closed = await stemma.start({ id: 'c', labels: { team: 'red' } });
    await closed.close();
  });

  const idsFor = async (filter: object): Promise<readonly (string | undefined)[]> =>
    (await stemma.conversations(filter)).map(({ id }) => id).sort();

  it.each(keys)('B64 refuses the filter key %j', async (name) => {
    const filter = Object.fromEntries([[name, 'x']]);
    expect(await refused(watched, () => stemma.conversations(filter))).toEqual({
      _tag: 'UnknownFilter',
      name,
    });
  });

  it.each(keys)('B64 takes the label name and value %j for texts', async (text) => {
    expect(await idsFor({ label: text })).toEqual([]);
    expect(await idsFor({ label: Object.fromEntries([[text, 'red']]) })).toEqual([]);
    expect(await idsFor({ label: { team: text } })).toEqual([]);
    expect(await idsFor({ id: text })).toEqual([]);
  });

  it('B64 finds by label, id and whether it is closed, all together', async () => {
    expect(await idsFor({})).toEqual(['a', 'b', 'c', 'conversation']);
    expect(await idsFor({ label: 'team' })).toEqual(['a', 'b', 'c']);
    expect(await idsFor({ label: { team: 'red' } })).toEqual(['a', 'c']);
    expect(await idsFor({ label: { team: 'red', 'x.y': '1' } })).toEqual(['a']);
    expect(await idsFor({ label: { team: 'red' }, closed: false })).toEqual(['a']);
    expect(await idsFor({ closed: true })).toEqual(['c']);
    expect(await idsFor({ id: 'b' })).toEqual(['b']);
    expect(await idsFor({ id: 'b', closed: true })).toEqual([]);
    expect(await idsFor({ id: undefined })).toEqual(['a', 'b', 'c', 'conversation']);
  });

  it.each<[string, unknown]>([
    ['label', 5],
    ['label', null],
    ['label', ['team']],
    ['label', { team: 5 }],
    ['id', 5],
    ['id', { $ne: 'a' }],
    ['closed', 'true'],
    ['closed', 1],
  ])('B64 refuses %s as %j', async (name, value) => {
    expect(await refused(watched, () => stemma.conversations({ [name]: value }))).toEqual({
      _tag: 'InvalidArgument',
      name,
      reason: 'wrong_type',
    });
  });

  it.each([null, 5, 'team', ['team']])('B64 refuses the filter %j', async (filter) => {
    expect(await faultOf(() => stemma.conversations(loose(filter)))).toMatchObject({
      _tag: 'InvalidArgument',
      name: 'filter',
    });
  });
});

describe('pages', () => {
  const fill = async (at: Branch, count: number): Promise<void> => {
    await at.append(
      Array.from({ length: count }, (_, index) => ({
        id: `m-${String(index)}`,
        role: 'user' as const,
        content: `text ${String(index)}`,
      })),
    );
  };

  const idsOf = (page: Awaited<ReturnType<Branch['historyPage']>>): readonly string[] =>
    page.entries.map((entry) => (entry.kind === 'message' ? entry.message.id : entry.kind));

  it.each([false, true])('B66 gives every entry once (reverse: %s)', async (reverse) => {
    await fill(branch, 25);
    await branch.compact({ strategy: 'summary', summary: 's', keepLast: 2 });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await branch.historyPage({
        limit: 7,
        ...(cursor === undefined ? { reverse } : { cursor }),
      });
      expect(page.entries.length).toBeLessThanOrEqual(7);
      seen.push(...idsOf(page));
      cursor = page.next;
    } while (cursor !== undefined);
    const all = [...Array.from({ length: 25 }, (_, i) => `m-${String(i)}`), 'summary'];
    expect(seen).toEqual(reverse ? all.reverse() : all);
  });

  it('B66 is not shifted by what is appended meanwhile', async () => {
    await fill(branch, 4);
    const first = await branch.historyPage({ limit: 2 });
    const last = await branch.historyPage({ limit: 2, reverse: true });
    await branch.append({ id: 'new', role: 'user', content: 'x' });
    const cursors = [first.next ?? '', last.next ?? ''];
    expect(idsOf(await branch.historyPage({ cursor: cursors[0] ?? '' }))).toEqual([
      'm-2',
      'm-3',
      'new',
    ]);
    expect(idsOf(await branch.historyPage({ cursor: cursors[1] ?? '' }))).toEqual(['m-1', 'm-0']);
  });

  it('B66 keeps to a size, and gives one entry at least', async () => {
    await fill(branch, 10);
    const small = await branch.historyPage({ maxBytes: 1 });
    expect(idsOf(small)).toEqual(['m-0']);
    expect(idsOf(await branch.historyPage({ maxBytes: 1, cursor: small.next ?? '' }))).toEqual([
      'm-1',
    ]);
    const bytes = Buffer.byteLength(
      JSON.stringify((await branch.historyPage({ limit: 3 })).entries),
    );
    expect((await branch.historyPage({ maxBytes: bytes })).entries).toHaveLength(3);
  });

  it('B66 cuts a huge limit, and gives pages of events too', async () => {
    await fill(branch, 1_500);
    expect((await branch.historyPage({ limit: 1e9, maxBytes: 1e9 })).entries).toHaveLength(1_000);
    expect((await branch.historyPage()).entries).toHaveLength(100);
    const events = await branch.events({ limit: 1e9, maxBytes: 1e9 });
    expect(events.events).toHaveLength(1_000);
    const rest = await branch.events({ limit: 1_000, cursor: events.next ?? '' });
    expect(rest.events.map(({ revision }) => revision)[0]).toBe(1_000);
    expect(rest.next).toBeUndefined();
    const latest = await branch.events({ limit: 2, reverse: true });
    expect(latest.events.map(({ revision }) => revision)).toEqual([1_500, 1_499]);
    const before = await branch.events({ limit: 2, cursor: latest.next ?? '' });
    expect(before.events.map(({ revision }) => revision)).toEqual([1_498, 1_497]);
  });

  it.each<[string, unknown, string]>([
    ['limit', 0, 'out_of_range'],
    ['limit', -1, 'out_of_range'],
    ['limit', 0.5, 'not_an_integer'],
    ['limit', Number.NaN, 'out_of_range'],
    ['limit', Number.POSITIVE_INFINITY, 'out_of_range'],
    ['limit', '10', 'wrong_type'],
    ['limit', null, 'wrong_type'],
    ['maxBytes', -1, 'out_of_range'],
    ['maxBytes', '1', 'wrong_type'],
    ['reverse', 'yes', 'wrong_type'],
    ['offset', 5, 'unknown_option'],
    ['cursorr', 'x', 'unknown_option'],
  ])('B66 refuses %s %s', async (name, value, reason) => {
    for (const page of [branch.historyPage, branch.events]) {
      expect(await refused(watched, () => page({ [name]: value }))).toEqual({
        _tag: 'InvalidArgument',
        name,
        reason,
      });
    }
  });

  it('B66 refuses a cursor that was changed, made up, or is of something else', async () => {
    await fill(branch, 5);
    const fork = await branch.fork({ after: 'm-4' });
    const other = await stemma.start({ id: 'other' });
    await fill(other, 5);
    const { next = '' } = await branch.historyPage({ limit: 2 });
    const { next: ofEvents = '' } = await branch.events({ limit: 2 });
    const plain = Buffer.from(next, 'base64url').toString();
    const forged = [
      '',
      'x',
      '0',
      '5',
      `${next}A`,
      next.slice(1),
      next.slice(0, -2),
      next.toUpperCase(),
      Buffer.from(plain.replace(/^f\d+/, 'f3')).toString('base64url'),
      Buffer.from(plain.replace(/^f/, 'r')).toString('base64url'),
      Buffer.from('f0.AAAAAAAAAAAAAAAAAAAAAA').toString('base64url'),
      Buffer.from('{"last":0}').toString('base64url'),
      "x') OR 1=1 --",
      'A'.repeat(100_000),
      '\u0000',
      ofEvents,
    ];
    for (const cursor of forged) {
      expect(await refused(watched, () => branch.historyPage({ cursor }))).toEqual({
        _tag: 'BadCursor',
      });
    }
    for (const cursor of [5, null, {}, ['x']]) {
      const page = () => branch.historyPage({ cursor: loose(cursor) });
      expect(await faultOf(page)).toEqual({ _tag: 'BadCursor' });
    }
    for (const page of [
      () => fork.historyPage({ cursor: next }),
      () => other.historyPage({ cursor: next }),
      () => branch.events({ cursor: next }),
      () => branch.historyPage({ cursor: next, reverse: true }),
    ]) {
      expect(await refused(watched, page)).toEqual({ _tag: 'BadCursor' });
    }
    expect((await branch.historyPage({ cursor: next })).entries).toHaveLength(3);
    expect((await branch.events({ cursor: ofEvents })).events).toHaveLength(4);
  });

  it('B66 refuses the cursor of another tenant with the same names', async () => {
    const own = await watch();
    const theirs = await watch();
    const cursors = await Promise.all(
      [own, theirs].map(async (at) => {
        const here = await at.stemma.start({ id: 'same' });
        await fill(here, 5);
        return { here, next: (await here.historyPage({ limit: 2 })).next ?? '' };
      }),
    );
    const [a, b] = cursors;
    expect(await faultOf(() => a?.here.historyPage({ cursor: b?.next ?? '' }))).toEqual({
      _tag: 'BadCursor',
    });
  });
});
