import { describe, expect, it } from 'vitest';
import { at, demoPlace, listAt, newPlace, textAt, type Place } from '../infra/cli/cli-run.js';

const response = (calls: readonly string[]): string =>
  JSON.stringify({
    id: 'r-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-x',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: calls.length === 0 ? 'Done.' : null,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((id) => ({
                  id,
                  type: 'function',
                  function: { name: 'pay', arguments: `{"for":"${id}"}` },
                })),
              }),
        },
        finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
  });

/** A conversation in which the model has asked for three tool calls. */
const withOpenCalls = async (): Promise<Place & { readonly call: string }> => {
  const place = newPlace();
  place.write('tools.json', '[{"name":"pay","description":"Pays."}]');
  place.write('response.json', response(['call_a', 'call_b', 'call_c']));
  place.write('done.json', response([]));
  await place.json('new', '--id', 'c', '--title', 'Payments');
  await place.json('append', 'c', '--id', 'm-1', '--text', 'Pay them.');
  const call = textAt(
    await place.json('call', 'request', 'c', '--model', 'gpt-x', '--tools', 'tools.json'),
    'modelCallId',
  );
  await place.json('call', 'complete', call, '--response', 'response.json');
  return { ...place, call };
};

const nextOf = async (place: Place): Promise<unknown> =>
  at(await place.json('status', 'c'), 'next');

describe('a turn by hand', () => {
  it('SE2 runs from request to end in processes of their own', async () => {
    const place = await withOpenCalls();
    expect(await place.json('status', 'c')).toMatchObject({
      next: 'tools',
      turn: { run: 'cli' },
      toolCalls: [
        { callId: 'call_a', state: 'not_started' },
        { callId: 'call_b', state: 'not_started' },
        { callId: 'call_c', state: 'not_started' },
      ],
    });
    await place.json('tool', 'start', 'call_a', '--effect', 'idempotent');
    for (const id of ['call_a', 'call_b', 'call_c']) {
      await place.json('tool', 'result', id, '--text', `paid ${id}`);
    }
    expect(await nextOf(place)).toBe('model');
    const again = textAt(await place.json('call', 'request', 'c'), 'modelCallId');
    await place.json('call', 'complete', again, '--response', 'done.json');
    expect(await place.json('status', 'c')).toMatchObject({ next: 'user', toolCalls: [] });
    expect(at(await place.json('status', 'c'), 'turn')).toBeUndefined();
    const calls = await place.json('calls', 'ls', 'c');
    expect(
      listAt(calls, 'calls').map((row) => [at(row, 'model'), at(row, 'answer', 'usage', 'input')]),
    ).toEqual([
      ['gpt-x', 5],
      ['gpt-x', 5],
    ]);
  });

  it('ID2 completing a call again writes nothing', async () => {
    const place = await withOpenCalls();
    const head = at(await place.json('status', 'c'), 'head');
    await place.json('call', 'complete', place.call, '--response', 'response.json');
    expect(at(await place.json('status', 'c'), 'head')).toBe(head);
  });

  it('CX4 an answer that cannot be read ends the command and not the call', async () => {
    const place = newPlace();
    place.write('other.json', '{"no":"answer"}');
    await place.json('new', '--id', 'c');
    await place.json('append', 'c', '--text', 'x');
    const call = textAt(await place.json('call', 'request', 'c'), 'modelCallId');
    const { code } = await place.cli(['call', 'complete', call, '--response', 'other.json']);
    expect(code).toBe(5);
    expect(await place.json('status', 'c')).toMatchObject({
      next: 'recover',
      modelCalls: [{ modelCallId: call }],
    });
    await place.json('call', 'complete', call, '--text', 'By hand.', '--input-tokens', '3');
    expect(await nextOf(place)).toBe('user');
  });

  it('B28 the same result again is a replay; B29 another one is refused or kept as late', async () => {
    const place = await withOpenCalls();
    const first = await place.json('tool', 'result', 'call_a', '--text', 'one');
    const second = await place.json('tool', 'result', 'call_a', '--text', 'one');
    expect(at(second, 'message')).toEqual({
      ...(at(first, 'message') as object),
      status: 'replayed',
    });
    const other = ['tool', 'result', 'call_a', '--text', 'two'];
    expect((await place.cli(other)).code).toBe(5);
    expect(await place.json(...other, '--late')).toMatchObject({ message: { status: 'written' } });
  });

  it('B31 names a call by its message where the id of the provider repeats', async () => {
    const place = newPlace();
    place.write('twice.json', response(['same', 'same']));
    await place.json('new', '--id', 'c');
    await place.json('append', 'c', '--text', 'x');
    const call = textAt(await place.json('call', 'request', 'c'), 'modelCallId');
    await place.json('call', 'complete', call, '--response', 'twice.json', '--id', 'm-2');
    expect((await place.cli(['tool', 'result', 'same', '--text', 'x'])).code).toBe(2);
    await place.json('tool', 'result', 'm-2#1', '--text', 'second');
    // One of them is open now, so its id names it.
    await place.json('tool', 'result', 'same', '--text', 'first');
    expect(await nextOf(place)).toBe('model');
    const rows = listAt(await place.json('history', 'c'), 'rows');
    expect(rows.slice(-2).map((row) => at(row, 'text'))).toEqual(['second', 'first']);
  });
});

