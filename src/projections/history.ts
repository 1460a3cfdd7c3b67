import type { FaultOf } from '../domain/errors.js';
import type { EventRef } from '../domain/events/references.js';
import type { ContextCompacted, StoredMessage } from '../domain/events/message-events.js';
import type { Revision } from '../domain/ids.js';
import type { AnsweredCall, MessageStatus, Outcome, Role } from '../domain/message.js';
import type { Recorded } from '../domain/recorded.js';
import type { Slot } from '../domain/slot.js';
import { applyHistory, redactionOf, startHistory } from './history-fold.js';
import type {
  CompactionDraft,
  EntryDraft,
  HistoryDraft,
  InstructionsDraft,
  MessageDraft,
} from './history-fold.js';
import { liveRanges, type LiveRange } from './live-compactions.js';
import { faultOf, type Stamp } from './places.js';
import type { Projection } from './projection.js';

/** What became of a message since it was recorded, each with the event that did it. */
export interface Fate {
  readonly status: MessageStatus;
  /** Absent while the status is the recorded one. */
  readonly statusCause?: EventRef;
  readonly withdrawn?: EventRef;
  readonly redacted?: EventRef;
}

/** A message that was said, or the result of tool calls. */
export interface MessageEntry extends Stamp, Fate {
  readonly kind: 'message' | 'tool_result';
  readonly message: StoredMessage;
  /** Calls that this result answers. */
  readonly calls: readonly AnsweredCall[];
  readonly foreignCallId?: Slot;
  readonly outcome?: Outcome;
  readonly late?: boolean;
  readonly durationMs?: number;
  /** Own tool calls (by index) that no result will follow: abandoned, or of a broken turn. */
  readonly closedCalls: readonly number[];
  /** The compaction in force that stands for this message. */
  readonly coveredBy?: string;
}

/** A version of the instructions of one slot name. */
export interface InstructionsEntry extends Stamp, Fate {
  readonly kind: 'instructions';
  readonly name: string;
  readonly version: number;
  readonly owner: string;
  readonly role: Role;
  readonly messageId: string;
  readonly content: Slot;
  readonly digest: string;
  /** The version that counts now. */
  readonly effective: boolean;
}

export type HistoryEntry = MessageEntry | InstructionsEntry;

/** A compaction at its place in the log; `fate` is that of its replacement. */
export interface CompactionEntry extends Stamp {
  readonly kind: 'summary';
  readonly data: ContextCompacted;
  readonly fate: Fate;
  readonly state: 'live' | 'hidden' | 'reverted';
  readonly reverted?: EventRef;
}

/** A compaction in force, with the messages of history that it stands for. */
export interface LiveEntry {
  readonly entry: CompactionEntry;
  /** In surface order; summaries that it covers are followed to their messages. */
  readonly covered: readonly string[];
  /** Covered messages that changed since: the summary is stale. */
  readonly changed: readonly string[];
}

/** Everything that was said on a branch, as its log and the directory tell it. */
export interface History {
  /** Last event of the lineage; absent before the first. */
  readonly head?: EventRef;
  readonly at: string;
  readonly directoryRevision: Revision;
  /** In log order: place in the stream, never time (OR1). */
  readonly entries: readonly HistoryEntry[];
  readonly compactions: readonly CompactionEntry[];
  /** Compactions in force, oldest first. */
  readonly live: readonly LiveEntry[];
  /** Latest version by slot name, also when it was redacted. */
  readonly instructions: ReadonlyMap<string, InstructionsEntry>;
  /** The first event that a reader may not pass by: no context may be built from this history. */
  readonly fault?: FaultOf<'UnknownEvent'>;
}

const fateOf = (
  draft: HistoryDraft,
  { stamp, fate }: EntryDraft | CompactionDraft,
  id: string | undefined,
): Fate => {
  const redacted = redactionOf(draft, stamp.place, id);
  return {
    status: fate.status,
    ...(fate.statusCause === undefined ? {} : { statusCause: fate.statusCause }),
    ...(fate.withdrawn === undefined ? {} : { withdrawn: fate.withdrawn }),
    ...(redacted === undefined ? {} : { redacted }),
  };
};

