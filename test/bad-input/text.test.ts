import { describe, expect, it } from 'vitest';
import { anthropic, openaiChat, type Branch, type Stemma } from '../../src/index.js';
import { loose, refused, textsOf, utf8, watch, watchBranch, type Watched } from './support.js';

type Action = (at: { readonly branch: Branch; readonly stemma: Stemma }) => unknown;

const openai = openaiChat({ model: 'm' });

/** Every way in which a caller names something that is new. */
const naming: readonly (readonly [string, (id: string) => Action])[] = [
  [
    'conversation',
    (id) =>
      ({ stemma }) =>
        stemma.start({ id }),
  ],
  [
    'message',
    (id) =>
      ({ branch }) =>
        branch.append({ id, role: 'user', content: 'x' }),
  ],
  [
    'part',
    (partOf) =>
      ({ branch }) =>
        branch.append({ partOf, role: 'user', content: 'x' }),
  ],
  [
    'call',
    (id) =>
      ({ branch }) =>
        branch.append({ role: 'assistant', toolCalls: [{ id, name: 'f' }] }),
  ],
  [
    'answered call',
    (toolCallId) =>
      ({ branch }) =>
        branch.append({ role: 'tool', toolCallId }),
  ],
  [
    'command',
    (commandId) =>
      ({ branch }) =>
        branch.append({ role: 'user' }, { commandId }),
  ],
  [
    'branch',
    (name) =>
      ({ branch }) =>
        branch.fork({ revision: 0 }, { name }),
  ],
  [
    'label',
    (name) =>
      ({ stemma }) =>
        stemma.start({ labels: { [name]: 'x' } }),
  ],
  [
    'run',
    (run) =>
      ({ stemma }) =>
        stemma.open('conversation', { run }),
  ],
  [
    'actor',
    (id) =>
      ({ stemma }) =>
        stemma.start({ as: { kind: 'end_user', id } }),
  ],
  [
    'instructions',
    (name) =>
      ({ branch }) =>
        branch.instructions('x', { name }),
  ],
];

/** Every way in which a caller names something that is there. */
const referring: readonly (readonly [string, (id: string) => Action])[] = [
  [
    'conversation',
    (id) =>
      ({ stemma }) =>
        stemma.open(id),
  ],
  [
    'branch',
    (id) =>
      ({ stemma }) =>
        stemma.open(`conversation/${id}`),
  ],
];

const everywhere = [...naming, ...referring];

const refusal = async (action: Action, secrets: readonly string[] = []) => {
  const watched = await watchBranch();
  return refused(watched, () => action(watched), secrets);
};

/** The conversation as another store reads it from its exchange lines. */
const carriedOver = async ({ stemma }: Watched): Promise<Branch> => {
  const lines: string[] = [];
  for await (const line of stemma.export('conversation')) lines.push(line);
  const other = await watch();
  await other.stemma.import(utf8(`${lines.join('\n')}\n`));
  return other.stemma.open((await stemma.resolve('conversation')).conversation);
};

const odd: readonly (readonly [string, string])[] = [
  ['B15 a high surrogate', 'a\ud800b'],
  ['B15 a low surrogate', '\udc00'],
  ['B15 a pair the wrong way round', '\ude00\ud83d'],
  ['B15 half a pair in a long text', `${'x'.repeat(70_000)}\ud83d`],
  ['B17 NUL', 'a\u0000b'],
  [
    'B17 all control characters',
    Array.from({ length: 32 }, (_, i) => String.fromCharCode(i)).join(''),
  ],
  ['B21 a byte order mark', '\uFEFFa\uFEFFb'],
  ['B22 a direction override', 'user\u202Eexe.txt\u202C'],
  ['B22 isolates', '\u2066a\u2069'],
  ['B22 zero width characters', 'a\u200Bb\u200C\u200D\u2060\u00AD'],
  [
    'B22 tag characters',
    Array.from({ length: 128 }, (_, i) => String.fromCodePoint(0xe0000 + i)).join(''),
  ],
  ['B22 variation selectors', 'x\uFE0F\u{E0100}'],
  ['B22 terminal sequences', '\u001b]52;c;aGk=\u0007\u001b[2J\u009d'],
  ['B19 decomposed letters', 'e\u0301'],
  ['B19 compatibility forms', 'ﬁ①Ａ'],
  ['B23 combining marks', `a${'\u0301'.repeat(5_000)}`],
  ['B23 a million lines', 'x\n'.repeat(1_000_000)],
  ['B23 ten megabytes on one line', 'x'.repeat(10_000_000)],
  ['B23 line separators', 'a\u2028b\u2029c\r\nd\u0085e'],
];

