import { describe, expect, it } from 'vitest';
import {
  assistant,
  boundary,
  branch,
  call,
  message,
  planned,
  record,
  recordsOf,
  result,
  session,
  summary,
  user,
} from '../sessions.js';

const noteCodes = (plan: ReturnType<typeof planned>): readonly string[] =>
  plan.report.notes.map(({ code }) => code);

describe('the tree of a Claude Code session', () => {
  it('OR1 parts and results of one API message are no branches, in the order of the file', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1', [call('c1')]),
        assistant('a2', 'a1', 'm1', [call('c2')]),
        record('progress', 'p1', 'a1'),
        result('r1', 'a1', 'c1'),
        result('r2', 'a2', 'c2'),
        assistant('a3', 'r1', 'm2'),
      ),
    );
    expect(plan.conversations[0]?.branches.length).toBe(1);
    expect(recordsOf(branch(plan, 'main').items)).toEqual([
      'u1',
      'a1',
      'a2',
      'p1',
      'r1',
      'r2',
      'a3',
    ]);
    expect(plan.report.source).toMatchObject({
      forks_parallel_or_aux: 1,
      true_branch_points: 0,
      off_chain: ['a2', 'r2'],
    });
  });

  it('OR1 parts of one API message may be siblings, and results may hang on the prompt', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1', [call('c1')]),
        assistant('a2', 'u1', 'm1', [call('c2')]),
        result('r1', 'a1', 'c1'),
        result('r2', 'u1', 'c2'),
        assistant('a3', 'r1', 'm2'),
        assistant('a4', 'u1', 'm4'),
      ),
    );
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'a1', 'a2', 'r1', 'r2', 'a3']);
    expect(recordsOf(branch(plan, 'a4').items)).toEqual(['a4']);
    expect(plan.report.source).toMatchObject({ true_branch_point_uuids: ['u1'] });
  });

  it('OR1 a second record that goes on begins a branch, behind the whole exchange', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1', [call('c1'), call('c2')]),
        result('r1', 'a1', 'c1'),
        result('r2', 'a1', 'c2'),
        user('u2', 'r1'),
        user('u3', 'r1'),
        assistant('a3', 'u3', 'm3'),
      ),
    );
    expect(branch(plan, 'u3')).toMatchObject({
      parent: { key: 'main', record: 'r2' },
      name: 'edit-u3',
      active: true,
    });
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'a1', 'r1', 'r2', 'u2']);
  });

  it('OR1 a fork behind a record that no model reads begins there, not behind what went on', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1'),
        record('system', 's1', 'a1', { subtype: 'turn_duration' }),
        user('u2', 's1'),
        user('u3', 's1'),
        record('system', 's2', 'a1', { subtype: 'late' }),
      ),
    );
    expect(branch(plan, 'u3').parent).toEqual({ key: 'main', record: 's1' });
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'a1', 's1', 'u2', 's2']);
  });

  it('OR1 branches of branches name the branch that holds their fork point', () => {
    const plan = planned(
      session(
        user('u1', null),
        user('u2', 'u1'),
        user('u3', 'u1'),
        user('u4', 'u3'),
        user('u5', 'u3'),
        user('u6', 'u3'),
      ),
    );
    expect(plan.conversations[0]?.branches.map(({ key, parent }) => [key, parent])).toEqual([
      ['main', undefined],
      ['u3', { key: 'main', record: 'u1' }],
      ['u5', { key: 'u3', record: 'u3' }],
      ['u6', { key: 'u3', record: 'u3' }],
    ]);
  });

  it('a chain of 100,000 records and as many forks needs no recursion', () => {
    const chain = Array.from({ length: 50_000 }, (_, at) =>
      user(`u${String(at)}`, at === 0 ? null : `u${String(at - 1)}`, 'x'),
    );
    const forks = Array.from({ length: 50_000 }, (_, at) => user(`f${String(at)}`, 'u0', 'x'));
    const start = performance.now();
    const plan = planned(session(...chain, ...forks));
    expect(plan.conversations[0]?.branches.length).toBe(50_001);
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it('a child that stands before its parent comes after it', () => {
    const plan = planned(session(user('u1', null), user('u3', 'u2'), user('u2', 'u1')));
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'u2', 'u3']);
  });

  it('a circle of parents is opened at its first record and noted', () => {
    const plan = planned(session(user('u1', 'u2'), user('u2', 'u1'), user('u3', 'u3')));
    expect(noteCodes(plan)).toEqual(['parent_cycle', 'parent_cycle']);
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'u2']);
    expect(recordsOf(branch(plan, 'u3').items)).toEqual(['u3']);
  });

  it('a parent that is not there makes a root of its own and is noted', () => {
    const plan = planned(session(user('u1', null), user('u2', 'gone'), user('u3', 'u2')));
    expect(plan.report.notes).toEqual([{ code: 'dangling_parent', line: 2, id: 'u2' }]);
    expect(branch(plan, 'u2').parent).toBeUndefined();
    expect(recordsOf(branch(plan, 'u2').items)).toEqual(['u2', 'u3']);
  });

  it('a result that hangs nowhere follows the call that it answers', () => {
    const plan = planned(
      session(assistant('a1', null, 'm1', [call('c1')]), result('r1', null, 'c1')),
    );
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['a1', 'r1']);
    expect(noteCodes(plan)).toEqual(['attached_to_call']);
  });

  it('the first record of a uuid wins; a later one with other content is kept, out of contexts', () => {
    const plan = planned(
      session(user('u1', null, 'one'), user('u1', null, 'one'), user('u1', null, 'two')),
    );
    expect(noteCodes(plan)).toEqual(['duplicate_record', 'conflicting_record']);
    const [first, later] = branch(plan, 'main').items;
    expect(first).toMatchObject({ record: 'u1', message: { status: 'confirmed' } });
    expect(later).toMatchObject({
      message: { status: 'superseded', provenance: { sourceId: 'u1' } },
    });
    expect(plan.report).toMatchObject({ records: 3, mapped: 2, duplicates: 1 });
  });

  it('several sessions of a file are several conversations', () => {
    const plan = planned(
      session(user('u1', null), user('v1', null, 'other', { sessionId: 's2' }), user('u2', 'u1'), {
        type: 'summary',
        summary: 'x',
        leafUuid: 'u2',
      }),
    );
    expect(plan.conversations.map(({ externalId }) => externalId)).toEqual(['s1', 's2']);
    expect(recordsOf(branch(plan, 'main').items).slice(0, 2)).toEqual(['u1', 'u2']);
    expect(branch(plan, 'main').items.length).toBe(3);
  });

  it('a summary line is the title of the conversation that holds its record', () => {
    const line = (text: string, leafUuid: string) => ({ type: 'summary', summary: text, leafUuid });
    const plan = planned(
      session(line('elsewhere', 'gone'), user('u1', null), line('here', 'u1'), line('', 'u1')),
    );
    expect(plan.conversations[0]?.title).toBe('here');
    expect(plan.report).toMatchObject({ mapped: 1, kept: 3 });
  });

  it('a sidechain is a conversation of its own, begun by the call that gave its prompt', () => {
    const side = { isSidechain: true };
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1', [call('c1', { prompt: 'look' }, 'Task')]),
        user('x1', null, 'look', side),
        assistant('x2', 'x1', 'm2', undefined, side),
        user('y1', 'a1', 'look there', { ...side, agentId: 'b7' }),
        result('r1', 'a1', 'c1'),
      ),
    );
    expect(plan.conversations.map(({ externalId, parent }) => [externalId, parent])).toEqual([
      ['s1', undefined],
      ['s1/x1', { externalId: 's1', messageId: 'a1', relation: 'subagent' }],
      ['s1/y1', { externalId: 's1', messageId: 'a1', relation: 'subagent' }],
    ]);
    expect(message(plan, 'x1').message.trust).toBe('model');
    expect(message(plan, 'y1').message.author).toEqual({ agent: 'b7' });
    expect(branch(plan, 'main').active).toBe(true);
  });

  it('without any parent the order of the file is the transcript', () => {
    const bare = (type: string, content: unknown) => ({
      type,
      message: { role: type, content },
      timestamp: '2026-01-01T00:00:00Z',
    });
    const plan = planned(session(bare('user', 'a'), bare('assistant', 'b'), bare('user', 'a')));
    expect(branch(plan, 'main').items.length).toBe(3);
    expect(plan.report.source).toMatchObject({ linear_fallback: true });
    expect(planned(session(bare('user', 'a')), { id: 'mine' }).conversations[0]?.externalId).toBe(
      'mine',
    );
  });
});

