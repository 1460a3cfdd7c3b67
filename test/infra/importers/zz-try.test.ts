import * as fs from 'node:fs';
import * as E from 'fp-ts/lib/Either.js';
import { it, expect } from 'vitest';
import { planClaudeCode } from '/work/main/src/infra/importers/claude-code/importer.js';
import { foldPlan } from '/work/main/test/infra/importers/fold-plan.js';
import { claudeCodeTable } from '/work/main/harness/data/claude-code-table.js';
import { differences } from '/work/main/harness/data/table.js';
const folder='/work/shared/data/claude-code';
const expected=JSON.parse(fs.readFileSync(folder+'/expected.json','utf8'));
for (const [name, want] of Object.entries(expected)) it(name, () => {
  const bytes=fs.readFileSync(folder+'/'+name);
  const t=performance.now();
  const plan=planClaudeCode(bytes,{salvage:true});
  if (E.isLeft(plan)) throw new Error(JSON.stringify(plan.left));
  const strict=planClaudeCode(bytes,{});
  console.log(name, (performance.now()-t).toFixed(0)+'ms', E.isLeft(strict)?JSON.stringify(strict.left):'ok', plan.right.conversations.map(c=>c.externalId+':'+c.branches.map(b=>b.key+'('+b.items.length+')').join(',')).join(' | ').slice(0,300), JSON.stringify(plan.right.report.notes).slice(0,300));
  const d=differences(claudeCodeTable,{report:plan.right.report,view:foldPlan(plan.right)},want as any);
  expect(d).toEqual([]);
});
