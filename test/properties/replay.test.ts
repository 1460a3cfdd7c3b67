import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../prove/model/steps.js';
import { eventCount, startWalk } from './walk.js';

const named = (step: Step, index: number): Step =>
  ['claim', 'endTurn', 'recover', 'close', 'reopen', 'start'].includes(step.do)
    ? step
    : { ...step, commandId: step.commandId ?? `again ${String(index)}` };

/** What an answer says apart from whether it was the first time. */
const told = (answer: unknown): string =>
  JSON.stringify(answer).replaceAll('"written"', '"replayed"');

describe('commands', () => {
  it('CM1 a command given twice writes once, and answers the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const walk = await startWalk(seed);
        for (let index = 0; index < 30; index += 1) {
          await walk.next();
          const { random } = walk.choosing;
          const before = random.any(walk.choosing.given);
          if (before === undefined) continue;
          const step = named(before, index);
          const first = await walk.give(step);
          const events = await eventCount(walk.side.runtime.events);
          const second = await walk.give(step);
          expect([step.do, await eventCount(walk.side.runtime.events)]).toEqual([step.do, events]);
          if (first.kind === 'done' && second.kind === 'done' && step.do !== 'recover') {
            expect(told(second.answer)).toBe(told(first.answer));
          } else if (step.do !== 'recover') expect(second.kind).toBe(first.kind);
        }
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });
});
