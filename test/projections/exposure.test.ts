import { describe, expect, it } from 'vitest';
import type { ModelCallRequested } from '../../src/domain/events/model-call-events.js';
import type { Recorded } from '../../src/domain/recorded.js';
import { exposure, exposuresOf } from '../../src/projections/exposure.js';
import { project } from '../../src/projections/projection.js';
import {
  buildBranch,
  buildDirectory,
  compacted,
  inline,
  messageRefOf,
  opened,
  refOf,
  requested,
  said,
  uid,
  type StreamBuilder,
} from '../support/recorded-builder.js';

const run = (from: number, to: number, disposition = 'window', branch = 'main') => ({
  branch: uid(branch),
  from,
  to,
  disposition,
});

const call = (main: StreamBuilder, id: string, more: Partial<ModelCallRequested>): Recorded =>
  main.add(requested(id, { directoryRevision: -1, ...more }));

const sentBy = (events: readonly Recorded[], id: string): readonly (readonly string[])[] =>
  exposuresOf(project(exposure, events), id).map(({ modelCallId, how, disposition }) => [
    modelCallId,
    how,
    disposition,
  ]);

/** Revisions: 0 opened, 1 m1, 2 m2, 3 m3. */
const talk = () => {
  const main = buildBranch('main');
  main.add(opened('main'));
  const messages = ['m1', 'm2', 'm3'].map((id) => main.add(said(id, 'user', id)));
  return { main, messages };
};

