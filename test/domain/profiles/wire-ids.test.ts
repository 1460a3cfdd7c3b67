import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropic } from '../../../src/domain/profiles/anthropic.js';
import { neutral } from '../../../src/domain/profiles/neutral.js';
import { openaiChat } from '../../../src/domain/profiles/openai-chat.js';
import { mapId, mapNames } from '../../../src/domain/profiles/wire-ids.js';

const chat = openaiChat({ model: 'm' });
const claude = anthropic({ model: 'm' });

describe('call ids', () => {
  it('OC5 valid ones are unchanged, others always fit', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 120 }), fc.nat({ max: 3 }), (id, occurrence) => {
        const wire = chat.mapCallId(id, occurrence);
        expect(wire.length).toBeGreaterThan(0);
        expect(wire.length).toBeLessThanOrEqual(40);
        if (occurrence === 0 && id !== '' && id.length <= 40) expect(wire).toBe(id);
      }),
    );
  });
  it('A6 fit the pattern', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 120 }),
        fc.nat({ max: 3 }),
        (id, occurrence) => {
          const wire = claude.mapCallId(id, occurrence);
          expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          if (occurrence === 0 && /^[a-zA-Z0-9_-]{1,64}$/.test(id)) expect(wire).toBe(id);
        },
      ),
    );
  });
  it.each([chat, claude])(
    'V08 10,000 that differ only at the end stay apart ($id)',
    ({ mapCallId }) => {
      const head = 'toolcall-0123456789012345678901234567890-0123456789012345678901234567890-';
      const ids = Array.from({ length: 10_000 }, (_item, index) => `${head}${String(index)}`);
      expect(new Set(ids.map((id) => mapCallId(id, 0))).size).toBe(10_000);
    },
  );
  it('V06 later uses of one id differ from it and from each other, the same every time', () => {
    const uses = [0, 1, 2].map((occurrence) => claude.mapCallId('call_0', occurrence));
    expect(uses[0]).toBe('call_0');
    expect(new Set(uses).size).toBe(3);
    expect(uses).toEqual([0, 1, 2].map((occurrence) => claude.mapCallId('call_0', occurrence)));
  });
  it('stay as they are without provider rules', () => {
    expect(neutral().mapCallId('terminal:0', 4)).toBe('terminal:0');
  });
  it('are readable where they can be', () => {
    expect(mapId('terminal:0', 1, { maxLength: 64, forbidden: /[^a-zA-Z0-9_-]/g })).toMatch(
      /^terminal_0_[a-zA-Z0-9_-]{16}$/,
    );
    expect(mapId('', 0, { maxLength: 40 })).toMatch(/^call_[a-zA-Z0-9_-]{16}$/);
  });
});

describe('tool names', () => {
  const shape = { maxLength: 64, forbidden: /[^a-zA-Z0-9_-]/g };
  it('stay when valid, fit when not, and never become alike', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 90 }), { maxLength: 20 }), (names) => {
        const mapped = mapNames(names, shape);
        const distinct = new Set(names);
        expect(new Set(mapped.values()).size).toBe(distinct.size);
        for (const [name, wire] of mapped) {
          expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) expect(wire).toBe(name);
        }
      }),
    );
  });
  it('do not depend on the order in which they came', () => {
    const names = ['a.b', 'a/b', 'a_b', 'x'.repeat(70)];
    expect(mapNames([...names].reverse(), shape)).toEqual(mapNames(names, shape));
  });
});
