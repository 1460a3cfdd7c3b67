import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Revision } from '../domain/ids.js';
import { isRfc3339 } from '../domain/text.js';

/** Where a history ends: at the head, at a revision of the branch's lineage, or at a time. */
export interface ReadPoint {
  readonly revision?: Revision;
  /** RFC 3339; events at or before it count (`at` never goes back, so this is a prefix). */
  readonly time?: string;
}

const LAST = '9999-12-31T23:59:59.999Z';

/** A time by RFC 3339 as the log writes it, UTC with milliseconds; undefined for any other text. */
export const utcOf = (text: string): string | undefined => {
  if (!isRfc3339(text)) return undefined;
  // Date knows no leap second: it is the one after 59.
  const isLeap = /^.{16}:60/.test(text);
  const ms = Date.parse(isLeap ? `${text.slice(0, 17)}59${text.slice(19)}` : text);
  const utc = new Date(isLeap ? ms + 1_000 : ms).toISOString();
  // Beyond the year 9999 the text would no longer sort by time.
  return utc.startsWith('+') ? LAST : utc;
};

/** Reads a point that a caller gives; its time in the one form that can be compared. */
export const checkedPoint = (point: ReadPoint): E.Either<StemmaFault, ReadPoint> => {
  const { revision, time }: { readonly revision?: unknown; readonly time?: unknown } = point;
  if (revision !== undefined && !(Number.isSafeInteger(revision) && Number(revision) >= 0)) {
    const reason = typeof revision === 'number' ? 'out_of_range' : 'wrong_type';
    return E.left({ _tag: 'InvalidArgument', name: 'revision', reason });
  }
  const utc = typeof time === 'string' ? utcOf(time) : undefined;
  if (time !== undefined && utc === undefined) {
    return E.left({ _tag: 'InvalidTimestamp', path: '/time' });
  }
  return E.right({
    ...(revision === undefined ? {} : { revision: Number(revision) }),
    ...(utc === undefined ? {} : { time: utc }),
  });
};
