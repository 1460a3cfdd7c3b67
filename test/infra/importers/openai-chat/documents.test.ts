import { describe, expect, it } from 'vitest';
import { differences } from '../../../../harness/data/table.js';
import { openaiChatTable } from '../../../../harness/data/openai-chat-table.js';
import { foldPlan } from '../fold-plan.js';
import {
  branch,
  expectBeginning,
  expectedOf,
  fixture,
  planned,
  rawTexts,
  recordsOf,
  refused,
  utf8,
} from '../sessions.js';

const files = expectedOf('openai-chat');

const document = (value: unknown) => utf8(JSON.stringify(value));

const hello = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: 'hello' },
];

describe('documents of chat messages that others wrote', () => {
  it('are there', () => {
    expect(files.length).toBe(3);
  });

  it.each(files)('B59 %s gives what is expected of it', (name, expected) => {
    const plan = planned(fixture(`openai-chat/${name}`));
    const view = foldPlan(plan);
    expect(differences(openaiChatTable, { report: plan.report, view }, expected)).toEqual([]);
  });

  it.each(files)('MS4 %s keeps nothing but words of the file', (name) => {
    const bytes = fixture(`openai-chat/${name}`);
    const text = new TextDecoder().decode(bytes);
    const kept = rawTexts(planned(bytes));
    expect(kept.length).toBeGreaterThan(0);
    const isWhole = (raw: string): boolean => text.includes(raw);
    // Nodes and choices are kept without what stands by itself: their members are words of the file.
    const parts = kept.filter((raw) => !isWhole(raw));
    for (const raw of parts) {
      const value = new Map(Object.entries(JSON.parse(raw) as object));
      expect(value.has('children') || value.has('message')).toBe(false);
    }
  });
});

describe('the shapes of a document of chat messages', () => {
  it('MS4 a list, a body and a recorded request give the same messages', () => {
    const list = planned(document(hello));
    const body = planned(document({ model: 'm', messages: hello, tools: [] }));
    const recorded = planned(document({ request: { messages: hello }, status: 200 }));
    const ids = recordsOf(branch(list, 'main').items);
    expect(ids.length).toBe(2);
    expect(recordsOf(branch(body, 'main').items).slice(2)).toEqual(ids);
    expect(recordsOf(branch(recorded, 'main').items).slice(1)).toEqual(ids);
    expect(recorded.conversations[0]?.externalId).toBe(list.conversations[0]?.externalId);
    expect(recorded.report.source).toEqual({ response_status: 200 });
  });

  it('MS4 each answer of a response is a branch behind what was sent', () => {
    const choice = (index: number, content: string) => ({
      index,
      finish_reason: 'stop',
      message: { role: 'assistant', content },
    });
    const plan = planned(
      document({
        request: { messages: hello },
        response: { id: 'r1', choices: [choice(0, 'hi'), choice(1, 'ho')], usage: { x: 1 } },
      }),
    );
    const [main, first, second] = plan.conversations[0]?.branches ?? [];
    const last = recordsOf(main?.items ?? []).at(-1);
    expect(first).toMatchObject({
      name: 'answer-1',
      active: true,
      parent: { key: 'main', record: last },
    });
    expect(second).toMatchObject({ name: 'answer-2', parent: { key: 'main', record: last } });
    expect(main?.active).toBeUndefined();
    expect(rawTexts(plan)).toContain('{"x":1}');
    expect(rawTexts(plan)).toContain('{"index": 1, "finish_reason": "stop"}');
  });

  it('MS4 attempts that leave one another are branches', () => {
    const say = (content: string) => ({ role: 'assistant', content });
    const plan = planned(
      document({
        train_messages: [
          [...hello, say('a'), say('b'), say('c')],
          [...hello, say('a')],
          [...hello, say('x'), say('y')],
          [...hello, say('x'), say('z')],
        ],
      }),
    );
    const branches = plan.conversations[0]?.branches ?? [];
    expect(branches.map(({ items }) => items.length)).toEqual([5, 2, 1]);
    expect(branches[1]?.parent).toEqual({
      key: 'main',
      record: branches[0]?.items[1]?.record,
    });
    expect(branches[2]?.parent).toEqual({
      key: branches[1]?.key,
      record: branches[1]?.items[0]?.record,
    });
    expect(plan.report.duplicates).toBe(8);
  });

  it('MS4 a search tree becomes branches with calls and observations', () => {
    const plan = planned(fixture('openai-chat/toolbench-dfs-G2-127.json'));
    const tree = branch(plan, 'tree');
    const fork = branch(plan, 'tree/children/1');
    expect(tree.parent).toBeUndefined();
    expect(fork.parent).toEqual({ key: 'tree', record: 'tree' });
    expect(branch(plan, 'tree/children/0/children/0/children/1').parent).toEqual({
      key: 'tree',
      record: 'tree/children/0/children/0#result',
    });
    expect(fork.items.filter((item) => item.kind === 'message').slice(0, 3)).toMatchObject([
      { message: { role: 'assistant', toolCalls: [] } },
      {
        message: {
          role: 'assistant',
          partOf: 'tree/children/1',
          toolCalls: [{ name: 'get_track_info_for_pridnestrovie_post' }],
        },
      },
      { answersCallIds: ['get_track_info_for_pridnestrovie_post'], message: { role: 'tool' } },
    ]);
  });

  it('B59 a longer list is the same conversation with more at its end', () => {
    const longer = [...hello, { role: 'assistant', content: 'hi' }, { role: 'user', content: 'x' }];
    expectBeginning(planned(document(hello)), planned(document(longer)));
    expect(planned(document(hello), { id: 'mine' }).conversations[0]?.externalId).toBe('mine');
  });

  it('B59 conversations that share a system prompt are two', () => {
    const other = [hello[0], { role: 'user', content: 'good day' }];
    expect(planned(document(hello)).conversations[0]?.externalId).not.toBe(
      planned(document(other)).conversations[0]?.externalId,
    );
  });
});

