import type { EventRef, MessageRef } from '../domain/events/references.js';
import type { InstructionsRevised } from '../domain/events/branch-events.js';
import type {
  ContextCompacted,
  StoredMessage,
  ToolResultAttached,
} from '../domain/events/message-events.js';
import type { Revision } from '../domain/ids.js';
import type { MessageStatus } from '../domain/message.js';
import type { Recorded } from '../domain/recorded.js';
import { advance, stampAt, startCursor, type Cursor } from './cursor.js';
import { handle, isDirectory, noteFault, placeKey, placeOf } from './places.js';
import type { FaultDraft, Handlers, Stamp } from './places.js';

/** What later events of the lineage said about a message. */
export interface FateDraft {
  status: MessageStatus;
  statusCause?: EventRef;
  withdrawn?: EventRef;
  /** `sequence` of the last event that changed the above. */
  changedAt?: number;
}

export interface MessageDraft {
  readonly kind: 'message';
  readonly stamp: Stamp;
  readonly message: StoredMessage;
  readonly result?: Omit<ToolResultAttached, 'message'>;
  readonly fate: FateDraft;
  readonly answered: number[];
  readonly abandoned: number[];
}
export interface InstructionsDraft {
  readonly kind: 'instructions';
  readonly stamp: Stamp;
  readonly data: InstructionsRevised;
  readonly fate: FateDraft;
}
export type EntryDraft = MessageDraft | InstructionsDraft;

export interface CompactionDraft {
  readonly stamp: Stamp;
  readonly data: ContextCompacted;
  /** Of the replacement. */
  readonly fate: FateDraft;
  reverted?: EventRef;
}

/** Names an element of one of the two lists of the draft. */
export interface Slotted {
  readonly list: 'entries' | 'compactions';
  readonly index: number;
}

export interface HistoryDraft {
  readonly cursor: Cursor;
  head?: EventRef;
  at: string;
  directoryRevision: Revision;
  readonly faults: FaultDraft;
  readonly entries: EntryDraft[];
  readonly compactions: CompactionDraft[];
  /** By message id; ids are unique within a lineage, a later use would win. */
  readonly byId: Map<string, Slotted>;
  readonly compactionById: Map<string, number>;
  /** Slot name of instructions to the index of its latest version in `entries`. */
  readonly instructions: Map<string, number>;
  /** Turns that ended otherwise than completed. */
  readonly brokenTurns: Set<string>;
  /** Redactions of the conversation by place, whether or not the place is on this lineage. */
  readonly redactions: Map<string, EventRef>;
  /** Merged copies by id: where their original stands. */
  readonly copies: Map<string, MessageRef>;
  /** Directory revision that each model call knew. */
  readonly knownRevisions: Map<string, Revision>;
}

export const startHistory = (): HistoryDraft => ({
  cursor: startCursor(),
  at: '',
  directoryRevision: -1,
  faults: {},
  entries: [],
  compactions: [],
  byId: new Map(),
  compactionById: new Map(),
  instructions: new Map(),
  brokenTurns: new Set(),
  redactions: new Map(),
  copies: new Map(),
  knownRevisions: new Map(),
});

const addEntry = (draft: HistoryDraft, id: string, entry: EntryDraft): void => {
  draft.byId.set(id, { list: 'entries', index: draft.entries.length });
  draft.entries.push(entry);
};

const addMessage = (
  draft: HistoryDraft,
  recorded: Recorded,
  message: StoredMessage,
  result?: Omit<ToolResultAttached, 'message'>,
): void => {
  addEntry(draft, message.id, {
    kind: 'message',
    stamp: stampAt(draft.cursor, recorded),
    message,
    ...(result === undefined ? {} : { result }),
    fate: { status: message.status },
    answered: [],
    abandoned: [],
  });
};

const messageOf = (draft: HistoryDraft, id: string): MessageDraft | undefined => {
  const slotted = draft.byId.get(id);
  const entry = slotted?.list === 'entries' ? draft.entries[slotted.index] : undefined;
  return entry?.kind === 'message' ? entry : undefined;
};

