import { isRfc3339 } from '../../domain/text.js';
import type { Actor } from '../../engine/engine-context.js';
import { refuseArgument } from './faults.js';

export interface Range {
  readonly least: number;
  readonly most?: number;
}

const WHOLE = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A whole number as it was typed; anything else is refused by name (B38, B54). */
export const wholeNumber = (name: string, text: string, { least, most }: Range): number => {
  if (!WHOLE.test(text)) {
    return refuseArgument(name, NUMBER.test(text) ? 'not_an_integer' : 'wrong_type');
  }
  const value = Number(text);
  const isIn = Number.isSafeInteger(value) && value >= least && value <= (most ?? value);
  return isIn ? value : refuseArgument(name, 'out_of_range');
};

/** One of a closed list of words. */
export const oneOf = <const T extends string>(
  name: string,
  text: string,
  values: readonly T[],
): T => values.find((value) => value === text) ?? refuseArgument(name, 'unknown_value');

const kinds = ['operator', 'app', 'end_user', 'model', 'tool', 'importer'] as const;

/** `KIND` or `KIND:ID`. */
export const actor = (name: string, text: string): Actor => {
  const colon = text.indexOf(':');
  const kind = oneOf(name, colon < 0 ? text : text.slice(0, colon), kinds);
  const id = colon < 0 ? undefined : text.slice(colon + 1);
  if (id === '') return refuseArgument(name, 'missing');
  return id === undefined ? { kind } : { kind, id };
};

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DURATION = /^(\d{1,6})([smhdw])$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A time (RFC 3339), a day (its beginning in UTC) or an age such as `2h`, as RFC 3339 in UTC. */
export const pointInTime = (name: string, text: string, nowMs: number): string => {
  const duration = DURATION.exec(text);
  if (duration !== null) {
    const [, count = '0', unit = 's'] = duration;
    return new Date(nowMs - Number(count) * unitMs[unit as keyof typeof unitMs]).toISOString();
  }
  const full = DAY.test(text) ? `${text}T00:00:00Z` : text;
  return isRfc3339(full) ? new Date(full).toISOString() : refuseArgument(name, 'wrong_type');
};

/** `NAME=VALUE`, once for each label. */
export const labels = (
  name: string,
  pairs: readonly string[],
): Readonly<Record<string, string>> | undefined => {
  if (pairs.length === 0) return undefined;
  const entries = pairs.map((pair): readonly [string, string] => {
    const equals = pair.indexOf('=');
    return equals < 1
      ? refuseArgument(name, 'wrong_type')
      : [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  // Entries, not assignment: a label may be called __proto__.
  return Object.fromEntries(entries);
};
