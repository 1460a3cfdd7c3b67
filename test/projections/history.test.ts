import { describe, expect, it } from 'vitest';
import { history, untilTime, type History } from '../../src/projections/history.js';
import { project } from '../../src/projections/projection.js';
import type { Recorded } from '../../src/domain/recorded.js';
import {
  answered,
  buildBranch,
  buildDirectory,
  inline,
  messageRefOf,
  opened,
  refOf,
  said,
  second,
  storedMessage,
  uid,
} from '../support/recorded-builder.js';

const view = (...streams: readonly (readonly Recorded[])[]): History =>
  project(history, streams.flat());

const ids = ({ entries }: History): readonly string[] =>
  entries.map((entry) => (entry.kind === 'instructions' ? entry.messageId : entry.message.id));

const entryOf = (shown: History, id: string) => {
  const entry = shown.entries.find(
    (candidate) => candidate.kind !== 'instructions' && candidate.message.id === id,
  );
  if (entry === undefined || entry.kind === 'instructions') throw new Error(`no entry ${id}`);
  return entry;
};

/** main: open, u1, a1 (two calls), t1 (answers the second). */
const exchange = () => {
  const main = buildBranch('main');
  main.add(opened('main'));
  const question = main.add(said('u1', 'user', 'where is my order'), {
    actor: 'ann',
    cmd: 'cmd-1',
    run: 'run-1',
  });
  main.add(
    said('a1', 'assistant', 'looking', {
      calls: [
        ['c1', 'find'],
        ['c2', 'mail'],
      ],
    }),
  );
  const result = main.add(answered('t1', [['a1', 1, 'c2']], { outcome: 'error', durationMs: 12 }));
  return { main, question, result };
};

describe('history of a branch', () => {
  it('OR1 orders entries by place in the stream, not by time', () => {
    const main = buildBranch('main');
    main.add(opened('main'), { at: second(9) });
    main.add(said('later', 'user', 'one'), { at: second(9), wall: second(5) });
    main.add(said('earlier', 'user', 'two', { claimedAt: '2020-01-01T00:00:00Z' }), {
      at: second(9),
      wall: second(1),
    });
    expect(ids(view(main.events))).toEqual(['later', 'earlier']);
  });

  it('MS1 gives each entry its place, time, actor, run, command and message', () => {
    const { main, question } = exchange();
    expect(view(main.events).entries[0]).toEqual({
      kind: 'message',
      sequence: 1,
      place: { branch: uid('main'), revision: 1, hash: question.hash },
      at: second(1),
      actor: 'ann',
      run: 'run-1',
      command: 'cmd-1',
      message: storedMessage('u1', 'user', 'where is my order'),
      calls: [],
      status: 'confirmed',
      closedCalls: [],
    });
  });

  it('RL6 shows what a tool result answers and how it ended', () => {
    const { main, result } = exchange();
    const entry = entryOf(view(main.events), 't1');
    expect(entry).toMatchObject({
      kind: 'tool_result',
      place: refOf(result),
      calls: [{ messageId: 'a1', index: 1, callId: 'c2' }],
      outcome: 'error',
      durationMs: 12,
    });
    expect(entry.late).toBeUndefined();
  });

  it('RL6 marks a late result and keeps an orphan of a foreign source', () => {
    const { main } = exchange();
    main.add(answered('t2', [['a1', 1, 'c2']], { late: true }));
    main.add(answered('t3', [], { foreignCallId: inline('call-of-elsewhere') }));
    const shown = view(main.events);
    expect(entryOf(shown, 't2').late).toBe(true);
    expect(entryOf(shown, 't3')).toMatchObject({
      calls: [],
      foreignCallId: inline('call-of-elsewhere'),
    });
  });

  it('RL5 shows the status of now with its cause and keeps the recorded message', () => {
    const main = buildBranch('main');
    const draft = main.add(said('a1', 'assistant', 'perhaps', { status: 'draft' }));
    const before = view(main.events);
    const change = main.add({
      type: 'MessageStatusChanged',
      data: { message: messageRefOf(draft, 'a1'), to: 'confirmed', by: 'checker' },
    });
    expect(entryOf(before, 'a1').status).toBe('draft');
    expect(entryOf(before, 'a1').statusCause).toBeUndefined();
    const entry = entryOf(view(main.events), 'a1');
    expect(entry.status).toBe('confirmed');
    expect(entry.statusCause).toEqual(refOf(change));
    expect(entry.message.status).toBe('draft');
  });

  it('OR2 keeps withdrawn and superseded messages in history with the event that did it', () => {
    const { main, question } = exchange();
    const withdrawal = main.add({
      type: 'MessagesWithdrawn',
      data: { messages: ['a1', 'no-such-message'] },
    });
    main.add({ type: 'MessagesWithdrawn', data: { messages: ['a1'] } });
    const change = main.add({
      type: 'MessageStatusChanged',
      data: { message: messageRefOf(question, 'u1'), to: 'superseded', by: 'u1b' },
    });
    const shown = view(main.events);
    expect(ids(shown)).toEqual(['u1', 'a1', 't1']);
    expect(entryOf(shown, 'a1').withdrawn).toEqual(refOf(withdrawal));
    expect(entryOf(shown, 'u1')).toMatchObject({
      status: 'superseded',
      statusCause: refOf(change),
    });
  });

  it('OR2 gives history at revision N as the fold of the prefix', () => {
    const { main } = exchange();
    expect(ids(view(main.events.slice(0, 3)))).toEqual(['u1', 'a1']);
    expect(view(main.events.slice(0, 3)).head?.revision).toBe(2);
  });

  it('OR2 gives history at time T as a prefix', () => {
    const { main } = exchange();
    const at = (time: string): readonly string[] => ids(view([...untilTime(main.events, time)]));
    expect(at(second(2))).toEqual(['u1', 'a1']);
    expect(at('2026-01-01T01:00:02.999+01:00')).toEqual(['u1', 'a1']);
    expect(at('2025-12-31T23:59:59Z')).toEqual([]);
  });

  it('SE1 an empty stream has a history without a head', () => {
    const shown = view([]);
    expect(shown.head).toBeUndefined();
    expect(shown.directoryRevision).toBe(-1);
    expect(shown.entries).toEqual([]);
  });
});

