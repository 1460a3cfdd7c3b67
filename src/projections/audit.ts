import type { Recorded } from '../domain/recorded.js';
import type { Revision } from '../domain/ids.js';
import { factsOf, type Subject } from './event-facts.js';
import type { Projection } from './projection.js';

/** Who did what, when and where; ids only. */
export interface AuditEntry {
  readonly revision: Revision;
  readonly hash: string;
  readonly type: string;
  readonly actor: string;
  readonly via: string;
  readonly run?: string;
  readonly command?: string;
  /** Recorded time; never falls within a stream. */
  readonly at: string;
  /** The clock's own reading when it stood before `at`, and the flag that says so (B51, G16). */
  readonly wall?: string;
  readonly clockRegressed: boolean;
  readonly subjects: readonly Subject[];
  readonly known: boolean;
}

export interface AuditStream {
  readonly stream: string;
  /** In revision order. */
  readonly entries: readonly AuditEntry[];
}

export interface AuditActor {
  readonly events: number;
  /** Event type to the number of events. */
  readonly types: ReadonlyMap<string, number>;
}

export interface Audit {
  /** By name of stream: between two streams there is no order but `at`, which is none. */
  readonly streams: readonly AuditStream[];
  readonly actors: ReadonlyMap<string, AuditActor>;
}

export interface AuditDraft {
  readonly streams: Map<string, AuditEntry[]>;
}

const entryOf = ({ meta, event, unknown, revision, hash }: Recorded): AuditEntry => ({
  revision,
  hash,
  type: event?.type ?? unknown?.type ?? '',
  actor: meta.actor,
  via: meta.via,
  ...(meta.run === undefined ? {} : { run: meta.run }),
  ...(meta.cmd === undefined ? {} : { command: meta.cmd }),
  at: meta.at,
  ...(meta.wall === undefined ? {} : { wall: meta.wall }),
  clockRegressed: meta.wall !== undefined && Date.parse(meta.wall) < Date.parse(meta.at),
  subjects: event === undefined ? [] : factsOf(event).subjects,
  known: event !== undefined,
});

const actorsOf = (streams: readonly AuditStream[]): ReadonlyMap<string, AuditActor> => {
  const actors = new Map<string, { events: number; readonly types: Map<string, number> }>();
  for (const { actor, type } of streams.flatMap(({ entries }) => entries)) {
    const found = actors.get(actor) ?? { events: 0, types: new Map<string, number>() };
    found.events += 1;
    found.types.set(type, (found.types.get(type) ?? 0) + 1);
    actors.set(actor, found);
  }
  return actors;
};

/** The record of who did what, of any number of streams, fed in any interleaving. */
export const audit: Projection<AuditDraft, Audit> = {
  name: 'audit',
  version: 1,
  start: () => ({ streams: new Map() }),
  apply: (draft, recorded) => {
    const entries = draft.streams.get(recorded.stream);
    if (entries === undefined) draft.streams.set(recorded.stream, [entryOf(recorded)]);
    else entries.push(entryOf(recorded));
  },
  view: (draft) => {
    const streams = [...draft.streams]
      .map(([stream, entries]) => ({ stream, entries: [...entries] }))
      .sort((a, b) => (a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : 0));
    return { streams, actors: actorsOf(streams) };
  },
};
