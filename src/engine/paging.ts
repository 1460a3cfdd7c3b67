import * as E from 'fp-ts/lib/Either.js';
import { base64url, deriveUid, fromBase64, utf8 } from '../domain/digest.js';
import type { FaultOf, StemmaFault } from '../domain/errors.js';
import { left, type BranchContext } from './engine-context.js';

/** Which part of a list is wanted. What is over the most that a page holds is cut to it. */
export interface PageOptions {
  /** `next` of the page before, for the same list, branch and direction. */
  readonly cursor?: string;
  /** Rows, 1 or more; at most 1,000. */
  readonly limit?: number;
  /** Bytes of the rows as JSON, 1 or more; at most 16 MiB. One row is always given. */
  readonly maxBytes?: number;
  /** The latest first. */
  readonly reverse?: boolean;
}

/** The lists that are given page by page; a cursor of one is none of another. */
export type PagedList = 'history' | 'events';

/** What a page is to hold. */
export interface Wanted {
  readonly limit: number;
  readonly maxBytes: number;
  readonly reverse: boolean;
  /** Place of the last row that was given. */
  readonly after?: number;
}

const LIMIT = { usual: 100, most: 1_000 } as const;
const BYTES = { usual: 1_048_576, most: 16_777_216 } as const;

const names: ReadonlySet<string> = new Set(['cursor', 'limit', 'maxBytes', 'reverse']);

/** A name that a caller made up is not echoed at any length. */
const NAME_LENGTH = 120;

const refuse = (
  name: string,
  reason: FaultOf<'InvalidArgument'>['reason'],
): E.Either<StemmaFault, never> =>
  left({ _tag: 'InvalidArgument', name: name.slice(0, NAME_LENGTH), reason });

const sizeOf = (
  name: string,
  value: unknown,
  { usual, most }: { readonly usual: number; readonly most: number },
): E.Either<StemmaFault, number> => {
  if (value === undefined) return E.right(usual);
  if (typeof value !== 'number') return refuse(name, 'wrong_type');
  if (Number.isFinite(value) && !Number.isInteger(value)) return refuse(name, 'not_an_integer');
  return value >= 1 && value <= Number.MAX_SAFE_INTEGER
    ? E.right(Math.min(value, most))
    : refuse(name, 'out_of_range');
};

interface Cursor {
  readonly reverse: boolean;
  readonly last: number;
}

/** List, branch and the tenant's secret are part of the mark: nobody else can make one. */
const markOf = ({ secret, key }: BranchContext, list: PagedList, text: string): string =>
  deriveUid(secret, 'cursor', `${list} ${key.conversation} ${key.branch} ${text}`);

/** The cursor behind the row at this place. */
export const cursorBehind = (
  context: BranchContext,
  list: PagedList,
  { reverse, last }: Cursor,
): string => {
  const text = `${reverse ? 'r' : 'f'}${String(last)}`;
  return base64url(utf8(`${text}.${markOf(context, list, text)}`));
};

const readCursor = (
  context: BranchContext,
  list: PagedList,
  cursor: unknown,
): E.Either<StemmaFault, Cursor> => {
  const bad = left({ _tag: 'BadCursor' });
  if (typeof cursor !== 'string' || !/^[A-Za-z0-9_-]{1,80}$/.test(cursor)) return bad;
  const bytes = fromBase64(cursor.replaceAll('-', '+').replaceAll('_', '/'));
  const parts = /^([rf])(\d{1,15})\.([A-Za-z0-9_-]{22})$/.exec(String.fromCharCode(...bytes));
  if (parts === null) return bad;
  const [, way = '', last = '', mark] = parts;
  return mark === markOf(context, list, way + last)
    ? E.right({ reverse: way === 'r', last: Number(last) })
    : bad;
};

/** Reads the options of a page. Nothing that was typed wrong is passed by in silence (B66). */
export const wantedOf = (
  context: BranchContext,
  list: PagedList,
  options: PageOptions,
): E.Either<StemmaFault, Wanted> => {
  const unknown = Object.keys(options).find((name) => !names.has(name));
  if (unknown !== undefined) return refuse(unknown, 'unknown_option');
  const limit = sizeOf('limit', options.limit, LIMIT);
  if (E.isLeft(limit)) return limit;
  const maxBytes = sizeOf('maxBytes', options.maxBytes, BYTES);
  if (E.isLeft(maxBytes)) return maxBytes;
  const { cursor } = options;
  const reverse: unknown = options.reverse;
  if (reverse !== undefined && typeof reverse !== 'boolean') return refuse('reverse', 'wrong_type');
  const wanted = { limit: limit.right, maxBytes: maxBytes.right };
  if (cursor === undefined) return E.right({ ...wanted, reverse: reverse ?? false });
  const from = readCursor(context, list, cursor);
  if (E.isLeft(from)) return from;
  return reverse === undefined || reverse === from.right.reverse
    ? E.right({ ...wanted, reverse: from.right.reverse, after: from.right.last })
    : left({ _tag: 'BadCursor' });
};
