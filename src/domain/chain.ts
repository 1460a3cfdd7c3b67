import { chainStart } from './envelope.js';
import type { FaultOf } from './errors.js';
import type { Revision } from './ids.js';
import type { Recorded } from './recorded.js';

/** The event before, as far as the next one depends on it. */
export interface Link {
  readonly revision: Revision;
  readonly hash: string;
}

/** What `prev` of an event must be. */
export const expectedPrev = (
  before: Link | undefined,
  first: Pick<Recorded, 'event' | 'meta'>,
): string => {
  if (before !== undefined) return before.hash;
  return first.event?.type === 'BranchForked'
    ? first.event.data.parent.hash
    : chainStart(first.meta.conv, first.meta.branch);
};

/** `Damaged` when an event does not follow the one before it: a gap (`order`) or another past (`chain`). */
export const chainFault = (
  before: Link | undefined,
  next: Recorded,
): FaultOf<'Damaged'> | undefined => {
  const { stream, revision, meta } = next;
  if (revision !== (before?.revision ?? -1) + 1) {
    return { _tag: 'Damaged', stream, revision, check: 'order' };
  }
  return meta.prev === expectedPrev(before, next)
    ? undefined
    : { _tag: 'Damaged', stream, revision, check: 'chain' };
};