describe('text that is content', () => {
  it.each(odd)('%s is stored, read and carried over as it is', async (_what, content) => {
    const watched = await watchBranch();
    await watched.branch.append({ id: 'm', role: 'user', content });
    expect((await textsOf(watched.branch))[0] === content).toBe(true);
    const copy = await carriedOver(watched);
    expect((await textsOf(copy))[0] === content).toBe(true);
    expect(await watched.stemma.verify()).toMatchObject({ ok: true });
  });

  it('B15 sends U+FFFD for half a pair and says so', async () => {
    const { branch } = await watchBranch();
    await branch.append({ id: 'm', role: 'user', content: 'a\ud800b 😀' });
    for (const plan of [
      await branch.preview({ profile: openai }),
      await branch.preview({ profile: anthropic({ model: 'm', maxTokens: 10 }) }),
    ]) {
      expect(plan.text).toContain('a\ufffdb 😀');
      expect(plan.repairs).toContainEqual({ code: 'TEXT_REPAIRED', id: 'm' });
    }
    expect(await textsOf(branch)).toEqual(['a\ud800b 😀']);
  });

  it('B15 keeps half a pair in long instructions', async () => {
    const { branch } = await watchBranch();
    const text = `${'x'.repeat(70_000)}\ud83d`;
    await branch.instructions(text);
    expect((await branch.surface()).instructions[0]?.text === text).toBe(true);
  });

  it('B15 refuses half a pair where nothing may be repaired', async () => {
    const watched = await watchBranch();
    await watched.branch.append({ id: 'm', role: 'user', content: 'a\ud800b' });
    const strict = { profile: openai, policy: { strict: true } };
    const fault = await refused(watched, () => watched.branch.request(strict));
    expect(fault).toMatchObject({ _tag: 'IllFormedUnicode', id: 'm' });
  });

  it('B17 finds and gives what stands behind a NUL', async () => {
    const { branch, stemma } = await watchBranch();
    await branch.append({ id: 'm', role: 'user', content: 'before\u0000behind' });
    const [hit] = (await stemma.search('behind')).hits;
    expect(hit?.text).toBe('before\u0000behind');
    const plan = await branch.preview({ profile: openai });
    expect(plan.body.messages[0]?.content).toBe('before\u0000behind');
  });

  it('B19 tells composed and decomposed ids and contents apart', async () => {
    const { branch, stemma } = await watchBranch();
    await branch.append({ id: 'é', role: 'user', content: 'é' });
    await branch.append({ id: 'e\u0301', role: 'user', content: 'e\u0301' });
    expect(await textsOf(branch)).toEqual(['é', 'e\u0301']);
    const [composed, decomposed] = [
      await stemma.start({ id: 'é' }),
      await stemma.start({ id: 'e\u0301' }),
    ];
    expect(composed.conversation).not.toBe(decomposed.conversation);
    const known = await stemma.open('e\u0301');
    expect(known.conversation).toBe(decomposed.conversation);
  });

  it('B23 refuses more than 16 MiB of text in one message', async () => {
    const content = 'é'.repeat(8_388_608);
    const over = ({ branch }: { readonly branch: Branch }) =>
      branch.append({ role: 'user', content: `${content}x` });
    expect(await refusal(over, ['éé'])).toEqual({
      _tag: 'TooLarge',
      bytes: 16_777_217,
      limit: 16_777_216,
    });
    const { branch } = await watchBranch();
    expect((await branch.append({ role: 'user', content }))[0]?.status).toBe('written');
  });

  it('B03 counts content, arguments, metadata and raw together', async () => {
    const quarter = 'x'.repeat(4_194_304);
    const message = {
      role: 'assistant' as const,
      content: quarter,
      toolCalls: [{ name: 'f', arguments: quarter }],
      metadata: { a: quarter },
      raw: { system: 's', text: quarter },
    };
    const fault = await refusal(({ branch }) => branch.append([message]), ['xxx']);
    expect(fault).toMatchObject({ _tag: 'TooLarge', limit: 16_777_216 });
    const { branch } = await watchBranch();
    await branch.append({ ...message, raw: { system: 's', text: '' } });
  });

  it('B03 refuses instructions of more than 16 MiB', async () => {
    const text = 'x'.repeat(16_777_217);
    const fault = { _tag: 'TooLarge', bytes: 16_777_217, limit: 16_777_216 };
    expect(await refusal(({ branch }) => branch.instructions(text), ['xxx'])).toEqual(fault);
    expect(await refusal(({ stemma }) => stemma.start({ instructions: text }))).toEqual(fault);
  });
});

