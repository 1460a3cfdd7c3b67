import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventCount } from './walk.js';
import type { ImportedMessage, ImportPlan } from '../../src/domain/import-plan.js';
import type { Message } from '../../src/domain/message.js';
import type { EngineContext } from '../../src/engine/engine-context.js';
import { runImport } from '../../src/engine/import-run.js';
import { projectBranch, resolve } from '../../src/engine/queries.js';
import { toolExchanges } from '../../src/projections/tool-exchanges.js';
import { memoryEngine, right } from '../support/engine.js';

/** What stands in a foreign list: words, a call by its provider id, or a result of one. */
type Foreign = 'words' | { readonly calls: string } | { readonly answers: string };

const messageOf = (foreign: Foreign, at: number): Message => ({
  id: `m${String(at)}`,
  role: foreign === 'words' ? 'user' : 'calls' in foreign ? 'assistant' : 'tool',
  blocks: [{ type: 'text', text: `text ${String(at)}` }],
  toolCalls:
    foreign !== 'words' && 'calls' in foreign
      ? [{ id: foreign.calls, name: 'tool', arguments: '{}' }]
      : [],
  answers: [],
  provenance: { kind: 'importer' },
  trust: 'external',
  status: 'confirmed',
});

const planOf = (list: readonly Foreign[]): ImportPlan => {
  const items = list.map((foreign, at): ImportedMessage => {
    const answersCallIds = foreign !== 'words' && 'answers' in foreign ? [foreign.answers] : [];
    return {
      kind: 'message',
      record: `r${String(at)}`,
      message: messageOf(foreign, at),
      answersCallIds,
    };
  });
  const counts = { records: list.length, mapped: list.length, kept: 0, duplicates: 0 };
  return {
    format: 'test',
    importId: `import of ${String(list.length)}`,
    digest: String(list.length),
    conversations: [
      { externalId: 'c', branches: [{ key: 'main', name: 'main', reason: 'import', items }] },
    ],
    report: { format: 'test', ...counts, notes: [], source: {} },
  };
};

/** Index of the call that each result answers: the nearest earlier one that is unanswered. */
const answeredBy = (list: readonly Foreign[]): readonly (readonly [string, string])[] => {
  const pairs: [string, string][] = [];
  const taken = new Set<number>();
  list.forEach((foreign, at) => {
    if (foreign === 'words' || !('answers' in foreign)) return;
    for (let before = at - 1; before >= 0; before -= 1) {
      const other = list[before]!;
      const isOpen = other !== 'words' && 'calls' in other && !taken.has(before);
      if (!isOpen || other.calls !== foreign.answers) continue;
      taken.add(before);
      pairs.push([`m${String(before)}`, `m${String(at)}`]);
      return;
    }
  });
  return pairs.sort();
};

const pairsIn = async (engine: EngineContext): Promise<readonly (readonly string[])[]> => {
  const { conversation, entry } = await right(resolve(engine, 'c'));
  const key = { tenant: engine.tenant, conversation, branch: entry.branch };
  const { exchanges } = await right(projectBranch(engine, key, toolExchanges));
  return exchanges
    .flatMap(({ messageId, answers }) => answers.map((answer) => [messageId, answer.messageId]))
    .sort();
};

const callId = fc.constantFrom('c1', 'c2');
const foreign = fc.oneof(
  fc.constant<Foreign>('words'),
  fc.record({ calls: callId }),
  fc.record({ answers: callId }),
);

describe('imports', () => {
  it('B31 a result answers the nearest earlier unanswered call of its id', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(foreign, { minLength: 1, maxLength: 12 }), async (list) => {
        const engine = await memoryEngine();
        await right(runImport(engine, planOf(list)));
        expect(await pairsIn(engine)).toEqual(answeredBy(list));
      }),
      { numRuns: 60 },
    );
  });

  it('B59 the same again adds nothing, and a longer one only what is new', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(foreign, { minLength: 2, maxLength: 10 }),
        fc.nat(),
        async (list, cut) => {
          const engine = await memoryEngine();
          const shorter = planOf(list.slice(0, 1 + (cut % (list.length - 1))));
          await right(runImport(engine, shorter));
          const before = await eventCount(engine.runtime.events);
          expect((await right(runImport(engine, shorter))).appended).toBe(0);
          expect(await eventCount(engine.runtime.events)).toBe(before);
          await right(runImport(engine, planOf(list)));
          expect(await pairsIn(engine)).toEqual(answeredBy(list));
          expect((await right(runImport(engine, planOf(list)))).appended).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });
});
