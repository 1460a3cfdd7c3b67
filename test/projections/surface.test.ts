import { describe, expect, it } from 'vitest';
import type { Recorded } from '../../src/domain/recorded.js';
import type { Opened, Slot } from '../../src/domain/slot.js';
import type { Surface, SurfaceItem } from '../../src/domain/surface.js';
import { history } from '../../src/projections/history.js';
import { project } from '../../src/projections/projection.js';
import { slotsOf, surfaceOf, unreadable } from '../../src/projections/surface.js';
import {
  answered,
  buildBranch,
  buildDirectory,
  compacted,
  CONVERSATION,
  inline,
  messageRefOf,
  opened,
  refOf,
  said,
  second,
  storedMessage,
  textBlocks,
  uid,
} from '../support/recorded-builder.js';

const open = (slot: Slot): Opened =>
  'inline' in slot ? { _tag: 'text', text: slot.inline } : { _tag: 'erased' };

const of = {
  conversation: CONVERSATION,
  branch: uid('main'),
  revision: 9,
  directoryRevision: 3,
};

const surface = (...streams: readonly (readonly Recorded[])[]): Surface =>
  surfaceOf(project(history, streams.flat()), open, of);

const order = (shown: Surface): readonly string[] => shown.items.map((item) => item.message.id);

const itemOf = (shown: Surface, id: string): SurfaceItem => {
  const item = shown.items.find((candidate) => candidate.message.id === id);
  if (item === undefined) throw new Error(`no item ${id}`);
  return item;
};

const supersede = (recorded: Recorded, id: string) =>
  ({
    type: 'MessageStatusChanged',
    data: { message: messageRefOf(recorded, id), to: 'superseded', by: 'x' },
  }) as const;

const redact = (recorded: Recorded, id: string) =>
  ({
    type: 'MessageRedacted',
    data: { message: messageRefOf(recorded, id), authority: 'dpo' },
  }) as const;

const sealed = { slot: 's', sealed: 'ciphertext', kid: 'k1', alg: 'A256GCM' };