describe('approvals and recovery', () => {
  it('SE1 asks a human before a call runs', async () => {
    const place = await withOpenCalls();
    await place.json('tool', 'ask', 'call_a', '--id', 'a-1');
    expect(await place.json('status', 'c')).toMatchObject({ approvals: [{ requestId: 'a-1' }] });
    expect((await place.cli(['tool', 'start', 'call_a'])).code).toBe(2);
    await place.json('approve', 'a-1', '--outcome', 'approved', '--reason', 'small sum');
    expect(await place.json('tool', 'start', 'call_a')).toMatchObject({ attempt: 1, name: 'pay' });
  });

  it('SE4 closes what a process that died left open, only as it is told', async () => {
    const place = await withOpenCalls();
    place.write('paid.txt', 'paid, says the bank');
    for (const id of ['call_a', 'call_b']) await place.json('tool', 'start', id);
    expect(await nextOf(place)).toBe('recover');
    expect(await place.json('recover', 'c')).toMatchObject({
      closed: [],
      undecided: [{ index: 0 }, { index: 1 }],
      session: { next: 'recover' },
    });
    const done = await place.json(
      'recover',
      'c',
      '--tool',
      'call_a=unknown',
      '--tool',
      'call_b=result:paid.txt',
      '--tool',
      'call_c=abandon',
    );
    expect(done).toMatchObject({ undecided: [], session: { next: 'model', toolCalls: [] } });
    const rows = listAt(await place.json('history', 'c'), 'rows');
    expect(
      rows.map((row) => at(row, 'outcome')).filter((outcome) => outcome !== undefined),
    ).toEqual(['unknown', 'ok']);
  });

  it('OR4 another run may not write into an open turn until it claims it', async () => {
    const place = await withOpenCalls();
    const request = ['tool', 'start', 'call_a', '--run', 'other'];
    const refused = await place.cli(request);
    expect([refused.code, refused.err.startsWith('error  TurnOpen  ')]).toEqual([4, true]);
    expect(refused.err).toContain('stemma recover CONVERSATION --claim');
    expect(await place.json('recover', 'c', '--claim', '--run', 'other')).toMatchObject({
      claimed: true,
      session: { turn: { run: 'other' } },
    });
    await place.json(...request);
    expect((await place.cli(['tool', 'abandon', 'call_b'])).err).toMatch(
      /^error {2}RunSuperseded /,
    );
    await place.json(
      'recover',
      'c',
      '--run',
      'other',
      '--end-turn',
      'interrupted',
      '--tool',
      'call_a=unknown',
    );
    expect(at(await place.json('status', 'c'), 'turn')).toBeUndefined();
  });
});

