import { beforeEach, describe, expect, it } from 'vitest';
import { exported } from './tampering.js';
import {
  faultOf,
  loose,
  refused,
  textsOf,
  utf8,
  watch,
  watchBranch,
  type Watched,
} from './support.js';

const SECRET = 'words nobody may read';

const session = (count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      type: index % 2 === 0 ? 'user' : 'assistant',
      uuid: `u-${String(index)}`,
      parentUuid: index === 0 ? null : `u-${String(index - 1)}`,
      sessionId: 's-1',
      timestamp: '2026-01-01T00:00:00.000Z',
      message: {
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `${SECRET} ${String(index)}`,
      },
    }),
  ).join('\n');

const chat = JSON.stringify([
  { role: 'user', content: SECRET },
  { role: 'assistant', content: 'hi' },
]);

/** A store that has nothing, and the exchange lines of a conversation of another one. */
let lines: readonly string[];
let store: Watched;
beforeEach(async () => {
  const { stemma, branch } = await watchBranch();
  await branch.append([
    { id: 'm-1', role: 'user', content: `${SECRET} 1` },
    { id: 'm-2', role: 'user', content: 'x'.repeat(70_000) },
    { id: 'm-3', role: 'user', content: `${SECRET} 3` },
  ]);
  await branch.fork({ after: 'm-2' });
  lines = await exported(stemma, 'conversation');
  store = await watch();
});

const file = (): string => `${lines.join('\n')}\n`;

describe('files that are cut off', () => {
  it('B58 refuses exchange lines cut inside the last line, with its place', async () => {
    const text = file().slice(0, -20);
    const offset = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1));
    const fault = await refused(store, () => store.stemma.import(utf8(text)), [SECRET]);
    expect(fault).toEqual({ _tag: 'TruncatedInput', line: lines.length, offset });
  });

  it('B58 refuses exchange lines that end before the events they promise', async () => {
    const text = lines.slice(0, -1).join('\n');
    const fault = await refused(store, () => store.stemma.import(utf8(text)), [SECRET]);
    expect(fault).toMatchObject({ _tag: 'TruncatedInput', line: lines.length - 1 });
  });

  it('B58 takes what is whole when asked to, and says how much it left', async () => {
    const cut = file().slice(0, -20);
    const { report, appended } = await store.stemma.import(utf8(cut), { salvage: true });
    expect(appended).toBe((await store.events()).length - 1);
    expect(report.notes.map(({ code }) => code)).toEqual(['torn_line', 'missing_events']);
  });

  it('B58 refuses a line in the middle that is broken, also when asked to salvage', async () => {
    const broken = lines.map((line, index) => (index === 3 ? line.slice(0, -5) : line)).join('\n');
    for (const salvage of [false, true]) {
      const take = () => store.stemma.import(utf8(broken), { salvage });
      expect((await refused(store, take, [SECRET]))._tag).toBe('InvalidJson');
    }
  });

  it.each([
    ['a session', session(4), 10],
    ['a session inside a character', `${session(3)}\n{"type":"user","message":"订`, 1],
  ])('B58 takes %s with a torn end only when asked to', async (_what, text, cut) => {
    const bytes = utf8(text).slice(0, -cut);
    const fault = await refused(store, () => store.stemma.import(bytes), [SECRET]);
    expect(fault._tag).toBe('TruncatedInput');
    const { report, conversations } = await store.stemma.import(bytes, { salvage: true });
    expect(report.notes.map(({ line }) => line)).toContain(4);
    const branch = await store.stemma.open(conversations[0]?.conversation ?? '');
    expect(await textsOf(branch)).toEqual([0, 1, 2].map((i) => `${SECRET} ${String(i)}`));
  });

  it('B58 refuses a document that is cut off', async () => {
    const bytes = utf8(chat.slice(0, -3));
    const fault = await refused(store, () => store.stemma.import(bytes), [SECRET]);
    expect(fault).toEqual({ _tag: 'TruncatedInput', line: 1, offset: bytes.length });
  });

  it('B58 leaves branches hidden that a broken-off import made; a second run completes it', async () => {
    const failing = await watch({
      wrap: (stores) => {
        let appends = 0;
        return {
          ...stores,
          events: {
            ...stores.events,
            append: (stream, expected, events) => {
              appends += 1;
              // The first writes establish the tenant and start the import.
              return appends === 5
                ? () => Promise.resolve({ _tag: 'Left', left: { _tag: 'StorageFull' } } as const)
                : stores.events.append(stream, expected, events);
            },
          },
        };
      },
    });
    const bytes = utf8(session(4));
    expect(await faultOf(() => failing.stemma.import(bytes))).toEqual({ _tag: 'StorageFull' });
    expect(await failing.stemma.conversations()).toEqual([]);
    const { conversations } = await failing.stemma.import(bytes);
    expect(await failing.stemma.conversations()).toHaveLength(1);
    const branch = await failing.stemma.open(conversations[0]?.conversation ?? '');
    expect(await textsOf(branch)).toHaveLength(4);
  });
});

