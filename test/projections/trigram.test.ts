import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeze, thaw } from '../../src/projections/checkpoint.js';
import { encodeView } from '../../src/projections/encode-view.js';
import {
  addText,
  emptyIndex,
  indexedUpTo,
  matchingForm,
  removeText,
  searchTexts,
  type TrigramIndex,
} from '../../src/projections/trigram.js';

const indexOf = (texts: Readonly<Record<string, string>>): TrigramIndex => {
  const index = emptyIndex();
  for (const [key, text] of Object.entries(texts)) addText(index, key, text);
  return index;
};

const found = (index: TrigramIndex, query: string): readonly string[] =>
  [...searchTexts(index, query).keys].sort();

describe('search by trigrams', () => {
  it('B63 takes every character of a query as itself', () => {
    const index = indexOf({
      quote: 'he said "stop" twice',
      and: 'salt AND pepper',
      column: 'title: none',
      near: 'NEAR(a b)',
      star: 'a*b',
      hat: 'x^2',
      dash: 'a-b',
      plain: 'salt pepper ab title',
    });
    expect(found(index, '"')).toEqual(['quote']);
    expect(found(index, '"stop"')).toEqual(['quote']);
    expect(found(index, 'AND')).toEqual(['and']);
    expect(found(index, 'title:')).toEqual(['column']);
    expect(found(index, 'NEAR(')).toEqual(['near']);
    expect(found(index, '*')).toEqual(['star']);
    expect(found(index, '^')).toEqual(['hat']);
    expect(found(index, 'a-b')).toEqual(['dash']);
    expect(found(index, 'salt OR pepper')).toEqual([]);
    expect(found(index, '%')).toEqual([]);
    expect(found(index, '')).toEqual([]);
  });

  it('B63 does not take parts of a query for the whole', () => {
    const index = indexOf({ parts: 'abcd bcde', whole: 'xabcdex' });
    expect(found(index, 'abcde')).toEqual(['whole']);
    expect(searchTexts(index, 'abcde', { limit: 1 }).next).toBeUndefined();
  });

  it('B63 finds Chinese by one, two and three characters', () => {
    const index = indexOf({ a: '订单已退款', b: '退货订单', c: '没有' });
    expect(found(index, '退')).toEqual(['a', 'b']);
    expect(found(index, '订单')).toEqual(['a', 'b']);
    expect(found(index, '退款')).toEqual(['a']);
    expect(found(index, '订单已')).toEqual(['a']);
    expect(found(index, '退货订单')).toEqual(['b']);
    expect(found(index, '款')).toEqual(['a']);
  });

  it('B63 compares by NFKC and lower case, in any script', () => {
    const index = indexOf({
      latin: 'Crème BRÛLÉE',
      width: 'Ｏｒｄｅｒ８８１２',
      greek: 'ὈΔΥΣΣΕΎΣ',
      emoji: 'go 👨‍👩‍👧 go',
    });
    expect(found(index, 'crème brûlée'.normalize('NFD'))).toEqual(['latin']);
    expect(found(index, 'order8812')).toEqual(['width']);
    expect(found(index, 'ὀδυσσεύς')).toEqual(['greek']);
    expect(found(index, 'ΣΣΕ')).toEqual(['greek']);
    expect(found(index, 'ΔΥΣ')).toEqual(['greek']);
    expect(found(index, '👨‍👩')).toEqual(['emoji']);
  });

  it('B17 a NUL and a lone surrogate are characters like others', () => {
    const index = indexOf({ nul: 'a\u0000b', lone: 'x\ud800y' });
    expect(found(index, '\u0000b')).toEqual(['nul']);
    expect(found(index, '\ud800')).toEqual(['lone']);
  });

  it('G10 answers name the position that was indexed', () => {
    const index = emptyIndex();
    expect(searchTexts(index, 'x').position).toBe('');
    indexedUpTo(index, '42');
    expect(searchTexts(index, 'x').position).toBe('42');
    expect(searchTexts(index, '').position).toBe('42');
  });

  it('B66 gives pages, the latest indexed first, none twice and none left out', () => {
    const index = emptyIndex();
    for (let count = 0; count < 5; count += 1) addText(index, `k${String(count)}`, 'same text');
    const first = searchTexts(index, 'text', { limit: 2 });
    expect(first.keys).toEqual(['k4', 'k3']);
    const second = searchTexts(index, 'text', { limit: 2, before: first.next ?? 0 });
    expect(second.keys).toEqual(['k2', 'k1']);
    const third = searchTexts(index, 'text', { limit: 2, before: second.next ?? 0 });
    expect(third.keys).toEqual(['k0']);
    expect(third.next).toBeUndefined();
    expect(searchTexts(index, 'text', { limit: 5 }).next).toBeUndefined();
  });

  it('ER1 a text that was taken out leaves nothing in the index', () => {
    const index = indexOf({ a: 'secret', b: 'other' });
    removeText(index, 'a');
    removeText(index, 'nobody');
    expect(found(index, 'secret')).toEqual([]);
    for (const trace of ['sec', 'ecr', 'cre', 'ret']) expect(freeze(index)).not.toContain(trace);
    expect(found(index, 'other')).toEqual(['b']);
    expect(found(index, 'e')).toEqual(['b']);
  });

  it('G10 a text added again under its key takes the place of the one before', () => {
    const index = indexOf({ a: 'first', b: 'other' });
    addText(index, 'a', 'second');
    expect(found(index, 'first')).toEqual([]);
    expect(found(index, 'second')).toEqual(['a']);
    const before = freeze(index);
    addText(index, 'a', 'SECOND');
    expect(freeze(index)).toBe(before);
    addText(index, 'a', '');
    expect(found(index, 'second')).toEqual([]);
  });
});

const characters = fc.constantFrom('a', 'b', '-', '订', '单', 'É', 'é', '"', ' ', '👨', 'ς', 'Σ');
const text = fc.array(characters, { maxLength: 12 }).map((parts) => parts.join(''));
const query = fc.array(characters, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
const step = fc.record({
  key: fc.constantFrom('k1', 'k2', 'k3', 'k4'),
  text,
  remove: fc.boolean(),
});

describe('search by trigrams, for any texts', () => {
  const build = (steps: readonly { key: string; text: string; remove: boolean }[]) => {
    const index = emptyIndex();
    const model = new Map<string, string>();
    for (const one of steps) {
      if (one.remove) {
        removeText(index, one.key);
        model.delete(one.key);
      } else {
        addText(index, one.key, one.text);
        model.set(one.key, one.text);
      }
    }
    return { index, model };
  };

  it('B63 finds exactly the texts that hold the query as a literal run', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), query, (steps, wanted) => {
        const { index, model } = build(steps);
        const expected = [...model]
          .filter(([, own]) => matchingForm(own).includes(matchingForm(wanted)))
          .map(([key]) => key)
          .sort();
        expect(found(index, wanted)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('G10 an index that was built up, cut down and thawed answers like one built at once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), query, (steps, wanted) => {
        const { index, model } = build(steps);
        const thawed = thaw(freeze(index)) as TrigramIndex;
        expect(encodeView(thawed)).toBe(encodeView(index));
        const fresh = emptyIndex();
        for (const [key, own] of model) addText(fresh, key, own);
        expect(found(thawed, wanted)).toEqual(found(fresh, wanted));
      }),
      { numRuns: 200 },
    );
  });
});
