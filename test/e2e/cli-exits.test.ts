import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { at, demoPlace, newPlace, type Place } from '../infra/cli/cli-run.js';

let place: Place;

beforeAll(async () => {
  place = await demoPlace();
  await place.cli(['new', '--id', 't']);
  await place.cli(['append', 't', '--id', 'm-1', '--text', 'hello']);
  place.write('taken.jsonl', '');
  place.write('bad.json', '{"role":');
  place.write('chat.json', '[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]');
  place.write(
    'batch.json',
    JSON.stringify(
      Array.from({ length: 40 }, (_value, index) =>
        index === 37 ? { role: 'admin', content: 'x' } : { role: 'user', content: 'x' },
      ),
    ),
  );
  fs.writeFileSync(path.join(place.folder, 'bytes.txt'), Buffer.from([0x61, 0xff, 0x62]));
  place.write('not-a-store.db', 'x'.repeat(4096));
});

type Refusal = readonly [title: string, argv: readonly string[], code: string, exit: number];

const refusals: readonly Refusal[] = [
  ['an unknown option', ['history', 'demo', '--bogus'], 'InvalidArgument', 2],
  ['an unknown command', ['histori', 'demo'], 'InvalidArgument', 2],
  ['a missing argument', ['history'], 'InvalidArgument', 2],
  ['an argument too many', ['history', 'demo', 'extra'], 'InvalidArgument', 2],
  ['an option without its value', ['history', 'demo', '--role'], 'InvalidArgument', 2],
  [
    'B38 a negative revision',
    ['append', 't', '--text', 'x', '--expect', '-2'],
    'InvalidArgument',
    2,
  ],
  ['B38 a float', ['append', 't', '--text', 'x', '--expect', '1.5'], 'InvalidArgument', 2],
  ['B38 a word', ['append', 't', '--text', 'x', '--expect', 'one'], 'InvalidArgument', 2],
  [
    'B38 2^53',
    ['append', 't', '--text', 'x', '--expect', '9007199254740992'],
    'InvalidArgument',
    2,
  ],
  ['B38 a stale revision', ['append', 't', '--text', 'x', '--expect', '0'], 'RevisionConflict', 4],
  ['B38 a revision ahead', ['append', 't', '--text', 'x', '--expect', '99'], 'RevisionConflict', 4],
  ['B54 budget 0', ['context', 't', '--budget', '0'], 'InvalidArgument', 2],
  ['B54 budget -1', ['context', 't', '--budget', '-1'], 'InvalidArgument', 2],
  ['B54 budget NaN', ['context', 't', '--budget', 'NaN'], 'InvalidArgument', 2],
  ['B54 budget 1e12 in letters', ['context', 't', '--budget', '1e12'], 'InvalidArgument', 2],
  ['B53 a budget that cannot do', ['context', 't', '--budget', '1'], 'BudgetImpossible', 8],
  ['B66 a negative limit', ['history', 't', '--limit', '-1'], 'InvalidArgument', 2],
  ['B66 a place behind the list', ['history', 't', '--after', '99'], 'InvalidArgument', 2],
  ['B57 a conversation that is not there', ['history', 'nope'], 'NotFound', 3],
  ['B57 a branch that is not there', ['history', 't/nope'], 'NotFound', 3],
  ['B57 a message that is not there', ['branch', 't', '--at', 'm:nope'], 'NotFound', 3],
  ['B57 a call that is not there', ['calls', 'show', 'c:nope'], 'NotFound', 3],
  ['B57 a read beyond the head', ['history', 't@99'], 'RevisionInFuture', 4],
  ['B57 a branch beyond the head', ['branch', 't', '--at', '99'], 'RevisionInFuture', 4],
  ['B57 a branch at -1', ['branch', 't', '--at', '-1'], 'InvalidArgument', 2],
  ['B57 a branch at nothing', ['branch', 't', '--at', 'there'], 'InvalidArgument', 2],
  [
    'ID3 a known id with other content',
    ['append', 't', '--id', 'm-1', '--text', 'hallo'],
    'MessageIdConflict',
    4,
  ],
  ['B24 an unknown role', ['append', 't', '--role', 'admin', '--text', 'x'], 'InvalidArgument', 2],
  [
    'B25 a role that is not allowed',
    ['append', 't', '--role', 'system', '--text', 'x', '--as', 'end_user:ann'],
    'RoleNotAllowed',
    5,
  ],
  [
    'B26 a tool message without a call',
    ['append', 't', '--role', 'tool', '--text', 'x'],
    'MissingToolCallId',
    5,
  ],
  [
    'B27 a result of no call',
    ['append', 't', '--tool-call-id', 'c9', '--text', 'x'],
    'OrphanToolResult',
    5,
  ],
  ['B18 an id with a line break', ['append', 't', '--id', 'a\nb', '--text', 'x'], 'InvalidId', 5],
  ['B18 a blank id', ['append', 't', '--id', ' ', '--text', 'x'], 'InvalidId', 5],
  ['B01 broken JSON', ['append', 't', '--batch', 'bad.json'], 'InvalidJson', 5],
  ['B39 a batch with one bad item', ['append', 't', '--batch', 'batch.json'], 'UnknownRole', 5],
  ['B20 bytes that are no UTF-8', ['append', 't', '--file', 'bytes.txt'], 'InvalidUtf8', 5],
  ['a file that is not there', ['append', 't', '--file', 'nope.txt'], 'NotFound', 3],
  ['content twice', ['append', 't', '-', '--text', 'x'], 'InvalidArgument', 2],
  ['no content', ['append', 't'], 'InvalidArgument', 2],
  ['content as an argument', ['append', 't', 'hello'], 'InvalidArgument', 2],
  ['a write into the past', ['append', 't@0', '--text', 'x'], 'InvalidArgument', 2],
  ['a role with events', ['history', 't', '--events', '--role', 'user'], 'InvalidArgument', 2],
  ['a type with turns', ['history', 't', '--turns', '--type', 'X'], 'InvalidArgument', 2],
  ['an unknown profile', ['context', 't', '--profile', 'gpt'], 'InvalidArgument', 2],
  [
    'an edit of another message',
    ['retry', 't', '--at', 'c:x', '--edit', 'm:m-1=batch.json'],
    'InvalidArgument',
    2,
  ],
  ['a retry of nothing', ['retry', 't'], 'InvalidArgument', 2],
  ['B55 a compaction of nothing', ['compact', 't', '--keep-last', '9'], 'CompactionInvalid', 5],
  ['a summary without its text', ['compact', 't', '--strategy', 'summary'], 'InvalidArgument', 2],
  ['a compaction that is not there', ['compact', 't', '--undo', 'k-nope'], 'NotFound', 3],
  ['B62 an export over a file', ['export', 't', '-o', 'taken.jsonl'], 'TargetExists', 4],
  ['B62 an export into no folder', ['export', 't', '-o', 'none/x.jsonl'], 'TargetUnwritable', 1],
  ['an export of an unknown kind', ['export', 't', '-o', 'x.zip'], 'InvalidArgument', 2],
  ['an export of a part', ['export', 't@1'], 'InvalidArgument', 2],
  [
    'B60 an import of another format',
    ['import', 'chat.json', '--from', 'claude-code'],
    'ProfileMismatch',
    5,
  ],
  ['an import of nothing', ['import', 'nope'], 'NotFound', 3],
  ['an approval that nobody asked for', ['approve', 'a-x', '--outcome', 'approved'], 'NotFound', 3],
  ['an approval without a word', ['approve', 'a-x'], 'InvalidArgument', 2],
  ['an event that is not there', ['schema', 'Nope'], 'NotFound', 3],
  ['verify of two subjects', ['verify', 't', '--all'], 'InvalidArgument', 2],
  ['B46 something that is no store', ['history', 't', '--store', 'not-a-store.db'], 'NotAStore', 6],
  ['no store', ['history', 't', '--store', 'nowhere'], 'Unavailable', 7],
  [
    'a store of another kind',
    ['history', 't', '--store', 'esdb://localhost:2113'],
    'InvalidArgument',
    2,
  ],
  ['a language that is not spoken', ['history', 't', '--lang', 'fr'], 'InvalidArgument', 2],
];

