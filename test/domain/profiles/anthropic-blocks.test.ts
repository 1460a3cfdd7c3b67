import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import {
  attempt,
  claude,
  found,
  gives,
  plan,
  result,
  rules,
  says,
  text,
  thinking,
  thought,
  use,
  user,
} from './anthropic-support.js';
import type { EventRef } from '../../../src/domain/events/references.js';
import type { Surface } from '../../../src/domain/surface.js';
import { place, summaryOver, surfaceOf, type Spec } from '../context/surface-builder.js';

describe('A7 no empty text', () => {
  it('A7 finds blank texts and empty messages', () => {
    expect(rules([{ role: 'user', content: '' }])).toEqual(['A7']);
    expect(rules([gives(text(' \n'))])).toEqual(['A7']);
    expect(rules([user, says(), user])).toEqual(['A7']);
    expect(rules([user, says(use('a')), gives({ ...result('a'), content: [text('')] })])).toEqual([
      'A7',
    ]);
    expect(rules([user], { body: { system: ' ' } })).toEqual(['A7']);
  });
  it('A7 takes a result without content', () => {
    expect(rules([user, says(use('a')), gives({ type: 'tool_result', tool_use_id: 'a' })])).toEqual(
      [],
    );
  });
  it('A7 is kept: blank texts are left out', () => {
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', text: '', calls: ['c1'] },
      { id: 't1', role: 'tool', text: '', answers: 'c1' },
      {
        id: 'u2',
        role: 'user',
        blocks: [
          { type: 'text', text: ' ' },
          { type: 'text', text: 'r' },
        ],
      },
      { id: 'u3', role: 'user', text: '  ' },
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'tool_c1', input: {} }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
      { role: 'user', content: 'r' },
    ]);
    expect(repairs).toEqual([
      { code: 'CONTENT_OMITTED', id: 'u2', action: 'blank_text' },
      { code: 'EMPTY_MESSAGE_OMITTED', id: 'u3', fromIndex: 4 },
    ]);
  });
});

describe('A9 reasoning goes back as it came', () => {
  const specs: readonly Spec[] = [
    { id: 'u1', role: 'user', text: 'q' },
    {
      id: 'a1',
      role: 'assistant',
      blocks: [
        thought('', 'c2lnLUE='),
        { type: 'reasoning', text: '', encrypted: 'cmVkYWN0ZWQ=', provider: 'anthropic' },
        { type: 'text', text: 'Hm.' },
        thought('Now: 2+2\n', 'c2lnLUI='),
      ],
      calls: ['c1'],
    },
    { id: 't1', role: 'tool', text: '4', answers: 'c1' },
  ];
  it('A9 sends every block unmodified and in order, empty signed ones too', () => {
    expect(plan(specs, { thinking: true }).body.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: '', signature: 'c2lnLUE=' },
      { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
      { type: 'text', text: 'Hm.' },
      { type: 'thinking', thinking: 'Now: 2+2\n', signature: 'c2lnLUI=' },
      { type: 'tool_use', id: 'c1', name: 'tool_c1', input: {} },
    ]);
  });
  it('A9 finds a block that was changed or lost', () => {
    const { body, facts } = plan(specs, { thinking: true });
    const changed = JSON.parse(
      JSON.stringify(body).replace('Now: 2+2', 'Now: 2 + 2'),
    ) as typeof body;
    expect(claude.validate(changed, facts).map(({ rule }) => rule)).toEqual(['A9']);
    const lost = JSON.parse(JSON.stringify(body)) as typeof body;
    (lost.messages[1]?.content as unknown[]).splice(1, 1);
    expect(claude.validate(lost, facts).map(({ rule }) => rule)).toEqual(['A9']);
    expect(claude.validate(body, facts)).toEqual([]);
  });
  it('A9 finds a block without its text', () => {
    expect(rules([user, says({ type: 'thinking', signature: 'x' }, text('a')), user])).toEqual([
      'A9',
    ]);
  });
});

