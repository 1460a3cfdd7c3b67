import type { Recorded } from '../domain/recorded.js';
import { advance, stampAt, startCursor, type Cursor } from './cursor.js';
import { factsOf, unknownFacts, type EventFacts } from './event-facts.js';
import { isDirectory, stampOf, type Stamp } from './places.js';
import type { Projection } from './projection.js';

/** One event as the events view lists it: no content, which the reader fetches by place. */
export interface TimelineItem extends Stamp, EventFacts {
  readonly type: string;
  /** The clock's own reading, where it stood before `at` (B51). */
  readonly wall?: string;
  /** An event that this build does not know: shown, never interpreted (B40). */
  readonly unknown?: { readonly version: number; readonly reason: 'type' | 'version' };
}

export interface Timeline {
  /** Events of the lineage, in its order. */
  readonly items: readonly TimelineItem[];
  /** Events of the directory, in its own order: between two streams there is none. */
  readonly directory: readonly TimelineItem[];
}

export interface TimelineDraft {
  readonly cursor: Cursor;
  readonly items: TimelineItem[];
  readonly directory: TimelineItem[];
}

const itemOf = (recorded: Recorded, stamp: Stamp): TimelineItem => {
  const { event, unknown, meta } = recorded;
  return {
    ...stamp,
    ...(meta.wall === undefined ? {} : { wall: meta.wall }),
    type: event?.type ?? unknown?.type ?? '',
    ...(event === undefined ? unknownFacts : factsOf(event)),
    ...(unknown === undefined
      ? {}
      : { unknown: { version: unknown.version, reason: unknown.reason } }),
  };
};

/** Every event of a branch and of its directory as a light row. Goes on past unknown events. */
export const timeline: Projection<TimelineDraft, Timeline> = {
  name: 'timeline',
  version: 1,
  start: () => ({ cursor: startCursor(), items: [], directory: [] }),
  apply: (draft, recorded) => {
    if (isDirectory(recorded)) {
      draft.directory.push(itemOf(recorded, stampOf(recorded, recorded.revision)));
      return;
    }
    advance(draft.cursor, recorded, () => {
      draft.items.push(itemOf(recorded, stampAt(draft.cursor, recorded)));
    });
  },
  view: (draft) => ({ items: [...draft.items], directory: [...draft.directory] }),
};
