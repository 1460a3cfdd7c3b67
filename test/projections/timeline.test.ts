import { describe, expect, it } from 'vitest';
import { audit } from '../../src/projections/audit.js';
import { project } from '../../src/projections/projection.js';
import { timeline } from '../../src/projections/timeline.js';
import {
  answered,
  buildBranch,
  buildDirectory,
  compacted,
  inline,
  messageRefOf,
  opened,
  refOf,
  requested,
  said,
  second,
  uid,
} from '../support/recorded-builder.js';

const SECRET = 'only for the eyes of ann';

const story = () => {
  const main = buildBranch('main');
  main.add(opened('main'));
  main.add({ type: 'TurnStarted', data: { turn: 't', run: 'r1' } });
  const message = main.add(said('a1', 'assistant', SECRET, { calls: [['c1', 'find']] }), {
    actor: 'model',
    run: 'r1',
  });
  main.add(answered('t1', [['a1', 0, 'c1']], { outcome: 'ok', durationMs: 3 }));
  main.add(compacted('k1', ['a1', 't1']));
  main.add({ type: 'TurnEnded', data: { turn: 't', outcome: 'completed' } });
  main.addRaw('SomethingNew', `{"x":"${SECRET}"}`);
  const directory = buildDirectory();
  directory.add({
    type: 'ConversationStarted',
    data: { main: uid('main'), labels: [], title: inline(SECRET) },
  });
  directory.add({
    type: 'MessageRedacted',
    data: { message: messageRefOf(message, 'a1'), authority: 'dpo', reason: inline(SECRET) },
  });
  return { main, directory };
};

describe('timeline', () => {
  it('B40 lists every event in lineage order and goes on past unknown ones', () => {
    const { main } = story();
    const { items } = project(timeline, main.events);
    expect(items.map(({ type, kind }) => [type, kind])).toEqual([
      ['BranchOpened', 'branch'],
      ['TurnStarted', 'turn'],
      ['MessageAppended', 'message'],
      ['ToolResultAttached', 'tool'],
      ['ContextCompacted', 'compaction'],
      ['TurnEnded', 'turn'],
      ['SomethingNew', 'unknown'],
    ]);
    expect(items[6]?.unknown).toEqual({ version: 1, reason: 'type' });
  });

  it('OR1 gives each item its place, writer, subjects and closed facts', () => {
    const { main } = story();
    const { items } = project(timeline, main.events);
    expect(items[3]).toEqual({
      sequence: 3,
      place: refOf(main.events[3] ?? expect.fail('no event')),
      at: second(3),
      actor: 'tester',
      turn: 't',
      type: 'ToolResultAttached',
      kind: 'tool',
      subjects: [
        { kind: 'message', id: 't1' },
        { kind: 'tool_call', id: '0 a1' },
      ],
      facts: { outcome: 'ok', durationMs: 3 },
    });
    expect(items[4]?.facts).toEqual({
      covered: 2,
      strategy: 'summary',
      tokensBefore: 100,
      tokensAfter: 10,
    });
    expect(items.map(({ turn }) => turn)).toEqual([undefined, 't', 't', 't', 't', 't', undefined]);
  });

  it('G10 keeps the directory apart, however it interleaves', () => {
    const { main, directory } = story();
    const view = project(timeline, [...main.events, ...directory.events]);
    expect(view.directory.map(({ type }) => type)).toEqual([
      'ConversationStarted',
      'MessageRedacted',
    ]);
    expect(project(timeline, [...directory.events, ...main.events])).toEqual(view);
  });

  it('MS3 holds no content, nor does the audit', () => {
    const { main, directory } = story();
    const events = [...main.events, ...directory.events];
    const views = [project(timeline, events), project(audit, events)];
    expect(JSON.stringify(views)).not.toContain(SECRET);
  });
});

describe('audit', () => {
  it('DC6 tells who did what, by stream and in revision order', () => {
    const { main, directory } = story();
    const view = project(audit, [...main.events, ...directory.events]);
    expect(view.streams.map(({ stream }) => stream)).toEqual(
      [main.stream, directory.stream].sort(),
    );
    const own = view.streams.find(({ stream }) => stream === main.stream);
    expect(own?.entries[2]).toEqual({
      revision: 2,
      hash: main.events[2]?.hash,
      type: 'MessageAppended',
      actor: 'model',
      via: 'test',
      run: 'r1',
      at: second(2),
      clockRegressed: false,
      subjects: [{ kind: 'message', id: 'a1' }],
      known: true,
    });
    expect(own?.entries[6]).toMatchObject({ type: 'SomethingNew', known: false, subjects: [] });
    expect(view.actors.get('model')).toEqual({
      events: 1,
      types: new Map([['MessageAppended', 1]]),
    });
    expect(view.actors.get('tester')?.events).toBe(8);
  });

  it('B51 flags a clock that stood before the recorded time and keeps its reading', () => {
    const main = buildBranch('main');
    main.add(opened('main'), { at: second(9) });
    main.add(said('m', 'user', 'x'), { at: second(9), wall: second(2) });
    const [stream] = project(audit, main.events).streams;
    expect(stream?.entries.map(({ clockRegressed }) => clockRegressed)).toEqual([false, true]);
    expect(stream?.entries[1]).toMatchObject({ at: second(9), wall: second(2) });
  });

  it('CX4 names the calls of models as subjects', () => {
    const main = buildBranch('main');
    main.add(requested('c2', { retryOf: 'c1' }));
    expect(project(audit, main.events).streams[0]?.entries[0]?.subjects).toEqual([
      { kind: 'model_call', id: 'c2' },
      { kind: 'model_call', id: 'c1' },
    ]);
  });
});