describe('A10 reasoning and the open tool loop', () => {
  const on = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
  it('A10 finds a loop that does not start with reasoning while it is on', () => {
    expect(found([user, says(use('a')), gives(result('a'))], { body: on })).toEqual([
      { rule: 'A10', code: 'ReasoningRequired', reason: 'reasoning_missing', index: 1, ids: [] },
    ]);
  });
  it('A10 takes a loop that starts with reasoning, and any loop that is closed', () => {
    const open = [
      user,
      says(thinking('t'), use('a')),
      gives(result('a')),
      says(use('b')),
      gives(result('b')),
    ];
    expect(rules(open, { body: on })).toEqual([]);
    expect(
      rules([user, says(use('a')), gives(result('a')), says(text('x')), user], { body: on }),
    ).toEqual([]);
    const adaptive = { thinking: { type: 'adaptive' } };
    expect(rules([user, says(use('a')), gives(result('a'))], { body: adaptive })).toEqual([]);
  });
  it('A10 finds reasoning in the last place while it is off', () => {
    expect(rules([user, says(thinking('t'), text('So'))])).toEqual(['A10']);
    expect(rules([user, says(thinking('t'), text('So'))], { body: on })).toEqual([]);
  });
  it('A10 refuses a loop that another model began, by the message', () => {
    const specs: readonly Spec[] = [
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', calls: ['c1'] },
      { id: 't1', role: 'tool', text: '4', answers: 'c1' },
    ];
    const missing = { _tag: 'ReasoningRequired', id: 'a1', profileRule: 'A10' };
    expect(attempt(specs, { thinking: true })).toEqual(
      E.left({ ...missing, rule: 'reasoning_missing' }),
    );
    const unsigned: readonly Spec[] = specs.map((spec) =>
      spec.id === 'a1'
        ? { ...spec, blocks: [{ type: 'reasoning', text: 't', provider: 'anthropic' }] }
        : spec,
    );
    expect(attempt(unsigned, { thinking: true })).toEqual(
      E.left({ ...missing, rule: 'signature_missing' }),
    );
    const capabilities = { thinkingRequiredInToolLoop: false };
    expect(plan(specs, { thinking: true, capabilities }).body.thinking).toEqual({
      type: 'enabled',
      budget_tokens: 1_024,
    });
  });
  it('A10 is kept: with reasoning off, the last message goes without it', () => {
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', blocks: [thought('t'), { type: 'text', text: 'So' }] },
    ]);
    expect(body.messages[1]?.content).toEqual([{ type: 'text', text: 'So' }]);
    expect(repairs).toEqual([{ code: 'CONTENT_OMITTED', id: 'a1', action: 'thinking_off' }]);
  });
});

describe('A11 reasoning that is not signed, or of another provider', () => {
  it('A11 finds an unsigned block', () => {
    expect(found([user, says(thinking('t', ''), text('a')), user])).toEqual([
      { rule: 'A11', code: 'ReasoningRequired', reason: 'signature_missing', index: 1, ids: [] },
    ]);
  });
  it('A11 is kept: it is dropped and reported, the text stays', () => {
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      {
        id: 'a1',
        role: 'assistant',
        blocks: [
          { type: 'reasoning', text: 'x', provider: 'openai', encrypted: 'Z' },
          { type: 'text', text: 'A' },
        ],
      },
      {
        id: 'a2',
        role: 'assistant',
        blocks: [
          { type: 'reasoning', text: 'unsigned', provider: 'anthropic' },
          { type: 'provider', provider: 'openai', json: '{"type":"web_search_call"}' },
          { type: 'text', text: 'B' },
        ],
      },
      { id: 'u2', role: 'user', text: 'r' },
    ]);
    expect(body.messages.slice(1, 3)).toEqual([
      { role: 'assistant', content: 'A' },
      { role: 'assistant', content: 'B' },
    ]);
    expect(repairs).toEqual([
      { code: 'FOREIGN_REASONING_DROPPED', id: 'a1' },
      { code: 'FOREIGN_BLOCK_DROPPED', id: 'a2' },
      { code: 'FOREIGN_REASONING_DROPPED', id: 'a2' },
    ]);
  });
});

