import { beforeEach, describe, expect, it } from 'vitest';
import { at, newPlace, type Place } from '../infra/cli/cli-run.js';
import { imageOf, refusedBy, SECRET, titled, type Refusal } from './cli-support.js';

let place: Place;
beforeEach(async () => {
  place = newPlace();
  await place.json('new', '--id', 'c');
  await place.json('append', 'c', '--id', 'u-1', '--text', 'hello');
});

const image = (): Promise<unknown> => imageOf(place);

const refused = (argv: readonly string[], stdin?: string): Promise<Refusal> =>
  refusedBy(place, argv, stdin);

const batch = ['append', 'c', '--batch', '-'] as const;

const message = (more: object): string =>
  JSON.stringify({ role: 'user', content: SECRET, ...more });

describe('messages on standard input', () => {
  it.each(
    titled<[string, string, string, number, object]>([
      ['B01', `{"role":"user","content":`, 'InvalidJson', 5, { offset: 25 }],
      ['B01', `[${message({})},]`, 'InvalidJson', 5, {}],
      ['B02', 'null', 'InvalidShape', 5, { path: '' }],
      ['B02', '[]', 'InvalidShape', 5, { path: '' }],
      ['B02', '"x"', 'InvalidShape', 5, { path: '' }],
      ['B05', '['.repeat(100_000), 'TooDeep', 5, { depth: 65, limit: 64 }],
      [
        'B06',
        `{"role":"user","metadata":{${Array.from({ length: 100_001 }, (_, i) => `"k${String(i)}":0`).join()}}}`,
        'TooManyKeys',
        5,
        { limit: 100_000 },
      ],
      [
        'B07',
        `{"role":"user","role":"system","content":"${SECRET}"}`,
        'DuplicateKey',
        5,
        { path: '/role' },
      ],
      ['B09', `{"role":"user","__proto__":"${SECRET}"}`, 'ForbiddenKey', 5, { path: '/__proto__' }],
      [
        'B12',
        '{"role":"tool","toolCallId":"c","durationMs":9007199254740993}',
        'UnsafeNumber',
        5,
        { path: '/durationMs' },
      ],
      ['B13', '{"role":"user","metadata":{"a":1e400}}', 'UnsafeNumber', 5, { path: '/metadata/a' }],
      ['B16', `{"role":"user","id":"a\\ud800"}`, 'IllFormedUnicode', 5, { path: '/id' }],
      ['B16', `{"role":"user","metadata":{"\\ud800":1}}`, 'IllFormedUnicode', 5, {}],
      [
        'B18',
        message({ id: 'a\u0000b' }),
        'InvalidId',
        5,
        { path: '/id', reason: 'control_character' },
      ],
      ['B18', message({ id: 'x'.repeat(257) }), 'InvalidId', 5, { reason: 'too_long' }],
      ['B24', message({ role: 'SYSTEM' }), 'UnknownRole', 5, { path: '/role' }],
      ['B24', `[${message({})},${message({ role: ' system' })}]`, 'UnknownRole', 5, { index: 1 }],
      ['B26', message({ role: 'tool' }), 'MissingToolCallId', 5, { path: '/toolCallId' }],
      [
        'B27',
        message({ role: 'tool', toolCallId: 'c-9' }),
        'OrphanToolResult',
        5,
        { callId: 'c-9' },
      ],
      ['B35', message({ id: 'u-1' }), 'MessageIdConflict', 4, { id: 'u-1' }],
      ['B39', `[${message({})},${message({})},5]`, 'InvalidShape', 5, { index: 2 }],
      [
        'B52',
        message({ createdAt: '2024-02-30T00:00:00Z' }),
        'InvalidTimestamp',
        5,
        { path: '/createdAt' },
      ],
    ]),
  )('%s as a batch', async (_title, _row, stdin, code, exit, data) => {
    const told = await refused(batch, stdin);
    expect(told).toMatchObject({ code, exit, data });
  });

  it.each(['', ' ', '\n'])('B02 refuses %j as a batch', async (stdin) => {
    const { code, exit } = await refused(batch, stdin);
    expect(['InvalidShape', 'InvalidJson']).toContain(code);
    expect(exit).toBe(5);
  });

  it('B20 refuses bytes that are no UTF-8', async () => {
    const before = await image();
    async function* stdin(): AsyncGenerator<Uint8Array> {
      await Promise.resolve();
      yield Buffer.concat([
        Buffer.from('{"role":"user",\n"content":"'),
        Buffer.from([0xff, 0x22, 0x7d]),
      ]);
    }
    const ran = await place.cli([...batch, '--json'], { stdin: stdin() });
    expect(at(JSON.parse(ran.err), 'error', 'data')).toEqual({
      _tag: 'InvalidUtf8',
      line: 2,
      byte: 27,
    });
    expect([ran.code, await image()]).toEqual([5, before]);
  });

  it('B03 refuses a message over the limit', async () => {
    const told = await refused(['append', 'c', '-'], 'x'.repeat(16_777_217));
    expect(told).toMatchObject({ code: 'TooLarge', exit: 5, data: { limit: 16_777_216 } });
  });

  it('B15 B17 B21 takes odd text as it is', async () => {
    for (const [index, text] of [
      'a\u0000b',
      '\u202Ex',
      'x\uFEFF',
      '\u001b[2J',
      'e\u0301',
    ].entries()) {
      const id = `odd-${String(index)}`;
      const { code } = await place.cli(['append', 'c', '--id', id, '-'], { stdin: text });
      expect(code).toBe(0);
      const again = await place.json(
        'append',
        'c',
        '--batch',
        place.write('m.json', JSON.stringify({ id, role: 'user', content: text })),
      );
      expect(at(again, 'messages', 0, 'status')).toBe('replayed');
    }
  });
});

