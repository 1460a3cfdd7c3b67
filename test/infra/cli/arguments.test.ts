import { describe, expect, it } from 'vitest';
import {
  actor,
  labels,
  oneOf,
  pointInTime,
  wholeNumber,
} from '../../../src/infra/cli/arguments.js';
import { isStemmaError } from '../../../src/face/stemma-error.js';

/** The fault that an argument is refused with. */
const refusal = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    if (isStemmaError(error)) return error.data;
    throw error;
  }
  return undefined;
};

const refused = (name: string, reason: string) => ({ _tag: 'InvalidArgument', name, reason });

describe('numbers', () => {
  it.each([
    ['0', 0],
    ['12', 12],
    ['-1', -1],
    ['+7', 7],
    ['007', 7],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('B38 takes %s', (text, value) => {
    expect(wholeNumber('expect', text, { least: -1 })).toBe(value);
  });

  it.each([
    ['1.5', 'not_an_integer'],
    ['1e12', 'not_an_integer'],
    ['.5', 'not_an_integer'],
    ['', 'wrong_type'],
    [' 1', 'wrong_type'],
    ['1 ', 'wrong_type'],
    ['0x10', 'wrong_type'],
    ['NaN', 'wrong_type'],
    ['Infinity', 'wrong_type'],
    ['1_000', 'wrong_type'],
    ['１２', 'wrong_type'],
    ["1'; --", 'wrong_type'],
    ['-2', 'out_of_range'],
    ['9007199254740992', 'out_of_range'],
    ['99999999999999999999999999', 'out_of_range'],
  ])('B38 refuses %j as a revision', (text, reason) => {
    expect(refusal(() => wholeNumber('expect', text, { least: -1 }))).toEqual(
      refused('expect', reason),
    );
  });

  it.each([
    ['0', 'out_of_range'],
    ['-1', 'out_of_range'],
    ['NaN', 'wrong_type'],
    ['2.5', 'not_an_integer'],
  ])('B54 refuses %s as a budget', (text, reason) => {
    expect(refusal(() => wholeNumber('budget', text, { least: 1 }))).toEqual(
      refused('budget', reason),
    );
  });

  it('B66 keeps a number within its upper bound', () => {
    expect(wholeNumber('n', '10', { least: 1, most: 10 })).toBe(10);
    expect(refusal(() => wholeNumber('n', '11', { least: 1, most: 10 }))).toEqual(
      refused('n', 'out_of_range'),
    );
  });
});

describe('words', () => {
  it('B64 takes a word of a list as it stands, and nothing near it', () => {
    expect(oneOf('role', 'user', ['user', 'tool'])).toBe('user');
    for (const text of ['User', ' user', 'users', '', "user' OR 1=1 --", '__proto__']) {
      expect(refusal(() => oneOf('role', text, ['user', 'tool']))).toEqual(
        refused('role', 'unknown_value'),
      );
    }
  });

  it('RL1 reads who gives a command', () => {
    expect(actor('as', 'app')).toEqual({ kind: 'app' });
    expect(actor('as', 'end_user:ann:1')).toEqual({ kind: 'end_user', id: 'ann:1' });
    expect(refusal(() => actor('as', 'engine'))).toEqual(refused('as', 'unknown_value'));
    expect(refusal(() => actor('as', 'app:'))).toEqual(refused('as', 'missing'));
  });

  it('S17 reads labels without touching a prototype', () => {
    const read = labels('label', ['team=shop', '__proto__=x', 'empty=', 'a=b=c']);
    expect(Object.entries(read ?? {})).toEqual([
      ['team', 'shop'],
      ['__proto__', 'x'],
      ['empty', ''],
      ['a', 'b=c'],
    ]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    expect(refusal(() => labels('label', ['=x']))).toEqual(refused('label', 'wrong_type'));
    expect(refusal(() => labels('label', ['none']))).toEqual(refused('label', 'wrong_type'));
    expect(labels('label', [])).toBeUndefined();
  });
});

describe('times', () => {
  const now = Date.parse('2026-03-10T12:00:00.000Z');

  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000Z'],
    ['2h', '2026-03-10T10:00:00.000Z'],
    ['7d', '2026-03-03T12:00:00.000Z'],
    ['30s', '2026-03-10T11:59:30.000Z'],
    ['1w', '2026-03-03T12:00:00.000Z'],
  ])('B52 reads %s', (text, value) => {
    expect(pointInTime('since', text, now)).toBe(value);
  });

  it.each(['2024-02-30', '2026-01-31T09:30:00', '31.01.2026', 'yesterday', '2', '-2h', '2y'])(
    'B52 refuses %s',
    (text) => {
      expect(refusal(() => pointInTime('since', text, now))).toEqual(
        refused('since', 'wrong_type'),
      );
    },
  );
});
