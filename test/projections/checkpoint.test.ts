import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeze, freezeFor, thaw, thawFor } from '../../src/projections/checkpoint.js';
import { encodeView } from '../../src/projections/encode-view.js';
import { history } from '../../src/projections/history.js';
import { usage } from '../../src/projections/usage.js';
import { buildBranch, opened, said } from '../support/recorded-builder.js';

describe('checkpoints', () => {
  it('G10 keep Maps, Sets, order and absent fields', () => {
    const draft = {
      map: new Map<unknown, unknown>([
        ['z', new Set(['b', 'a'])],
        ['a', new Map([[1, { deep: [null, true, -0.5] }]])],
      ]),
      list: [],
      absent: undefined,
    };
    const back = thaw(freeze(draft)) as typeof draft;
    expect(back).toEqual(draft);
    expect([...back.map.keys()]).toEqual(['z', 'a']);
    expect([...(back.map.get('z') as Set<string>)]).toEqual(['b', 'a']);
    expect('absent' in back).toBe(false);
  });

  it('S17 keep objects whose keys look like tags or like a prototype', () => {
    const hostile = {
      $map: [['a', 1]],
      $set: ['a'],
      $entries: [],
      ['__proto__']: { polluted: true },
    };
    const back = thaw(freeze(hostile)) as Record<string, unknown>;
    expect(Object.keys(back).sort()).toEqual(['$entries', '$map', '$set', '__proto__']);
    expect(back['$map']).toEqual([['a', 1]]);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(({} as { readonly polluted?: boolean }).polluted).toBeUndefined();
  });

  it('B15 keep half a surrogate pair', () => {
    expect(thaw(freeze('a\ud800b'))).toBe('a\ud800b');
  });

  it('G10 refuse what a draft may not hold', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol('s')]) {
      expect(() => freeze({ value: [value] })).toThrow(TypeError);
      expect(() => encodeView({ value: [() => value] })).toThrow(TypeError);
    }
  });

  it('G10 are of one projection and version', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    const draft = history.start();
    for (const recorded of main.events) history.apply(draft, recorded);
    const text = freezeFor(history, draft);
    const back = thawFor(history, text);
    expect(back === undefined ? '' : encodeView(history.view(back))).toBe(
      encodeView(history.view(draft)),
    );
    expect(thawFor({ ...history, version: 2 }, text)).toBeUndefined();
    expect(thawFor(usage, text)).toBeUndefined();
    for (const broken of [text.slice(0, -1), '', 'null', '[]', '["history",1]']) {
      expect(thawFor(history, broken)).toBeUndefined();
    }
  });

  it('G10 give drafts of their own: what is folded on does not reach back', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    const draft = history.start();
    for (const recorded of main.events) history.apply(draft, recorded);
    const text = freeze(draft);
    const back = thaw(text) as typeof draft;
    history.apply(back, main.add(said('m', 'user', 'x')));
    expect(freeze(draft)).toBe(text);
  });

  it('G10 any JSON document comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        // JSON itself has no -0.
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(thaw(freeze(plain))).toEqual(plain);
      }),
    );
  });
});

describe('the one text of a view', () => {
  it('G10 does not depend on the order of keys, Maps and Sets', () => {
    const left = {
      b: 1,
      a: new Map([
        ['y', 1],
        ['x', 2],
      ]),
      s: new Set(['q', 'p']),
    };
    const right = {
      s: new Set(['p', 'q']),
      a: new Map([
        ['x', 2],
        ['y', 1],
      ]),
      b: 1,
      c: undefined,
    };
    expect(encodeView(left)).toBe('{"a":{"map":[["x",2],["y",1]]},"b":1,"s":{"set":["p","q"]}}');
    expect(encodeView(right)).toBe(encodeView(left));
  });

  it('G10 depends on the order of lists and on every value', () => {
    expect(encodeView([1, 2])).not.toBe(encodeView([2, 1]));
    expect(encodeView({ a: '1' })).not.toBe(encodeView({ a: 1 }));
    expect(encodeView({ a: null })).not.toBe(encodeView({}));
  });
});
