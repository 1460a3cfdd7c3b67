import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { demoPlace, filesOf, listAt, at, textAt, type Place } from '../infra/cli/cli-run.js';

/** A command that only looks: how it is called, and the schema of what it prints. */
type Look = readonly [argv: readonly string[], schema: string];

let place: Place;
let call = '';

beforeAll(async () => {
  place = await demoPlace();
  const calls = await place.json('calls', 'ls', 'demo');
  call = textAt(calls, 'calls', -1, 'modelCallId');
  await place.cli(['append', 'demo', '--id', 'm-open', '--text', 'One more thing.']);
  await place.cli(['export', 'demo', '-o', 'demo.jsonl']);
  place.write('tools.json', '[{"name":"find","parameters":{"type":"object"}}]');
});

const looks = (): readonly Look[] => [
  [['conversations'], 'conversations'],
  [['history', 'demo'], 'history'],
  [['history', 'demo', '--all', '--role', 'user'], 'history'],
  [['history', 'demo/retry@2'], 'history'],
  [['history', 'demo~3', '--reverse', '--limit', '2'], 'history'],
  [['history', 'demo@2999-01-01T00:00:00Z', '--since', '7d'], 'history'],
  [['history', 'demo', '--events', '--type', 'Context*'], 'history'],
  [['history', 'demo', '--events', '--actor', 'end_user'], 'history'],
  [['search', 'lamp'], 'search'],
  [['search', 'nothing of this kind'], 'search'],
  [['context', 'demo', '--why'], 'context'],
  [['context', 'demo', '--budget', '900', '--profile', 'anthropic', '--payload'], 'context'],
  [['context', 'demo@13', '--tools', 'tools.json'], 'context'],
  [['context', `c:${call}`, '--why'], 'context'],
  [['context', 'c:demo/retry'], 'context'],
  [['calls', 'ls', 'demo'], 'calls'],
  [['calls', 'show', call], 'call'],
  [['why', 'm-1', '--call', call], 'why'],
  [['check', 'demo/retry', '--profile', 'anthropic'], 'check'],
  [['exposure', 'm:m-1'], 'exposure'],
  [['status', 'demo'], 'status'],
  [['branch', 'ls', 'demo'], 'branches'],
  [['branch', 'attempts', `c:${call}`], 'attempts'],
  [['compact', 'demo', '--dry-run', '--keep-last', '2'], 'compact'],
  [['diff', 'demo/main', 'demo/retry'], 'diff'],
  [['diff', 'demo/main', 'demo/retry', '--of', 'context', '--stat'], 'diff'],
  [['diff', `c:${call}`, 'demo/retry', '--of', 'payload'], 'diff'],
  [['diff', 'demo@3', 'demo@9', '--of', 'events'], 'diff'],
  [['replay', 'demo', '--check'], 'replay'],
  [['verify', 'demo'], 'verify'],
  [['verify', '--all'], 'verify'],
  [['verify', 'demo.jsonl'], 'verify'],
  [['export', 'demo'], 'export'],
  [['export', 'demo/retry', '--format', 'md'], 'export'],
  [['import', 'demo.jsonl', '--dry-run'], 'import'],
  [['projections', 'status'], 'projections'],
  [['projections', 'rebuild', 'demo'], 'projections.rebuild'],
  [['doctor'], 'doctor'],
  [['schema'], 'schemas'],
  [['schema', 'MessageAppended'], 'schema'],
  [['completion', 'bash'], 'completion'],
];

