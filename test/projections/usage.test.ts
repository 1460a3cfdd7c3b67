import { describe, expect, it } from 'vitest';
import type { Usage } from '../../src/domain/events/model-call-events.js';
import { project } from '../../src/projections/projection.js';
import { usage } from '../../src/projections/usage.js';
import { buildBranch, requested, type StreamBuilder } from '../support/recorded-builder.js';

const complete = (main: StreamBuilder, modelCallId: string, counts: Usage, late = false) =>
  main.add({
    type: 'ModelCallCompleted',
    data: { modelCallId, finishReason: 'stop', usage: counts, ...(late ? { late } : {}) },
  });

const fail = (main: StreamBuilder, modelCallId: string, lost: boolean) =>
  main.add({
    type: 'ModelCallFailed',
    data: { modelCallId, error: { kind: lost ? 'lost' : 'provider', retryable: true } },
  });

const zero = {
  calls: 0,
  completed: 0,
  failed: 0,
  lost: 0,
  reported: 0,
  input: 0,
  output: 0,
  cachedInput: 0,
  cacheWrite: 0,
  reasoning: 0,
  counted: 0,
};

describe('usage', () => {
  it('CX4 sums what providers reported by model, profile and purpose', () => {
    const main = buildBranch('main');
    const turn = { model: 'm-1', tokens: 10 };
    main.add(requested('c1', turn));
    complete(main, 'c1', { input: 9, output: 3, cachedInput: 4, cacheWrite: 1, reasoning: 2 });
    main.add(requested('c2', turn));
    complete(main, 'c2', { input: 1 });
    main.add(requested('c3', { ...turn, purpose: 'compaction' }));
    complete(main, 'c3', {});
    main.add(requested('c4', { tokens: 7, profile: { name: 'anthropic', version: 1 } }));
    const view = project(usage, main.events);
    expect(view.rows).toEqual([
      {
        ...zero,
        model: 'm-1',
        profile: 'openai-chat',
        purpose: 'compaction',
        calls: 1,
        completed: 1,
        counted: 10,
      },
      {
        ...zero,
        model: 'm-1',
        profile: 'openai-chat',
        purpose: 'turn',
        calls: 2,
        completed: 2,
        reported: 2,
        input: 10,
        output: 3,
        cachedInput: 4,
        cacheWrite: 1,
        reasoning: 2,
        counted: 20,
      },
      { ...zero, profile: 'anthropic', purpose: 'turn', calls: 1, counted: 7 },
    ]);
    expect(view.totals).toEqual({
      ...zero,
      calls: 4,
      completed: 3,
      reported: 2,
      input: 10,
      output: 3,
      cachedInput: 4,
      cacheWrite: 1,
      reasoning: 2,
      counted: 37,
    });
  });

  it('SE1 a late answer was paid for, but its call stays lost', () => {
    const main = buildBranch('main');
    main.add(requested('c1'));
    fail(main, 'c1', true);
    complete(main, 'c1', { output: 5 }, true);
    main.add(requested('c2'));
    fail(main, 'c2', false);
    complete(main, 'c2', { output: 2 });
    expect(project(usage, main.events).totals).toMatchObject({
      calls: 2,
      completed: 0,
      failed: 1,
      lost: 1,
      reported: 2,
      output: 7,
    });
  });

  it('G10 sibling branches that use one call id do not mix, however they interleave', () => {
    const left = buildBranch('left');
    const right = buildBranch('right');
    left.add(requested('c', { model: 'l' }));
    complete(left, 'c', { output: 1 });
    right.add(requested('c', { model: 'r' }));
    complete(right, 'c', { output: 2 });
    const [l1, l2] = left.events;
    const [r1, r2] = right.events;
    const view = project(
      usage,
      [l1, r1, l2, r2].filter((event) => event !== undefined),
    );
    expect(view.rows.map(({ model, output }) => [model, output])).toEqual([
      ['l', 1],
      ['r', 2],
    ]);
    expect(view).toEqual(project(usage, [...right.events, ...left.events]));
  });
});
