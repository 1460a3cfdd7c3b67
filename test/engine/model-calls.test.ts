import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, type Branch } from '../../src/index.js';
import { faultOf, refused, textsOf, watchBranch, type Watched } from '../bad-input/support.js';

const profile = openaiChat({ model: 'm' });
const said = (text: string) => ({ blocks: [{ type: 'text' as const, text }] });
const asks = (...ids: readonly string[]) => ({
  blocks: [],
  toolCalls: ids.map((id) => ({ id, name: 'f', arguments: '{}' })),
});

let watched: Watched & { readonly branch: Branch };
let branch: Branch;
beforeEach(async () => {
  watched = await watchBranch();
  ({ branch } = watched);
  await branch.append({ id: 'u-1', role: 'user', content: 'go' });
});

/** Loses what is open, as the process that comes after a crash does. */
const lose = async (): Promise<Branch> => {
  const next = branch.as({ kind: 'app' }, 'next');
  await next.claim();
  await next.recover({ endTurn: 'lost' });
  return next;
};

const typesOf = async (at: Branch): Promise<readonly string[]> =>
  (await at.events()).events.map(({ type }) => type);

describe('model calls', () => {
  it('SE2 is on disk before the caller sends anything', async () => {
    const call = await branch.request({ profile });
    let during: readonly string[] = [];
    await call.send(async () => {
      during = await typesOf(branch);
      return { choices: [{ message: { role: 'assistant', content: 'hi' } }] };
    });
    expect(during.slice(-2)).toEqual(['TurnStarted', 'ModelCallRequested']);
  });

  it('CX4 gives the body of the plan, and gives it again byte for byte', async () => {
    const call = await branch.request({ profile, params: { temperature: 0.5 } });
    expect(call.body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'go' }],
      temperature: 0.5,
    });
    await call.complete(said('hi'));
    await branch.append({ role: 'user', content: 'more' });
    const again = await branch.context(call.modelCallId);
    expect(again.same).toBe(true);
    expect(again.plan.text).toBe(call.plan.text);
  });

  it('ID2 answers the same completion again, and writes nothing', async () => {
    const call = await branch.request({ profile });
    const first = await call.complete(said('hi'));
    const before = await watched.image();
    expect(await call.complete(said('hi'))).toMatchObject({
      messageId: first.messageId,
      text: 'hi',
    });
    expect(await watched.image()).toEqual(before);
  });

  it('ID3 refuses another answer of a completed call', async () => {
    const call = await branch.request({ profile });
    const first = await call.complete(said('hi'));
    expect(await refused(watched, () => call.complete(said('ho')), ['ho'])).toMatchObject({
      _tag: 'MessageIdConflict',
      id: first.messageId,
    });
  });

  it('refuses an answer under the id of a message that is there', async () => {
    const call = await branch.request({ profile });
    const complete = () => call.complete({ id: 'u-1', ...said('hi') });
    expect(await refused(watched, complete)).toMatchObject({
      _tag: 'MessageIdConflict',
      id: 'u-1',
    });
    const partial = () => call.fail({ kind: 'other', partial: { id: 'u-1', ...said('hi') } });
    expect(await refused(watched, partial)).toMatchObject({ _tag: 'MessageIdConflict', id: 'u-1' });
  });

  it('SE3 counts attempts after a failure, on the same branch', async () => {
    const first = await branch.request({ profile });
    await first.fail({ kind: 'transport', code: 'ECONNRESET' });
    const second = await branch.request({ profile, retryOf: first.modelCallId });
    await second.fail({ kind: 'provider', code: '503' });
    const third = await branch.request({ profile, retryOf: second.modelCallId });
    expect([first.attempt, second.attempt, third.attempt]).toEqual([1, 2, 3]);
    await third.complete(said('at last'));
    const { calls } = await branch.calls();
    expect(calls.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'completed'],
    ]);
    expect(await textsOf(branch)).toEqual(['go', 'at last']);
  });

  it('refuses an attempt after a call that does not exist', async () => {
    const retry = () => branch.request({ profile, retryOf: 'nobody' });
    expect(await refused(watched, retry)).toEqual({
      _tag: 'NotFound',
      kind: 'call',
      ref: 'nobody',
    });
  });

  it('RL5 keeps what had come of a failed call, out of contexts and never to be run', async () => {
    const call = await branch.request({ profile });
    await call.fail({
      kind: 'interrupted',
      partial: { id: 'p-1', ...said('half a th'), ...{ toolCalls: asks('c-1').toolCalls } },
      ends: 'interrupted',
    });
    const { items } = await branch.surface();
    expect(items.at(-1)).toMatchObject({
      message: { id: 'p-1', status: 'interrupted' },
      out: { reason: 'interrupted' },
    });
    expect(await branch.session()).toMatchObject({ next: 'model', toolCalls: [], modelCalls: [] });
    const result = () => branch.append({ role: 'tool', toolCallId: 'c-1', content: 'x' });
    expect((await refused(watched, result))._tag).toBe('OrphanToolResult');
    const { body, dispositions } = await branch.preview({ profile });
    expect(body.messages).toEqual([{ role: 'user', content: 'go' }]);
    expect(dispositions.find(({ messageId }) => messageId === 'p-1')?.disposition).toBe(
      'interrupted',
    );
  });

  it('answers a failure again without an event, and refuses an answer after it', async () => {
    const call = await branch.request({ profile });
    await call.fail({ kind: 'provider' });
    const before = await watched.image();
    await call.fail({ kind: 'provider' });
    expect(await watched.image()).toEqual(before);
    expect((await refused(watched, () => call.complete(said('late'))))._tag).toBe('NotFound');
  });

  it('keeps a late answer of a lost call for audit only', async () => {
    const call = await branch.request({ profile });
    const next = await lose();
    const second = await next.request({ profile, retryOf: call.modelCallId });
    await second.complete(said('in time'));
    const late = await (await next.recordedCall(call.modelCallId)).complete(said('too late'));
    expect(late.messageId).toBeUndefined();
    expect(late.toolCalls).toEqual([]);
    expect(await textsOf(next)).toEqual(['go', 'in time']);
    const last = (await next.events()).events.at(-1);
    expect(last?.type).toBe('ModelCallCompleted');
    expect(JSON.parse(last?.data ?? '{}')).toMatchObject({ late: true });
    expect(last?.data).toContain('too late');
    expect((await next.session()).next).toBe('user');
    const before = await watched.image();
    await (await next.recordedCall(call.modelCallId)).complete(said('too late'));
    expect(await watched.image()).toEqual(before);
  });

  it('records what the sender throws, throws it on, and leaves the turn to another attempt', async () => {
    const call = await branch.request({ profile });
    const error = Object.assign(new Error('no route to host'), { code: 'EHOSTUNREACH' });
    await expect(call.send(() => Promise.reject(error))).rejects.toBe(error);
    const { calls } = await branch.calls();
    expect(calls[0]).toMatchObject({
      state: 'failed',
      failure: { error: { kind: 'transport', code: 'EHOSTUNREACH', retryable: true } },
    });
    expect((await branch.session()).turn).toBeDefined();
  });

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [429, true],
    [500, true],
    [529, true],
  ])('takes status %d for retryable: %s', async (status, retryable) => {
    const call = await branch.request({ profile });
    const error = Object.assign(new Error('refused'), { status });
    await expect(call.send(() => Promise.reject(error))).rejects.toBe(error);
    const { calls } = await branch.calls();
    expect(calls[0]?.failure?.error).toMatchObject({
      kind: 'provider',
      code: String(status),
      retryable,
    });
    expect((await branch.session()).turn === undefined).toBe(!retryable);
  });

  it('ends call and turn when the caller aborts', async () => {
    const call = await branch.request({ profile });
    const stop = new AbortController();
    const sending = call.send(
      (_body, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        }),
      { signal: stop.signal },
    );
    stop.abort();
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
    expect((await typesOf(branch)).slice(-2)).toEqual(['ModelCallFailed', 'TurnEnded']);
    const [failed, ended] = (await watched.events())
      .slice(-2)
      .map(({ data }): unknown => JSON.parse(data));
    expect(failed).toMatchObject({ error: { kind: 'interrupted', retryable: true } });
    expect(ended).toMatchObject({ outcome: 'interrupted' });
  });

  it('puts a stream together and records it as one message', async () => {
    const call = await branch.request({ profile });
    const live = call.stream();
    live.push({ reasoning: 'hm' });
    live.push({ text: 'Hel' });
    live.push({ toolCall: { index: 1, id: 'c-2', name: 'g' } });
    live.push({ toolCall: { index: 0, id: 'c-1', name: 'f', arguments: '{"a"' } });
    live.push({ text: 'lo' });
    live.push({ toolCall: { index: 0, arguments: ':1}' } });
    const reply = await live.finish({ finishReason: 'tool_calls' });
    expect(reply.text).toBe('Hello');
    expect(reply.toolCalls.map(({ id, arguments: args }) => [id, args])).toEqual([
      ['c-1', '{"a":1}'],
      ['c-2', ''],
    ]);
    expect((await typesOf(branch)).slice(-2)).toEqual(['MessageAppended', 'ModelCallCompleted']);
  });

  it('records a stream that broke off as interrupted, its calls for audit only', async () => {
    const call = await branch.request({ profile });
    const live = call.stream();
    live.push({ text: 'Hel' });
    live.push({ toolCall: { index: 0, id: 'c-1', name: 'f', arguments: '{"a' } });
    const reply = await live.abort('the user left');
    expect(reply).toMatchObject({ text: 'Hel', finishReason: 'interrupted', toolCalls: [] });
    const { items } = await branch.surface();
    expect(items.at(-1)?.message).toMatchObject({
      status: 'interrupted',
      toolCalls: [{ id: 'c-1', name: 'f', arguments: '{"a' }],
    });
    expect((await branch.session()).toolCalls).toEqual([]);
  });

  it('misses no message that comes in while a request is made', async () => {
    const other = await watched.stemma.open('conversation');
    const [call] = await Promise.all([
      branch.request({ profile }),
      other.append({ id: 'u-2', role: 'user', content: 'wait' }),
    ]);
    const revisions = new Map(
      (await branch.surface()).items.map(({ message, place }) => [message.id, place.revision]),
    );
    const requested = (await branch.calls()).calls[0]?.place.revision ?? 0;
    const before = [...revisions].filter(([, revision]) => revision < requested).map(([id]) => id);
    expect(call.plan.sent).toEqual(before);
  });

  it('CM1 gives a request again by its command id, whatever happened since', async () => {
    const call = await branch.request({ profile, commandId: 'req' });
    await call.complete(asks('c-1'));
    const again = await branch.request({ profile, commandId: 'req' });
    expect(again.modelCallId).toBe(call.modelCallId);
    expect(again.plan.text).toBe(call.plan.text);
    const other = () => branch.request({ profile, commandId: 'req', params: { seed: 1 } });
    expect(await faultOf(other)).toMatchObject({ _tag: 'CommandConflict', commandId: 'req' });
  });

  it('CX3 says for each message why it was or was not sent', async () => {
    await branch.append({ id: 'd-1', role: 'assistant', content: 'draft', status: 'draft' });
    await branch.append({ id: 'u-2', role: 'user', content: 'more' });
    const call = await branch.request({ profile });
    const of = { modelCallId: call.modelCallId };
    await call.complete(said('ok'));
    await branch.append({ id: 'u-3', role: 'user', content: 'later' });
    expect(await branch.why('u-2', of)).toMatchObject({ in: true });
    expect(await branch.why('d-1', of)).toMatchObject({ in: false, disposition: 'draft' });
    expect(await branch.why('u-3', of)).toMatchObject({ in: false });
    expect(await branch.why('nobody', of)).toMatchObject({
      in: false,
      disposition: 'not_on_branch',
    });
    expect(await faultOf(() => branch.why('u-1', { modelCallId: 'nobody' }))).toMatchObject({
      _tag: 'NotFound',
    });
  });
});
