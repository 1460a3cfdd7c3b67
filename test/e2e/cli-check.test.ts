import { describe, expect, it } from 'vitest';
import { at, demoPlace, listAt, newPlace, type Place } from '../infra/cli/cli-run.js';

/** A history with an open call, a message in between, broken arguments and a developer message. */
const faulty = async (): Promise<Place> => {
  const place = newPlace();
  place.write(
    'batch.json',
    JSON.stringify([
      { role: 'user', id: 'q', content: 'hi' },
      {
        role: 'assistant',
        id: 'a',
        toolCalls: [
          { id: 'x', name: 'f', arguments: '{broken' },
          { id: 'y', name: 'f' },
        ],
      },
      { role: 'user', id: 'u', content: 'wait' },
      { role: 'tool', id: 'r', toolCallId: 'x', content: 'ok' },
      { role: 'developer', id: 'd', content: 'note' },
    ]),
  );
  await place.json('new', '--id', 'c');
  await place.json('append', 'c', '--batch', 'batch.json');
  return place;
};

const faultsOf = (out: string): readonly (readonly unknown[])[] =>
  listAt(JSON.parse(out), 'faults').map((fault) => [
    at(fault, 'rule'),
    at(fault, 'code'),
    at(fault, 'messageIds'),
    at(fault, 'callIds'),
  ]);

describe('check', () => {
  it('OR3 tells every fault at once, with message ids and rule ids', async () => {
    const place = await faulty();
    const openai = await place.cli(['check', 'c', '--profile', 'openai-chat', '--json']);
    expect(openai.code).toBe(5);
    expect(faultsOf(openai.out)).toEqual([
      ['OC4', 'OrderViolation', ['a'], ['x']],
      ['OC4', 'OpenToolCalls', ['a'], ['y']],
      ['OC3', 'OrphanToolResult', ['r'], ['x']],
    ]);
    const anthropic = await place.cli(['check', 'c', '--profile', 'anthropic', '--json']);
    expect(anthropic.code).toBe(5);
    expect(faultsOf(anthropic.out)).toEqual([
      ['A2', 'RoleNotSupported', ['d'], []],
      ['A3', 'ToolArgumentsInvalid', ['a'], ['x']],
      ['A3', 'OpenToolCalls', ['a'], ['y']],
      ['A4', 'OrderViolation', ['a'], ['x']],
    ]);
    expect(JSON.parse(openai.out)).toMatchObject({
      ok: false,
      messages: 5,
      refusal: { _tag: 'OpenToolCalls', ids: ['y'] },
    });
  });

  it('OR3 tells what a context would repair once it can be built', async () => {
    const place = await faulty();
    await place.json('tool', 'result', 'y', '--text', 'fine');
    const { code, out } = await place.cli(['check', 'c', '--profile', 'openai-chat', '--json']);
    expect(code).toBe(5);
    const report: unknown = JSON.parse(out);
    expect(at(report, 'refusal')).toBeUndefined();
    expect(
      listAt(report, 'repairs').map((repair) => [at(repair, 'code'), at(repair, 'id')]),
    ).toContainEqual(['MOVED_FOR_ADJACENCY', 'r']);
    expect((await place.cli(['check', 'c'])).out).toMatch(/^would repair {3}MOVED_FOR_ADJACENCY/m);
    expect((await place.cli(['context', 'c'])).code).toBe(0);
  });

  it('OR3 finds nothing wrong with a sound conversation', async () => {
    const place = await demoPlace();
    for (const profile of ['openai-chat', 'anthropic', 'neutral']) {
      const { code, out } = await place.cli(['check', 'demo', '--profile', profile]);
      expect([profile, code]).toEqual([profile, 0]);
      expect(out).toContain('sound: every rule is kept');
    }
  });
});