describe('text that is an id or a name', () => {
  it.each(naming)('B16 refuses half a surrogate pair in the name of a %s', async (_what, make) => {
    for (const id of ['a\ud800', '\udc00b', '\ud83d', '\ude00\ud83d']) {
      expect((await refusal(make(id)))._tag).toBe('IllFormedUnicode');
    }
  });

  it('B16 does not take half a pair for U+FFFD when it looks something up', async () => {
    const watched = await watchBranch();
    await watched.branch.append({ id: 'a\ufffd', role: 'user', content: 'x' });
    await watched.stemma.start({ id: 'a\ufffd' });
    for (const action of [
      () => watched.branch.status('a\ud800', 'blocked'),
      () => watched.branch.withdraw(['a\ud800']),
      () => watched.branch.redact('a\ud800'),
      () => watched.stemma.open('a\ud800'),
    ]) {
      expect((await refused(watched, action))._tag).toBe('IllFormedUnicode');
    }
  });

  it.each(
    everywhere.flatMap(([what, make]) =>
      [
        ['NUL', 'a\u0000b', 'control_character'],
        ['a line feed', 'a\nb', 'control_character'],
        ['an escape', '\u001b[2J', 'control_character'],
        ['a C1 control', 'a\u009db', 'control_character'],
        ['DEL', 'a\u007f', 'control_character'],
        ['white space', ' \u3000\u00a0', 'blank'],
        ['257 bytes', 'x'.repeat(257), 'too_long'],
        ['258 bytes of 86 characters', '订'.repeat(86), 'too_long'],
      ].map((id) => [what, ...id, make] as const),
    ),
  )('B18 refuses %s with %s', async (_what, _name, id, reason, make) => {
    expect(await refusal((make as (id: string) => Action)(id as string))).toMatchObject({
      _tag: 'InvalidId',
      reason,
    });
  });

  // A model may leave the id of a call out; everything else has one or is not named at all.
  it.each(naming.filter(([what]) => what !== 'call' && what !== 'answered call'))(
    'B18 refuses an empty name of a %s',
    async (_what, make) => {
      expect(await refusal(make(''))).toMatchObject({ _tag: 'InvalidId', reason: 'blank' });
    },
  );

  it.each([
    '../../etc/passwd',
    '/',
    'a/b',
    '..',
    '.',
    '%2F..%2f',
    '%00',
    '$all',
    '$ce-branch',
    'a@b~1',
    'branch-x',
    "'; DROP TABLE events; --",
    '<script>alert(1)</script>',
    '__proto__',
    'constructor',
    'C:\\x\\y',
    '-rf',
    'x'.repeat(256),
  ])('B18 takes %j for data and lets it shape no stream', async (id) => {
    const { branch, stemma, events } = await watchBranch();
    const own = await stemma.start({ id });
    await own.append({ id, role: 'user', content: 'x' });
    await own.append([
      { role: 'assistant', toolCalls: [{ id, name: 'f' }] },
      { role: 'tool', toolCallId: id, content: 'y' },
    ]);
    expect((await stemma.open(id)).conversation).toBe(own.conversation);
    expect((await own.append({ id, role: 'user', content: 'x' }))[0]?.status).toBe('replayed');
    expect(own.conversation).not.toBe(branch.conversation);
    for (const { stream } of await events()) {
      expect(stream).toMatch(/^(governance|conversation|branch)-[\w-]{22}(\.[\w-]{22}){0,2}$/);
    }
    expect(({} as Record<string, unknown>)['messages']).toBeUndefined();
  });

  it('B18 gives no id of more than 256 bytes back in a fault', async () => {
    const { stemma, branch } = await watchBranch();
    const long = 'x'.repeat(10_000);
    for (const action of [
      () => stemma.open(long),
      () => stemma.verify(long),
      () => branch.fork({ after: long }),
      () => branch.why(long, { modelCallId: long }),
      () => stemma.conversations(loose({ [long]: 1 })),
      () => branch.append({ role: 'user' }, loose({ [long]: 1 })),
    ]) {
      const fault = await refused({ ...(await watch()) }, action);
      expect(JSON.stringify(fault).length).toBeLessThan(1_000);
    }
  });
});

