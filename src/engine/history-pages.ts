import * as E from 'fp-ts/lib/Either.js';
import { base64url, deriveUid, fromBase64, utf8 } from '../domain/digest.js';
import type { FaultOf, StemmaFault } from '../domain/errors.js';
import { utf8Bytes } from '../domain/text.js';
import { historyRows, type CompactionEntry, type HistoryEntry } from '../projections/history.js';
import { left, type BranchContext } from './engine-context.js';
import { readHistory } from './histories.js';
import type { Task } from './runtime.js';

/** Which part of a list is wanted. What is over the most that a page holds is cut to it. */
export interface PageOptions {
  /** `next` of the page before, for the same branch and direction. */
  readonly cursor?: string;
  /** Rows, 1 or more; at most 1,000. */
  readonly limit?: number;
  /** Bytes of the rows as JSON, 1 or more; at most 16 MiB. One row is always given. */
  readonly maxBytes?: number;
  /** The latest first. */
  readonly reverse?: boolean;
}

export interface HistoryPage {
  /** What was said and the compactions, each at its place in the log. */
  readonly entries: readonly (HistoryEntry | CompactionEntry)[];
  /** Where the next page begins; absent when nothing follows. */
  readonly next?: string;
}

const LIMIT = { usual: 100, most: 1_000 } as const;
const BYTES = { usual: 1_048_576, most: 16_777_216 } as const;

const names: ReadonlySet<string> = new Set(['cursor', 'limit', 'maxBytes', 'reverse']);

type Invalid = FaultOf<'InvalidArgument'>;

const refuse = (name: string, reason: Invalid['reason']): E.Either<StemmaFault, never> =>
  left({ _tag: 'InvalidArgument', name: name.slice(0, 120), reason });

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

/** A place between two rows, and the way in which they are read. */
interface Cursor {
  readonly reverse: boolean;
  /** Sequence of the last row that was given. */
  readonly last: number;
}

/** The tenant's secret and the branch are part of the mark: nobody else can make one. */
const markOf = ({ secret, key }: BranchContext, text: string): string =>
  deriveUid(secret, 'cursor', `${key.conversation} ${key.branch} ${text}`);

const cursorText = (context: BranchContext, { reverse, last }: Cursor): string => {
  const text = `${reverse ? 'r' : 'f'}${String(last)}`;
  return base64url(utf8(`${text}.${markOf(context, text)}`));
};

const readCursor = (context: BranchContext, cursor: unknown): E.Either<StemmaFault, Cursor> => {
  const bad = left({ _tag: 'BadCursor' });
  if (typeof cursor !== 'string' || !/^[A-Za-z0-9_-]{1,80}$/.test(cursor)) return bad;
  const plain = String.fromCharCode(...fromBase64(cursor.replaceAll('-', '+').replaceAll('_', '/')));
  const parts = /^([rf])(\d{1,15})\.([A-Za-z0-9_-]{22})$/.exec(plain);
  if (parts === null) return bad;
  const [, way = '', last = '', mark] = parts;
  return mark === markOf(context, way + last)
    ? E.right({ reverse: way === 'r', last: Number(last) })
    : bad;
};

interface Wanted {
  readonly limit: number;
  readonly maxBytes: number;
  readonly reverse: boolean;
  readonly after?: number;
}

const wantedOf = (context: BranchContext, options: PageOptions): E.Either<StemmaFault, Wanted> => {
  const unknown = Object.keys(options).find((name) => !names.has(name));
  if (unknown !== undefined) return refuse(unknown, 'unknown_option');
  const limit = sizeOf('limit', options.limit, LIMIT);
  if (E.isLeft(limit)) return limit;
  const maxBytes = sizeOf('maxBytes', options.maxBytes, BYTES);
  if (E.isLeft(maxBytes)) return maxBytes;
  const { reverse, cursor } = options;
  if (reverse !== undefined && typeof reverse !== 'boolean') return refuse('reverse', 'wrong_type');
  const wanted = { limit: limit.right, maxBytes: maxBytes.right };
  if (cursor === undefined) return E.right({ ...wanted, reverse: reverse ?? false });
  const from = readCursor(context, cursor);
  if (E.isLeft(from)) return from;
  return reverse === undefined || reverse === from.right.reverse
    ? E.right({ ...wanted, reverse: from.right.reverse, after: from.right.last })
    : left({ _tag: 'BadCursor' });
};

const pageOf = (
  context: BranchContext,
  rows: HistoryPage['entries'],
  { limit, maxBytes, reverse, after }: Wanted,
): HistoryPage => {
  const ordered = reverse ? [...rows].reverse() : rows;
  const isBehind = ({ sequence }: { readonly sequence: number }): boolean =>
    after === undefined || (reverse ? sequence < after : sequence > after);
  const entries: (HistoryEntry | CompactionEntry)[] = [];
  let bytes = 0;
  for (const row of ordered.filter(isBehind)) {
    bytes += utf8Bytes(JSON.stringify(row));
    const last = entries.at(-1);
    if (last !== undefined && (entries.length >= limit || bytes > maxBytes)) {
      return { entries, next: cursorText(context, { reverse, last: last.sequence }) };
    }
    entries.push(row);
  }
  return { entries };
};

/**
 * The history of a branch page by page. A cursor names a place in the log, so what is appended
 * meanwhile neither shifts a page nor is shown twice (B66).
 */
export const historyPage =
  (context: BranchContext, options: PageOptions = {}): Task<HistoryPage> =>
  async () => {
    const wanted = wantedOf(context, options);
    if (E.isLeft(wanted)) return wanted;
    const { runtime, histories, key } = context;
    const view = await readHistory(runtime, histories, key)();
    if (E.isLeft(view)) return view;
    return E.right(pageOf(context, historyRows(view.right), wanted.right));
  };
