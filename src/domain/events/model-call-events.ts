// The names of types and fields in this file are stored. Add; never rename.
import { flag, list, oneOf, optional, record, text, whole } from '../codec.js';
import { Provenance, Trust, type Trust as TrustName } from '../message.js';
import { Uid, type Revision } from '../ids.js';
import { Slot } from '../slot.js';
import { MessageRef, Ruling } from './references.js';

/** Messages of the surface in a row that share a disposition; state-derived reasons are not stored. */
export interface SelectionRun {
  readonly branch: Uid;
  readonly from: Revision;
  readonly to: Revision;
  readonly disposition: string;
}

/** Something sent that is not in history: injected text, memory, retrieved passages. */
export interface Literal {
  /** Stands before the message of this index of the sent list; -1: at the end. */
  readonly place: number;
  readonly content: Slot;
  readonly provenance: Provenance;
  readonly trust: TrustName;
  readonly reason: string;
}

export interface InstructionVersion {
  readonly name: string;
  readonly version: number;
}

export type Purpose = 'turn' | 'compaction' | 'title' | 'judge' | 'other';

/** A call to a model with its exact context; durable before the first byte is sent. */
export interface ModelCallRequested {
  readonly modelCallId: string;
  readonly attempt: number;
  readonly retryOf?: string;
  readonly agent?: string;
  readonly purpose: Purpose;
  readonly source: 'built' | 'observed';
  readonly profile: Ruling;
  readonly model?: string;
  readonly policy: Ruling;
  /** Head of the branch when the context was built. */
  readonly branchRevision: Revision;
  readonly directoryRevision: Revision;
  readonly selection: readonly SelectionRun[];
  readonly literals: readonly Literal[];
  readonly tools?: Slot;
  readonly instructions: readonly InstructionVersion[];
  /** JSON text of the caller's model parameters. */
  readonly params?: Slot;
  readonly counter: string;
  readonly exact: boolean;
  readonly tokens: number;
  readonly budget?: number;
  readonly requestDigest: string;
}

export interface Usage {
  readonly input?: number;
  readonly output?: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
  /** The provider's own usage object as JSON text. */
  readonly raw?: string;
}

export interface ModelCallCompleted {
  readonly modelCallId: string;
  readonly message?: MessageRef;
  readonly finishReason: string;
  readonly usage: Usage;
  readonly responseId?: string;
  readonly latencyMs?: number;
  readonly late?: boolean;
  /** What a call that writes no message gave, for example a summary. */
  readonly output?: Slot;
}

export interface CallError {
  readonly kind: 'transport' | 'provider' | 'refused' | 'interrupted' | 'lost' | 'other';
  readonly code?: string;
  readonly retryable: boolean;
  readonly lost?: boolean;
  readonly detail?: Slot;
}

export interface ModelCallFailed {
  readonly modelCallId: string;
  readonly error: CallError;
  readonly partial?: MessageRef;
}

export const modelCallCodecs = {
  ModelCallRequested: record<ModelCallRequested>('ModelCallRequested', {
    modelCallId: text,
    attempt: whole,
    retryOf: optional(text),
    agent: optional(text),
    purpose: oneOf('turn', 'compaction', 'title', 'judge', 'other'),
    source: oneOf('built', 'observed'),
    profile: Ruling,
    model: optional(text),
    policy: Ruling,
    branchRevision: whole,
    directoryRevision: whole,
    selection: list(
      record<SelectionRun>('SelectionRun', {
        branch: Uid,
        from: whole,
        to: whole,
        disposition: text,
      }),
    ),
    literals: list(
      record<Literal>('Literal', {
        place: whole,
        content: Slot,
        provenance: Provenance,
        trust: Trust,
        reason: text,
      }),
    ),
    tools: optional(Slot),
    instructions: list(
      record<InstructionVersion>('InstructionVersion', { name: text, version: whole }),
    ),
    params: optional(Slot),
    counter: text,
    exact: flag,
    tokens: whole,
    budget: optional(whole),
    requestDigest: text,
  }),
  ModelCallCompleted: record<ModelCallCompleted>('ModelCallCompleted', {
    modelCallId: text,
    message: optional(MessageRef),
    finishReason: text,
    usage: record<Usage>('Usage', {
      input: optional(whole),
      output: optional(whole),
      cachedInput: optional(whole),
      cacheWrite: optional(whole),
      reasoning: optional(whole),
      raw: optional(text),
    }),
    responseId: optional(text),
    latencyMs: optional(whole),
    late: optional(flag),
    output: optional(Slot),
  }),
  ModelCallFailed: record<ModelCallFailed>('ModelCallFailed', {
    modelCallId: text,
    error: record<CallError>('CallError', {
      kind: oneOf('transport', 'provider', 'refused', 'interrupted', 'lost', 'other'),
      code: optional(text),
      retryable: flag,
      lost: optional(flag),
      detail: optional(Slot),
    }),
    partial: optional(MessageRef),
  }),
};
