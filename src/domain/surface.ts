import type { EventRef } from './events/references.js';
import type { Uid, Revision } from './ids.js';
import type { Message, MessageStatus, Role, Trust } from './message.js';

/** Why a message of history may not be sent, as far as the log alone says so. */
export type StateReason = Exclude<MessageStatus, 'confirmed'> | 'redacted' | 'erased' | 'withdrawn';

/** A message in surface order (the order in which a model reads) with what became of it. */
export interface SurfaceItem {
  readonly message: Message;
  readonly place: EventRef;
  /** When it was recorded (RFC 3339, UTC). */
  readonly at: string;
  /** Current status of the message; `message.status` is the one it was recorded with. */
  readonly status: MessageStatus;
  /** Set when the log takes the message out of contexts, with the event that did. */
  readonly out?: { readonly reason: StateReason; readonly cause: EventRef };
  /** tool calls of this message (by index) that were abandoned or are of an interrupted turn. */
  readonly closedCalls: readonly number[];
}

/** Instructions in force: the latest version of one slot name. */
export interface EffectiveInstructions {
  readonly name: string;
  readonly version: number;
  readonly role: Role;
  readonly messageId: string;
  readonly text: string;
  readonly place: EventRef;
}

/** A compaction in force: not reverted and not covered by a later one. */
export interface LiveCompaction {
  readonly compaction: string;
  readonly place: EventRef;
  readonly covered: readonly string[];
  /** Stands where the first covered message stood. */
  readonly replacement?: Message;
  readonly shortened: ReadonlyMap<string, string>;
  readonly strategy: string;
  readonly trust: Trust;
  /** Covered messages that changed since (redacted, withdrawn, superseded): the summary is stale. */
  readonly changed: readonly string[];
}

/** A branch as a context is built from it: its messages with content at hand. */
export interface Surface {
  readonly conversation: Uid;
  readonly branch: Uid;
  /** Head of the branch; -1 for none. */
  readonly revision: Revision;
  readonly directoryRevision: Revision;
  readonly instructions: readonly EffectiveInstructions[];
  readonly items: readonly SurfaceItem[];
  readonly compactions: readonly LiveCompaction[];
}