describe('files that come twice', () => {
  it.each([
    ['exchange lines', () => file()],
    ['a session', () => session(6)],
    ['a chat document', () => chat],
  ])('B59 adds nothing for %s that it has', async (_what, text) => {
    const first = await store.stemma.import(utf8(text()));
    expect(first.appended).toBeGreaterThan(0);
    const before = await store.image();
    const again = await store.stemma.import(utf8(text()));
    expect(again.appended).toBe(0);
    expect(again.conversations.map(({ conversation }) => conversation)).toEqual(
      first.conversations.map(({ conversation }) => conversation),
    );
    expect(await store.image()).toEqual(before);
  });

  it('B59 adds the rest of a longer version', async () => {
    await store.stemma.import(utf8(session(4)));
    const { conversations } = await store.stemma.import(utf8(session(6)));
    const branch = await store.stemma.open(conversations[0]?.conversation ?? '');
    expect(await textsOf(branch)).toHaveLength(6);
  });

  it('B59 refuses exchange lines that go another way than the store', async () => {
    await store.stemma.import(utf8(file()));
    const [conversation = ''] = (JSON.parse(lines[0] ?? '') as { readonly conversations: string[] })
      .conversations;
    const branch = await store.stemma.open(conversation);
    await branch.append({ role: 'user', content: 'own' });
    expect((await store.stemma.import(utf8(file()))).appended).toBe(0);
    const theirs = await watch();
    await theirs.stemma.import(utf8(file()));
    await (await theirs.stemma.open(conversation)).append({ role: 'user', content: 'theirs' });
    const other = (await exported(theirs.stemma, conversation)).join('\n');
    const fault = await refused(store, () => store.stemma.import(utf8(other)), ['theirs', 'own']);
    expect(fault._tag).toBe('RevisionConflict');
  });
});

/** The lines with the events at revision 0 and 1 of the first such stream in each other's place. */
const swapped = (all: readonly string[], category: string): readonly string[] => {
  const at = (revision: number): number =>
    all.findIndex(
      (line) =>
        line.startsWith(`{"stream":"${category}-`) &&
        line.includes(`"revision":${String(revision)},`),
    );
  const [a, b] = [at(0), at(1)];
  return all.map((line, index) =>
    index === a ? (all[b] ?? '') : index === b ? (all[a] ?? '') : line,
  );
};