describe('exposure', () => {
  it('CX3 names the calls whose selection sent a message, with disposition and model', () => {
    const { main } = talk();
    const first = call(main, 'c1', {
      model: 'm-1',
      selection: [run(1, 1, 'budget'), run(2, 3, 'must_keep')],
    });
    call(main, 'c2', { selection: [run(0, 3)] });
    expect(sentBy(main.events, 'm1')).toEqual([['c2', 'message', 'window']]);
    expect(sentBy(main.events, 'm3')).toEqual([
      ['c1', 'message', 'must_keep'],
      ['c2', 'message', 'window'],
    ]);
    expect(exposuresOf(project(exposure, main.events), 'm2')[0]).toEqual({
      modelCallId: 'c1',
      requested: refOf(first),
      at: first.meta.at,
      profile: 'openai-chat',
      model: 'm-1',
      how: 'message',
      disposition: 'must_keep',
      certain: true,
    });
    expect(sentBy(main.events, 'nobody')).toEqual([]);
  });

  it('CX3 a message that came after the call, or is of another branch, was not sent by it', () => {
    const { main } = talk();
    call(main, 'c1', { selection: [run(0, 99), run(0, 99, 'window', 'other')] });
    main.add(said('m4', 'user', 'late'));
    expect(sentBy(main.events, 'm4')).toEqual([]);
    call(main, 'c2', { selection: [run(0, 99, 'window', 'other')] });
    expect(sentBy(main.events, 'm4')).toEqual([]);
  });

  it('CX3 what the state took out within a run was not sent; before that it was', () => {
    const { main, messages } = talk();
    main.add(said('d', 'assistant', 'x', { status: 'draft' }));
    call(main, 'c1', { selection: [run(0, 9)] });
    main.add({
      type: 'MessageStatusChanged',
      data: { message: messageRefOf(messages[0]!, 'm1'), to: 'superseded', by: 'x' },
    });
    main.add({ type: 'MessagesWithdrawn', data: { messages: ['m2'] } });
    call(main, 'c2', { selection: [run(0, 9)] });
    const calls = (id: string) => sentBy(main.events, id).map(([name]) => name);
    expect(calls('m1')).toEqual(['c1']);
    expect(calls('m2')).toEqual(['c1']);
    expect(calls('m3')).toEqual(['c1', 'c2']);
    expect(calls('d')).toEqual([]);
  });

  it('MS3 a redacted message was sent by calls that did not know of it, by no other', () => {
    const { main, messages } = talk();
    const directory = buildDirectory();
    directory.add({ type: 'ConversationClosed', data: {} });
    directory.add({
      type: 'MessageRedacted',
      data: { message: messageRefOf(messages[0]!, 'm1'), authority: 'dpo' },
    });
    call(main, 'c1', { selection: [run(0, 3)], directoryRevision: 0 });
    call(main, 'c2', { selection: [run(0, 3)], directoryRevision: 1 });
    expect(sentBy([...main.events, ...directory.events], 'm1').map(([name]) => name)).toEqual([
      'c1',
    ]);
    expect(sentBy([...directory.events, ...main.events], 'm1').map(([name]) => name)).toEqual([
      'c1',
    ]);
  });

  it('CX5 a covered message was sent within its summary, and again as itself after the undo', () => {
    const { main } = talk();
    const made = main.add(compacted('k1', ['m1', 'm2']));
    call(main, 'c1', { selection: [run(0, 3), run(4, 4, 'summary')] });
    main.add({ type: 'CompactionReverted', data: { compaction: 'k1', at: refOf(made) } });
    call(main, 'c2', { selection: [run(0, 5)] });
    expect(sentBy(main.events, 'm1')).toEqual([
      ['c1', 'summary', 'summary'],
      ['c2', 'message', 'window'],
    ]);
    expect(exposuresOf(project(exposure, main.events), 'm1')[0]?.compaction).toBe('k1');
    expect(sentBy(main.events, 'm3').map(([name]) => name)).toEqual(['c1', 'c2']);
    expect(sentBy(main.events, 'summary-k1')).toEqual([['c1', 'summary', 'summary']]);
  });

  it('CX5 follows summaries of summaries', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m1', 'm2']));
    main.add(compacted('k2', ['summary-k1', 'm3']));
    call(main, 'c1', { selection: [run(5, 5, 'summary')] });
    for (const id of ['m1', 'm3', 'summary-k1', 'summary-k2']) {
      expect(sentBy(main.events, id)).toEqual([['c1', 'summary', 'summary']]);
    }
  });

  it('CX5 a compaction that a later one only touches stays in force', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m1', 'm2']));
    main.add(compacted('k2', ['m1', 'm3']));
    call(main, 'c1', { selection: [run(4, 5, 'summary')] });
    for (const id of ['m1', 'm2', 'm3', 'summary-k1']) {
      expect(sentBy(main.events, id)).toEqual([['c1', 'summary', 'summary']]);
    }
  });

  it('CX5 a compaction within the range of a later one is not in force', () => {
    const { main } = talk();
    const range = (from: number, to: number) => [{ branch: uid('main'), from, to }];
    main.add(compacted('k1', ['m1', 'm2'], { covers: range(1, 2) }));
    main.add(compacted('k2', ['m1', 'm3'], { covers: range(1, 3) }));
    call(main, 'c1', { selection: [run(0, 5)] });
    expect(sentBy(main.events, 'summary-k1')).toEqual([]);
    expect(sentBy(main.events, 'm2')).toEqual([['c1', 'message', 'window']]);
  });

  it('CX5 a shortened message was sent short', () => {
    const { main } = talk();
    const { replacement: _none, ...data } = compacted('k1', ['m1', 'm2'], {
      shortened: [{ messageId: 'm1', text: inline('m…') }],
    }).data;
    main.add({ type: 'ContextCompacted', data });
    call(main, 'c1', { selection: [run(1, 1, 'shortened'), run(2, 3)] });
    expect(sentBy(main.events, 'm1')).toEqual([['c1', 'shortened', 'shortened']]);
    expect(sentBy(main.events, 'm2')).toEqual([]);
  });

  it('RL2 instructions were sent by the calls that name their version', () => {
    const { main } = talk();
    for (const version of [1, 2]) {
      main.add({
        type: 'InstructionsRevised',
        data: {
          name: 'default',
          version,
          owner: 'ops',
          role: 'system',
          messageId: `i${String(version)}`,
          content: inline('x'),
          digest: 'd',
        },
      });
    }
    call(main, 'c1', { instructions: [{ name: 'default', version: 2 }], selection: [run(0, 9)] });
    expect(sentBy(main.events, 'i1')).toEqual([]);
    expect(sentBy(main.events, 'i2')).toEqual([['c1', 'instructions', 'instructions']]);
  });

  it('RL5 what the log alone cannot tell is named as uncertain', () => {
    const { main } = talk();
    main.add(said('cut', 'assistant', 'x', { status: 'interrupted' }));
    call(main, 'c1', { selection: [run(0, 9)] });
    call(main, 'c2', { selection: [run(0, 9, 'of-a-newer-build')] });
    const certain = (id: string) =>
      exposuresOf(project(exposure, main.events), id).map((found) => found.certain);
    expect(certain('cut')).toEqual([false, false]);
    expect(certain('m1')).toEqual([true, false]);
  });
});