describe('references', () => {
  it('CLI7 takes a branch by reference or by option, with its place behind it', async () => {
    const place = await demoPlace();
    for (const suffix of ['', '@3', '~2', '@2999-01-01T00:00:00Z']) {
      const byRef = await place.json('history', `demo/retry${suffix}`);
      expect(await place.json('history', `demo${suffix}`, '--branch', 'retry')).toEqual(byRef);
    }
  });

  it('CLI7 takes ids with the signs of references in them', async () => {
    const place = newPlace();
    for (const id of ['ann@example.com', 'a/b', 'a~1', 'v@2', 'x:y', 'm:1', '@', '--x']) {
      await place.json('new', `--id=${id}`);
      await place.json('append', `--text=for ${id}`, '--', id);
    }
    for (const id of ['ann@example.com', 'a/b', 'a~1', 'v@2', 'x:y', 'm:1', '@', '--x']) {
      const { code, out } = await place.cli(['history', '--json', '--', id]);
      expect([id, code]).toEqual([id, 0]);
      expect([id, at(JSON.parse(out), 'rows', 0, 'text')]).toEqual([id, `for ${id}`]);
    }
    const named = await place.json('history', 'ann@example.com', '--branch', 'main');
    expect(listAt(named, 'rows')).toHaveLength(1);
  });

  it('CLI7 a whole id comes before those that begin with it, and no id is none', async () => {
    const place = newPlace();
    await place.json('new', '--id', 'c');
    for (const id of ['n-1', 'n-10', 'n-11']) {
      await place.json('append', 'c', '--id', id, '--text', id);
    }
    expect(await place.json('exposure', 'n-1')).toMatchObject({ messageId: 'n-1' });
    expect((await place.cli(['exposure', 'n-'])).code).toBe(2);
    expect(await place.json('exposure', 'm:n-11')).toMatchObject({ messageId: 'n-11' });
    expect((await place.cli(['exposure', ''])).code).toBe(3);
    expect((await place.cli(['exposure', 'm:'])).code).toBe(3);
  });

  it('CLI7 a message that stands on two branches is asked for by name', async () => {
    const place = await demoPlace();
    await place.json('branch', 'demo', '--at', 'm:m-1', '--name', 'other');
    await place.json('append', 'demo/main', '--id', 'twice', '--text', 'here');
    await place.json('append', 'demo/other', '--id', 'twice', '--text', 'there');
    await place.json('call', 'request', 'demo/main', '--command-id', 'k');
    const { code, err } = await place.cli(['exposure', 'm:twice']);
    expect([code, err]).toEqual([2, expect.stringContaining('--in CONVERSATION[/BRANCH]')]);
    expect(await place.json('exposure', 'm:twice', '--in', 'demo/other')).toMatchObject({
      messageId: 'twice',
      calls: [],
    });
    const sent = await place.json('exposure', 'm:twice', '--in', 'demo/main');
    expect(listAt(sent, 'calls').map((call) => at(call, 'branchName'))).toEqual(['main']);
  });

  it('CLI7 a branch stands for its newest call where a call is wanted', async () => {
    const place = await demoPlace();
    const newest = at(await place.json('calls', 'ls', 'demo/retry'), 'calls', -1, 'modelCallId');
    for (const ref of ['c:demo/retry', 'demo/retry']) {
      expect(await place.json('calls', 'show', ref)).toMatchObject({ modelCallId: newest });
    }
    expect(await place.json('why', 'm-3b', '--call', 'demo/retry')).toMatchObject({
      modelCallId: newest,
      in: true,
    });
    expect(await place.json('context', 'c:demo/retry')).toMatchObject({ modelCallId: newest });
  });

  it('CLI4 a pipe gets an export as it is, part by part', async () => {
    const place = await demoPlace();
    const { out } = await place.cli(['export', 'demo']);
    expect(out.trimEnd().split('\n')).toHaveLength(42);
    place.write('piped.jsonl', out);
    expect((await place.cli(['verify', 'piped.jsonl'])).code).toBe(0);
    expect(at(await place.json('export', 'demo'), 'content')).toBe(out);
  });
});
