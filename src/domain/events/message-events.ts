// The names of types and fields in this file are stored. Add; never rename.
import { flag, list, oneOf, optional, record, text, whole } from '../codec.js';
import {
  AnsweredCall,
  Author,
  CallRef,
  MessageStatus,
  Outcome,
  Provenance,
  Role,
  Trust,
  type MessageStatus as Status,
  type Outcome as OutcomeName,
  type Role as RoleName,
  type Trust as TrustName,
} from '../message.js';
import { Slot } from '../slot.js';
import { EventRef, MessageRef, Run } from './references.js';

export interface StoredCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Slot;
}

export interface StoredRaw {
  readonly system: string;
  readonly text: Slot;
}

/** A message as stored: its content stands in slots. */
export interface StoredMessage {
  readonly id: string;
  readonly role: RoleName;
  /** JSON text of the blocks. */
  readonly blocks: Slot;
  readonly name?: string;
  readonly toolCalls: readonly StoredCall[];
  readonly author?: Author;
  readonly provenance: Provenance;
  readonly trust: TrustName;
  readonly status: Status;
  readonly pinned?: boolean;
  readonly metadata?: Slot;
  readonly raw?: StoredRaw;
  readonly partOf?: string;
  readonly claimedAt?: string;
  /** Another message of which this is an edited or picked copy. */
  readonly origin?: string;
  readonly contentDigest: string;
}

export interface MessageAppended {
  readonly message: StoredMessage;
}

/** Answers calls: a message of role tool with what it answers. */
export interface ToolResultAttached {
  readonly message: StoredMessage;
  /** Several when the source gave an aggregate; empty only for an orphan of a foreign source. */
  readonly calls: readonly AnsweredCall[];
  readonly foreignCallId?: Slot;
  readonly outcome: OutcomeName;
  readonly late?: boolean;
  readonly durationMs?: number;
}

export interface MessageStatusChanged {
  readonly message: MessageRef;
  readonly to: Status;
  readonly by: string;
  readonly reason?: Slot;
}

/** Out of later contexts, still in history. */
export interface MessagesWithdrawn {
  readonly messages: readonly string[];
  readonly reason?: Slot;
}

export type Effect = 'read_only' | 'idempotent' | 'non_idempotent';

/** Durable before the caller's function runs. */
export interface ToolExecutionStarted {
  readonly call: CallRef;
  readonly attempt: number;
  readonly executor: string;
  readonly effect: Effect;
  readonly idempotencyKey: string;
  readonly argumentsDigest: string;
}

export interface ToolCallAbandoned {
  readonly call: AnsweredCall;
  readonly reason?: Slot;
}

export interface ApprovalRequested {
  readonly requestId: string;
  readonly kind: string;
  readonly call: CallRef;
  readonly argumentsDigest: string;
  readonly expiresAt?: string;
}
export type ApprovalOutcome = 'approved' | 'denied' | 'expired';
export interface ApprovalResolved {
  readonly requestId: string;
  readonly outcome: ApprovalOutcome;
  readonly approver: string;
  readonly reason?: Slot;
}

export interface Shortening {
  readonly messageId: string;
  readonly text: Slot;
}

/** A range is represented by something shorter in later contexts. The originals stay readable. */
export interface ContextCompacted {
  readonly compaction: string;
  readonly covers: readonly Run[];
  /** Ids of the covered messages, in surface order. */
  readonly covered: readonly string[];
  readonly coveredDigest: string;
  readonly replacement?: StoredMessage;
  readonly shortened: readonly Shortening[];
  readonly strategy: string;
  readonly strategyVersion: number;
  readonly params?: string;
  readonly madeBy?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly trust: TrustName;
}

export interface CompactionReverted {
  readonly compaction: string;
  readonly at: EventRef;
  readonly reason?: Slot;
}

const message = record<StoredMessage>('StoredMessage', {
  id: text,
  role: Role,
  blocks: Slot,
  name: optional(text),
  toolCalls: list(record<StoredCall>('StoredCall', { id: text, name: text, arguments: Slot })),
  author: optional(Author),
  provenance: Provenance,
  trust: Trust,
  status: MessageStatus,
  pinned: optional(flag),
  metadata: optional(Slot),
  raw: optional(record<StoredRaw>('StoredRaw', { system: text, text: Slot })),
  partOf: optional(text),
  claimedAt: optional(text),
  origin: optional(text),
  contentDigest: text,
});

export const messageCodecs = {
  MessageAppended: record<MessageAppended>('MessageAppended', { message }),
  ToolResultAttached: record<ToolResultAttached>('ToolResultAttached', {
    message,
    calls: list(AnsweredCall),
    foreignCallId: optional(Slot),
    outcome: Outcome,
    late: optional(flag),
    durationMs: optional(whole),
  }),
  MessageStatusChanged: record<MessageStatusChanged>('MessageStatusChanged', {
    message: MessageRef,
    to: MessageStatus,
    by: text,
    reason: optional(Slot),
  }),
  MessagesWithdrawn: record<MessagesWithdrawn>('MessagesWithdrawn', {
    messages: list(text),
    reason: optional(Slot),
  }),
  ToolExecutionStarted: record<ToolExecutionStarted>('ToolExecutionStarted', {
    call: CallRef,
    attempt: whole,
    executor: text,
    effect: oneOf('read_only', 'idempotent', 'non_idempotent'),
    idempotencyKey: text,
    argumentsDigest: text,
  }),
  ToolCallAbandoned: record<ToolCallAbandoned>('ToolCallAbandoned', {
    call: AnsweredCall,
    reason: optional(Slot),
  }),
  ApprovalRequested: record<ApprovalRequested>('ApprovalRequested', {
    requestId: text,
    kind: text,
    call: CallRef,
    argumentsDigest: text,
    expiresAt: optional(text),
  }),
  ApprovalResolved: record<ApprovalResolved>('ApprovalResolved', {
    requestId: text,
    outcome: oneOf('approved', 'denied', 'expired'),
    approver: text,
    reason: optional(Slot),
  }),
  ContextCompacted: record<ContextCompacted>('ContextCompacted', {
    compaction: text,
    covers: list(Run),
    covered: list(text),
    coveredDigest: text,
    replacement: optional(message),
    shortened: list(record<Shortening>('Shortening', { messageId: text, text: Slot })),
    strategy: text,
    strategyVersion: whole,
    params: optional(text),
    madeBy: optional(text),
    tokensBefore: whole,
    tokensAfter: whole,
    trust: Trust,
  }),
  CompactionReverted: record<CompactionReverted>('CompactionReverted', {
    compaction: text,
    at: EventRef,
    reason: optional(Slot),
  }),
};