describe('instructions', () => {
  const revise = (name: string, version: number, text: string) =>
    ({
      type: 'InstructionsRevised',
      data: {
        name,
        version,
        owner: 'ops',
        role: 'system',
        messageId: `${name}-${String(version)}`,
        content: inline(text),
        digest: `digest ${text}`,
      },
    }) as const;

  it('RL2 the latest version of each slot name counts, earlier ones stay as entries', () => {
    const main = buildBranch('main');
    main.add(revise('default', 1, 'be kind'));
    main.add(revise('agent-b', 1, 'be quick'));
    main.add(revise('default', 2, 'be brief'));
    const shown = view(main.events);
    expect(
      shown.entries.map((entry) => entry.kind === 'instructions' && [entry.name, entry.effective]),
    ).toEqual([
      ['default', false],
      ['agent-b', true],
      ['default', true],
    ]);
    expect(shown.instructions.get('default')?.version).toBe(2);
    expect([...shown.instructions.keys()].sort()).toEqual(['agent-b', 'default']);
  });
});

describe('closed calls', () => {
  const turn = (outcome: 'completed' | 'interrupted' | 'failed' | 'lost') => {
    const main = buildBranch('main');
    main.add({ type: 'TurnStarted', data: { turn: 't', run: 'r' } });
    main.add(
      said('a1', 'assistant', '', {
        calls: [
          ['c1', 'find'],
          ['c2', 'mail'],
        ],
      }),
    );
    main.add(answered('t1', [['a1', 0, 'c1']]));
    main.add({ type: 'TurnEnded', data: { turn: 't', outcome } });
    return main;
  };

  it('SE1 an abandoned call is closed', () => {
    const { main } = exchange();
    main.add({
      type: 'ToolCallAbandoned',
      data: { call: { messageId: 'a1', index: 0, callId: 'c1' } },
    });
    expect(entryOf(view(main.events), 'a1').closedCalls).toEqual([0]);
  });

  it('SE1 unanswered calls of a broken turn are closed, those of a completed one are open', () => {
    const closed = (outcome: Parameters<typeof turn>[0]) =>
      entryOf(view(turn(outcome).events), 'a1').closedCalls;
    expect(closed('interrupted')).toEqual([1]);
    expect(closed('failed')).toEqual([1]);
    expect(closed('lost')).toEqual([1]);
    expect(closed('completed')).toEqual([]);
  });

  it('SE1 a result that comes after the turn broke opens the exchange again', () => {
    const main = turn('interrupted');
    main.add(answered('t2', [['a1', 1, 'c2']]));
    expect(entryOf(view(main.events), 'a1').closedCalls).toEqual([]);
  });

  it('SE1 a fork does not continue the turn of its parent', () => {
    const main = buildBranch('main');
    const start = main.add({ type: 'TurnStarted', data: { turn: 't', run: 'r' } });
    const fork = buildBranch('fork');
    fork.add(opened('fork', start));
    fork.add(said('a1', 'assistant', '', { calls: [['c1', 'find']] }));
    fork.add({ type: 'TurnEnded', data: { turn: 't', outcome: 'interrupted' } });
    const entry = entryOf(view(main.events, fork.events), 'a1');
    expect(entry.turn).toBeUndefined();
    expect(entry.closedCalls).toEqual([]);
  });
});