describe('flags', () => {
  it.each<[string, readonly string[], string, number, object]>([
    ['B18', ['new', '--id', ' '], 'InvalidId', 5, { reason: 'blank' }],
    ['B18', ['new', '--id', 'x'.repeat(300)], 'InvalidId', 5, { reason: 'too_long' }],
    ['B18', ['history', 'x'.repeat(300)], 'InvalidId', 5, { reason: 'too_long' }],
    ['B18', ['append', 'c', '--text', 'x', '--command-id', 'a\nb'], 'InvalidId', 5, {}],
    [
      'B24',
      ['append', 'c', '--role', 'SYSTEM', '--text', SECRET],
      'InvalidArgument',
      2,
      { name: 'role', reason: 'unknown_value' },
    ],
    [
      'B25',
      ['append', 'c', '--role', 'system', '--as', 'end_user:7', '--text', SECRET],
      'RoleNotAllowed',
      5,
      { role: 'system', origin: 'end_user' },
    ],
    [
      'B25',
      ['append', 'c', '--role', 'developer', '--as', 'tool', '--text', SECRET],
      'RoleNotAllowed',
      5,
      { role: 'developer', origin: 'tool' },
    ],
    [
      'B25',
      ['instructions', 'set', 'c', '--as', 'end_user', '--text', SECRET],
      'RoleNotAllowed',
      5,
      {},
    ],
    [
      'B25',
      ['append', 'c', '--as', 'root', '--text', SECRET],
      'InvalidArgument',
      2,
      { name: 'as', reason: 'unknown_value' },
    ],
    [
      'B27',
      ['append', 'c', '--tool-call-id', 'c-9', '--text', SECRET],
      'OrphanToolResult',
      5,
      { callId: 'c-9' },
    ],
    [
      'B35',
      ['append', 'c', '--id', 'u-1', '--text', `${SECRET} `],
      'MessageIdConflict',
      4,
      { id: 'u-1' },
    ],
    [
      'B38',
      ['append', 'c', '--text', SECRET, '--expect', '0'],
      'RevisionConflict',
      4,
      { expected: 0, actual: 1 },
    ],
    [
      'B38',
      ['append', 'c', '--text', SECRET, '--expect', '99'],
      'RevisionConflict',
      4,
      { expected: 99, actual: 1 },
    ],
    [
      'B38',
      ['append', 'c', '--text', SECRET, '--expect', '-1'],
      'InvalidArgument',
      2,
      { reason: 'out_of_range' },
    ],
    [
      'B38',
      ['append', 'c', '--text', SECRET, '--expect', '9007199254740992'],
      'InvalidArgument',
      2,
      { reason: 'out_of_range' },
    ],
    [
      'B38',
      ['append', 'c', '--text', SECRET, '--expect', '0.5'],
      'InvalidArgument',
      2,
      { reason: 'not_an_integer' },
    ],
    [
      'B38',
      ['append', 'c', '--text', SECRET, '--expect', 'one'],
      'InvalidArgument',
      2,
      { reason: 'wrong_type' },
    ],
    [
      'B53',
      ['context', 'c', '--profile', 'openai-chat', '--budget', '1'],
      'BudgetImpossible',
      8,
      { available: 1 },
    ],
    [
      'B54',
      ['context', 'c', '--profile', 'openai-chat', '--budget', '0'],
      'InvalidArgument',
      2,
      {},
    ],
    [
      'B54',
      ['context', 'c', '--profile', 'openai-chat', '--budget', '-1'],
      'InvalidArgument',
      2,
      {},
    ],
    [
      'B54',
      ['context', 'c', '--profile', 'openai-chat', '--budget', 'NaN'],
      'InvalidArgument',
      2,
      {},
    ],
    ['B55', ['compact', 'c', '--keep-from', 'm:nobody'], 'NotFound', 3, { kind: 'message' }],
    ['B55', ['compact', 'c', '--keep-last', '-1'], 'InvalidArgument', 2, {}],
    ['B55', ['compact', 'c', '--strategy', 'magic'], 'InvalidArgument', 2, {}],
    ['B57', ['branch', 'c', '--at', '99'], 'RevisionInFuture', 4, { revision: 99, head: 1 }],
    ['B57', ['history', 'c@99'], 'RevisionInFuture', 4, { revision: 99, head: 1 }],
    ['B57', ['history', 'c/nothing'], 'NotFound', 3, { kind: 'branch' }],
    ['B66', ['history', 'c', '--limit', '-1'], 'InvalidArgument', 2, {}],
    ['B66', ['history', 'c', '--limit', '0.5'], 'InvalidArgument', 2, {}],
    ['B66', ['search', 'hello', '--limit', '-1'], 'InvalidArgument', 2, {}],
    ['S09', ['history', "x') OR 1=1 --"], 'NotFound', 3, { kind: 'conversation' }],
  ])('%s refuses %j', async (_row, argv, code, exit, data) => {
    expect(await refused(argv)).toMatchObject({ code, exit, data });
  });

  it.each(['"', 'AND', 'col:', 'NEAR(', '*', '^', 'a-b', "x') OR 1=1 --", '%', '$.a"'])(
    'B63 searches for %j itself',
    async (text) => {
      await place.json('append', 'c', '--id', 'with', '--text', `before ${text} behind`);
      const found = await place.json('search', '--', text).catch(() => undefined);
      const hits = found ?? (await place.json('search', text));
      expect(JSON.stringify(hits)).toContain('with');
    },
  );
});
