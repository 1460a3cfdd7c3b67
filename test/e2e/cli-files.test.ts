import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, demoPlace, listAt, newPlace, textAt } from '../infra/cli/cli-run.js';

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** A small session as Claude Code writes it. */
const session = (count: number): string =>
  Array.from({ length: count }, (_value, index) => ({
    type: index % 2 === 0 ? 'user' : 'assistant',
    uuid: `u-${String(index)}`,
    parentUuid: index === 0 ? null : `u-${String(index - 1)}`,
    sessionId: 'session-1',
    timestamp: `2026-01-02T03:04:${String(10 + index)}.000Z`,
    message:
      index % 2 === 0
        ? { role: 'user', content: `question ${String(index)}` }
        : {
            role: 'assistant',
            id: `msg_${String(index)}`,
            model: 'claude-x',
            content: [{ type: 'text', text: `answer ${String(index)}` }],
            usage: { input_tokens: 1, output_tokens: 1 },
          },
  }))
    .map(line)
    .join('');

/** Changes the first place of `text` in a file by one letter. */
const damage = (file: string, text: string): void => {
  const bytes = fs.readFileSync(file);
  const place = bytes.indexOf(text);
  expect(place).toBeGreaterThan(0);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  fs.writeFileSync(file, bytes);
};

describe('export and import', () => {
  it('B59 an exported conversation goes into another store unchanged, and twice writes nothing', async () => {
    const place = await demoPlace();
    const written = await place.json('export', 'demo', '-o', 'demo.jsonl');
    const file = path.join(place.folder, 'demo.jsonl');
    expect(written).toEqual({
      schema: 'stemma.export.v1',
      format: 'jsonl',
      path: file,
      bytes: fs.statSync(file).size,
    });
    const other = ['--store', 'other'];
    const first = await place.json('import', 'demo.jsonl', ...other);
    expect(at(first, 'files', 0)).toMatchObject({
      appended: 41,
      report: { format: 'stemma-jsonl' },
    });
    const conversation = textAt(first, 'files', 0, 'conversations', 0, 'conversation');
    expect(at(await place.json('import', 'demo.jsonl', ...other), 'files', 0, 'appended')).toBe(0);
    const [ours, theirs] = [
      await place.json('history', 'demo'),
      await place.json('history', conversation, ...other),
    ];
    expect(at(theirs, 'rows')).toEqual(at(ours, 'rows'));
    expect(await place.json('replay', conversation, '--check', ...other)).toMatchObject({
      ok: true,
    });
    expect((await place.cli(['verify', '--all', ...other])).code).toBe(0);
    // The same file comes out again.
    await place.json('export', conversation, '-o', 'again.jsonl', ...other);
    const lines = (name: string): readonly string[] =>
      fs.readFileSync(path.join(place.folder, name), 'utf8').split('\n').slice(1);
    expect(lines('again.jsonl').map((one) => one.replace(/"stream":"[^"]*"/, ''))).toEqual(
      lines('demo.jsonl').map((one) => one.replace(/"stream":"[^"]*"/, '')),
    );
  });

  it('B62 does not overwrite, and with --force replaces whole', async () => {
    const place = await demoPlace();
    place.write('out.md', 'mine');
    expect((await place.cli(['export', 'demo', '-o', 'out.md'])).code).toBe(4);
    expect(fs.readFileSync(path.join(place.folder, 'out.md'), 'utf8')).toBe('mine');
    expect((await place.cli(['export', 'demo', '-o', 'out.md', '--force'])).code).toBe(0);
    expect(fs.readFileSync(path.join(place.folder, 'out.md'), 'utf8')).toMatch(/^# Refund desk\n/);
    fs.mkdirSync(path.join(place.folder, 'folder.md'));
    expect((await place.cli(['export', 'demo', '-o', 'folder.md', '--force'])).code).toBe(1);
    expect(fs.readdirSync(place.folder).sort()).toEqual(['.stemma', 'folder.md', 'out.md']);
  });

  it('S04 exports text that nobody has to trust', async () => {
    const place = await demoPlace();
    await place.json('append', 'demo', '--text', '<script>alert(1)</script>');
    const { out } = await place.cli(['export', 'demo', '--format', 'html']);
    expect(out).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(out).not.toContain('<script>');
  });
});

describe('foreign transcripts', () => {
  it('CX1 tells the format by the content, and what it would make without making it', async () => {
    const place = newPlace();
    place.write('session.jsonl', session(4));
    const planned = await place.json('import', 'session.jsonl', '--dry-run');
    expect(planned).toMatchObject({
      dryRun: true,
      files: [
        {
          file: 'session.jsonl',
          appended: 0,
          report: { format: 'claude-code', records: 4, mapped: 4 },
          would: { conversations: 1, branches: 1, messages: 4, compactions: 0 },
        },
      ],
    });
    expect(fs.readdirSync(place.folder)).toEqual(['session.jsonl']);
    const done = await place.cli(['import', 'session.jsonl']);
    expect(done.out).toContain('next  stemma history claude-code:session-1\n');
    const rows = listAt(await place.json('history', 'claude-code:session-1'), 'rows');
    expect(rows.map((row) => [at(row, 'role'), at(row, 'text')])).toEqual([
      ['user', 'question 0'],
      ['assistant', 'answer 1'],
      ['user', 'question 2'],
      ['assistant', 'answer 3'],
    ]);
  });

  it('B59 takes a longer version of the same session in from where it ended', async () => {
    const place = newPlace();
    place.write('session.jsonl', session(2));
    await place.json('import', 'session.jsonl');
    const { out } = await place.cli(['import', 'session.jsonl']);
    expect(out).toContain('known already: nothing was written');
    place.write('session.jsonl', session(5));
    await place.json('import', 'session.jsonl');
    expect(listAt(await place.json('history', 'claude-code:session-1'), 'rows')).toHaveLength(5);
  });

  it('B58 refuses a torn file before anything is written, and salvages it when told to', async () => {
    const place = newPlace();
    await place.json('new', '--id', 'other');
    const text = session(4);
    place.write('torn.jsonl', text.slice(0, text.length - 30));
    const before = await place.json('verify', '--all');
    const refused = await place.cli(['import', 'torn.jsonl', '--json']);
    expect([refused.code, refused.out]).toEqual([5, '']);
    const start = text.slice(0, text.length - 1).lastIndexOf('\n') + 1;
    expect(at(JSON.parse(refused.err), 'error')).toMatchObject({
      code: 'TruncatedInput',
      subject: 'torn.jsonl',
      data: { line: 4, offset: start },
    });
    expect(await place.json('verify', '--all')).toEqual(before);
    const saved = await place.json('import', 'torn.jsonl', '--salvage');
    expect(listAt(saved, 'files', 0, 'report', 'notes').length).toBeGreaterThan(0);
    expect(listAt(await place.json('history', 'claude-code:session-1'), 'rows')).toHaveLength(3);
  });

  it('B58 decides a whole folder first, and names the file that it refuses', async () => {
    const place = newPlace();
    const folder = path.join(place.folder, 'all', 'deep');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(place.folder, 'all', 'a.jsonl'), session(2));
    fs.writeFileSync(path.join(folder, 'b.json'), '[{"role":"user","content":"hello"}]');
    fs.writeFileSync(path.join(folder, 'notes.json'), '{"some":"thing"}');
    fs.writeFileSync(
      path.join(folder, 'z.jsonl'),
      session(3).replaceAll('session-1', 'session-2').slice(0, -20),
    );
    const refused = await place.cli(['import', 'all']);
    expect(refused.code).toBe(5);
    expect(refused.err).toContain(`about  ${path.join('all', 'deep', 'z.jsonl')}`);
    expect((await place.cli(['conversations'])).out).toBe('nothing found\n');
    fs.rmSync(path.join(folder, 'z.jsonl'));
    const done = await place.json('import', 'all');
    expect(listAt(done, 'files').map((file) => at(file, 'report', 'format'))).toEqual([
      'claude-code',
      'openai-chat',
    ]);
    expect(at(done, 'skipped')).toEqual([path.join('all', 'deep', 'notes.json')]);
    expect(listAt(await place.json('conversations'), 'conversations')).toHaveLength(2);
  });

  it('B60 names the format that a file seems to have', async () => {
    const place = newPlace();
    place.write('session.jsonl', session(2));
    const { code, err } = await place.cli([
      'import',
      'session.jsonl',
      '--from',
      'openai-chat',
      '--json',
    ]);
    expect(code).toBe(5);
    expect(at(JSON.parse(err), 'error', 'data')).toEqual({
      _tag: 'ProfileMismatch',
      profile: 'openai-chat',
      suggestion: 'claude-code',
    });
  });

  it('CLI8 progress goes to standard error', async () => {
    const place = newPlace();
    fs.mkdirSync(path.join(place.folder, 'all'));
    for (const name of ['1', '2']) {
      const text = session(2).replaceAll('session-1', `session-${name}`);
      fs.writeFileSync(path.join(place.folder, 'all', `${name}.jsonl`), text);
    }
    const { out, err } = await place.cli(['import', 'all', '--json']);
    expect(err.split('\n')).toEqual([
      `1/2 ${path.join('all', '1.jsonl')}`,
      `2/2 ${path.join('all', '2.jsonl')}`,
      '',
    ]);
    expect(at(JSON.parse(out), 'schema')).toBe('stemma.import.v1');
  });
});

describe('verify', () => {
  it('B43 finds one changed letter in the store and names event, stream, revision and check', async () => {
    const place = newPlace();
    await place.json('new', '--id', 'c');
    await place.json('append', 'c', '--text', 'the quick brown fox');
    await place.json('append', 'c', '--text', 'and more');
    const { conversation, head } = (await place.json('status', 'c')) as {
      conversation: string;
      head: number;
    };
    expect(head).toBe(2);
    damage(path.join(place.folder, '.stemma', 'store.db'), 'quick brown');
    const { code, out } = await place.cli(['verify', 'c', '--json']);
    expect(code).toBe(6);
    const fault = at(JSON.parse(out), 'faults', 0);
    expect(fault).toEqual({
      stream: expect.stringContaining(`.${conversation}.`) as unknown,
      revision: 1,
      check: 'hash',
      eventId: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/,
      ) as unknown,
    });
    const text = await place.cli(['verify', '--all']);
    expect([text.code, text.err]).toEqual([6, '']);
    expect(text.out).toContain('BROKEN: 1 fault');
    expect(text.out).toContain(
      `hash   ${textAt(fault, 'stream')}    1  ${textAt(fault, 'eventId')}`,
    );
    const read = await place.cli(['history', 'c']);
    expect([read.code, read.err.startsWith('error  Damaged  ')]).toEqual([6, true]);
  });

  it('B43 finds it in an exported file too', async () => {
    const place = await demoPlace();
    await place.json('export', 'demo', '-o', 'demo.jsonl');
    const file = path.join(place.folder, 'demo.jsonl');
    const sound = await place.json('verify', 'demo.jsonl');
    expect(sound).toMatchObject({ ok: true, streams: 3, events: 41, faults: [] });
    damage(file, 'Then please refund it');
    const { code, out } = await place.cli(['verify', 'demo.jsonl', '--json']);
    expect(code).toBe(6);
    expect(listAt(JSON.parse(out), 'faults')).toEqual([
      {
        stream: expect.stringMatching(/^branch-/) as unknown,
        revision: 25,
        check: 'hash',
        eventId: expect.any(String) as unknown,
      },
    ]);
  });

  it('S31 finds lines that were swapped, left out, added or cut off', async () => {
    const place = await demoPlace();
    await place.json('export', 'demo', '-o', 'demo.jsonl');
    const text = fs.readFileSync(path.join(place.folder, 'demo.jsonl'), 'utf8');
    const lines = text.trimEnd().split('\n');
    const check = async (changed: readonly string[]): Promise<readonly unknown[]> => {
      place.write('changed.jsonl', `${changed.join('\n')}\n`);
      const { code, out } = await place.cli(['verify', 'changed.jsonl', '--json']);
      expect(code).toBe(6);
      return listAt(JSON.parse(out), 'faults').map((fault) => at(fault, 'check'));
    };
    const [a = '', b = ''] = lines.slice(10, 12);
    expect(await check([...lines.slice(0, 10), b, a, ...lines.slice(12)])).toContain('order');
    expect(await check(lines.slice(0, -1))).toContain('tail');
    expect((await check([...lines.slice(0, 20), ...lines.slice(21)])).length).toBeGreaterThan(0);
    expect((await check([...lines.slice(0, 12), a, ...lines.slice(12)])).length).toBeGreaterThan(0);
    expect(
      (await check([...lines.slice(0, 12), '{"x":1}', ...lines.slice(12)])).length,
    ).toBeGreaterThan(0);
    expect(await check([...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ''])).toContain(
      'tail',
    );
  });

  it('S31 finds a changed body of a long message, and one that is missing', async () => {
    const place = newPlace();
    await place.json('new', '--id', 'c');
    place.write('long.txt', 'long '.repeat(20_000));
    await place.json('append', 'c', '--file', 'long.txt');
    await place.json('export', 'c', '-o', 'c.jsonl');
    expect(await place.json('verify', 'c.jsonl')).toMatchObject({ ok: true, blobs: 1 });
    const text = fs.readFileSync(path.join(place.folder, 'c.jsonl'), 'utf8');
    const lines = text.trimEnd().split('\n');
    const body = lines.findIndex((one) => one.startsWith('{"blob"'));
    expect(body).toBeGreaterThan(0);
    // "long " and "lonh " in base64.
    const changed = lines.map((one, at) => (at === body ? one.replace('bG9uZy', 'bG9uaC') : one));
    for (const other of [changed, lines.filter((_one, at) => at !== body)]) {
      place.write('other.jsonl', `${other.join('\n')}\n`);
      const { code, out } = await place.cli(['verify', 'other.jsonl', '--json']);
      expect(code).toBe(6);
      expect(listAt(JSON.parse(out), 'faults')).toEqual([
        {
          stream: expect.stringMatching(/^branch-/) as unknown,
          revision: 1,
          check: 'blob',
          eventId: expect.any(String) as unknown,
        },
      ]);
    }
  });

  it('CX1 refuses a file that is none of ours as such', async () => {
    const place = newPlace();
    place.write('other.jsonl', session(2));
    const { code, err } = await place.cli(['verify', 'other.jsonl']);
    expect([code, err.startsWith('error  InvalidShape  ')]).toEqual([5, true]);
  });
});

describe('store', () => {
  it('G15 a backup is a store of its own that verifies', async () => {
    const place = await demoPlace();
    expect((await place.cli(['backup', 'copy.db'])).code).toBe(0);
    expect((await place.cli(['backup', 'copy.db'])).code).toBe(4);
    expect(fs.statSync(path.join(place.folder, 'copy.db')).mode & 0o777).toBe(0o600);
    // The keys are kept apart, as it says.
    const bare = await place.cli(['history', 'demo', '--store', 'copy.db']);
    expect([bare.code, bare.err.startsWith('error  KeysMissing  ')]).toEqual([7, true]);
    fs.cpSync(path.join(place.folder, '.stemma', 'keys'), path.join(place.folder, 'keys'), {
      recursive: true,
    });
    expect((await place.cli(['verify', '--all', '--store', 'copy.db'])).code).toBe(0);
    expect(at(await place.json('history', 'demo', '--store', 'copy.db'), 'rows')).toEqual(
      at(await place.json('history', 'demo'), 'rows'),
    );
  });

  it('S22 doctor shows who may read store and keys', async () => {
    const place = await demoPlace();
    const checks = listAt(await place.json('doctor'), 'checks');
    expect(checks.map((check) => [at(check, 'name'), at(check, 'state')])).toEqual([
      ['stemma', 'ok'],
      ['node', 'ok'],
      ['config', 'ok'],
      ['store.from', 'ok'],
      ['language', 'ok'],
      ['terminal', 'ok'],
      ['store', 'ok'],
      ['store.mode', 'ok'],
      ['keys.mode', 'ok'],
      ['tenant', 'ok'],
    ]);
    fs.chmodSync(path.join(place.folder, '.stemma', 'store.db'), 0o644);
    const after = listAt(await place.json('doctor'), 'checks');
    expect(after.find((check) => at(check, 'name') === 'store.mode')).toMatchObject({
      state: 'note',
    });
  });

  it('B46 doctor tells what stands in the place of a store', async () => {
    const place = newPlace();
    place.write('other.db', 'not a database at all'.repeat(40));
    const { code, out } = await place.cli(['doctor', '--store', 'other.db', '--json']);
    expect(code).toBe(6);
    expect(JSON.parse(out)).toMatchObject({ ok: false });
    expect(fs.readFileSync(path.join(place.folder, 'other.db'), 'utf8')).toBe(
      'not a database at all'.repeat(40),
    );
  });
});