describe('A12 reasoning behind another prefix', () => {
  const capabilities = { prefixBoundThinking: true };
  const messages = [user, says(thinking('t'), text('a')), user];
  const facts = {
    prefixChanged: [1],
    reasoning: [{ index: 1, blocks: [JSON.stringify(thinking('t'))] }],
  };
  it('A12 finds it, unless the provider is asked to drop it', () => {
    expect(rules(messages, { capabilities, facts })).toEqual(['A12']);
    const body = {
      thinking: {
        type: 'enabled',
        budget_tokens: 1_024,
        block_binding: { prefix_mismatch_behavior: 'drop_block' },
      },
    };
    expect(rules(messages, { capabilities, facts, body })).toEqual([]);
    expect(rules(messages, { facts })).toEqual([]);
  });
  const late: readonly Spec[] = [
    { id: 'u1', role: 'user', text: 'one' },
    { id: 'a1', role: 'assistant', text: 'old answer', out: undefined },
    { id: 'u2', role: 'user', text: 'two' },
    { id: 'a2', role: 'assistant', blocks: [thought('t2', 'c2lnMg==')], calls: ['c1'] },
    { id: 't1', role: 'tool', text: '4', answers: 'c1' },
  ].map(({ out: _out, ...spec }) => spec as Spec);
  it('A12 is kept: what a trimmed window invalidates is left out and named', () => {
    const closed: readonly Spec[] = [
      ...late,
      {
        id: 'a3',
        role: 'assistant',
        blocks: [thought('t3', 'c2lnMw=='), { type: 'text', text: 'C' }],
      },
      { id: 'u3', role: 'user', text: 'three' },
    ];
    const tokens = { u1: 90, a1: 90, u2: 5, a2: 5, t1: 5, a3: 5, u3: 5 };
    const { text: sent, repairs } = plan(closed, { capabilities, tokens, budgetTokens: 40 });
    expect(sent).not.toContain('c2lnMg==');
    expect(sent).not.toContain('c2lnMw==');
    expect(repairs).toEqual([
      { code: 'THINKING_INVALIDATED_BY_PREFIX', ids: ['a2', 'a3'], action: 'left_out' },
    ]);
  });
  it('A12 asks the provider to drop it where the open loop has to start with it', () => {
    const tokens = { u1: 90, a1: 90, u2: 5, a2: 5, t1: 5 };
    const policy = { capabilities, tokens, budgetTokens: 40, thinking: true };
    const { body, repairs } = plan(late, policy);
    expect(body.thinking).toEqual({
      type: 'enabled',
      budget_tokens: 1_024,
      block_binding: { prefix_mismatch_behavior: 'drop_block' },
    });
    expect(body.messages[1]?.content).toMatchObject([{ signature: 'c2lnMg==' }, {}]);
    expect(repairs).toEqual([
      { code: 'THINKING_INVALIDATED_BY_PREFIX', ids: ['a2'], action: 'drop_block' },
    ]);
  });
});

describe('A13 tools of the provider', () => {
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } };
  const hits = {
    type: 'web_search_tool_result',
    tool_use_id: 's1',
    content: [{ type: 'web_search_result', url: 'https://e.test', encrypted_content: 'ZW5j' }],
  };
  it('A13 finds a use without its result, and a result without its use', () => {
    expect(rules([user, says(search, text('x')), user])).toEqual(['A13']);
    expect(rules([user, says(hits, text('x')), user])).toEqual(['A13']);
    expect(rules([user, says(search), gives(hits)])).toContain('A13');
  });
  it('A13 takes both in one message, and a use that the message stops at', () => {
    expect(rules([user, says(search, hits, text('x')), user])).toEqual([]);
    expect(rules([user, says(search)])).toEqual([]);
  });
  it('A13 is kept: both go back word for word', () => {
    const blocks = [search, hits].map((block) => ({
      type: 'provider' as const,
      provider: 'anthropic',
      json: JSON.stringify(block),
    }));
    const { body } = plan([
      { id: 'u1', role: 'user', text: 'q' },
      { id: 'a1', role: 'assistant', blocks: [...blocks, { type: 'text', text: 'Found.' }] },
      { id: 'u2', role: 'user', text: 'r' },
    ]);
    expect(body.messages[1]?.content).toEqual([search, hits, text('Found.')]);
  });
});