describe('surface of a branch', () => {
  it('CX1 gives messages with their content, place and time', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    const question = main.add(
      said('u1', 'user', 'where is my order', {
        name: 'ann',
        pinned: true,
        metadata: inline('{"a":1}'),
        raw: { system: 'openai', text: inline('{"role":"user"}') },
        claimedAt: '2026-01-01T00:00:00Z',
        partOf: 'p',
        author: { participant: 'ann' },
      }),
    );
    const shown = surface(main.events);
    expect(shown).toMatchObject(of);
    expect(shown.items).toEqual([
      {
        message: {
          id: 'u1',
          role: 'user',
          blocks: [{ type: 'text', text: 'where is my order' }],
          name: 'ann',
          toolCalls: [],
          answers: [],
          author: { participant: 'ann' },
          provenance: { kind: 'app' },
          trust: 'user',
          status: 'confirmed',
          pinned: true,
          metadata: '{"a":1}',
          raw: { system: 'openai', text: '{"role":"user"}' },
          partOf: 'p',
          claimedAt: '2026-01-01T00:00:00Z',
        },
        place: refOf(question),
        at: second(1),
        status: 'confirmed',
        closedCalls: [],
      },
    ]);
  });

  it('RL6 gives tool calls with their arguments and results with what they answer', () => {
    const main = buildBranch('main');
    main.add(said('a1', 'assistant', '', { calls: [['c1', 'find']] }));
    main.add(
      answered('t1', [['a1', 0, 'c1']], {
        outcome: 'denied',
        late: true,
        foreignCallId: inline('f'),
      }),
    );
    const shown = surface(main.events);
    expect(itemOf(shown, 'a1').message).toMatchObject({
      blocks: [],
      toolCalls: [{ id: 'c1', name: 'find', arguments: '{}' }],
    });
    expect(itemOf(shown, 't1').message).toMatchObject({
      answers: [{ messageId: 'a1', index: 0, callId: 'c1' }],
      outcome: 'denied',
      late: true,
      foreignCallId: 'f',
    });
  });

  it('CX3 says for each message that is out why, and by which event', () => {
    const main = buildBranch('main');
    const draft = main.add(said('draft', 'assistant', 'x', { status: 'draft' }));
    const old = main.add(said('old', 'assistant', 'x'));
    main.add(said('gone', 'user', 'x'));
    const withdrawal = main.add({ type: 'MessagesWithdrawn', data: { messages: ['gone'] } });
    const change = main.add(supersede(old, 'old'));
    const shown = surface(main.events);
    expect(itemOf(shown, 'draft').out).toEqual({ reason: 'draft', cause: refOf(draft) });
    expect(itemOf(shown, 'old').out).toEqual({ reason: 'superseded', cause: refOf(change) });
    expect(itemOf(shown, 'old').status).toBe('superseded');
    expect(itemOf(shown, 'old').message.status).toBe('confirmed');
    expect(itemOf(shown, 'gone').out).toEqual({ reason: 'withdrawn', cause: refOf(withdrawal) });
  });

  it('RL5 a draft that was confirmed is in', () => {
    const main = buildBranch('main');
    const draft = main.add(said('m', 'assistant', 'x', { status: 'draft' }));
    main.add({
      type: 'MessageStatusChanged',
      data: { message: messageRefOf(draft, 'm'), to: 'confirmed', by: 'x' },
    });
    expect(itemOf(surface(main.events), 'm').out).toBeUndefined();
  });

  it('MS3 a redacted message shows nothing of its content, whatever else became of it', () => {
    const main = buildBranch('main');
    const secret = main.add(
      said('m', 'assistant', 'secret', {
        calls: [['c', 'find']],
        metadata: inline('secret'),
        raw: { system: 'x', text: inline('secret') },
      }),
    );
    main.add({ type: 'MessagesWithdrawn', data: { messages: ['m'] } });
    const directory = buildDirectory();
    const redaction = directory.add(redact(secret, 'm'));
    const shown = surface(main.events, directory.events);
    expect(itemOf(shown, 'm').out).toEqual({ reason: 'redacted', cause: refOf(redaction) });
    expect(JSON.stringify(shown)).not.toContain('secret');
    expect(slotsOf(project(history, [...main.events, ...directory.events]))).toEqual([]);
  });

  it('ER1 content that cannot be opened is erased: blocks or arguments', () => {
    const main = buildBranch('main');
    main.add(said('m', 'user', '', { blocks: sealed, metadata: sealed }));
    main.add(
      said('n', 'assistant', 'x', { toolCalls: [{ id: 'c', name: 'find', arguments: sealed }] }),
    );
    main.add(said('o', 'assistant', 'x', { metadata: sealed }));
    const shown = surface(main.events);
    expect(itemOf(shown, 'm').out?.reason).toBe('erased');
    expect(itemOf(shown, 'm').message.blocks).toEqual([]);
    expect(itemOf(shown, 'n').out?.reason).toBe('erased');
    expect(itemOf(shown, 'n').out?.cause).toEqual(itemOf(shown, 'n').place);
    expect(itemOf(shown, 'o').out).toBeUndefined();
    expect(itemOf(shown, 'o').message.metadata).toBeUndefined();
  });

  it('B42 content that is not what this format writes is named', () => {
    const main = buildBranch('main');
    main.add(said('m', 'user', '', { blocks: inline('[{"type":"no-such-block"}]') }));
    main.add(said('n', 'user', '', { blocks: inline('not json') }));
    main.add(said('o', 'user', 'fine'));
    const view = project(history, main.events);
    expect(unreadable(view, open).map((fault) => fault.revision)).toEqual([0, 1]);
  });

  it('CX1 asks for every slot that it reads and for no other', () => {
    const main = buildBranch('main');
    main.add(said('a1', 'assistant', 'one', { calls: [['c', 'f']], metadata: inline('two') }));
    main.add(answered('t1', [['a1', 0, 'c']], { foreignCallId: inline('three') }));
    main.add({
      type: 'InstructionsRevised',
      data: {
        name: 'default',
        version: 1,
        owner: 'ops',
        role: 'system',
        messageId: 'i1',
        content: inline('four'),
        digest: 'd',
      },
    });
    const made = main.add(
      compacted('k1', ['a1'], { shortened: [{ messageId: 't1', text: inline('five') }] }),
    );
    const view = project(history, main.events);
    const asked = new Set<string>();
    surfaceOf(
      view,
      (slot) => {
        asked.add(slot.slot);
        return open(slot);
      },
      of,
    );
    expect([...new Set(slotsOf(view).map(({ slot }) => slot))].sort()).toEqual([...asked].sort());
    expect(asked.size).toBe(8);
    main.add({ type: 'CompactionReverted', data: { compaction: 'k1', at: refOf(made) } });
    expect(slotsOf(project(history, main.events))).toHaveLength(6);
  });
});

describe('surface order', () => {
  it('OR1 is log order, with a replacement standing where the superseded message stood', () => {
    const main = buildBranch('main');
    const first = main.add(said('m1', 'user', 'one'));
    main.add(said('m2', 'user', 'two'));
    const again = main.add(said('m1b', 'user', 'one, again', { origin: 'm1' }));
    main.add(supersede(first, 'm1'));
    main.add(said('m3', 'user', 'three'));
    expect(order(surface(main.events))).toEqual(['m1', 'm1b', 'm2', 'm3']);
    main.add(said('m1c', 'user', 'one, at last', { origin: 'm1b' }));
    main.add(supersede(again, 'm1b'));
    expect(order(surface(main.events))).toEqual(['m1', 'm1b', 'm1c', 'm2', 'm3']);
  });

  it('OR1 a copy of a message that still counts stands where it was said', () => {
    const main = buildBranch('main');
    main.add(said('m1', 'user', 'one'));
    main.add(said('m2', 'user', 'two'));
    main.add(said('m3', 'user', 'one', { origin: 'm1' }));
    main.add(said('m4', 'user', 'x', { origin: 'of-another-branch' }));
    expect(order(surface(main.events))).toEqual(['m1', 'm2', 'm3', 'm4']);
  });
});

