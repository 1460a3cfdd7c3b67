import type { Block, MessageStatus, Role, ToolCall } from '../../src/domain/message.js';

/** A message as the store gives it back. */
export interface ViewMessage {
  readonly kind: 'message';
  /** Where its event stands; the same on every branch that shows it. */
  readonly place: string;
  readonly id: string;
  readonly role: Role;
  readonly name?: string;
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCall[];
  /** Provider ids of the calls that it answers. */
  readonly answers: readonly string[];
  readonly foreignCallId?: string;
  readonly partOf?: string;
  /** Id of the record in the source. */
  readonly sourceId?: string;
  /** JSON text. */
  readonly metadata?: string;
  readonly status: MessageStatus;
  /** Id of the compaction in force that stands for it. */
  readonly coveredBy?: string;
}

/** A compaction at its place in the log. */
export interface ViewCompaction {
  readonly kind: 'compaction';
  readonly place: string;
  readonly strategy: string;
  readonly isLive: boolean;
  readonly replacement?: ViewMessage;
}

/** A foreign record that was kept word for word. */
export interface ViewRecord {
  readonly kind: 'record';
  readonly place: string;
  readonly key: string;
  readonly recordKind: string;
}

/** What a branch shows at one place. */
export type ViewItem = ViewMessage | ViewCompaction | ViewRecord;

/** A tool call with what became of it. */
export interface ViewExchange {
  readonly messageId: string;
  readonly index: number;
  readonly callId: string;
  readonly isAnswered: boolean;
}

/** A branch as its lineage reads it. */
export interface ViewBranch {
  readonly uid: string;
  readonly name: string;
  /** Place of the event behind which it forks. */
  readonly parent?: string;
  /** All that the branch shows, ancestors first, in the order of the log. */
  readonly items: readonly ViewItem[];
  readonly exchanges: readonly ViewExchange[];
  /** Ids of messages that answer no call. */
  readonly orphans: readonly string[];
}

/** A conversation with all of its branches. */
export interface ViewConversation {
  readonly uid: string;
  /** The id that the importer gave it. */
  readonly id?: string;
  readonly relation?: string;
  /** The first is the one that the conversation began with. */
  readonly branches: readonly ViewBranch[];
  /** Uid of the branch that the source shows as the current one. */
  readonly active: string;
}

/** Everything that a store holds, read from its projections. */
export interface View {
  readonly conversations: readonly ViewConversation[];
}

/** The branch that is shown as the current one. */
export const activeBranch = (conversation: ViewConversation): ViewBranch | undefined =>
  conversation.branches.find(({ uid }) => uid === conversation.active);

/** The messages among some items, summaries of compactions left out. */
export const messagesIn = (items: readonly ViewItem[]): readonly ViewMessage[] =>
  items.filter((item) => item.kind === 'message');

/** Items of all branches of all conversations, each once. */
export const allItems = (view: View): readonly ViewItem[] => {
  const byPlace = new Map<string, ViewItem>();
  for (const { branches } of view.conversations) {
    for (const { items } of branches) for (const item of items) byPlace.set(item.place, item);
  }
  return [...byPlace.values()];
};

/** Places behind which branches fork, each once. */
export const forkPlaces = (branches: readonly ViewBranch[]): readonly string[] => [
  ...new Set(branches.flatMap(({ parent }) => parent ?? [])),
];