describe('branches', () => {
  it('SE3 tries again from any message, and the old branch stays as it is', async () => {
    const place = await demoPlace();
    const before = await place.json('history', 'demo');
    place.write('question.txt', 'And a receipt, please.');
    const made = await place.json(
      'retry',
      'demo',
      '--edit',
      'm:m-2=question.txt',
      '--name',
      'receipt',
    );
    expect(made).toMatchObject({ branchName: 'receipt', fromName: 'main', edited: 'm-2' });
    expect(await place.json('history', 'demo')).toEqual(before);
    const rows = listAt(await place.json('history', 'demo/receipt'), 'rows');
    expect(at(rows, -1, 'text')).toBe('And a receipt, please.');
    expect(at(rows, -1, 'role')).toBe('user');
    expect(await place.json('diff', 'demo/main', 'demo/receipt')).toMatchObject({
      same: expect.arrayContaining(['m-1']) as unknown,
      equal: false,
    });
  });

  it('SE3 tries a call again, and lists the attempts', async () => {
    const place = await demoPlace();
    const call = textAt(await place.json('calls', 'ls', 'demo'), 'calls', -1, 'modelCallId');
    await place.json('retry', 'demo', '--at', `c:${call}`, '--name', 'again');
    const attempts = await place.json('branch', 'attempts', `c:${call}`);
    expect(listAt(attempts, 'branches').map((row) => [at(row, 'name'), at(row, 'reason')])).toEqual(
      [['again', 'retry']],
    );
  });

  it('DC3 forks, renames and promotes as events', async () => {
    const place = await demoPlace();
    await place.json('branch', 'demo', '--at', 'm:m-2', '--name', 'side');
    await place.json('branch', 'label', 'demo/side', 'aside');
    await place.json('branch', 'promote', 'demo/aside', '--reason', 'liked');
    const tree = await place.json('branch', 'ls', 'demo');
    expect(
      listAt(tree, 'branches').map((row) => [
        at(row, 'name'),
        at(row, 'promoted'),
        at(row, 'depth'),
      ]),
    ).toEqual([
      ['main', false, 0],
      ['retry', false, 1],
      ['aside', true, 1],
    ]);
    const { out } = await place.cli(['branch', 'ls', 'demo']);
    expect(out).toMatch(/^└ aside +0 +main@13 .*delivered$/m);
    // Old names stay readable in the log.
    expect((await place.cli(['history', 'demo/aside', '--events'])).out).toContain(
      'BranchLabelled',
    );
  });

  it('CM1 a command id makes a fork repeatable', async () => {
    const place = await demoPlace();
    const argv = ['branch', 'demo', '--at', 'm:m-2', '--name', 'once', '--command-id', 'k-1'];
    expect(await place.json(...argv)).toEqual(await place.json(...argv));
    const { code } = await place.cli([
      'branch',
      'demo',
      '--at',
      'm:m-1',
      '--name',
      'other',
      '--command-id',
      'k-1',
    ]);
    expect(code).toBe(4);
  });
});

describe('compaction', () => {
  it('CX5 plans without writing, compacts, and takes it back', async () => {
    const place = await demoPlace();
    const head = at(await place.json('status', 'demo'), 'head');
    const plan = await place.json('compact', 'demo', '--dry-run', '--keep-last', '2');
    expect(plan).toMatchObject({ dryRun: true, plan: { strategy: 'keep-last' } });
    expect(at(await place.json('status', 'demo'), 'head')).toBe(head);
    const made = await place.json('compact', 'demo', '--keep-last', '2');
    expect(at(made, 'plan', 'covered')).toEqual(at(plan, 'plan', 'covered'));
    const compaction = textAt(made, 'compaction');
    await place.json('compact', 'demo', '--undo', compaction.slice(0, 8), '--reason', 'too much');
    const rows = listAt(await place.json('history', 'demo'), 'rows');
    expect(
      rows.filter((row) => at(row, 'kind') === 'summary').map((row) => at(row, 'state')),
    ).toEqual(['live', 'reverted']);
  });

  it('CX5 takes a summary from a file', async () => {
    const place = await demoPlace();
    place.write('summary.txt', 'All is well.');
    await place.json('compact', 'demo', '--summary-file', 'summary.txt', '--keep-last', '0');
    const { out } = await place.cli(['context', 'demo', '--payload']);
    expect(out).toContain('All is well.');
  });
});

