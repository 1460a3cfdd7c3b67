import * as E from 'fp-ts/lib/Either.js';
import type { DamageCheck, UnknownEventReason } from '../domain/errors.js';
import type { StoredEvent } from '../domain/event-store.js';
import type { Revision } from '../domain/ids.js';
import { readStored } from '../domain/recorded.js';
import { branchStream } from '../domain/stream-name.js';
import { utf8Bytes } from '../domain/text.js';
import { historyRows, type CompactionEntry, type HistoryEntry } from '../projections/history.js';
import type { BranchContext } from './engine-context.js';
import { readHistory } from './histories.js';
import { cursorBehind, wantedOf, type PageOptions } from './paging.js';
import type { Runtime, Task } from './runtime.js';

export interface HistoryPage {
  /** What was said and the compactions, each at its place in the log. */
  readonly entries: readonly (HistoryEntry | CompactionEntry)[];
  /** Where the next page begins; absent when nothing follows. */
  readonly next?: string;
}

/**
 * The history of a branch page by page. A cursor names a place in the log, so what is appended
 * meanwhile neither shifts a page nor is shown twice (B66).
 */
export const historyPage =
  (context: BranchContext, options: PageOptions = {}): Task<HistoryPage> =>
  async () => {
    const wanted = wantedOf(context, 'history', options);
    if (E.isLeft(wanted)) return wanted;
    const { runtime, histories, key } = context;
    const view = await readHistory(runtime, histories, key)();
    if (E.isLeft(view)) return view;
    const { limit, maxBytes, reverse, after } = wanted.right;
    const rows = historyRows(view.right);
    const entries: (HistoryEntry | CompactionEntry)[] = [];
    let bytes = 0;
    for (const row of reverse ? [...rows].reverse() : rows) {
      if (after !== undefined && (reverse ? row.sequence >= after : row.sequence <= after))
        continue;
      bytes += utf8Bytes(JSON.stringify(row));
      const last = entries.at(-1)?.sequence;
      if (last !== undefined && (entries.length >= limit || bytes > maxBytes)) {
        return E.right({ entries, next: cursorBehind(context, 'history', { reverse, last }) });
      }
      entries.push(row);
    }
    return E.right({ entries });
  };

/** A stored event as it stands, whether this build can read it or not (B40, B42). */
export interface StoredRow {
  readonly revision: Revision;
  readonly id: string;
  readonly type: string;
  readonly state: 'known' | 'unknown' | 'damaged';
  /** unknown: what about it is; absent when it is the format. */
  readonly reason?: UnknownEventReason;
  /** unknown: whether decisions and contexts have to stop before it. */
  readonly compat?: 'must' | 'skip';
  /** damaged: the check that its bytes fail. */
  readonly check?: DamageCheck;
  /** The exact stored texts. */
  readonly meta: string;
  readonly data: string;
}

export interface EventsPage {
  readonly events: readonly StoredRow[];
  readonly next?: string;
}

const rowOf = (stored: StoredEvent, { upcasts }: Runtime): StoredRow => {
  const { revision, id, type, meta, data } = stored;
  const read = readStored(stored, upcasts);
  const texts = { meta, data };
  if (E.isLeft(read)) {
    return read.left._tag === 'Damaged'
      ? { revision, id, type, state: 'damaged', check: read.left.check, ...texts }
      : { revision, id, type, state: 'unknown', ...texts };
  }
  const { unknown, meta: envelope } = read.right;
  return unknown === undefined
    ? { revision, id, type, state: 'known', ...texts }
    : {
        revision,
        id,
        type,
        state: 'unknown',
        reason: unknown.reason,
        compat: envelope.compat,
        ...texts,
      };
};

/**
 * The events of the branch's own stream as they are stored. Goes on past what is unknown or damaged:
 * one bad event never hides the others. Whether they hang together is told by verify.
 */
export const eventsPage =
  (context: BranchContext, options: PageOptions = {}): Task<EventsPage> =>
  async () => {
    const wanted = wantedOf(context, 'events', options);
    if (E.isLeft(wanted)) return wanted;
    const { runtime, key } = context;
    const { limit, maxBytes, reverse, after } = wanted.right;
    if (reverse && after === 0) return E.right({ events: [] });
    const page = await runtime.events.read({
      stream: branchStream(key.tenant, key.conversation, key.branch),
      from: after === undefined ? (reverse ? 'end' : 'start') : after + (reverse ? -1 : 1),
      direction: reverse ? 'backwards' : 'forwards',
      limit,
      maxBytes,
    })();
    if (E.isLeft(page)) return page;
    const events = page.right.events.map((stored) => rowOf(stored, runtime));
    const last = events.at(-1)?.revision;
    return page.right.next === undefined || last === undefined
      ? E.right({ events })
      : E.right({ events, next: cursorBehind(context, 'events', { reverse, last }) });
  };