describe('forks', () => {
  it('CX5 a fork sees its parent up to the fork point and nothing after', () => {
    const { main, question } = exchange();
    const fork = buildBranch('fork');
    fork.add(opened('fork', question));
    fork.add(said('u2', 'user', 'another way'));
    const lineage = [...main.events.slice(0, 2), ...fork.events];
    expect(ids(view(lineage))).toEqual(['u1', 'u2']);
    expect(view(lineage).head).toEqual(refOf(fork.events[1]!));
    expect(ids(view(main.events))).toEqual(['u1', 'a1', 't1']);
  });
});

describe('redaction', () => {
  const redact = (recorded: Recorded, id: string) =>
    ({
      type: 'MessageRedacted',
      data: { message: messageRefOf(recorded, id), authority: 'dpo' },
    }) as const;

  it('MS3 reaches every branch, whatever its fork point', () => {
    const { main, question, result } = exchange();
    const fork = buildBranch('fork');
    fork.add(opened('fork', result));
    const directory = buildDirectory();
    const redaction = directory.add(redact(question, 'u1'));
    for (const lineage of [main.events, [...main.events, ...fork.events]]) {
      expect(entryOf(view(lineage, directory.events), 'u1').redacted).toEqual(refOf(redaction));
      expect(entryOf(view(directory.events, lineage), 'a1').redacted).toBeUndefined();
    }
  });

  it('B36 does not touch a message of the same id on a sibling branch', () => {
    const left = buildBranch('left');
    const right = buildBranch('right');
    const there = left.add(said('m', 'user', 'left'));
    right.add(said('m', 'user', 'right'));
    const directory = buildDirectory();
    directory.add(redact(there, 'm'));
    expect(entryOf(view(left.events, directory.events), 'm').redacted).toBeDefined();
    expect(entryOf(view(right.events, directory.events), 'm').redacted).toBeUndefined();
  });

  it('MS3 reaches a copy merged into another branch, and a copy of that copy', () => {
    const left = buildBranch('left');
    const source = left.add(said('m', 'user', 'secret'));
    const right = buildBranch('right');
    const merged = (id: string, origin: Recorded, of: string) =>
      right.add({
        type: 'BranchMerged',
        data: {
          from: refOf(origin),
          mode: 'pick',
          messages: [{ id, origin: messageRefOf(origin, of) }],
        },
      });
    merged('copy', source, 'm');
    const copy = right.add(said('copy', 'user', 'secret', { origin: 'm' }));
    merged('copy-2', copy, 'copy');
    right.add(said('copy-2', 'user', 'secret', { origin: 'copy' }));
    const directory = buildDirectory();
    const redaction = directory.add(redact(source, 'm'));
    const shown = view(right.events, directory.events);
    expect(entryOf(shown, 'copy').redacted).toEqual(refOf(redaction));
    expect(entryOf(shown, 'copy-2').redacted).toEqual(refOf(redaction));
  });

  it('G10 names the first redaction and the directory revision, however streams interleave', () => {
    const { main, question } = exchange();
    const directory = buildDirectory();
    const first = directory.add(redact(question, 'u1'));
    directory.add(redact(question, 'u1'));
    const shown = view(main.events.slice(0, 1), directory.events, main.events.slice(1));
    expect(shown).toEqual(view(directory.events, main.events));
    expect(shown).toEqual(view(main.events, directory.events));
    expect(entryOf(shown, 'u1').redacted).toEqual(refOf(first));
    expect(shown.directoryRevision).toBe(1);
    expect(shown.head?.revision).toBe(3);
  });
});

describe('unknown events', () => {
  it('B40 passes by an unknown skippable event', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    main.addRaw('SomethingNew', '{}', { compat: 'skip' });
    main.add(said('u1', 'user', 'hello'));
    const shown = view(main.events);
    expect(shown.fault).toBeUndefined();
    expect(ids(shown)).toEqual(['u1']);
    expect(entryOf(shown, 'u1').sequence).toBe(2);
  });

  it('B40 carries the first unknown mandatory event of the branch as its fault', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    main.addRaw('SomethingNew', '{}');
    main.addRaw('SomethingElse', '{}');
    const directory = buildDirectory();
    directory.addRaw('Third', '{}');
    const fault = {
      _tag: 'UnknownEvent',
      type: 'SomethingNew',
      version: 1,
      revision: 1,
      reason: 'type',
    };
    expect(view(main.events, directory.events).fault).toEqual(fault);
    expect(view(directory.events, main.events).fault).toEqual(fault);
    expect(view(directory.events).fault?.type).toBe('Third');
  });

  it('B41 carries a newer schema version of a known type as its fault', () => {
    const main = buildBranch('main');
    main.addRaw('MessageAppended', '{}', { sv: '7' });
    expect(view(main.events).fault).toMatchObject({ reason: 'version', version: 7 });
  });
});