describe('instructions in force', () => {
  const revise = (version: number, text: string) =>
    ({
      type: 'InstructionsRevised',
      data: {
        name: 'default',
        version,
        owner: 'ops',
        role: 'developer',
        messageId: `i${String(version)}`,
        content: inline(text),
        digest: 'd',
      },
    }) as const;

  it('RL2 are the latest version of each slot name', () => {
    const main = buildBranch('main');
    main.add(revise(1, 'be kind'));
    const latest = main.add(revise(2, 'be brief'));
    expect(surface(main.events).instructions).toEqual([
      {
        name: 'default',
        version: 2,
        role: 'developer',
        messageId: 'i2',
        text: 'be brief',
        place: refOf(latest),
      },
    ]);
    expect(surface(main.events).items).toEqual([]);
  });

  it('MS3 a redacted or withdrawn version leaves its slot name empty: none takes its place', () => {
    const main = buildBranch('main');
    main.add(revise(1, 'be kind'));
    const latest = main.add(revise(2, 'be brief'));
    const directory = buildDirectory();
    directory.add(redact(latest, 'i2'));
    expect(surface(main.events, directory.events).instructions).toEqual([]);
    main.add({ type: 'MessagesWithdrawn', data: { messages: ['i2'] } });
    expect(surface(main.events).instructions).toEqual([]);
  });
});

describe('compactions in force', () => {
  it('CX5 carry their summary, their shortenings and what they cover', () => {
    const main = buildBranch('main');
    main.add(said('m1', 'user', 'one'));
    main.add(said('m2', 'user', 'two'));
    const made = main.add(
      compacted('k1', ['m1', 'm2'], {
        shortened: [{ messageId: 'm2', text: inline('tw…') }],
        trust: 'external',
      }),
    );
    expect(surface(main.events).compactions).toEqual([
      {
        compaction: 'k1',
        place: refOf(made),
        covered: ['m1', 'm2'],
        replacement: expect.objectContaining({
          id: 'summary-k1',
          blocks: [{ type: 'text', text: 'summary of m1 m2' }],
        }) as unknown,
        shortened: new Map([['m2', 'tw…']]),
        strategy: 'summary',
        trust: 'external',
        changed: [],
      },
    ]);
  });

  it('MS3 a summary that was redacted, withdrawn or erased is not given; its range stays covered', () => {
    const shown = (
      change: (made: Recorded, main: ReturnType<typeof buildBranch>) => Recorded[],
    ) => {
      const main = buildBranch('main');
      main.add(said('m1', 'user', 'one'));
      const made = main.add(compacted('k1', ['m1']));
      return surface(change(made, main), main.events).compactions[0];
    };
    const redacted = shown((made) => {
      const directory = buildDirectory();
      return [directory.add(redact(made, 'summary-k1'))];
    });
    const withdrawn = shown((_made, main) => {
      main.add({ type: 'MessagesWithdrawn', data: { messages: ['summary-k1'] } });
      return [];
    });
    for (const compaction of [redacted, withdrawn]) {
      expect(compaction?.covered).toEqual(['m1']);
      expect(compaction?.replacement).toBeUndefined();
    }
    const main = buildBranch('main');
    main.add(said('m1', 'user', 'one'));
    const replacement = { ...storedMessage('s', 'user', ''), blocks: sealed };
    main.add(compacted('k1', ['m1'], { replacement }));
    expect(surface(main.events).compactions[0]?.replacement).toBeUndefined();
  });

  it('MS3 the shortened text of a redacted message is neither asked for nor given', () => {
    const main = buildBranch('main');
    const secret = main.add(said('m1', 'user', 'secret'));
    const { replacement: _none, ...shortening } = compacted('k1', ['m1'], {
      shortened: [{ messageId: 'm1', text: inline('secr…') }],
    }).data;
    main.add({ type: 'ContextCompacted', data: shortening });
    const directory = buildDirectory();
    directory.add(redact(secret, 'm1'));
    expect(surface(main.events).compactions[0]?.shortened.size).toBe(1);
    const events = [...main.events, ...directory.events];
    expect(surface(events).compactions[0]?.shortened.size).toBe(0);
    expect(slotsOf(project(history, events))).toEqual([]);
  });

  it('SE1 calls that nothing will answer are closed', () => {
    const main = buildBranch('main');
    main.add(said('a1', 'assistant', 'x', { calls: [['c', 'f']], blocks: textBlocks('x') }));
    main.add({
      type: 'ToolCallAbandoned',
      data: { call: { messageId: 'a1', index: 0, callId: 'c1' } },
    });
    expect(itemOf(surface(main.events), 'a1').closedCalls).toEqual([0]);
  });
});