describe('a command that looks', () => {
  it('CLI5 leaves every byte of the store as it is, as text and as JSON', async () => {
    const store = path.join(place.folder, '.stemma');
    const before = filesOf(store);
    expect(before.map((file) => file.split(' ')[0])).toEqual([
      expect.stringMatching(/^keys\/tenant-[0-9a-f]{32}\.key$/),
      'store.db',
    ]);
    for (const [argv] of looks()) {
      for (const form of [[], ['--json'], ['--jsonl']]) {
        const { code, err } = await place.cli([...argv, ...form]);
        expect([argv, code, err]).toEqual([argv, 0, '']);
        expect([argv, filesOf(store)]).toEqual([argv, before]);
      }
    }
  });

  it('CLI5 makes no store where there is none', async () => {
    const empty = path.join(place.folder, 'empty');
    fs.mkdirSync(empty);
    for (const argv of [
      ['history', 'demo'],
      ['conversations'],
      ['search', 'x'],
      ['verify', '--all'],
      ['doctor'],
      ['export', 'demo'],
    ]) {
      const { code } = await place.cli([...argv, '--store', path.join(empty, '.stemma')]);
      expect([argv, code]).toEqual([argv, 7]);
    }
    expect(fs.readdirSync(empty)).toEqual([]);
  });

  it('CLI4 prints one JSON document with its schema', async () => {
    for (const [argv, schema] of looks()) {
      const { out } = await place.cli([...argv, '--json']);
      expect([argv, at(JSON.parse(out), 'schema')]).toEqual([argv, `stemma.${schema}.v1`]);
    }
  });

  it('CLI4 takes STEMMA_JSON for --json', async () => {
    const flag = await place.cli(['history', 'demo', '--json']);
    const variable = await place.cli(['history', 'demo'], { env: { STEMMA_JSON: '1' } });
    expect(variable).toEqual(flag);
    const off = await place.cli(['history', 'demo'], { env: { STEMMA_JSON: '0' } });
    expect(off.out.startsWith('{')).toBe(false);
  });

  it('CLI4 prints a JSON line for each row with --jsonl', async () => {
    const { out } = await place.cli(['history', 'demo', '--jsonl']);
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(rows.map((row) => at(row, 'schema'))).toEqual(rows.map(() => 'stemma.history.row.v1'));
    expect(rows.map((row) => at(row, 'kind'))).toEqual([
      'instructions',
      'message',
      'message',
      'tool_result',
      'message',
      'message',
      'message',
      'tool_result',
      'message',
      'summary',
      'message',
      'message',
      'message',
    ]);
  });
});

