import type { FaultOf, FaultTag, RevisionOrNone } from '../errors.js';

/** What a surface says and answers for one kind of fault. */
export interface FaultRow<T extends FaultTag> {
  /** One sentence of fact, with ids, digests, counts and pointers but no content. */
  readonly message: (fault: FaultOf<T>) => string;
  /** What to do next, the same for every fault of the kind. */
  readonly hint: string;
  /** HTTP status, or null where no answer is sent. */
  readonly http: number | null;
  /** Exit code of the command line. */
  readonly exit: number;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
}

/** One row for each of the tags. */
export type FaultRows<T extends FaultTag> = { readonly [Tag in T]: FaultRow<Tag> };

/** Exit codes of the command line. */
export const EXIT = {
  unexpected: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  invalid: 5,
  integrity: 6,
  unavailable: 7,
  overBudget: 8,
  interrupted: 130,
} as const;

const SHOWN_LENGTH = 120;
const SHOWN_IDS = 5;

// Ids and paths are written by others: an escape sequence or a line break in one of them must not
// reach a log or a terminal by way of a message (S03, S05).
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const mark = (hidden: string): string =>
  `\\u{${(hidden.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;

/** An id, path or name as a message shows it: quoted, escaped and at most 120 characters. */
export const shown = (text: string): string => {
  const points = Array.from(text.slice(0, 2 * SHOWN_LENGTH)).map((point) =>
    point.replace(HIDDEN, mark),
  );
  let line = '';
  for (const point of points) {
    if (line.length + point.length > SHOWN_LENGTH) return `"${line}…"`;
    line += point;
  }
  return `"${line}"`;
};

/** The first ids of a list, and how many more there are. */
export const shownIds = (ids: readonly string[]): string => {
  if (ids.length === 0) return 'none';
  const first = ids.slice(0, SHOWN_IDS).map(shown).join(', ');
  return ids.length > SHOWN_IDS ? `${first} and ${ids.length - SHOWN_IDS} more` : first;
};

/** A revision in words. */
export const shownRevision = (revision: RevisionOrNone): string =>
  revision === 'none' ? 'no stream' : `revision ${revision}`;

/** The place in a batch, when there is one. */
export const atIndex = (index: number | undefined): string =>
  index === undefined ? '' : ` (item ${index})`;

/** The pointer, where the root is the empty pointer. */
export const atPath = (path: string): string => (path === '' ? 'at the root' : `at ${shown(path)}`);

/** The path of a store, when it has one. */
export const ofPath = (path: string | undefined): string =>
  path === undefined ? '' : ` ${shown(path)}`;

/** The provider rule that asked, when a profile did. */
export const byRule = (rule: string | undefined): string =>
  rule === undefined ? '' : `, by rule ${shown(rule)}`;