describe('files that were tampered with', () => {
  it.each<[string, (lines: readonly string[]) => readonly string[]]>([
    ['changed content', (all) => all.map((line) => line.replace(`${SECRET} 3`, `${SECRET} 4`))],
    [
      'a changed revision',
      (all) => all.map((line) => line.replace('"revision":3', '"revision":9')),
    ],
    [
      'a changed type',
      (all) => all.map((line) => line.replace('"MessageAppended"', '"TurnEnded"')),
    ],
    [
      'a changed time',
      (all) => all.map((line) => line.replace(/\\"at\\":\\"20/g, '\\"at\\":\\"19')),
    ],
    ['swapped events', (all) => swapped(all, 'branch')],
    ['swapped events of the directory', (all) => swapped(all, 'conversation')],
    [
      'an event of another branch',
      (all) => all.map((line) => line.replace(/("stream":"branch-[^"]*)[^"]"/, '$1A"')),
    ],
    ['a changed body', (all) => all.map((line) => line.replace(/"bytes":"..../, '"bytes":"AAAA'))],
    ['a body that is missing', (all) => all.filter((line) => !line.startsWith('{"blob"'))],
  ])('B59 refuses %s before it takes anything', async (_what, change) => {
    const changed = change(lines);
    expect(changed).not.toEqual(lines);
    const fault = await refused(store, () => store.stemma.import(utf8(changed.join('\n'))), [
      SECRET,
    ]);
    expect(['Damaged', 'TruncatedInput', 'InvalidShape']).toContain(fault._tag);
  });

  it('B40 refuses exchange lines of a newer format by its name', async () => {
    const newer = [(lines[0] ?? '').replace('stemma-jsonl/0', 'stemma-jsonl/9'), ...lines.slice(1)];
    const fault = await refused(store, () => store.stemma.import(utf8(newer.join('\n'))));
    expect(fault).toEqual({ _tag: 'UnknownFormat', fmt: 'stemma-jsonl/9' });
  });
});

describe('files of another kind', () => {
  const anthropicBody = {
    system: 'be kind',
    messages: [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: SECRET }] },
    ],
  };
  it.each([
    ['Anthropic', anthropicBody, 'anthropic'],
    ['Responses', { input: [{ type: 'message', role: 'user', content: [] }] }, 'openai-responses'],
    ['Gemini', { contents: [{ role: 'user', parts: [{ text: SECRET }] }] }, 'gemini'],
  ])(
    'B60 refuses a document of %s as a chat document, with a suggestion',
    async (_what, body, suggestion) => {
      const bytes = utf8(JSON.stringify(body));
      const take = () => store.stemma.import(bytes, { format: 'openai-chat' });
      expect(await refused(store, take, [SECRET])).toEqual({
        _tag: 'ProfileMismatch',
        profile: 'openai-chat',
        suggestion,
      });
    },
  );

  it.each([
    ['a chat document as a session', chat, 'claude-code', 'openai-chat'],
    ['a session as a chat document', session(3), 'openai-chat', 'claude-code'],
  ] as const)('B60 refuses %s, with a suggestion', async (_what, text, format, suggestion) => {
    const take = () => store.stemma.import(utf8(text), { format });
    expect(await refused(store, take, [SECRET])).toEqual({
      _tag: 'ProfileMismatch',
      profile: format,
      suggestion,
    });
  });

  it.each([
    'hello',
    '<html></html>',
    '{"a":1}',
    '[1,2,3]',
    '[{"role":"user"}]',
    'a,b\n1,2',
    '%PDF-1.7',
  ])('B60 guesses at nothing for %j', async (text) => {
    const fault = await refused(store, () => store.stemma.import(utf8(text)));
    expect(['InvalidShape', 'InvalidJson']).toContain(fault._tag);
  });

  it('B60 takes no SQLite file, archive or image for text', async () => {
    for (const bytes of [
      Buffer.from('SQLite format 3\u0000'.padEnd(4_096, '\u0000')),
      Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0xff]),
      Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    ]) {
      const fault = await refused(store, () => store.stemma.import(bytes));
      expect(['InvalidUtf8', 'InvalidJson', 'InvalidShape', 'TruncatedInput']).toContain(
        fault._tag,
      );
    }
  });

  it('B24 refuses an unknown role in a document', async () => {
    const text = JSON.stringify([
      { role: 'user', content: 'x' },
      { role: 'admin', content: SECRET },
    ]);
    const fault = await refused(store, () => store.stemma.import(utf8(text)), [SECRET]);
    expect(['UnknownRole', 'InvalidShape']).toContain(fault._tag);
    const named = () => store.stemma.import(utf8(text), { format: 'openai-chat' });
    expect(await refused(store, named, [SECRET])).toEqual({
      _tag: 'UnknownRole',
      index: 1,
      path: '/1/role',
    });
  });

  it('B26 refuses a result without a call id in a document, or leaves it out and says so', async () => {
    const text = JSON.stringify([
      { role: 'user', content: 'x' },
      { role: 'tool', content: SECRET },
    ]);
    const fault = await refused(store, () => store.stemma.import(utf8(text)), [SECRET]);
    expect(fault).toMatchObject({ _tag: 'MissingToolCallId', index: 1, path: '/1/tool_call_id' });
    const { report } = await store.stemma.import(utf8(text), { salvage: true });
    expect(report.notes.map(({ code }) => code)).toContain('result_without_call_id');
  });

  it.each<[string, object, string]>([
    ['an unknown format', { format: 'telegram' }, 'format'],
    ['exchange lines as a foreign format', { format: 5 }, 'format'],
    ['a number as id', { id: 5 }, 'id'],
    ['a text as salvage', { salvage: 'yes' }, 'salvage'],
    ['a misspelt option', { dryrun: true }, 'dryrun'],
  ])('B60 refuses %s', async (_what, options, name) => {
    const take = () => store.stemma.import(utf8(chat), loose(options));
    expect(await refused(store, take)).toMatchObject({ _tag: 'InvalidArgument', name });
  });

  it('B18 refuses a bad id for a conversation that has none', async () => {
    const take = () => store.stemma.import(utf8(chat), { id: 'a\u0000b' });
    expect(await refused(store, take)).toMatchObject({ _tag: 'InvalidId', path: '/id' });
  });

  it('B58 writes nothing on a dry run', async () => {
    for (const text of [file(), session(4), chat]) {
      const before = await store.image();
      const { appended, report } = await store.stemma.import(utf8(text), { dryRun: true });
      expect([appended, report.mapped > 0]).toEqual([0, true]);
      expect(await store.image()).toEqual(before);
    }
  });
});
