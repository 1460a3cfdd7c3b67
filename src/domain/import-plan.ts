import type { BranchReason } from './events/directory-events.js';
import type { Message } from './message.js';

/** A message of a foreign source. `record` is its foreign record id: imported twice, it is known. */
export interface ImportedMessage {
  readonly kind: 'message';
  readonly record: string;
  /** `answers` is left empty; `answersCallIds` names calls by the provider's id instead. */
  readonly message: Message;
  /** tool: a result answers the nearest earlier unanswered call with this id, else it is an orphan. */
  readonly answersCallIds: readonly string[];
}

/** A foreign record without canonical meaning, kept word for word. */
export interface ImportedRecord {
  readonly kind: 'record';
  readonly record: string;
  readonly recordKind: string;
  readonly raw: string;
}

/** A compaction of the source: what was covered, and the summary that stands for it. */
export interface ImportedCompaction {
  readonly kind: 'compaction';
  readonly record: string;
  readonly covers: readonly string[];
  readonly replacement?: Message;
  readonly strategy: string;
}

export type ImportedItem = ImportedMessage | ImportedRecord | ImportedCompaction;

export interface ImportedBranch {
  /** Stable within the conversation: the same source gives the same key. */
  readonly key: string;
  readonly name: string;
  readonly reason: BranchReason;
  /** Fork point: the branch sees the parent up to and with the item of this record. */
  readonly parent?: { readonly key: string; readonly record: string };
  readonly items: readonly ImportedItem[];
  /** The branch that the source shows as the current one. */
  readonly active?: boolean;
}

export interface ImportedConversation {
  /** Identity of the conversation in its source (a session id …). */
  readonly externalId: string;
  readonly title?: string;
  readonly parent?: {
    readonly externalId: string;
    readonly messageId?: string;
    readonly relation: 'subagent' | 'handoff' | 'continuation';
  };
  /** Parents before their forks; the first is `main`. */
  readonly branches: readonly ImportedBranch[];
}

/** One thing that an importer did not take over as it stood. */
export interface ImportNote {
  readonly code: string;
  readonly line?: number;
  readonly id?: string;
  readonly detail?: string;
}

export interface ImportReport {
  readonly format: string;
  readonly records: number;
  readonly mapped: number;
  readonly kept: number;
  readonly duplicates: number;
  readonly notes: readonly ImportNote[];
  /** What describes the file alone, by the names of its format (JSON values). */
  readonly source: Readonly<Record<string, unknown>>;
}

/** A foreign file, read whole and decided before anything is appended. */
export interface ImportPlan {
  readonly format: string;
  /** Identity of the source and digest of its bytes: the command id of the import. */
  readonly importId: string;
  readonly digest: string;
  readonly conversations: readonly ImportedConversation[];
  readonly report: ImportReport;
}
