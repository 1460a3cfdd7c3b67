import * as E from 'fp-ts/lib/Either.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  planCompaction,
  type CompactionDraft,
  type CompactionInput,
} from '../../../src/domain/context/compaction-plan.js';
import { estimator } from '../../../src/domain/tokens.js';
import { anySurface } from './arbitrary-surface.js';
import { attempt, chat, plan } from './context-support.js';
import { branch, compacted, extended, surfaceOf, type Spec } from './surface-builder.js';

const talk: readonly Spec[] = [
  { id: 's1', role: 'system', text: 'Rules.' },
  { id: 'u1', role: 'user', text: 'Goal '.repeat(20), pinned: true },
  { id: 'u2', role: 'user', text: 'Look. '.repeat(20) },
  { id: 'a2', role: 'assistant', calls: ['c1', 'c2'] },
  { id: 't1', role: 'tool', text: 'one '.repeat(100), answers: 'c1' },
  { id: 't2', role: 'tool', text: 'two '.repeat(100), answers: 'c2' },
  { id: 'a3', role: 'assistant', text: 'Seen.' },
  { id: 'u3', role: 'user', text: 'And now?' },
];

type Options = Partial<Omit<CompactionInput, 'profile' | 'counter'>>;

const attemptPlan = (options: Options) =>
  planCompaction({
    surface: surfaceOf(talk),
    profile: chat,
    counter: estimator,
    strategy: 'summary',
    ...(options.strategy === undefined && { summary: 'Both were read.' }),
    ...options,
  });

const draft = (options: Options): CompactionDraft => {
  const planned = attemptPlan(options);
  if (E.isLeft(planned)) throw new Error(JSON.stringify(planned.left));
  return planned.right;
};

describe('what a compaction covers', () => {
  it('V29 never covers instructions or pinned messages', () => {
    const made = draft({ keepFrom: null });
    expect(made.covered).toEqual(['u2', 'a2', 't1', 't2', 'a3', 'u3']);
    expect(made.covers).toEqual([{ branch, from: 6, to: 16 }]);
    expect(made.breaksPrefixAt).toBe('u2');
    expect(made.trust).toBe('external');
    expect(made.tokensAfter).toBeLessThan(made.tokensBefore);
  });
  it('V03 moves the cut to the beginning of the unit, with its results', () => {
    const made = draft({ keepFrom: 't2' });
    expect(made.covered).toEqual(['u2']);
    expect(made.moved).toEqual({ from: 't2', to: 'a2' });
  });
  it('B55 refuses a cut inside a unit where it may not be moved', () => {
    expect(attemptPlan({ keepFrom: 't2', onSplit: 'reject' })).toEqual(
      E.left({ _tag: 'CompactionInvalid', reason: 'splits_unit', ids: ['c1', 'c2'] }),
    );
  });
  it('B55 refuses what covers nothing, and a message that is not there', () => {
    expect(attemptPlan({ keepFrom: 'u2' })).toMatchObject(E.left({ reason: 'empty' }));
    expect(attemptPlan({ keepFrom: 'nobody' })).toMatchObject(
      E.left({ reason: 'bad_range', ids: ['nobody'] }),
    );
  });
  it('B55 refuses an exchange that is open, and one that waits for an approval', () => {
    const surface = surfaceOf(talk.slice(0, 5));
    expect(attemptPlan({ surface, keepFrom: null })).toMatchObject(
      E.left({ reason: 'splits_unit', ids: ['c2'] }),
    );
    const pending = [{ messageId: 'a2', index: 1 }];
    expect(attemptPlan({ surface, keepFrom: null, pending })).toMatchObject(
      E.left({ reason: 'pending_approval', ids: ['c2'] }),
    );
  });
  it('covers no text of users where that has to stay word for word', () => {
    const made = draft({ keepFrom: 'u3', keepUserText: true });
    expect(made.covered).toEqual(['a2', 't1', 't2', 'a3']);
    const built = plan(compacted(surfaceOf(talk), made));
    expect(built.sent).toEqual(['s1', 'u1', 'u2', 'summary-1', 'u3']);
  });
  it('refuses a summary that makes nothing shorter, when nobody asked for it', () => {
    const summary = 'much longer '.repeat(400);
    expect(attemptPlan({ keepFrom: null, summary, requireProgress: true })).toMatchObject(
      E.left({ _tag: 'CompactionNoProgress' }),
    );
    expect(E.isRight(attemptPlan({ keepFrom: null, summary }))).toBe(true);
  });
});