const fateOf = (draft: HistoryDraft, id: string): FateDraft | undefined => {
  const slotted = draft.byId.get(id);
  return slotted === undefined ? undefined : draft[slotted.list][slotted.index]?.fate;
};

const addCompaction = (draft: HistoryDraft, recorded: Recorded, data: ContextCompacted): void => {
  const index = draft.compactions.length;
  draft.compactionById.set(data.compaction, index);
  if (data.replacement !== undefined) {
    draft.byId.set(data.replacement.id, { list: 'compactions', index });
  }
  draft.compactions.push({
    stamp: stampAt(draft.cursor, recorded),
    data,
    fate: { status: data.replacement?.status ?? 'confirmed' },
  });
};

const handlers: Handlers<HistoryDraft> = {
  TurnEnded: (draft, data) => {
    if (data.outcome !== 'completed') draft.brokenTurns.add(data.turn);
  },
  InstructionsRevised: (draft, data, recorded) => {
    draft.instructions.set(data.name, draft.entries.length);
    addEntry(draft, data.messageId, {
      kind: 'instructions',
      stamp: stampAt(draft.cursor, recorded),
      data,
      fate: { status: 'confirmed' },
    });
  },
  MessageAppended: (draft, data, recorded) => {
    addMessage(draft, recorded, data.message);
  },
  ToolResultAttached: (draft, { message, ...result }, recorded) => {
    for (const call of result.calls) messageOf(draft, call.messageId)?.answered.push(call.index);
    addMessage(draft, recorded, message, result);
  },
  ToolCallAbandoned: (draft, { call }) => {
    messageOf(draft, call.messageId)?.abandoned.push(call.index);
  },
  MessageStatusChanged: (draft, data, recorded) => {
    const fate = fateOf(draft, data.message.id);
    if (fate === undefined) return;
    fate.status = data.to;
    fate.statusCause = placeOf(recorded);
    fate.changedAt = draft.cursor.sequence;
  },
  MessagesWithdrawn: (draft, data, recorded) => {
    for (const id of data.messages) {
      const fate = fateOf(draft, id);
      if (fate === undefined || fate.withdrawn !== undefined) continue;
      fate.withdrawn = placeOf(recorded);
      fate.changedAt = draft.cursor.sequence;
    }
  },
  ContextCompacted: (draft, data, recorded) => {
    addCompaction(draft, recorded, data);
  },
  CompactionReverted: (draft, data, recorded) => {
    const compaction = draft.compactions[draft.compactionById.get(data.compaction) ?? -1];
    if (compaction !== undefined) compaction.reverted ??= placeOf(recorded);
  },
  BranchMerged: (draft, data) => {
    for (const { id, origin } of data.messages) draft.copies.set(id, origin);
  },
  ModelCallRequested: (draft, data) => {
    draft.knownRevisions.set(data.modelCallId, data.directoryRevision);
  },
  MessageRedacted: (draft, data, recorded) => {
    const key = placeKey(data.message);
    if (!draft.redactions.has(key)) draft.redactions.set(key, placeOf(recorded));
  },
};

/** Takes one event of the lineage or of the directory in. */
export const applyHistory = (draft: HistoryDraft, recorded: Recorded): void => {
  noteFault(draft.faults, recorded);
  if (isDirectory(recorded)) {
    handle(handlers, draft, recorded);
    draft.directoryRevision = recorded.revision;
    return;
  }
  advance(draft.cursor, recorded, () => {
    handle(handlers, draft, recorded);
  });
  draft.head = placeOf(recorded);
  draft.at = recorded.meta.at;
};

/** The event that hides a message on all branches: its own redaction, or that of its original. */
export const redactionOf = (
  draft: HistoryDraft,
  place: EventRef,
  id: string | undefined,
): EventRef | undefined => {
  const own = draft.redactions.get(placeKey(place));
  if (own !== undefined || id === undefined) return own;
  // A copy of a copy: follow the originals as far as this lineage knows them.
  const seen = new Set<string>();
  let origin = draft.copies.get(id);
  while (origin !== undefined && !seen.has(origin.id)) {
    const found = draft.redactions.get(placeKey(origin));
    if (found !== undefined) return found;
    seen.add(origin.id);
    origin = draft.copies.get(origin.id);
  }
  return undefined;
};