describe('documents that are refused', () => {
  it('B24 a role that is none is named by its place', () => {
    const messages = [...hello, { role: ' User', content: 'x' }];
    expect(refused(document(messages), { format: 'openai-chat' })).toEqual({
      _tag: 'UnknownRole',
      index: 2,
      path: '/2/role',
    });
  });

  it('B26 a result that names no call is refused, and kept by salvage', () => {
    const messages = [...hello, { role: 'tool', content: 'x' }];
    expect(refused(document({ messages }))).toEqual({
      _tag: 'MissingToolCallId',
      index: 2,
      path: '/messages/2/tool_call_id',
    });
    const plan = planned(document({ messages }), { salvage: true });
    expect(branch(plan, 'main').items.at(-1)).toMatchObject({ answersCallIds: [''] });
    expect(plan.report.notes).toEqual([{ code: 'result_without_call_id', detail: '/messages/2' }]);
  });

  it('B58 a document that is cut off is refused with the byte where it ends', () => {
    const bytes = document({ messages: [{ role: 'user', content: 'é' }] });
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(refused(bytes.subarray(0, cut), { format: 'openai-chat' })._tag).toMatch(
        /^(TruncatedInput|InvalidJson|InvalidUtf8)$/,
      );
    }
    expect(refused(bytes.subarray(0, 30))).toEqual({
      _tag: 'TruncatedInput',
      line: 1,
      offset: 30,
    });
    expect(refused(utf8('{"messages":[oops]}'), { format: 'openai-chat' })).toEqual({
      _tag: 'InvalidJson',
      offset: 13,
    });
  });

  it('B05 nesting beyond the limit is refused', () => {
    const deep = `{"messages":[{"role":"user","content":"x"}],"x":${'['.repeat(9_999)}${']'.repeat(9_999)}}`;
    expect(refused(utf8(deep), { format: 'openai-chat' })._tag).toBe('TooDeep');
  });
});