describe('A14 cache markers', () => {
  const marked = (words: string) => ({ ...text(words), cache_control: { type: 'ephemeral' } });
  it('A14 finds a fifth marker', () => {
    const four = [marked('1'), marked('2'), marked('3'), marked('4')];
    expect(rules([gives(...four)])).toEqual([]);
    expect(rules([gives(...four, marked('5'))])).toEqual(['A14']);
    expect(rules([gives(...four)], { body: { system: [marked('s')] } })).toEqual(['A14']);
  });
  it('A14 is kept: the earliest markers of the history go', () => {
    const specs = [1, 2, 3, 4, 5, 6].map((n): Spec => {
      const wire = { role: 'user', content: [marked(`m${String(n)}`)] };
      return {
        id: `u${String(n)}`,
        role: 'user',
        text: `m${String(n)}`,
        raw: { system: 'anthropic', text: JSON.stringify(wire) },
      };
    });
    const { body, repairs } = plan(specs);
    const markers = body.messages.map(({ content }) =>
      JSON.stringify(content).includes('cache_control'),
    );
    expect(markers).toEqual([false, false, true, true, true, true]);
    expect(repairs).toEqual([{ code: 'CACHE_MARKER_DROPPED', action: 'dropped 2' }]);
  });
});

describe('A15 images', () => {
  const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
  const image = (width: number, height: number) => ({
    type: 'image' as const,
    mediaType: 'image/png',
    data: 'QUJD',
    width,
    height,
  });
  it('A15 finds an image that is too big, and one in an assistant message', () => {
    const big = { images: [{ index: 0, width: 8_001, height: 10 }], reasoning: [] };
    expect(rules([gives(png)], { facts: big })).toEqual(['A15']);
    expect(rules([user, says(png), user])).toEqual(['A15']);
  });
  it('A15 finds an image over 2000 px where there are many', () => {
    const size = { images: [{ index: 0, width: 2_001, height: 10 }], reasoning: [] };
    expect(rules([gives(png)], { facts: size })).toEqual([]);
    expect(rules([gives(...Array.from({ length: 21 }, () => png))], { facts: size })).toEqual([
      'A15',
    ]);
  });
  it('A15 is kept: such an image becomes a line of text, so that the rest can be sent', () => {
    const { body, repairs } = plan([
      { id: 'u1', role: 'user', blocks: [image(9_000, 100), image(800, 600)] },
    ]);
    expect(body.messages[0]?.content).toEqual([
      text('[image of 9000 x 100 pixels left out: it is too big to send]'),
      png,
    ]);
    expect(repairs).toEqual([{ code: 'CONTENT_OMITTED', id: 'u1', action: 'image_too_big' }]);
  });
});

describe('A16 what the provider compacted', () => {
  const block = { type: 'compaction', content: 'x', signature: 'c2ln' };
  it('A16 finds anything before it', () => {
    expect(rules([user, says(block), user])).toEqual(['A16']);
    expect(rules([says(text('x'), block), user])).toContain('A16');
    expect(rules([says(block, text('x')), user])).toEqual([]);
  });
});

describe('A17 UTF-8', () => {
  it('A17 finds half a surrogate pair anywhere', () => {
    expect(found([{ role: 'user', content: 'key \ud83d' }])).toEqual([
      { rule: 'A17', code: 'IllFormedUnicode', index: 0, ids: [], path: '/messages' },
    ]);
    expect(
      rules([user, says({ ...use('a'), input: { 'k\udd11': 1 } }), gives(result('a'))]),
    ).toEqual(['A17']);
  });
  it('A17 is kept: texts, inputs and opaque blocks are repaired and reported', () => {
    const { text: sent, repairs } = plan([
      { id: 'u1', role: 'user', text: 'low \udd11 mid' },
      {
        id: 'a1',
        role: 'assistant',
        blocks: [{ type: 'provider', provider: 'anthropic', json: '{"type":"x","t":"\\ud83d"}' }],
        calls: [{ id: 'c1', name: 'f', arguments: '{"a":"\\ud83d"}' }],
      },
      { id: 't1', role: 'tool', text: 'key \ud83d', answers: 'c1' },
    ]);
    expect(sent).not.toMatch(/\\ud[89a-f]/i);
    expect(sent).toContain('low \ufffd mid');
    expect(repairs.map(({ code, id }) => [code, id])).toEqual([
      ['TEXT_REPAIRED', 'u1'],
      ['TEXT_REPAIRED', 'a1'],
      ['TEXT_REPAIRED', 't1'],
      ['TEXT_REPAIRED', 'a1'],
    ]);
  });
});