/** Indexes of calls that nothing will answer any more; a result that came all the same wins. */
const closedCalls = (draft: HistoryDraft, entry: MessageDraft): readonly number[] => {
  const { turn } = entry.stamp;
  const broken = turn !== undefined && draft.brokenTurns.has(turn);
  return entry.message.toolCalls
    .map((_call, index) => index)
    .filter((index) => !entry.answered.includes(index))
    .filter((index) => broken || entry.abandoned.includes(index));
};

const messageEntry = (
  draft: HistoryDraft,
  entry: MessageDraft,
  coveredBy: string | undefined,
): MessageEntry => ({
  ...entry.stamp,
  ...fateOf(draft, entry, entry.message.id),
  kind: entry.result === undefined ? 'message' : 'tool_result',
  message: entry.message,
  calls: [],
  ...entry.result,
  closedCalls: closedCalls(draft, entry),
  ...(coveredBy === undefined ? {} : { coveredBy }),
});

const instructionsEntry = (
  draft: HistoryDraft,
  entry: InstructionsDraft,
  index: number,
): InstructionsEntry => {
  const { name, version, owner, role, messageId, content, digest } = entry.data;
  const effective = draft.instructions.get(name) === index;
  const own = { name, version, owner, role, messageId, content, digest, effective };
  return { ...entry.stamp, ...fateOf(draft, entry, messageId), kind: 'instructions', ...own };
};

const compactionEntry = (
  draft: HistoryDraft,
  entry: CompactionDraft,
  isLive: boolean,
): CompactionEntry => ({
  ...entry.stamp,
  kind: 'summary',
  data: entry.data,
  fate: fateOf(draft, entry, entry.data.replacement?.id),
  state: entry.reverted !== undefined ? 'reverted' : isLive ? 'live' : 'hidden',
  ...(entry.reverted === undefined ? {} : { reverted: entry.reverted }),
});

const coverOf = (draft: HistoryDraft, ranges: readonly LiveRange[]): Map<string, string> => {
  const cover = new Map<string, string>();
  for (const { index, covered } of ranges) {
    const id = draft.compactions[index]?.data.compaction ?? '';
    for (const messageId of covered) cover.set(messageId, id);
  }
  return cover;
};

const viewOf = (draft: HistoryDraft): History => {
  const ranges = liveRanges(draft);
  const cover = coverOf(draft, ranges);
  const entries = draft.entries.map((entry, index) =>
    entry.kind === 'message'
      ? messageEntry(draft, entry, cover.get(entry.message.id))
      : instructionsEntry(draft, entry, index),
  );
  const liveIndexes = new Set(ranges.map((range) => range.index));
  const compactions = draft.compactions.map((entry, index) =>
    compactionEntry(draft, entry, liveIndexes.has(index)),
  );
  const fault = faultOf(draft.faults);
  return {
    ...(draft.head === undefined ? {} : { head: draft.head }),
    at: draft.at,
    directoryRevision: draft.directoryRevision,
    entries,
    compactions,
    live: ranges.flatMap(({ index, covered, changed }) => {
      const entry = compactions[index];
      return entry === undefined ? [] : [{ entry, covered, changed }];
    }),
    instructions: new Map(
      entries.flatMap((entry) =>
        entry.kind === 'instructions' && entry.effective ? [[entry.name, entry] as const] : [],
      ),
    ),
    ...(fault === undefined ? {} : { fault }),
  };
};

/**
 * History of a branch: give it the events of the lineage in order (ancestors up to each fork point,
 * then its own) and those of the directory, mixed in any way. At revision N it is the fold of the
 * prefix; the directory is given whole, since a redaction reaches every branch and every revision.
 */
export const history: Projection<HistoryDraft, History> = {
  name: 'history',
  version: 1,
  start: startHistory,
  apply: applyHistory,
  view: viewOf,
};

/** Entries and compactions together, each at its place in the log. */
export const historyRows = (view: History): readonly (HistoryEntry | CompactionEntry)[] =>
  [...view.entries, ...view.compactions].sort((a, b) => a.sequence - b.sequence);

/**
 * The events of a lineage recorded at or before `at` (RFC 3339), a prefix since recorded time never
 * falls. Not for the directory, which is given whole: a redaction reaches the past too.
 */
export function* untilTime(events: Iterable<Recorded>, at: string): Generator<Recorded> {
  const limit = Date.parse(at);
  for (const recorded of events) {
    if (!(Date.parse(recorded.meta.at) <= limit)) return;
    yield recorded;
  }
}