describe('a refusal', () => {
  it.each(refusals)('CLI6 %s', async (_title, argv, code, exit) => {
    const text = await place.cli(argv);
    expect([text.code, text.out]).toEqual([exit, '']);
    expect(text.err.startsWith(`error  ${code}  `)).toBe(true);
    expect(text.err).toContain('\nhint  ');

    const json = await place.cli([...argv, '--json']);
    expect([json.code, json.out]).toEqual([exit, '']);
    expect(JSON.parse(json.err)).toMatchObject({
      schema: 'stemma.error.v1',
      error: { code, exit, data: { _tag: code } },
    });
  });

  it('B39 names the bad item of a batch and stores none', async () => {
    const before = await place.json('status', 't');
    const { err } = await place.cli(['append', 't', '--batch', 'batch.json', '--json']);
    expect(at(JSON.parse(err), 'error', 'data')).toEqual({
      _tag: 'UnknownRole',
      index: 37,
      path: '/37/role',
    });
    expect(await place.json('status', 't')).toEqual(before);
  });

  it('ID3 names both digests and echoes no content', async () => {
    const { err } = await place.cli(['append', 't', '--id', 'm-1', '--text', 'hallo']);
    expect(err).toMatch(/: "c1\.s1:\S+" now, "c1\.s1:\S+" stored\./);
    expect(err).not.toContain('hallo');
  });

  it('CLI6 suggests what may have been meant', async () => {
    const { err } = await place.cli(['histori', 'demo']);
    expect(err.split('\n')).toEqual([
      'error  InvalidArgument  Argument "histori" is refused (unknown_value).',
      'hint  See the reference of the call for names and ranges.',
      'hint  (Did you mean history?)',
      '',
    ]);
  });

  it('CLI6 says what to do where there is no store', async () => {
    const { err } = await newPlace().cli(['history', 'x']);
    expect(err).toContain('There is no store here. Make one with `stemma init`');
  });

  it('CLI6 speaks Chinese around the code, which stays', async () => {
    const { err } = await place.cli(['history', 'nope'], { env: { STEMMA_LANG: 'zh' } });
    expect(err.startsWith('错误  NotFound  ')).toBe(true);
    expect(err).toContain('提示  ');
  });

  it('CLI6 a fault of ours exits 1 and keeps its details to itself, unless it is debugged', async () => {
    const broken = new Error('secret detail');
    const options = {
      stdin: {
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(broken) }),
      },
    };
    const { code, err } = await place.cli(['append', 't', '-'], options);
    expect([code, err.startsWith('error  Unexpected  ')]).toEqual([1, true]);
    expect(err).not.toContain('secret detail');
    const debugged = await place.cli(['append', 't', '-'], {
      ...options,
      env: { STEMMA_DEBUG: '1' },
    });
    expect(debugged.err).toContain('Error: secret detail');
  });

  it('CLI6 exits 130 when it is interrupted', async () => {
    const stop = new AbortController();
    const running = place.cli(['verify', '--all'], { signal: stop.signal });
    stop.abort();
    expect(await running).toMatchObject({ code: 130, err: '' });
  });
});
