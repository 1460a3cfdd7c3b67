import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { ImportPlan } from '../../../src/domain/import-plan.js';
import {
  planParentLinked,
  type ParentLinkedOptions,
} from '../../../src/infra/importers/parent-linked.js';
import { openStemma } from '../../../src/index.js';

type Fields = Readonly<Record<string, unknown>>;

const bytes = (...records: readonly (Fields | string)[]): Uint8Array =>
  new TextEncoder().encode(
    records.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join(''),
  );

const plan = (
  records: readonly (Fields | string)[],
  options: ParentLinkedOptions = {},
): ImportPlan => {
  const made = planParentLinked(bytes(...records), options);
  if (E.isLeft(made)) throw new Error(JSON.stringify(made.left));
  return made.right;
};

const fault = (records: readonly (Fields | string)[], options: ParentLinkedOptions = {}) => {
  const made = planParentLinked(bytes(...records), options);
  return E.isLeft(made) ? made.left : undefined;
};

const user = (id: string, parent: string | null, more: Fields = {}): Fields => ({
  id,
  role: 'user',
  content: id,
  parent,
  ...more,
});

const caller = (id: string, parent: string | null, ...calls: readonly string[]): Fields => ({
  id,
  role: 'assistant',
  parent,
  tool_calls: calls.map((call) => ({ id: call, name: 'f', arguments: { a: 1.0 } })),
});

const result = (id: string, parent: string, call: string): Fields => ({
  id,
  role: 'tool',
  content: id,
  parent,
  tool_call_id: call,
});

/** Record ids of each branch, with the record that it forks behind. */
const layout = ({ conversations }: ImportPlan): readonly unknown[] =>
  conversations.map(({ branches }) =>
    branches.map(({ items, parent, active }) => [
      parent?.record ?? null,
      items.map(({ record }) => record),
      active === true,
    ]),
  );

