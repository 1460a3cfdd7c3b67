import { describe, expect, it } from 'vitest';
import { claudeCodeTable } from '../../../../harness/data/claude-code-table.js';
import { differences } from '../../../../harness/data/table.js';
import { foldPlan } from '../fold-plan.js';
import { branch, expectedOf, fixture, planned, rawTexts, recordsOf } from '../sessions.js';

const files = expectedOf('claude-code');

const lineTexts = (bytes: Uint8Array): readonly string[] =>
  new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '');

describe('sessions of Claude Code that others wrote', () => {
  it('are there', () => {
    expect(files.length).toBe(9);
  });

  it.each(files)('B59 %s gives what is expected of it', (name, expected) => {
    const plan = planned(fixture(`claude-code/${name}`), { salvage: true });
    const view = foldPlan(plan);
    expect(differences(claudeCodeTable, { report: plan.report, view }, expected)).toEqual([]);
  });

  it.each(files)('MS4 %s keeps each line word for word, once', (name) => {
    const bytes = fixture(`claude-code/${name}`);
    const plan = planned(bytes, { salvage: true });
    const torn = plan.report.notes.filter(({ code }) => code === 'torn_line').length;
    const lines = lineTexts(bytes);
    expect([...rawTexts(plan)].sort()).toEqual([...lines.slice(0, lines.length - torn)].sort());
  });

  it('CX5 a summary stands for what it covers, and what the client preserved stays', () => {
    const plan = planned(fixture('claude-code/dag-compact-after-rewind-preserved.jsonl'));
    const items = branch(plan, 'b2u').items;
    expect(branch(plan, 'b2u').parent).toEqual({ key: 'main', record: 'a1' });
    expect(recordsOf(branch(plan, 'main').items)).toEqual(['u1', 'a1', 'b1u', 'b1a']);
    expect(items.find(({ kind }) => kind === 'compaction')).toMatchObject({
      record: 'cs',
      covers: ['u1', 'a1', 'b2u'],
      replacement: { id: 'cs', role: 'user', trust: 'model' },
    });
  });
});
