import { describe, expect, it } from 'vitest';
import { history, historyRows, type History } from '../../src/projections/history.js';
import { project } from '../../src/projections/projection.js';
import type { Recorded } from '../../src/domain/recorded.js';
import {
  buildBranch,
  buildDirectory,
  compacted,
  messageRefOf,
  opened,
  refOf,
  requested,
  said,
  second,
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

describe('compactions', () => {
  const talk = () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    const messages = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'].map((id) =>
      main.add(said(id, 'user', id)),
    );
    return { main, messages };
  };
  const live = (shown: History) =>
    shown.live.map(({ entry, covered, changed }) => [entry.data.compaction, covered, changed]);
  const states = (shown: History) => shown.compactions.map((entry) => entry.state);
  const revert = (compaction: string, at: Recorded) =>
    ({ type: 'CompactionReverted', data: { compaction, at: refOf(at) } }) as const;

  it('CX5 stands beside history, not in it, and is shown at its place in the log', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m1', 'm2']), { at: second(6) });
    main.add(said('m7', 'user', 'm7'), { at: second(6) });
    const shown = view(main.events);
    expect(ids(shown)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7']);
    expect(historyRows(shown).map((row) => row.kind)).toEqual([
      ...Array<string>(6).fill('message'),
      'summary',
      'message',
    ]);
    expect(live(shown)).toEqual([['k1', ['m1', 'm2'], []]]);
    expect(entryOf(shown, 'm2').coveredBy).toBe('k1');
    expect(entryOf(shown, 'm3').coveredBy).toBeUndefined();
  });

  it('CX5 revert restores what was covered', () => {
    const { main } = talk();
    const before = view(main.events);
    const made = main.add(compacted('k1', ['m1', 'm2']));
    const undo = main.add(revert('k1', made));
    const shown = view(main.events);
    expect(shown.live).toEqual([]);
    expect(shown.entries).toEqual(before.entries);
    expect(shown.compactions[0]).toMatchObject({ state: 'reverted', reverted: refOf(undo) });
  });

  it('CX5 a later compaction hides the one within it; reverting it brings that one back', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m1', 'm2']));
    const outer = main.add(compacted('k2', ['m1', 'm2', 'm3', 'm4']));
    expect(live(view(main.events))).toEqual([['k2', ['m1', 'm2', 'm3', 'm4'], []]]);
    expect(states(view(main.events))).toEqual(['hidden', 'live']);
    main.add(revert('k2', outer));
    expect(live(view(main.events))).toEqual([['k1', ['m1', 'm2'], []]]);
    expect(states(view(main.events))).toEqual(['live', 'reverted']);
  });

  it('CX5 a summary of a summary stands for the messages of both', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m1', 'm2']));
    main.add(compacted('k2', ['summary-k1', 'm3']));
    main.add(compacted('k3', ['summary-k2', 'm4']));
    expect(live(view(main.events))).toEqual([['k3', ['m1', 'm2', 'm3', 'm4'], []]]);
    expect(states(view(main.events))).toEqual(['hidden', 'hidden', 'live']);
  });

  it('CX5 a later compaction whose range holds an earlier one hides it', () => {
    const { main } = talk();
    const run = (from: number, to: number) => [{ branch: uid('main'), from, to }];
    main.add(compacted('k1', ['m1', 'm2'], { covers: run(1, 2) }));
    main.add(compacted('k2', ['m1', 'm3'], { covers: run(1, 3) }));
    expect(states(view(main.events))).toEqual(['hidden', 'live']);
    expect(entryOf(view(main.events), 'm2').coveredBy).toBeUndefined();
  });

  it('CX5 what lies within a hidden compaction is hidden with it', () => {
    const { main } = talk();
    const run = (from: number, to: number) => [{ branch: uid('main'), from, to }];
    main.add(compacted('k1', ['m1'], { covers: run(1, 1) }));
    main.add(compacted('k2', ['m2'], { covers: run(1, 2) }));
    main.add(compacted('k3', ['summary-k2']));
    expect(states(view(main.events))).toEqual(['hidden', 'hidden', 'live']);
  });

  it('CX5 disjoint compactions are both in force, in log order', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m4', 'm5']));
    main.add(compacted('k2', ['m1', 'm2']));
    expect(live(view(main.events)).map(([name]) => name)).toEqual(['k1', 'k2']);
  });

  it('CX5 names covered messages that changed after the summary was made, not before', () => {
    const { main, messages } = talk();
    const change = (index: number, to: 'superseded' | 'confirmed') =>
      main.add({
        type: 'MessageStatusChanged',
        data: {
          message: messageRefOf(messages[index]!, `m${String(index + 1)}`),
          to,
          by: 'x',
        },
      });
    change(0, 'superseded');
    main.add(compacted('k1', ['m1', 'm2', 'm3', 'm4']));
    change(1, 'superseded');
    main.add({ type: 'MessagesWithdrawn', data: { messages: ['m3', 'm5'] } });
    expect(live(view(main.events))).toEqual([['k1', ['m1', 'm2', 'm3', 'm4'], ['m2', 'm3']]]);
  });

  it('CX5 measures change from the innermost summary that used the message', () => {
    const { main } = talk();
    main.add(compacted('k1', ['m1', 'm2']));
    main.add({ type: 'MessagesWithdrawn', data: { messages: ['m2'] } });
    main.add(compacted('k2', ['summary-k1', 'm3']));
    expect(live(view(main.events))).toEqual([['k2', ['m1', 'm2', 'm3'], ['m2']]]);
  });

  it('CX5 a redaction counts as a change unless the call that made the summary knew it', () => {
    const { main, messages } = talk();
    const directory = buildDirectory();
    for (const index of [0, 1]) {
      const id = `m${String(index + 1)}`;
      directory.add({
        type: 'MessageRedacted',
        data: { message: messageRefOf(messages[index]!, id), authority: 'dpo' },
      });
    }
    main.add(requested('call-1', { purpose: 'compaction', directoryRevision: 0 }));
    main.add(compacted('k1', ['m1', 'm2', 'm3'], { madeBy: 'call-1' }));
    main.add(compacted('k2', ['m4']));
    expect(live(view(main.events, directory.events))[0]).toEqual([
      'k1',
      ['m1', 'm2', 'm3'],
      ['m2'],
    ]);
    const unknown = talk();
    unknown.main.add(compacted('k1', ['m1', 'm3']));
    expect(live(view(unknown.main.events, directory.events))).toEqual([
      ['k1', ['m1', 'm3'], ['m1']],
    ]);
  });

  it('MS3 a redacted summary is shown as redacted at its place', () => {
    const { main } = talk();
    const made = main.add(compacted('k1', ['m1']));
    const directory = buildDirectory();
    const redaction = directory.add({
      type: 'MessageRedacted',
      data: { message: messageRefOf(made, 'summary-k1'), authority: 'dpo' },
    });
    const shown = view(directory.events, main.events);
    expect(shown.compactions[0]?.fate.redacted).toEqual(refOf(redaction));
    expect(shown.live).toHaveLength(1);
  });
});
