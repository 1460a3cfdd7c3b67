import { refuseArgument } from './faults.js';
import type { Options } from './options.js';

/** `app` finds every app, `app:shop` this one. */
export const matchesActor = (actor: string, wanted: string): boolean =>
  actor === wanted || actor.startsWith(`${wanted}:`);

/** A type by its name, or by its beginning with `*` behind it. No other sign is a pattern. */
export const matchesType = (type: string, wanted: string): boolean =>
  wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;

/** A part of a list, and where the next part begins. */
export interface Page<A> {
  readonly rows: readonly A[];
  readonly next?: number;
}

const DEFAULT_LIMIT = 200;
const MOST = 10_000;

/**
 * `--limit` rows from behind `--after`, newest first with `--reverse`. A limit above the largest
 * counts as the largest (B66).
 */
export const pageOf = <A>(rows: readonly A[], options: Options): Page<A> => {
  const limit = Math.min(options.whole('limit', { least: 1 }) ?? DEFAULT_LIMIT, MOST);
  const after = options.whole('after', { least: 0 }) ?? 0;
  if (after > rows.length) refuseArgument('after', 'out_of_range');
  const ordered = options.flag('reverse') ? [...rows].reverse() : rows;
  const part = ordered.slice(after, after + limit);
  const end = after + part.length;
  return { rows: part, ...(end < ordered.length ? { next: end } : {}) };
};
