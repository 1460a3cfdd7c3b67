import * as E from 'fp-ts/lib/Either.js';
import fc from 'fast-check';
import { planCompaction } from '../../../src/domain/context/compaction-plan.js';
import type { Block } from '../../../src/domain/message.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import type { Surface } from '../../../src/domain/surface.js';
import { estimator } from '../../../src/domain/tokens.js';
import { compacted, place, surfaceOf, type Spec } from './surface-builder.js';

type Draft = Omit<Spec, 'id'> & { readonly id?: string };

const words = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', ' \n', 'a\ud800b', '汉字', 'ends with space '),
  fc.lorem({ maxCount: 30 }),
);

const reasoning = fc.record(
  {
    type: fc.constant('reasoning' as const),
    text: words,
    provider: fc.constantFrom('anthropic', 'openai'),
    signature: fc.constantFrom('c2ln', ''),
    encrypted: fc.constant('ZW5j'),
  },
  { requiredKeys: ['type', 'text'] },
);
const image = fc.record(
  {
    type: fc.constant('image' as const),
    mediaType: fc.constant('image/png'),
    data: fc.constant('QUJD'),
    width: fc.integer({ min: 1, max: 9_000 }),
    height: fc.integer({ min: 1, max: 3_000 }),
  },
  { requiredKeys: ['type', 'mediaType', 'data'] },
);
const textBlock = words.map((text): Block => ({ type: 'text', text }));
const opaque = fc.constantFrom<Block>(
  { type: 'provider', provider: 'anthropic', json: '{"type":"x","t":"\\ud83d"}' },
  { type: 'provider', provider: 'openai', json: '{"type":"y"}' },
);
const refusal = words.map((text): Block => ({ type: 'refusal', text }));

const blocksOf = (...kinds: readonly fc.Arbitrary<Block>[]) =>
  fc.array(fc.oneof(...kinds), { maxLength: 3 });

const state = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Pick<Spec, 'status' | 'out' | 'pinned'>>(
      { status: 'draft' },
      { status: 'interrupted' },
      { status: 'superseded' },
      { status: 'blocked' },
      { out: { reason: 'redacted', cause: place(1) } },
      { out: { reason: 'erased', cause: place(1) } },
      { out: { reason: 'withdrawn', cause: place(1) } },
      { pinned: true },
    ),
  },
);

const user = fc
  .tuple(blocksOf(textBlock, image, opaque), state)
  .map(([blocks, more]): Draft => ({ role: 'user', blocks, ...more }));

const system = fc
  .tuple(fc.constantFrom('system' as const, 'developer' as const), words)
  .map(([role, text]): Draft => ({ role, text }));

const speech = fc
  .tuple(blocksOf(textBlock, reasoning, refusal, opaque, image), state)
  .map(([blocks, more]): Draft => ({ role: 'assistant', blocks, ...more }));

const callId = fc.oneof(
  fc.constantFrom('', 'call_1', 'call_2', 'terminal:0', 'x'.repeat(70), 'with space'),
  fc.string({ maxLength: 50 }),
);
const call = fc.record({
  id: callId,
  name: fc.constantFrom('f', 'fs.read', 'fs_read', 'n'.repeat(80), ''),
  arguments: fc.constantFrom('{}', '', '{"a":1}', '{"b', '[1]', '{"t":"\\ud800"}', 'x'.repeat(300)),
});

interface Exchange {
  readonly drafts: readonly Draft[];
}

const exchange = fc
  .record({
    blocks: blocksOf(textBlock, reasoning),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    contents: fc.array(blocksOf(textBlock, image), { minLength: 3, maxLength: 3 }),
    states: fc.array(state, { minLength: 3, maxLength: 3 }),
    answered: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }),
    closed: fc.boolean(),
    parts: fc.boolean(),
    between: fc.option(user, { nil: undefined, freq: 3 }),
    own: state,
    late: fc.boolean(),
  })
  .map((made): Exchange => {
    const closed = made.closed ? made.calls.map((_call, index) => index) : [];
    const partOf = made.parts ? { partOf: 'part' } : {};
    const caller: Draft = {
      role: 'assistant',
      blocks: made.blocks,
      calls: made.calls,
      closed,
      ...made.own,
      ...partOf,
    };
    const results = made.calls
      .map((one, at) => ({ id: one.id, at }))
      .filter(({ at }) => (made.answered[at] ?? 0) > 1)
      .sort((a, b) => (made.answered[a.at] ?? 0) - (made.answered[b.at] ?? 0))
      .map(({ id, at }): Draft => ({
        role: 'tool',
        blocks: made.contents[at] ?? [],
        answers: id,
        outcome: at === 1 ? 'error' : 'ok',
        ...made.states[at],
        ...(made.late && at === 2 && { late: true }),
      }));
    const between = made.between === undefined ? [] : [made.between];
    const more: readonly Draft[] = made.parts
      ? [{ role: 'assistant', text: 'second part', ...partOf }]
      : [];
    return { drafts: [caller, ...results.slice(0, 1), ...between, ...more, ...results.slice(1)] };
  });

const orphan = words.map((text): Draft => ({ role: 'tool', text, foreignCallId: 'nobody' }));

const stretch = fc.oneof(
  { weight: 4, arbitrary: user.map((draft) => [draft]) },
  { weight: 3, arbitrary: speech.map((draft) => [draft]) },
  { weight: 4, arbitrary: exchange.map(({ drafts }) => drafts) },
  { weight: 1, arbitrary: system.map((draft) => [draft]) },
  { weight: 1, arbitrary: orphan.map((draft) => [draft]) },
);

const named = (drafts: readonly Draft[]): readonly Spec[] =>
  drafts.map((draft, index) => ({ ...draft, id: draft.id ?? `m${String(index)}` }));

const profile = openaiChat({ model: 'm' });

const compactAt = (surface: Surface, keepLast: number, kind: number, id: string): Surface => {
  const strategy = (['summary', 'keep-last', 'elide-tool-results'] as const)[kind] ?? 'summary';
  const draft = planCompaction({
    surface,
    profile,
    counter: estimator,
    strategy,
    keepLast,
    ...(strategy === 'summary' && { summary: 'What was said before.' }),
  });
  return E.isLeft(draft) ? surface : compacted(surface, draft.right, id);
};

const instructions = [
  {
    name: 'main',
    version: 2,
    role: 'system' as const,
    messageId: 'i1',
    text: 'Rules.',
    place: place(0),
  },
];

/** Histories of every kind of oddity: open, closed and moved exchanges, states, compactions. */
export const anySurface: fc.Arbitrary<Surface> = fc
  .record({
    stretches: fc.array(stretch, { maxLength: 8 }),
    compactions: fc.array(fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 2 })), { maxLength: 2 }),
    instructed: fc.boolean(),
    stale: fc.boolean(),
  })
  .map(({ stretches, compactions, instructed, stale }) => {
    const specs = named(stretches.flat());
    let surface = surfaceOf(specs, instructed ? { instructions } : {});
    compactions.forEach(([keepLast, kind], index) => {
      surface = compactAt(surface, keepLast, kind, `summary-${String(index)}`);
    });
    if (!stale) return surface;
    return {
      ...surface,
      compactions: surface.compactions.map((live) => ({
        ...live,
        changed: live.covered.slice(0, 1),
      })),
    };
  });