const bytesOf = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? utf8(part) : Buffer.from(part))));

describe('bytes of a file', () => {
  it.each([
    ['a stray byte', bytesOf('[{"role":"user","content":"', [0xff], '"}]'), 1, 27],
    ['an overlong form', bytesOf('[{"role":"user","content":"', [0xc0, 0xaf], '"}]'), 1, 27],
    ['a surrogate', bytesOf('[{"role":"user","content":"', [0xed, 0xa0, 0x80], '"}]'), 1, 27],
    [
      'beyond U+10FFFF',
      bytesOf('[{"role":"user",\n"content":"', [0xf4, 0x90, 0x80, 0x80], '"}]'),
      2,
      28,
    ],
    ['a cut sequence', bytesOf('[{"role":"user","content":"x', [0xe4, 0xb8], '"}]'), 1, 28],
    ['Latin-1', bytesOf('[{"role":"user","content":"caf', [0xe9], '"}]'), 1, 30],
    ['UTF-16', Buffer.from('\uFEFF[{"role":"user"}]', 'utf16le'), 1, 0],
  ])('B20 refuses %s with its line and byte', async (_what, bytes, line, byte) => {
    const watched = await watch();
    const fault = await refused(watched, () => watched.stemma.import(bytes));
    expect(fault).toEqual({ _tag: 'InvalidUtf8', line, byte });
  });

  it('B20 refuses a line of exchange lines that is no UTF-8, and appends nothing of the file', async () => {
    const { stemma, branch } = await watchBranch();
    await branch.append({ role: 'user', content: 'x' });
    const lines: string[] = [];
    for await (const line of stemma.export('conversation')) lines.push(line);
    const bytes = bytesOf(
      `${lines[0] ?? ''}\n${lines[1] ?? ''}\n`,
      [0xc3, 0x28],
      `\n${lines[2] ?? ''}`,
    );
    const watched = await watch();
    const fault = await refused(watched, () => watched.stemma.import(bytes));
    expect(fault).toEqual({
      _tag: 'InvalidUtf8',
      line: 3,
      byte: utf8(`${lines[0] ?? ''}\n${lines[1] ?? ''}\n`).length,
    });
  });

  it('B21 takes one byte order mark off, says so, and keeps those inside', async () => {
    const { stemma } = await watch();
    const file = bytesOf([0xef, 0xbb, 0xbf], '[{"role":"user","content":"\uFEFFhi"}]');
    const { report, conversations } = await stemma.import(file);
    expect(report.notes).toContainEqual({ code: 'byte_order_mark', line: 1 });
    const branch = await stemma.open(conversations[0]?.conversation ?? '');
    expect(await textsOf(branch)).toEqual(['\uFEFFhi']);
  });

  it('B21 refuses a second byte order mark before the document', async () => {
    const watched = await watch();
    const file = bytesOf([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], '[{"role":"user","content":"hi"}]');
    const fault = await refused(watched, () => watched.stemma.import(file));
    expect(fault).toMatchObject({ _tag: 'InvalidJson' });
  });
});
