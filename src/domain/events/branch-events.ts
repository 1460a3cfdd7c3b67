// The names of types and fields in this file are stored. Add; never rename.
import { list, oneOf, optional, record, text, whole } from '../codec.js';
import { Role } from '../message.js';
import type { Role as RoleName } from '../message.js';
import { Slot } from '../slot.js';
import { EventRef, MessageRef } from './references.js';

/** First event of a branch that begins with nothing before it. */
export interface BranchOpened {
  readonly name: string;
}

/** First event of a fork: it sees its parent up to and with `parent.revision`. */
export interface BranchForked {
  readonly parent: EventRef;
  readonly depth: number;
  /** Nearest first, at most 64; the first is the parent. */
  readonly ancestors: readonly EventRef[];
}

/** The branch takes no more events (its conversation was closed). */
export interface BranchSealed {
  readonly reason?: Slot;
}
export interface BranchUnsealed {
  readonly reason?: Slot;
}

export interface TurnStarted {
  readonly turn: string;
  readonly run: string;
  readonly cause?: string;
}
export interface TurnClaimed {
  readonly turn: string;
  readonly run: string;
  readonly fromRun: string;
}
export type TurnOutcome = 'completed' | 'interrupted' | 'failed' | 'lost';
export interface TurnEnded {
  readonly turn: string;
  readonly outcome: TurnOutcome;
}

/** A version of the instructions in a slot name; the latest version of a slot name counts. */
export interface InstructionsRevised {
  readonly name: string;
  readonly version: number;
  readonly owner: string;
  readonly role: RoleName;
  readonly messageId: string;
  readonly content: Slot;
  readonly digest: string;
  readonly supersedes?: number;
}

/** Take something of another branch of the conversation in; the copies follow in the same append. */
export interface BranchMerged {
  readonly from: EventRef;
  readonly mode: 'summary' | 'pick' | 'conclusion';
  readonly messages: readonly MergedMessage[];
}
export interface MergedMessage {
  readonly id: string;
  readonly origin: MessageRef;
}

/** A foreign record without canonical meaning, kept word for word. */
export interface SourceRecordImported {
  readonly import: string;
  readonly system: string;
  readonly kind: string;
  readonly recordKey?: string;
  readonly raw: Slot;
}

export const branchCodecs = {
  BranchOpened: record<BranchOpened>('BranchOpened', { name: text }),
  BranchForked: record<BranchForked>('BranchForked', {
    parent: EventRef,
    depth: whole,
    ancestors: list(EventRef),
  }),
  BranchSealed: record<BranchSealed>('BranchSealed', { reason: optional(Slot) }),
  BranchUnsealed: record<BranchUnsealed>('BranchUnsealed', { reason: optional(Slot) }),
  TurnStarted: record<TurnStarted>('TurnStarted', { turn: text, run: text, cause: optional(text) }),
  TurnClaimed: record<TurnClaimed>('TurnClaimed', { turn: text, run: text, fromRun: text }),
  TurnEnded: record<TurnEnded>('TurnEnded', {
    turn: text,
    outcome: oneOf('completed', 'interrupted', 'failed', 'lost'),
  }),
  InstructionsRevised: record<InstructionsRevised>('InstructionsRevised', {
    name: text,
    version: whole,
    owner: text,
    role: Role,
    messageId: text,
    content: Slot,
    digest: text,
    supersedes: optional(whole),
  }),
  BranchMerged: record<BranchMerged>('BranchMerged', {
    from: EventRef,
    mode: oneOf('summary', 'pick', 'conclusion'),
    messages: list(record<MergedMessage>('MergedMessage', { id: text, origin: MessageRef })),
  }),
  SourceRecordImported: record<SourceRecordImported>('SourceRecordImported', {
    import: text,
    system: text,
    kind: text,
    recordKey: optional(text),
    raw: Slot,
  }),
};