describe('history', () => {
  it('OR1 tells what was said, in log order, with its content', async () => {
    const json = await place.json('history', 'demo');
    expect(json).toMatchObject({ id: 'demo', title: 'Refund desk', branchName: 'main', turns: 3 });
    const said = listAt(json, 'rows').map((row) => [at(row, 'role'), at(row, 'text')]);
    expect(said.slice(0, 4)).toEqual([
      [
        'system',
        'You answer questions about orders of a lamp shop. Be brief. Never promise a date.',
      ],
      ['user', 'Hello! I ordered a lamp, number 8812. Where is it?'],
      ['assistant', ''],
      [
        'tool',
        '{"id":"8812","item":"Desk lamp, brass","status":"delivered","paid":"48.00 EUR","carrier":"parcel, signed for"}',
      ],
    ]);
    expect(at(json, 'rows', 2, 'toolCalls')).toEqual([
      { id: 'call_1', name: 'find_order', arguments: '{"id":"8812"}' },
    ]);
  });

  it('CX5 folds what a compaction covers for people, and never in JSON', async () => {
    const folded = (await place.cli(['history', 'demo'])).out;
    expect(folded).toMatch(/… .*4 rows covered by compaction k-\S+ \(\d+ → \d+ tokens\)/);
    expect(folded).not.toContain('number 8812');
    const all = (await place.cli(['history', 'demo', '--all'])).out;
    expect(all).toContain('number 8812');
    const rows = listAt(await place.json('history', 'demo'), 'rows');
    expect(rows.filter((row) => at(row, 'coveredBy') !== undefined)).toHaveLength(4);
  });

  it('OR2 reads a branch as it was at a revision and at a time', async () => {
    const then = await place.json('history', 'demo@5');
    expect(then).toMatchObject({ atRevision: 5, revision: 5, turns: 1 });
    expect(listAt(then, 'rows')).toHaveLength(3);
    const before = await place.json('history', 'demo@2001-01-01T00:00:00Z');
    expect(before).toMatchObject({ atTime: '2001-01-01T00:00:00Z', rows: [] });
  });

  it('CLI7 takes ids by their only beginning, and says when there are several', async () => {
    const { conversation } = (await place.json('status', 'demo')) as { conversation: string };
    for (const ref of ['dem', conversation, conversation.slice(0, 8), `${conversation}/main`]) {
      expect(await place.json('status', ref)).toMatchObject({ conversation });
    }
    const prefix = await place.cli(['why', 'm:m-', '--call', call]);
    expect([prefix.code, prefix.err]).toEqual([
      2,
      expect.stringContaining('error  InvalidArgument  Argument "message" is refused (ambiguous).'),
    ]);
    expect(await place.json('calls', 'show', `c:${call.slice(0, 10)}`)).toMatchObject({
      modelCallId: call,
    });
  });

  it('B66 gives the list in parts, and clamps the largest part', async () => {
    const first = await place.json('history', 'demo', '--limit', '2');
    expect(at(first, 'next')).toBe(2);
    const second = await place.json('history', 'demo', '--limit', '2', '--after', '2');
    const whole = listAt(await place.json('history', 'demo', '--limit', '1000000000'), 'rows');
    expect([...listAt(first, 'rows'), ...listAt(second, 'rows')]).toEqual(whole.slice(0, 4));
    expect((await place.cli(['history', 'demo', '--limit', '2'])).out).toContain(
      '… there is more: --after 2',
    );
  });

  it('B64 takes filters as words and never as patterns or queries', async () => {
    for (const type of ["x') OR 1=1 --", '$.a"', '.*', 'Message.*', '[A-Z]*x', "'"]) {
      expect(await place.json('history', 'demo', '--type', type)).toMatchObject({ rows: [] });
    }
    const some = await place.json('history', 'demo', '--type', 'Tool*');
    expect(listAt(some, 'rows').map((row) => at(row, 'type'))).toEqual([
      'ToolExecutionStarted',
      'ToolResultAttached',
      'ToolExecutionStarted',
      'ToolResultAttached',
    ]);
    const { code } = await place.cli(['history', 'demo', '--role', "user' OR 1=1"]);
    expect(code).toBe(2);
  });

  it('B63 searches for a text as it stands', async () => {
    await place.cli(['new', '--id', 'signs']);
    await place.cli(['append', 'signs', '--text', 'a-b "AND" col: NEAR( * ^ %']);
    for (const text of ['"', 'AND', 'col:', 'NEAR(', '*', '^', 'a-b', '%']) {
      const { code, err, out } = await place.cli(['search', text, '--json']);
      expect([text, code, err]).toEqual([text, 0, '']);
      expect([text, at(JSON.parse(out), 'hits', 0, 'text')]).toEqual([
        text,
        'a-b "AND" col: NEAR( * ^ %',
      ]);
    }
    expect(await place.json('search', "x' OR '1'='1")).toMatchObject({ hits: [] });
  });
});