describe('records that name one parent', () => {
  it('follow their links, not the order of time', () => {
    const made = plan([
      user('u1', null, { created_at: '2026-01-02T00:00:00Z' }),
      user('u2', 'u1', { created_at: '2026-01-01T00:00:00Z' }),
      user('u3', 'u1'),
    ]);
    expect(layout(made)).toEqual([
      [
        [null, ['u1', 'u2'], false],
        ['u1', ['u3'], true],
      ],
    ]);
  });

  it('keep the results of one message on one path, wherever they hang', () => {
    const made = plan([
      user('u1', null),
      caller('a1', 'u1', 'c1', 'c2', 'c3'),
      { id: 'p1', role: 'progress', parent: 'a1' },
      result('t1', 'a1', 'c1'),
      result('t2', 'p1', 'c2'),
      result('t3', 't1', 'c3'),
      user('u2', 't2'),
      user('u3', 't3'),
    ]);
    expect(layout(made)).toEqual([
      [
        [null, ['u1', 'a1', 'p1', 't1', 't2', 't3', 'u2'], false],
        ['t3', ['u3'], true],
      ],
    ]);
    expect(made.report).toMatchObject({ records: 8, mapped: 7, kept: 1 });
  });

  it('end the shown path at its leaf: in a group behind the whole of it', () => {
    const records = [
      user('u1', null),
      caller('a1', 'u1', 'c1', 'c2'),
      result('t1', 'a1', 'c1'),
      result('t2', 'a1', 'c2'),
    ];
    expect(layout(plan(records, { leaf: 't1' }))).toEqual([
      [[null, ['u1', 'a1', 't1', 't2'], true]],
    ]);
    expect(layout(plan(records, { leaf: 'a1' }))).toEqual([
      [
        [null, ['u1', 'a1', 't1', 't2'], false],
        ['a1', [], true],
      ],
    ]);
    expect(fault(records, { leaf: 'x' })).toEqual({
      _tag: 'InvalidArgument',
      name: 'leaf',
      reason: 'unknown_value',
    });
  });

  it('are refused when a parent is missing or a circle, or repaired and told', () => {
    const dangling = [user('u1', null), user('u2', 'gone'), user('u3', 'u2')];
    expect(fault(dangling)).toEqual({ _tag: 'DanglingParent', ids: ['u2'], missing: ['gone'] });
    const made = plan(dangling, { onDangling: 'attach_previous' });
    expect(layout(made)).toEqual([[[null, ['u1', 'u2', 'u3'], true]]]);
    expect(made.report.notes).toEqual([
      { code: 'PARENT_REPAIRED', line: 2, id: 'u2', detail: 'gone -> u1' },
    ]);
    const circle = [user('u1', 'u2'), user('u2', 'u1'), user('u3', 'u3')];
    expect(fault(circle)).toMatchObject({ _tag: 'DanglingParent', ids: ['u1', 'u2', 'u3'] });
    expect(layout(plan(circle, { onDangling: 'attach_previous' }))).toEqual([
      [[null, ['u1', 'u2', 'u3'], true]],
    ]);
  });

  it('that have several roots are several conversations; without parents they are a line', () => {
    expect(layout(plan([user('u1', null), user('v1', null)], { id: 'x' }))).toEqual([
      [[null, ['u1'], false]],
      [[null, ['v1'], true]],
    ]);
    const line = [
      { id: 'u1', role: 'user', content: 'a' },
      { id: 'u2', role: 'user', content: 'b' },
    ];
    expect(layout(plan(line))).toEqual([[[null, ['u1', 'u2'], true]]]);
    expect(layout(plan([{ id: 'p', role: 'progress' }]))).toEqual([[[null, ['p'], false]]]);
    expect(layout(plan([]))).toEqual([[[null, [], false]]]);
  });

  it('keep arguments word for word, names of records and a second record of an id', () => {
    const text =
      '{"id":"a1","role":"assistant","tool_calls":[{"id":"c","name":"f","arguments":{"n": 12345678901234567890}}]}';
    const made = plan([text, text, { id: 'a1', role: 'user', content: 'other' }]);
    const [first, second] = made.conversations[0]?.branches[0]?.items ?? [];
    expect(first?.kind === 'message' && first.message.toolCalls[0]?.arguments).toBe(
      '{"n": 12345678901234567890}',
    );
    expect(second).toMatchObject({ kind: 'record', record: 'a1#3' });
    expect(made.report).toMatchObject({ duplicates: 1, kept: 1 });
  });

  it('are refused when a line is broken, unless what can be read is wanted', () => {
    const whole = JSON.stringify(user('u1', null));
    expect(fault([whole, '{"id":'])).toMatchObject({ _tag: 'InvalidJson' });
    const torn = new TextEncoder().encode(`${whole}\n{"id":`);
    expect(planParentLinked(torn)).toMatchObject({ left: { _tag: 'TruncatedInput', line: 2 } });
    expect(layout(plan([whole, '{"id":', '7'], { salvage: true }))).toEqual([
      [[null, ['u1'], true]],
    ]);
    expect(fault(['7'])).toMatchObject({ _tag: 'InvalidShape' });
  });

  it('are taken in once, and a longer file adds the rest', async () => {
    const records = [
      user('u1', null),
      caller('a1', 'u1', 'c1'),
      result('t1', 'a1', 'c1'),
      user('u2', 'u1'),
    ];
    const stemma = await openStemma({ store: 'memory:' });
    const first = await stemma.importPlan(plan(records));
    expect((await stemma.importPlan(plan(records))).appended).toBe(0);
    await stemma.importPlan(plan([...records, user('u3', 't1')]));
    const [conversation] = first.conversations;
    const branch = await stemma.open(conversation?.conversation ?? '');
    const { items } = await branch.surface();
    expect(items.map(({ message }) => message.id)).toEqual(['u1', 'a1', 't1', 'u3']);
    expect(items[0]?.message.provenance).toMatchObject({
      kind: 'importer',
      system: 'parent-linked-jsonl',
      sourceId: 'u1',
    });
    await stemma.close();
  });
});
