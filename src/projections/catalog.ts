import type { ParentConversation } from '../domain/events/directory-events.js';
import type { Label } from '../domain/events/references.js';
import type { Slot } from '../domain/slot.js';
import { NO_UID } from '../domain/ids.js';
import { handle, type Handlers } from './places.js';
import type { Projection } from './projection.js';

/** One conversation in a list. */
export interface CatalogRow {
  readonly conversation: string;
  readonly title?: Slot;
  readonly labels: readonly Label[];
  readonly externalRef?: Slot;
  readonly parent?: ParentConversation;
  readonly main?: string;
  readonly promoted?: string;
  readonly startedAt: string;
  readonly startedBy: string;
  readonly branches: number;
  readonly messages: number;
  readonly turns: number;
  readonly compactions: number;
  readonly redactions: number;
  readonly closed: boolean;
  /** An import is under way: what is there is not complete. */
  readonly importing: boolean;
  /** Latest recorded time of any event; for display and sorting of a list, never an order. */
  readonly lastActivityAt: string;
  /** Labels, notes and scores of the conversation by name: the latest of each. */
  readonly annotations: ReadonlyMap<string, Slot>;
}

/** Conversations by uid. */
export type Catalog = ReadonlyMap<string, CatalogRow>;

interface RowDraft {
  readonly conversation: string;
  title?: Slot;
  labels: readonly Label[];
  externalRef?: Slot;
  parent?: ParentConversation;
  main?: string;
  promoted?: string;
  startedAt: string;
  startedBy: string;
  readonly branches: Set<string>;
  messages: number;
  turns: number;
  compactions: number;
  redactions: number;
  closed: boolean;
  readonly imports: Set<string>;
  lastActivityAt: string;
  readonly annotations: Map<string, Slot>;
}

export interface CatalogDraft {
  readonly rows: Map<string, RowDraft>;
}

const rowFor = (draft: CatalogDraft, conversation: string): RowDraft => {
  const found = draft.rows.get(conversation);
  if (found !== undefined) return found;
  const row: RowDraft = {
    conversation,
    labels: [],
    startedAt: '',
    startedBy: '',
    branches: new Set(),
    messages: 0,
    turns: 0,
    compactions: 0,
    redactions: 0,
    closed: false,
    imports: new Set(),
    lastActivityAt: '',
    annotations: new Map(),
  };
  draft.rows.set(conversation, row);
  return row;
};

const annotate = (
  row: RowDraft,
  target: { readonly kind: string },
  name: string,
  value: Slot,
): void => {
  if (target.kind === 'conversation') row.annotations.set(name, value);
};

const handlers: Handlers<RowDraft> = {
  ConversationStarted: (row, data, { meta }) => {
    const { main, labels, title, externalRef, parent } = data;
    Object.assign(row, { main, labels, startedAt: meta.at, startedBy: meta.actor });
    if (title !== undefined) row.title = title;
    if (externalRef !== undefined) row.externalRef = externalRef;
    if (parent !== undefined) row.parent = parent;
    row.branches.add(main);
  },
  BranchRegistered: (row, data) => {
    row.branches.add(data.branch);
  },
  BranchPromoted: (row, data) => {
    row.promoted = data.branch;
  },
  MessageRedacted: (row) => {
    row.redactions += 1;
  },
  MetadataAnnotated: (row, { target, name, value }) => {
    annotate(row, target, name, value);
  },
  FeedbackRecorded: (row, { target, name, value }) => {
    annotate(row, target, name, value);
  },
  ConversationClosed: (row) => {
    row.closed = true;
  },
  ConversationReopened: (row) => {
    row.closed = false;
  },
  ImportStarted: (row, data) => {
    row.imports.add(data.import);
  },
  ImportCompleted: (row, data) => {
    row.imports.delete(data.import);
  },
  MessageAppended: (row) => {
    row.messages += 1;
  },
  ToolResultAttached: (row) => {
    row.messages += 1;
  },
  TurnStarted: (row) => {
    row.turns += 1;
  },
  ContextCompacted: (row) => {
    row.compactions += 1;
  },
};

const viewRow = (row: RowDraft): CatalogRow => {
  const { branches, imports, annotations, ...rest } = row;
  return {
    ...rest,
    branches: branches.size,
    importing: imports.size > 0,
    annotations: new Map(annotations),
  };
};

/**
 * All conversations, from their directories; branch events, where given (each once), add counts and
 * the last activity. Streams may be fed in any interleaving.
 */
export const catalog: Projection<CatalogDraft, Catalog> = {
  name: 'catalog',
  version: 1,
  start: () => ({ rows: new Map() }),
  apply: (draft, recorded) => {
    const { meta } = recorded;
    // Streams of the tenant are of no conversation.
    if (meta.conv === NO_UID) return;
    const row = rowFor(draft, meta.conv);
    handle(handlers, row, recorded);
    if (meta.at > row.lastActivityAt) row.lastActivityAt = meta.at;
  },
  view: (draft) => new Map([...draft.rows].map(([key, row]) => [key, viewRow(row)])),
};

/** Conversations for a list, the one with the latest activity first. */
export const byActivity = (view: Catalog): readonly CatalogRow[] =>
  [...view.values()].sort((a, b) => {
    if (a.lastActivityAt !== b.lastActivityAt) return a.lastActivityAt > b.lastActivityAt ? -1 : 1;
    return a.conversation < b.conversation ? -1 : 1;
  });