describe('begin', () => {
  it('ID2 begins a conversation once', async () => {
    const place = newPlace();
    place.write('system.txt', 'Be brief.');
    const argv = [
      'new',
      '--id',
      'c-1',
      '--title',
      '退款',
      '--label',
      'team=shop',
      '--instructions',
      'system.txt',
    ];
    const first = await place.json(...argv);
    expect(first).toMatchObject({ id: 'c-1', created: true });
    expect(await place.json(...argv)).toEqual({ ...(first as object), created: false });
    const list = await place.json('conversations');
    expect(listAt(list, 'conversations')).toHaveLength(1);
    expect(at(list, 'conversations', 0)).toMatchObject({
      id: 'c-1',
      title: '退款',
      labels: [{ name: 'team', value: 'shop' }],
    });
    expect(
      listAt(await place.json('history', 'c-1'), 'rows').map((row) => at(row, 'text')),
    ).toEqual(['Be brief.']);
  });

  it('ID2 appends once, from arguments, files and standard input', async () => {
    const place = newPlace();
    await place.json('new', '--id', 'c');
    place.write('text.txt', 'from a file\n');
    const said = await place.cli(['append', 'c', '-', '--id', 'm-1'], { stdin: 'from input\n' });
    expect(said.out).toBe('appended  m-1  at revision 1\n');
    await place.json('append', 'c', '--file', 'text.txt', '--id', 'm-2', '--pin');
    expect((await place.cli(['append', 'c', '--file', 'text.txt', '--id', 'm-2'])).code).toBe(0);
    const again = await place.cli(['append', 'c', '-', '--id', 'm-1'], { stdin: 'from input\n' });
    expect(again.out).toBe(
      'unchanged  m-1 is at revision 1 already, with the same content: nothing was written\n',
    );
    const rows = listAt(await place.json('history', 'c'), 'rows');
    // Word for word: nothing is trimmed.
    expect(rows.map((row) => at(row, 'text'))).toEqual(['from input\n', 'from a file\n']);
  });

  it('RL2 keeps versions of instructions by slot', async () => {
    const place = newPlace();
    await place.json('new', '--id', 'c');
    expect(await place.json('instructions', 'set', 'c', '--text', 'one')).toMatchObject({
      slot: 'main',
      version: 1,
    });
    expect(await place.json('instructions', 'set', 'c', '--text', 'two')).toMatchObject({
      version: 2,
    });
    expect(await place.json('instructions', 'set', 'c', '--text', 'two')).toMatchObject({
      version: 2,
    });
    expect(
      await place.json('instructions', 'set', 'c', '--text', 'plan', '--slot', 'planner'),
    ).toMatchObject({ slot: 'planner', version: 1 });
    const rows = listAt(await place.json('history', 'c'), 'rows');
    expect(rows.map((row) => [at(row, 'name'), at(row, 'version'), at(row, 'effective')])).toEqual([
      ['main', 1, false],
      ['main', 2, true],
      ['planner', 1, true],
    ]);
  });

  it('DC2 makes store and config once, and leaves them as they are', async () => {
    const place = newPlace();
    expect(await place.json('init', '--yes')).toMatchObject({ created: true, configCreated: true });
    expect(await place.json('init')).toMatchObject({ created: false, configCreated: false });
    expect(await place.json('demo')).toMatchObject({ created: true, branches: 2, compactions: 1 });
    expect(await place.json('demo')).toMatchObject({ created: false, branches: 2, compactions: 1 });
    expect(await place.json('demo', '--lang', 'zh')).toMatchObject({
      id: 'demo-zh',
      created: true,
    });
  });

  it('S10 keeps tenants apart', async () => {
    const place = await demoPlace();
    const other = ['--tenant', 'other'];
    expect((await place.cli(['history', 'demo', ...other])).code).toBe(3);
    await place.json('new', '--id', 'demo', ...other);
    expect(listAt(await place.json('history', 'demo', ...other), 'rows')).toEqual([]);
    expect((await place.cli(['calls', 'show', 'c-', ...other])).code).toBe(3);
  });
});
