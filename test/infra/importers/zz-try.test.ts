import * as fs from 'node:fs';
import * as E from 'fp-ts/lib/Either.js';
import { it, expect } from 'vitest';
import { planImport, detectFormat } from '../../../src/infra/importers/detect.js';
import { foldPlan } from './fold-plan.js';
import { claudeCodeTable } from '../../../harness/data/claude-code-table.js';
import { openaiChatTable } from '../../../harness/data/openai-chat-table.js';
import { differences } from '../../../harness/data/table.js';
for (const folder of [
  'claude-code',
  'openai-chat',
  'multilingual',
  'ai-sdk',
  'anthropic',
  'chat-exports',
  'codex',
  'dsh',
  'gemini',
  'langgraph',
  'openai-agents',
  'openai-responses',
  'pi',
]) {
  const base = '/work/shared/data/' + folder;
  const expected = JSON.parse(fs.readFileSync(base + '/expected.json', 'utf8'));
  for (const [name, want] of Object.entries(expected))
    it(folder + '/' + name, () => {
      if (!fs.existsSync(base + '/' + name)) {
        console.log('no file', name);
        return;
      }
      const bytes = fs.readFileSync(base + '/' + name);
      const f = detectFormat(bytes);
      if (f === undefined) {
        const p = planImport(bytes);
        console.log(folder + '/' + name, 'not recognised', JSON.stringify(p));
        return;
      }
      const plan = planImport(bytes, { salvage: true });
      if (E.isLeft(plan)) throw new Error(JSON.stringify(plan.left));
      if (f !== 'claude-code')
        console.log(
          name,
          plan.right.conversations
            .map(
              (c) =>
                c.externalId +
                ':' +
                c.branches.map((b) => b.key + '(' + b.items.length + ')').join(','),
            )
            .join(' | ')
            .slice(0, 300),
          JSON.stringify(plan.right.report).slice(0, 300),
        );
      const d = differences(
        f === 'claude-code' ? claudeCodeTable : openaiChatTable,
        { report: plan.right.report, view: foldPlan(plan.right) },
        want as any,
      );
      expect(d).toEqual([]);
    });
}
