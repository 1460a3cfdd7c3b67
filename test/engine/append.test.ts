import { describe, expect, it } from 'vitest';
import { append } from '../../src/engine/message-commands.js';
import { readHistory, readSurface } from '../../src/engine/histories.js';
import { verifyConversation } from '../../src/engine/verification.js';
import { session } from '../../src/engine/recover.js';
import { fork } from '../../src/engine/conversation-commands.js';
import { fault, mainBranch, memoryEngine, right } from '../support/engine.js';

describe('append', () => {
  it('ID2 answers a known message with its first place and writes nothing', async () => {
    const main = await mainBranch(await memoryEngine());
    const first = await right(append(main, { id: 'm-1', role: 'user', content: 'hello' }));
    const again = await right(append(main, { id: 'm-1', role: 'user', content: 'hello' }));
    expect(first.answer[0]?.status).toBe('written');
    expect(again.answer[0]).toEqual({ ...first.answer[0], status: 'replayed' });
    expect(again.written).toEqual([]);
  });

  it('ID3 refuses a known id with other content or role', async () => {
    const main = await mainBranch(await memoryEngine());
    await right(append(main, { id: 'm-1', role: 'user', content: 'hello' }));
    const content = await fault(append(main, { id: 'm-1', role: 'user', content: 'hello ' }));
    const role = await fault(append(main, { id: 'm-1', role: 'assistant', content: 'hello' }));
    expect([content._tag, role._tag]).toEqual(['MessageIdConflict', 'MessageIdConflict']);
  });

  it('RL6 pairs a result with its call, and B28 B29 a second one is a replay or refused', async () => {
    const main = await mainBranch(await memoryEngine());
    await right(
      append(main, [
        { id: 'u1', role: 'user', content: 'go' },
        { id: 'a1', role: 'assistant', toolCalls: [{ id: 'c1', name: 'f', arguments: '{}' }] },
      ]),
    );
    expect((await right(session(main))).next).toBe('tools');
    await right(append(main, { id: 't1', role: 'tool', toolCallId: 'c1', content: 'ok' }));
    const same = await right(
      append(main, { id: 't2', role: 'tool', toolCallId: 'c1', content: 'ok' }),
    );
    expect(same.written).toEqual([]);
    expect(same.answer[0]?.id).toBe('t1');
    const other = await fault(
      append(main, { id: 't3', role: 'tool', toolCallId: 'c1', content: 'no' }),
    );
    expect(other._tag).toBe('DuplicateToolResult');
    const orphan = await fault(
      append(main, { id: 't4', role: 'tool', toolCallId: 'zz', content: '' }),
    );
    expect(orphan).toEqual({ _tag: 'OrphanToolResult', callId: 'zz' });
    expect((await right(session(main))).next).toBe('model');
  });

  it('OR2 keeps a fork apart from its parent', async () => {
    const engine = await memoryEngine();
    const main = await mainBranch(engine, 'conv');
    const [one] = (await right(append(main, { id: 'u1', role: 'user', content: 'one' }))).answer;
    await right(append(main, { id: 'u2', role: 'user', content: 'two' }));
    const branch = await right(
      fork(main, { branch: main.key.branch, revision: one!.place.revision }),
    );
    const other = { ...main, key: { ...main.key, branch } };
    await right(append(other, { id: 'u3', role: 'user', content: 'three' }));
    const ids = async (of: typeof main) =>
      (await right(readSurface(of.runtime, of.histories, of.key))).items.map((i) => i.message.id);
    expect(await ids(main)).toEqual(['u1', 'u2']);
    expect(await ids(other)).toEqual(['u1', 'u3']);
    const replay = await right(append(other, { id: 'u1', role: 'user', content: 'one' }));
    expect(replay.answer[0]?.status).toBe('replayed');
    const report = await right(verifyConversation(engine, main.key.conversation));
    expect(report).toMatchObject({ ok: true, streams: 3 });
    const history = await right(
      readHistory(main.runtime, main.histories, main.key, { revision: 1 }),
    );
    expect(history.entries.length).toBe(1);
  });

  it('CM1 answers a command id again, and refuses it with other input', async () => {
    const main = await mainBranch(await memoryEngine());
    const once = await right(append(main, { role: 'user', content: 'a' }, { commandId: 'x' }));
    const again = await right(append(main, { role: 'user', content: 'a' }, { commandId: 'x' }));
    expect(again.answer[0]).toEqual({ ...once.answer[0], status: 'replayed' });
    const other = await fault(append(main, { role: 'user', content: 'b' }, { commandId: 'x' }));
    expect(other._tag).toBe('CommandConflict');
  });
});
