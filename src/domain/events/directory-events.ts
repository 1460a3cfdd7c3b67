// The names of types and fields in this file are stored. Add; never rename.
import { list, oneOf, optional, record, text, whole } from '../codec.js';
import { Uid, type Revision } from '../ids.js';
import { Slot } from '../slot.js';
import { EventRef, Label, MessageRef } from './references.js';

export type Relation = 'subagent' | 'handoff' | 'continuation';

export interface ParentConversation {
  readonly conversation: Uid;
  readonly branch: Uid;
  readonly revision: Revision;
  readonly hash: string;
  readonly messageId?: string;
  readonly callIndex?: number;
  readonly relation: Relation;
}

/** The conversation exists; first event of its directory. `main` is the branch it begins with. */
export interface ConversationStarted {
  readonly main: Uid;
  readonly title?: Slot;
  readonly labels: readonly Label[];
  readonly externalRef?: Slot;
  readonly parent?: ParentConversation;
}

export type BranchReason = 'start' | 'retry' | 'edit' | 'explore' | 'import' | 'salvage';

/** A branch exists. Whoever finds it without its first event can write that event from this. */
export interface BranchRegistered {
  readonly branch: Uid;
  readonly name: string;
  readonly parent?: EventRef;
  readonly depth: number;
  readonly ancestors: readonly EventRef[];
  readonly reason: BranchReason;
  readonly ofModelCall?: string;
  readonly replaces?: string;
}

export interface BranchLabelled {
  readonly branch: Uid;
  readonly name: string;
}

/** This branch is the delivered one. */
export interface BranchPromoted {
  readonly branch: Uid;
  readonly reason?: Slot;
}

/** Hidden from contexts, shares and read models on all branches, whatever their fork point. */
export interface MessageRedacted {
  readonly message: MessageRef;
  readonly authority: string;
  readonly reason?: Slot;
}

export interface AnnotationTarget {
  readonly kind: 'conversation' | 'branch' | 'message' | 'call';
  readonly ref: string;
}

export interface MetadataAnnotated {
  readonly target: AnnotationTarget;
  readonly name: string;
  readonly value: Slot;
}

export interface FeedbackRecorded {
  readonly target: AnnotationTarget;
  readonly name: string;
  readonly value: Slot;
}

export interface ConversationClosed {
  readonly reason?: Slot;
}
export interface ConversationReopened {
  readonly reason?: Slot;
}

/** Branches of this import stay hidden until it is completed. */
export interface ImportStarted {
  readonly import: string;
  readonly format: string;
  readonly digest: string;
  readonly source?: Slot;
}
export interface ImportCompleted {
  readonly import: string;
  readonly messages: number;
  readonly records: number;
  readonly branches: number;
}

const target = record<AnnotationTarget>('AnnotationTarget', {
  kind: oneOf('conversation', 'branch', 'message', 'call'),
  ref: text,
});

export const directoryCodecs = {
  ConversationStarted: record<ConversationStarted>('ConversationStarted', {
    main: Uid,
    title: optional(Slot),
    labels: list(Label),
    externalRef: optional(Slot),
    parent: optional(
      record<ParentConversation>('ParentConversation', {
        conversation: Uid,
        branch: Uid,
        revision: whole,
        hash: text,
        messageId: optional(text),
        callIndex: optional(whole),
        relation: oneOf('subagent', 'handoff', 'continuation'),
      }),
    ),
  }),
  BranchRegistered: record<BranchRegistered>('BranchRegistered', {
    branch: Uid,
    name: text,
    parent: optional(EventRef),
    depth: whole,
    ancestors: list(EventRef),
    reason: oneOf('start', 'retry', 'edit', 'explore', 'import', 'salvage'),
    ofModelCall: optional(text),
    replaces: optional(text),
  }),
  BranchLabelled: record<BranchLabelled>('BranchLabelled', { branch: Uid, name: text }),
  BranchPromoted: record<BranchPromoted>('BranchPromoted', { branch: Uid, reason: optional(Slot) }),
  MessageRedacted: record<MessageRedacted>('MessageRedacted', {
    message: MessageRef,
    authority: text,
    reason: optional(Slot),
  }),
  MetadataAnnotated: record<MetadataAnnotated>('MetadataAnnotated', {
    target,
    name: text,
    value: Slot,
  }),
  FeedbackRecorded: record<FeedbackRecorded>('FeedbackRecorded', {
    target,
    name: text,
    value: Slot,
  }),
  ConversationClosed: record<ConversationClosed>('ConversationClosed', { reason: optional(Slot) }),
  ConversationReopened: record<ConversationReopened>('ConversationReopened', {
    reason: optional(Slot),
  }),
  ImportStarted: record<ImportStarted>('ImportStarted', {
    import: text,
    format: text,
    digest: text,
    source: optional(Slot),
  }),
  ImportCompleted: record<ImportCompleted>('ImportCompleted', {
    import: text,
    messages: whole,
    records: whole,
    branches: whole,
  }),
};