describe('context', () => {
  it('CX3 says for each message why it is in or out, with its tokens', async () => {
    const { out } = await place.cli(['context', 'demo', '--why', '--budget', '2000']);
    expect(out).toMatch(/^call input for openai-chat gpt-5\.1 · 9 of 13 messages · \d+ \/ 2,000/);
    expect(out).toMatch(/^out +2 +user +\d+ +m-1 +covered by a compaction \(main@24\)/m);
    expect(out).toMatch(/^in +1 +system +\d+ +\S+ +instructions are always kept/m);
    const json = await place.json('context', 'demo', '--why', '--budget', '2000');
    expect(
      listAt(json, 'dispositions').find((row) => at(row, 'messageId') === 'm-1'),
    ).toMatchObject({
      in: false,
      disposition: 'covered_by_compaction',
      role: 'user',
      reason: 'covered by a compaction',
    });
    expect(json).toMatchObject({ kind: 'preview', budget: 2000, branchName: 'main' });
  });

  it('CX4 gives the exact bytes of a recorded call', async () => {
    const { out } = await place.cli(['context', `c:${call}`, '--payload', '--raw']);
    const json = await place.json('context', `c:${call}`);
    expect(json).toMatchObject({ kind: 'recorded', same: true, goneSince: [] });
    expect(out).toBe(at(json, 'payload', 'text'));
    expect(JSON.parse(out)).toEqual(at(json, 'payload', 'body'));
    expect(at(json, 'requestDigest')).toBe(at(json, 'recordedDigest'));
  });

  it('S03 gives exact bytes to files and pipes, never to a terminal', async () => {
    const argv = ['context', 'demo', '--payload', '--raw'];
    expect((await place.cli(argv)).code).toBe(0);
    const { code, out } = await place.cli(argv, { tty: true, columns: 80 });
    expect([code, out]).toEqual([2, '']);
    expect((await place.cli(['context', 'demo', '--raw'])).code).toBe(2);
  });

  it('B53 exits 8 when what must be sent does not fit, with both numbers', async () => {
    const { code, out, err } = await place.cli(['context', 'demo', '--budget', '3']);
    expect([code, out]).toEqual([8, '']);
    expect(err).toMatch(/^error {2}BudgetImpossible {2}What must be sent needs \d+ tokens and 3 /);
  });

  it('CX3 answers for one message and one call', async () => {
    const { out } = await place.cli(['why', 'm-1', '--call', call]);
    expect(out).toMatch(/^out {3}m-1 {3}covered by a compaction\n/);
    const never = await place.json('why', 'm-3b', '--call', call);
    expect(never).toMatchObject({ in: false, disposition: 'not_on_branch' });
  });

  it('CX3 names every call that sent a message, and how', async () => {
    const json = await place.json('exposure', 'm-1');
    expect(listAt(json, 'calls').map((row) => [at(row, 'branchName'), at(row, 'how')])).toEqual([
      ['main', 'message'],
      ['main', 'message'],
      ['main', 'message'],
      ['main', 'message'],
      ['main', 'summary'],
      ['retry', 'summary'],
    ]);
  });
});

describe('diff and replay', () => {
  it('SE3 compares two branches by message', async () => {
    const json = await place.json('diff', 'demo/main', 'demo/retry');
    expect(json).toMatchObject({
      of: 'messages',
      equal: false,
      changed: [],
      onlyB: ['m-3b', expect.any(String)],
    });
    expect((await place.cli(['diff', 'demo/main', 'demo/main', '--exit-code'])).code).toBe(0);
    expect((await place.cli(['diff', 'demo/main', 'demo/retry', '--exit-code'])).code).toBe(10);
    expect((await place.cli(['diff', 'demo/main', 'demo/retry'])).code).toBe(0);
  });

  it('CX4 builds every recorded call again and compares its digest', async () => {
    const json = await place.json('replay', 'demo', '--check');
    expect(json).toMatchObject({ ok: true, branchName: 'main' });
    expect(listAt(json, 'calls').map((row) => at(row, 'result'))).toEqual([
      'same',
      'same',
      'same',
      'same',
      'same',
    ]);
  });

  it('CX4 exits 10 when a call cannot be reproduced, and says what was hidden since', async () => {
    const other = await demoPlace();
    expect((await other.cli(['redact', 'm-1', '--reason', 'asked for'])).code).toBe(0);
    const { code, out } = await other.cli(['replay', 'demo', '--check', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(out)).toMatchObject({ ok: false });
    expect(at(JSON.parse(out), 'calls', 0)).toMatchObject({
      result: 'different',
      goneSince: ['m-1'],
    });
    expect((await other.cli(['replay', 'demo'])).code).toBe(0);
    expect((await other.cli(['history', 'demo', '--all'])).out).not.toContain('number 8812');
    expect((await other.cli(['export', 'demo', '--format', 'md'])).out).not.toContain(
      'number 8812',
    );
    expect((await other.cli(['search', 'number 8812'])).out).toBe('nothing found\n');
  });
});
