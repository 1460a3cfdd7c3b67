import { unknownFault, type Recorded } from '../domain/recorded.js';
import { NO_UID, type Uid } from '../domain/ids.js';
import type { FaultOf } from '../domain/errors.js';
import type { EventRef } from '../domain/events/references.js';
import type { DomainEvent } from '../domain/events/catalog.js';

/**
 * Reference to a recorded event. An event of the directory has the branch `-`: no branch of that
 * name exists, so the two never meet.
 */
export const placeOf = (recorded: Recorded): EventRef => ({
  branch: recorded.meta.branch as Uid,
  revision: recorded.revision,
  hash: recorded.hash,
});

/** Names a place within one conversation, for lookups. */
export const placeKey = (place: Pick<EventRef, 'branch' | 'revision'>): string =>
  `${place.branch}@${String(place.revision)}`;

/** Whether the event stands in the directory stream of its conversation, not on a branch. */
export const isDirectory = (recorded: Recorded): boolean => recorded.meta.branch === NO_UID;

/** Where, when and by whom something was recorded. */
export interface Stamp {
  /** 0-based place among the events of the lineage: ancestors' events first. */
  readonly sequence: number;
  readonly place: EventRef;
  /** When it was recorded (RFC 3339, UTC); never an order. */
  readonly at: string;
  readonly actor: string;
  readonly run?: string;
  readonly command?: string;
  /** The turn that was open. */
  readonly turn?: string;
}

/** What the envelope says about who wrote an event and when. */
export const stampOf = (recorded: Recorded, sequence: number, turn?: string): Stamp => {
  const { at, actor, run, cmd } = recorded.meta;
  return {
    sequence,
    place: placeOf(recorded),
    at,
    actor,
    ...(run === undefined ? {} : { run }),
    ...(cmd === undefined ? {} : { command: cmd }),
    ...(turn === undefined ? {} : { turn }),
  };
};

/** The first unknown `must` event of each stream, apart so that interleaving does not matter. */
export interface FaultDraft {
  branch?: FaultOf<'UnknownEvent'>;
  directory?: FaultOf<'UnknownEvent'>;
}

/** Remembers the first event that a reader may not pass by (B40, B41). */
export const noteFault = (draft: FaultDraft, recorded: Recorded): void => {
  const fault = unknownFault(recorded);
  if (fault === undefined) return;
  if (isDirectory(recorded)) draft.directory ??= fault;
  else draft.branch ??= fault;
};

/** The fault that stops a reader: the branch's own before the directory's. */
export const faultOf = (draft: FaultDraft): FaultOf<'UnknownEvent'> | undefined =>
  draft.branch ?? draft.directory;

/** One function per event type; types without one do not concern the projection. */
export type Handlers<Draft> = {
  readonly [K in DomainEvent['type']]?: (
    draft: Draft,
    data: Extract<DomainEvent, { readonly type: K }>['data'],
    recorded: Recorded,
  ) => void;
};

/** Gives a known event to its handler. */
export const handle = <Draft>(
  handlers: Handlers<Draft>,
  draft: Draft,
  recorded: Recorded,
): void => {
  const { event } = recorded;
  if (event === undefined) return;
  const handler = handlers[event.type] as
    ((draft: Draft, data: unknown, recorded: Recorded) => void) | undefined;
  handler?.(draft, event.data, recorded);
};
