import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../prove/model/engine-side.js';
import { fork } from '../../src/engine/conversation-commands.js';
import type { BranchContext } from '../../src/engine/engine-context.js';
import { readHistory } from '../../src/engine/histories.js';
import { append } from '../../src/engine/message-commands.js';
import { encodeView } from '../../src/projections/encode-view.js';
import { mainBranch, memoryEngine, right } from '../support/engine.js';
import { startWalk } from './walk.js';

const ids = async ({ runtime, histories, key }: BranchContext): Promise<readonly string[]> => {
  const { entries } = await right(readHistory(runtime, histories, key));
  return entries.flatMap((entry) => (entry.kind === 'instructions' ? [] : [entry.message.id]));
};

const say = (on: BranchContext, id: string) =>
  right(append(on, { id, role: 'user', content: `said ${id}` }));

interface Family {
  readonly branch: BranchContext;
  readonly expected: string[];
}

describe('branches', () => {
  it('OR2 a branch sees its ancestors up to each fork point, and nothing that came later', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ on: fc.nat(), at: fc.nat(), forks: fc.boolean() }), {
          minLength: 5,
          maxLength: 25,
        }),
        async (moves) => {
          const main = await mainBranch(await memoryEngine());
          const family: Family[] = [{ branch: main, expected: [] }];
          for (const [index, { on, at, forks }] of moves.entries()) {
            const one = family[on % family.length]!;
            if (!forks) {
              await say(one.branch, `m${String(index)}`);
              one.expected.push(`m${String(index)}`);
              continue;
            }
            const { head, entries } = await right(
              readHistory(one.branch.runtime, one.branch.histories, one.branch.key),
            );
            const isOwn = head?.branch === one.branch.key.branch;
            const revision = isOwn ? at % (head.revision + 1) : 0;
            const own = entries.filter(({ place }) => place.branch === one.branch.key.branch);
            const after = own.filter(({ place }) => place.revision > revision).length;
            const branch = await right(
              fork(one.branch, { branch: one.branch.key.branch, revision }),
            );
            family.push({
              branch: { ...main, key: { ...main.key, branch } },
              expected: one.expected.slice(0, one.expected.length - after),
            });
          }
          for (const { branch, expected } of family) expect(await ids(branch)).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('OR2 a chain of forks longer than what a fork names is read whole', async () => {
    const main = await mainBranch(await memoryEngine());
    let tip = main;
    const expected: string[] = [];
    for (let depth = 0; depth < 70; depth += 1) {
      const id = `m${String(depth)}`;
      const [{ place } = { place: { revision: 0 } }] = (await say(tip, id)).answer;
      expected.push(id);
      await say(tip, `beside ${id}`);
      const at = { branch: tip.key.branch, revision: place.revision };
      tip = { ...main, key: { ...main.key, branch: await right(fork(tip, at)) } };
    }
    expect(await ids(tip)).toEqual(expected);
    expect((await say(tip, 'm0')).answer[0]?.status).toBe('replayed');
    expect((await say(tip, 'beside m0')).answer[0]?.status).toBe('written');
  });

  it('G9 no command changes the history of a revision that was there before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const walk = await startWalk(seed);
        const seen = new Map<string, string>();
        const look = async (point: number, branch: number): Promise<string> => {
          const { runtime, histories, key } = contextFor(walk.side, 0, branch);
          const view = await right(readHistory(runtime, histories, key, { revision: point }));
          // A redaction reaches every revision on purpose; what was said stays where it was said.
          return encodeView([view.head, view.entries.map(({ place }) => place), view.at]);
        };
        for (let step = 0; step < 30; step += 1) {
          await walk.next();
          for (const [branch, { log }] of walk.choosing.world.branches.entries()) {
            const point = log.length - 1;
            const name = `${String(branch)}@${String(point)}`;
            if (!seen.has(name)) seen.set(name, await look(point, branch));
          }
        }
        for (const [name, view] of seen) {
          const [branch = 0, point = 0] = name.split('@').map(Number);
          expect(await look(point, branch)).toBe(view);
        }
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });
});