describe('compact boundaries of a Claude Code session', () => {
  it('CX5 a later summary stands for the earlier one and what came after it', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1'),
        boundary('b1', 'a1'),
        summary('k1', 'b1'),
        user('u2', 'k1'),
        boundary('b2', 'u2'),
        summary('k2', 'b2'),
        user('u3', 'k2'),
      ),
    );
    const { items } = branch(plan, 'main');
    expect(recordsOf(items)).toEqual(['u1', 'a1', 'b1', 'k1', 'u2', 'b2', 'k2', 'u3']);
    const covers = items.flatMap((item) => (item.kind === 'compaction' ? [item.covers] : []));
    expect(covers).toEqual([
      ['u1', 'a1'],
      ['k1', 'u2'],
    ]);
    expect(plan.report.source).toMatchObject({ compact_boundaries: 2, boundary_crossings: 2 });
  });

  it('CX5 a boundary that leads nowhere follows the record before it', () => {
    const plan = planned(
      session(user('u1', null), boundary('b1', 'gone'), summary('k1', 'b1'), user('u2', 'k1')),
    );
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'b1', 'k1', 'u2']);
    expect(noteCodes(plan)).toEqual(['logical_parent_missing']);
    expect(plan.report.source).toMatchObject({ logical_parent_missing: 1 });
  });

  it('CX5 a preserved segment stays from its head on, each exchange whole', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1', [call('c1')]),
        result('r1', 'a1', 'c1'),
        boundary('b1', 'r1', {
          compactMetadata: {
            preservedSegment: { headUuid: 'r1', anchorUuid: 'k1', tailUuid: 'r1' },
          },
        }),
        summary('k1', 'b1'),
      ),
    );
    expect(branch(plan, 'main').items.at(-1)).toMatchObject({ covers: ['u1'] });
  });

  it('RL7 a summary has the lowest trust of what it stands for', () => {
    const plan = planned(
      session(
        user('u1', null),
        assistant('a1', 'u1', 'm1', [call('c1')]),
        result('r1', 'a1', 'c1'),
        boundary('b1', 'r1'),
        summary('k1', 'b1'),
      ),
    );
    expect(branch(plan, 'main').items.at(-1)).toMatchObject({
      replacement: { trust: 'external', role: 'user' },
    });
  });

  it('CX5 a summary of nothing is a message, and a boundary without a summary a record', () => {
    const plan = planned(session(boundary('b1'), summary('k1', 'b1'), boundary('b2', 'k1')));
    expect(message(plan, 'k1').message.metadata).toBe('{"isCompactSummary":true}');
    expect(plan.report.source).toMatchObject({ boundaries_without_summary: ['b1', 'b2'] });
    expect(noteCodes(plan)).toEqual(['summary_of_nothing']);
  });
});
