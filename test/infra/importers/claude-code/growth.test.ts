import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { planClaudeCode } from '../../../../src/infra/importers/claude-code/importer.js';
import {
  expectBeginning,
  expectedOf,
  fixture,
  linesOf,
  planned,
  rawTexts,
  refused,
  session,
  user,
  utf8,
} from '../sessions.js';
import { randomSession } from './random-session.js';

const beginnings = (bytes: Uint8Array): readonly Uint8Array[] =>
  [...bytes.keys()].filter((at) => bytes[at] === 0x0a).map((at) => bytes.subarray(0, at + 1));

describe('a Claude Code session that grows', () => {
  it.each(expectedOf('claude-code').map(([name]) => name))(
    'B59 %s read up to any line is the beginning of the whole',
    (name) => {
      const bytes = fixture(`claude-code/${name}`);
      const whole = planned(bytes, { salvage: true });
      for (const beginning of beginnings(bytes)) {
        const shorter = planClaudeCode(beginning, { salvage: true });
        if (E.isLeft(shorter)) throw new Error(JSON.stringify(shorter.left));
        // Lines before the first session id cannot know whose they are.
        if (shorter.right.report.source['sessions'] === whole.report.source['sessions']) {
          expectBeginning(shorter.right, whole);
        }
      }
    },
  );

  it('B59 any session read up to any line is the beginning of the whole', () => {
    fc.assert(
      fc.property(randomSession, fc.nat(), (records, cut) => {
        const whole = planned(session(...records));
        const shorter = planned(session(...records.slice(0, 1 + (cut % records.length))));
        expectBeginning(shorter, whole);
      }),
      { numRuns: 500 },
    );
  });

  it('B59 the same bytes give the same command, other bytes another', () => {
    const [one, two] = [session(user('u1', null)), session(user('u1', null), user('u2', 'u1'))];
    expect(planned(one).importId).toBe(planned(Uint8Array.from(one)).importId);
    expect(planned(one).importId).not.toBe(planned(two).importId);
    expect(planned(one)).toEqual(planned(Uint8Array.from(one)));
  });
});

describe('a Claude Code session that is torn', () => {
  const bytes = session(
    user('u1', null, 'é – 中文 🎉'),
    user('u2', 'u1', 'a "quoted" \\ text'),
    user('u3', 'u2', '🎉 end'),
  );
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 0x0a);

  it('B58 at any byte is refused with line and offset, and salvaged up to the last whole line', () => {
    for (let cut = (ends[0] ?? 0) + 1; cut < bytes.length; cut += 1) {
      const torn = bytes.subarray(0, cut);
      const isWhole = ends.includes(cut) || ends.includes(cut - 1);
      const line = ends.filter((at) => at < cut).length + 1;
      const start = (ends.filter((at) => at < cut).at(-1) ?? -1) + 1;
      if (isWhole) {
        expect(rawTexts(planned(torn)).length).toBe(ends.includes(cut) ? line : line - 1);
        continue;
      }
      expect(refused(torn)).toEqual({ _tag: 'TruncatedInput', line, offset: start });
      const plan = planned(torn, { salvage: true });
      expect(rawTexts(plan).length).toBe(line - 1);
      expect(plan.report.notes.map(({ code }) => code)).toContain(
        plan.report.notes.some(({ code }) => code === 'invalid_utf8')
          ? 'invalid_utf8'
          : 'torn_line',
      );
      expectBeginning(plan, planned(bytes));
    }
  });

  it('B58 in its first line holds nothing to salvage', () => {
    expect(refused(bytes.subarray(0, 40))).toEqual({ _tag: 'TruncatedInput', line: 1, offset: 40 });
    expect(E.isLeft(planClaudeCode(bytes.subarray(0, 40), {}))).toBe(true);
  });

  it('B58 a broken line in the middle is refused where it breaks, and kept by salvage', () => {
    const [first = '', second = ''] = linesOf([user('u1', null), user('u2', 'u1')]);
    const broken = utf8(`${first}\n{"é":oops}\n"text"\n${second}\n`);
    expect(refused(broken)).toEqual({
      _tag: 'InvalidJson',
      offset: utf8(`${first}\n{"é":`).length,
    });
    const plan = planned(broken, { salvage: true });
    expect(plan.report.source).toMatchObject({ malformed_lines: [2, 3], records: 2 });
    expect([...rawTexts(plan)].sort()).toEqual(['"text"', '{"é":oops}', first, second].sort());
  });

  it('B58 a line that is no object is refused by its number', () => {
    expect(refused(session(user('u1', null), '[1]', user('u2', 'u1')))).toEqual({
      _tag: 'InvalidShape',
      path: '/2',
      expected: 'object',
    });
  });

  it('B20 a line that is no UTF-8 is refused with line and byte, and left out by salvage', () => {
    const [first = '', second = ''] = linesOf([user('u1', null), user('u2', 'u1')]);
    const bad = Uint8Array.from([
      ...utf8(`${first}\n`),
      0x22,
      0xc3,
      0x28,
      0x22,
      ...utf8(`\n${second}\n`),
    ]);
    expect(refused(bad)).toEqual({ _tag: 'InvalidUtf8', line: 2, byte: first.length + 2 });
    const plan = planned(bad, { salvage: true });
    expect(rawTexts(plan)).toEqual([first, second]);
    expect(plan.report.notes).toEqual([{ code: 'invalid_utf8', line: 2 }]);
  });

  it('B21 a byte order mark at the start is taken off and reported', () => {
    const [line = ''] = linesOf([user('u1', null)]);
    const plan = planned(utf8(`\uFEFF${line}\n`));
    expect(rawTexts(plan)).toEqual([line]);
    expect(plan.report.notes).toEqual([{ code: 'byte_order_mark', line: 1 }]);
  });
});