describe('the body', () => {
  it('has its fields in one order, parameters behind the messages', () => {
    const profile = anthropic({ model: 'model-a' });
    expect(profile.maxOutputTokens).toBe(4_096);
    const { body } = plan(
      [
        { id: 's1', role: 'system', text: 'S' },
        { id: 'u1', role: 'user', text: 'q' },
      ],
      {},
      { params: { top_p: 0.5, max_tokens: 77, metadata: { user_id: 'x' } } },
    );
    expect(JSON.stringify(body)).toBe(
      '{"model":"model-a","max_tokens":77,"system":"S","messages":[{"role":"user","content":"q"}],' +
        '"metadata":{"user_id":"x"},"top_p":0.5}',
    );
  });
  it('refuses parameters that are fields of the engine', () => {
    const specs = [{ id: 'u1', role: 'user', text: 'q' }] as const;
    expect(attempt(specs, {}, { params: { messages: [] } })).toEqual(
      E.left({ _tag: 'InvalidArgument', name: 'params.messages', reason: 'excludes_another' }),
    );
  });
  it('S15 has no field of a message that is not listed', () => {
    const { text: sent } = plan([
      {
        id: 'canary-id',
        role: 'user',
        text: 'Hi',
        name: 'canary-name',
        metadata: '{"trace":"canary-metadata"}',
        author: { agent: 'canary-agent' },
        provenance: { kind: 'end_user', id: 'canary-person' },
        raw: {
          system: 'anthropic',
          text: '{"role":"user","content":"Hi","trace_id":"canary-raw"}',
        },
      },
    ]);
    expect(sent).not.toContain('canary');
  });
  it('A-field is what the validator calls such a field', () => {
    expect(rules([{ ...user, trace_id: 'x' }])).toEqual(['A-field']);
  });
});

describe('A12 what was already so when a message was made', () => {
  const capabilities = { prefixBoundThinking: true };
  const specs: readonly Spec[] = [
    { id: 'u1', role: 'user', text: 'one' },
    { id: 'a1', role: 'assistant', text: 'two' },
    { id: 'u2', role: 'user', text: 'three' },
    {
      id: 'a2',
      role: 'assistant',
      blocks: [thought('t2', 'c2lnMg=='), { type: 'text', text: 'B' }],
    },
    { id: 'u3', role: 'user', text: 'four' },
  ];
  const invalidated = (surface: Surface): boolean =>
    plan([], { capabilities }, { surface }).repairs.some(
      ({ code }) => code === 'THINKING_INVALIDATED_BY_PREFIX',
    );
  const out = (
    index: number,
    reason: 'redacted' | 'draft' | 'erased',
    cause: EventRef,
  ): Surface => {
    const surface = surfaceOf(specs);
    const items = surface.items.map((item, at) =>
      at === index ? { ...item, out: { reason, cause } } : item,
    );
    return { ...surface, items };
  };
  it('A12 a summary or a draft from before it is part of its prefix, a later one is not', () => {
    // a2 stands at revision 8.
    const older = summaryOver(['u1', 'a1'], 'S', { place: place(5) });
    expect(invalidated(surfaceOf(specs, { compactions: [older] }))).toBe(false);
    const later = summaryOver(['u1', 'a1'], 'S', { place: place(9) });
    expect(invalidated(surfaceOf(specs, { compactions: [later] }))).toBe(true);
    expect(invalidated(out(1, 'draft', place(5)))).toBe(false);
    expect(invalidated(out(1, 'draft', place(9)))).toBe(true);
  });
  it('A12 instructions that were revised since are another prefix', () => {
    const slot = { name: 'main', version: 2, role: 'system' as const, messageId: 'i', text: 'S' };
    const at = (revision: number) =>
      surfaceOf(specs, { instructions: [{ ...slot, place: place(revision) }] });
    expect(invalidated(at(1))).toBe(false);
    expect(invalidated(at(9))).toBe(true);
  });
  it('A12 what cannot be placed counts as later', () => {
    expect(invalidated(out(1, 'erased', place(4)))).toBe(true);
    const directory = { ...place(1), branch: 'directory00000000000000' as EventRef['branch'] };
    expect(invalidated(out(1, 'redacted', directory))).toBe(true);
  });
});
