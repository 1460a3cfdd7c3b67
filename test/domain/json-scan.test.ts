import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { FOREIGN_JSON, parseJson, scanJson, type ScanReport } from '../../src/domain/json-scan.js';

const faultOf = (text: string): unknown => {
  const result = scanJson(text);
  return E.isLeft(result) ? result.left : undefined;
};

const reportOf = (text: string, rules = FOREIGN_JSON): ScanReport => {
  const result = scanJson(text, rules);
  if (E.isLeft(result)) throw new Error(`refused: ${result.left._tag}`);
  return result.right;
};

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const manyKeys = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":${index}`).join(',')}}`;

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('B01 text that is no JSON', () => {
  it.each([
    ['{"role":"user","content":', 25],
    ['', 0],
    ['   ', 3],
    ['{', 1],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['[1 2]', 3],
    ['[}', 1],
    ['{]', 1],
    ['1 1', 2],
    ['nul', 0],
    ['nullx', 4],
    ['01', 1],
    ['1.', 1],
    ['.5', 0],
    ['+1', 0],
    ['-', 0],
    ['1e', 1],
    ['NaN', 0],
    ['"a', 2],
    ['"a\nb"', 2],
    ['"\\x41"', 1],
    ['"\\u12g4"', 1],
    ['"\\', 1],
    ["'a'", 0],
    ['\ufeff{}', 0],
    ['[1]]', 3],
    ['/* x */ 1', 0],
    ['\u00a01', 0],
  ])('B01 refuses %j at its offset', (text, offset) => {
    expect(faultOf(text)).toEqual({ _tag: 'InvalidJson', offset });
  });

  it('B01 accepts exactly what JSON.parse accepts, over random values', () => {
    const anyRules = { ...FOREIGN_JSON, maxDepth: 1_000, maxKeys: 1_000_000 };
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(), (json, seed) => {
        expect(E.isRight(scanJson(json, anyRules))).toBe(true);
        const cut = json.slice(0, seed % (json.length + 1));
        expect(E.isRight(scanJson(cut, anyRules))).toBe(parses(cut));
      }),
      { numRuns: 500 },
    );
  });

  it('B01 accepts exactly what JSON.parse accepts, over random scraps of JSON', () => {
    const scraps = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '\\', '\\u00', '0', '-', '1.5', 'e9', 'true'],
      ...['null', ' ', '\n', '\t', '\u000b', '\u0001', 'é', '\ud800', '"\\n"', '-0', '1E+2', '"":'],
    );
    const document = fc.array(scraps, { maxLength: 9 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(document, (text) => {
        expect(E.isRight(scanJson(text, FOREIGN_JSON))).toBe(parses(text));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('B05 nesting', () => {
  it('B05 accepts nesting depth 64', () => {
    expect(reportOf(nested(64)).depth).toBe(64);
  });

  it('B05 refuses nesting depth 65', () => {
    expect(faultOf(nested(65))).toEqual({ _tag: 'TooDeep', depth: 65, limit: 64 });
  });

  it('B05 counts objects and lists together', () => {
    const text = `${'{"a":['.repeat(33)}${']}'.repeat(33)}`;
    expect(faultOf(text)).toEqual({ _tag: 'TooDeep', depth: 65, limit: 64 });
  });

  it('B05 does not count brackets inside strings', () => {
    expect(reportOf(JSON.stringify('['.repeat(1_000))).depth).toBe(0);
  });

  it('B05 refuses depth 100,000 within 50 ms', () => {
    const text = nested(100_000);
    scanJson(nested(10));
    const start = performance.now();
    expect(faultOf(text)).toMatchObject({ _tag: 'TooDeep' });
    expect(performance.now() - start).toBeLessThan(50);
  });

  it('B05 does not recurse: a limit of a million is walked', () => {
    expect(reportOf(nested(200_000), { ...FOREIGN_JSON, maxDepth: 1e6 }).depth).toBe(200_000);
  });
});

describe('B06 keys', () => {
  it('B06 accepts 100,000 keys', () => {
    expect(reportOf(manyKeys(100_000)).keys).toBe(100_000);
  });

  it('B06 refuses 100,001 keys', () => {
    expect(faultOf(manyKeys(100_001))).toEqual({ _tag: 'TooManyKeys', limit: 100_000 });
  });

  it('B06 counts the keys of all objects together', () => {
    const text = `[${Array.from({ length: 4 }, () => '{"a":1}').join(',')}]`;
    expect(E.isRight(scanJson(text, { maxKeys: 4 }))).toBe(true);
    expect(scanJson(text, { maxKeys: 3 })).toEqual(E.left({ _tag: 'TooManyKeys', limit: 3 }));
  });

  it('B06 refuses two million keys before they are parsed', () => {
    const text = manyKeys(2_000_000);
    const start = performance.now();
    expect(faultOf(text)).toMatchObject({ _tag: 'TooManyKeys' });
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('B07 B08 duplicate keys', () => {
  it.each([
    ['{"role":"user","role":"system"}', '/role'],
    ['{"a":[{"b":1},{"c":1,"c":2}]}', '/a/1/c'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"a/b":1,"a\\/b":2}', '/a~1b'],
    ['{"":1,"":2}', '/'],
  ])('B07 refuses %s', (text, path) => {
    expect(faultOf(text)).toEqual({ _tag: 'DuplicateKey', path });
  });

  it('B07 allows one name in two objects', () => {
    expect(reportOf('{"a":{"a":1},"b":{"a":2}}').dupKeys).toBe(false);
  });

  it('B08 flags duplicate keys of foreign JSON and goes on', () => {
    expect(reportOf('{"a":1,"a":2}')).toMatchObject({ dupKeys: true, keys: 2 });
  });
});

describe('B09 B10 forbidden keys', () => {
  it.each([
    ['{"__proto__":{"x":1}}', '/__proto__'],
    ['{"metadata":{"\\u005f_proto__":1}}', '/metadata/__proto__'],
    ['{"constructor":{"prototype":{"x":1}}}', '/constructor/prototype'],
  ])('B09 refuses %s', (text, path) => {
    expect(faultOf(text)).toEqual({ _tag: 'ForbiddenKey', path });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each(['{"constructor":"Ltd"}', '{"prototype":1}', '{"constructor":[{"prototype":1}]}'])(
    'B09 allows %s',
    (text) => {
      expect(faultOf(text)).toBeUndefined();
    },
  );

  it('B10 flags the key in foreign JSON; the value is an own property and pollutes nothing', () => {
    const text = '{"__proto__":{"x":1}}';
    expect(reportOf(text).forbiddenKeys).toBe(true);
    const parsed = parseJson(text, FOREIGN_JSON);
    if (E.isLeft(parsed)) throw new Error(parsed.left._tag);
    expect(Object.keys(parsed.right as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('B11 B12 B13 numbers', () => {
  it.each([
    '9007199254740993',
    '-9007199254740992',
    '1e400',
    '-1e400',
    '1E16',
    '90071992547409920.0',
    '1'.repeat(400),
  ])('B12 B13 refuses %s', (number) => {
    expect(faultOf(`{"a":[0,${number}]}`)).toEqual({ _tag: 'UnsafeNumber', path: '/a/1' });
  });

  it.each(['9007199254740991', '-9007199254740991', '0.1', '1e-400', '1.5e3', '1e15', '-0'])(
    'B12 accepts %s',
    (number) => {
      expect(faultOf(number)).toBeUndefined();
    },
  );

  it('B11 flags unsafe numbers of foreign JSON and goes on', () => {
    expect(reportOf('{"id":9007199254740993}').unsafeNumbers).toBe(true);
    expect(reportOf('{"id":9007199254740991}').unsafeNumbers).toBe(false);
  });

  it('B13 reads negative zero as 0', () => {
    for (const text of ['-0', '-0.0', '-0e5']) {
      expect(parseJson(text)).toEqual(E.right(0));
    }
    expect(JSON.stringify(parseJson('{"a":[-0,-1]}'))).toBe(
      '{"_tag":"Right","right":{"a":[0,-1]}}',
    );
  });
});

describe('B16 keys with half a surrogate pair', () => {
  it.each(['{"a":{"\\ud800":1}}', '{"a":{"\ud800":1}}'])('B16 refuses %j', (text) => {
    expect(faultOf(text)).toEqual({ _tag: 'IllFormedUnicode', path: '/a/\ufffd' });
  });

  it('B16 flags them in foreign JSON', () => {
    expect(reportOf('{"\\ud800":1}').illFormedKeys).toBe(true);
    expect(reportOf('{"\\ud83d\\ude00":1}').illFormedKeys).toBe(false);
  });

  it('B15 leaves half a surrogate pair in a string alone', () => {
    expect(parseJson('"a\\ud800b"')).toEqual(E.right('a\ud800b'));
  });
});

describe('B17 B21 content', () => {
  it('B17 keeps NUL and B21 keeps a byte order mark inside a string', () => {
    expect(parseJson('"a\\u0000b"')).toEqual(E.right('a\0b'));
    expect(parseJson('"a\ufeffb"')).toEqual(E.right('a\ufeffb'));
  });

  it('B01 gives the value that JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text, FOREIGN_JSON)).toEqual(E.right(JSON.parse(text)));
      }),
    );
  });
});

describe('MS3 pointers', () => {
  it('MS3 does not echo a long key', () => {
    const text = `{"${'k'.repeat(10_000)}":1e999}`;
    const fault = faultOf(text) as { readonly path: string };
    expect(fault.path.length).toBeLessThanOrEqual(120);
    expect(fault.path.endsWith('…')).toBe(true);
  });
});