describe('strategies without a model', () => {
  it('keep-last leaves a user turn in front', () => {
    const made = draft({ strategy: 'keep-last', keepLast: 2 });
    expect(made.covered).toEqual(['u2', 'a2', 't1', 't2']);
    expect(plan(compacted(surfaceOf(talk), made)).sent).toEqual(['s1', 'u1', 'a3', 'u3']);
  });
  it('elide-tool-results shortens results and keeps every pair', () => {
    const made = draft({ strategy: 'elide-tool-results', keepLast: 2 });
    expect(made.covered).toEqual(['t1', 't2']);
    expect(made.shortened.map(({ messageId }) => messageId)).toEqual(['t1', 't2']);
    const built = plan(compacted(surfaceOf(talk), made));
    expect(built.sent).toEqual(['s1', 'u1', 'u2', 'a2', 't1', 't2', 'a3', 'u3']);
    expect(built.results[0]?.content).toMatch(/^\[Tool result left out/);
  });
  it('a second one has nothing left to do: no loop', () => {
    const made = draft({ strategy: 'elide-tool-results', keepLast: 2 });
    const again = attemptPlan({
      surface: compacted(surfaceOf(talk), made),
      strategy: 'elide-tool-results',
      keepLast: 2,
    });
    expect(again).toMatchObject(E.left({ _tag: 'CompactionInvalid', reason: 'empty' }));
  });
});

describe('compactions of compactions', () => {
  it('a later one holds the range of the earlier one, also over what went out since', () => {
    const first = draft({ keepFrom: 'a3' });
    expect(first.covers).toEqual([{ branch, from: 6, to: 12 }]);
    const after = compacted(surfaceOf(talk), first);
    const changed = {
      ...after,
      items: after.items.map((item) =>
        item.message.id === 'u2'
          ? { ...item, out: { reason: 'redacted' as const, cause: item.place } }
          : item,
      ),
      compactions: after.compactions.map((live) => ({ ...live, changed: ['u2'] })),
    };
    const second = draft({ surface: changed, keepFrom: 'u3' });
    expect(second.covered).toEqual(['a2', 't1', 't2', 'a3']);
    expect(second.covers).toEqual([{ branch, from: 8, to: 14 }]);
  });
  it('of any history keep pairs whole, in contexts that are valid', () => {
    fc.assert(
      fc.property(anySurface, fc.nat({ max: 8 }), (surface, keepLast) => {
        const made = attemptPlan({ surface, keepLast });
        if (E.isLeft(made)) return;
        const pinned = surface.items.filter(
          ({ message }) => message.pinned === true || message.role === 'system',
        );
        for (const { message } of pinned) expect(made.right.covered).not.toContain(message.id);
        const built = attempt(compacted(surface, made.right, 'new'), {
          onUnanswered: 'synthesize',
        });
        if (E.isLeft(built)) return;
        expect(chat.validate(built.right.body)).toEqual([]);
        const isSent = new Set(built.right.sent);
        for (const id of made.right.covered) expect(isSent.has(id)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });
  it('a message that came while the summary was made stays behind it', () => {
    const made = draft({ keepFrom: 'u3' });
    const more: readonly Spec[] = [{ id: 'u4', role: 'user', text: 'wait' }];
    const after = compacted(extended(surfaceOf(talk), talk, more), made);
    expect(plan(after).sent).toEqual(['s1', 'u1', 'summary-1', 'u3', 'u4']);
  });
});
