import type * as E from 'fp-ts/lib/Either.js';
import type { OrderRule, ReasoningRule, StemmaFault, ToolArgumentsRule } from '../errors.js';
import type { Usage } from '../events/model-call-events.js';
import type { Ruling } from '../events/references.js';
import type { Block, CallRef, Outcome, Raw, Role, ToolCall } from '../message.js';
import type { ContextWarning, Repair } from './repair.js';

/** What a model can do beyond the rules of its protocol. Absent: the default of the profile. */
export interface Capabilities {
  /** A trailing assistant message is continued by the model (A8). */
  readonly prefill?: boolean;
  /** Role developer is accepted (OC1). */
  readonly developerRole?: boolean;
  /** Role system is accepted between other messages (A2). */
  readonly systemInMessages?: boolean;
  /** Reasoning is valid only behind the very prefix that it was made with (A12). */
  readonly prefixBoundThinking?: boolean;
  /** An open tool loop has to start with reasoning when reasoning is on (A10). */
  readonly thinkingRequiredInToolLoop?: boolean;
  /** Calls have to come back with the signature that they were made with. */
  readonly thoughtSignatureRequired?: boolean;
  /** The endpoint parses the arguments of every call of the history (OC8). */
  readonly parsesArguments?: boolean;
}

/** Numbers and patterns of a protocol, as data. */
export interface Limits {
  readonly callIdLength: number;
  /** Characters that an id may not hold; absent when all are allowed. */
  readonly callIdForbidden?: RegExp;
  readonly toolNameLength: number;
  readonly toolNameForbidden: RegExp;
  readonly messages?: number;
}

/** Blocks whose size is not told by text. */
export type MediaBlock = Extract<Block, { readonly type: 'image' | 'audio' | 'file' }>;

/** A call on its way to the wire: names and ids as they are sent, and what they were. */
export interface TurnCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly source: ToolCall;
  readonly ref: CallRef;
}

/** The one call that a tool turn answers, by the id that is sent. */
export interface TurnAnswer {
  readonly id: string;
  readonly name: string;
  readonly sourceId: string;
}

/** What a profile encodes: one message, or several parts of one, in the order to be sent. */
export interface Turn {
  /** Ids of the messages it was made of; empty when the engine made it. */
  readonly ids: readonly string[];
  readonly role: Role;
  readonly blocks: readonly Block[];
  readonly calls: readonly TurnCall[];
  readonly answer?: TurnAnswer;
  readonly isError?: boolean;
  readonly synthetic?: boolean;
  readonly name?: string;
  readonly partOf?: string;
  /** Set when nothing of the message was changed, so that its original form may be sent. */
  readonly raw?: Raw;
  /** Place among the selected messages, before anything was moved. */
  readonly index: number;
}

/** A tool as it is sent: the name may differ from the one that the caller gave. */
export interface WireTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Where system messages that are not leading go. `profile`: as the protocol has it. */
export type SystemPolicy = 'profile' | 'coalesce_leading' | 'labelled_user' | 'reject';

export interface EncodeOptions {
  readonly tools: readonly WireTool[];
  readonly params: Readonly<Record<string, unknown>>;
  readonly thinking: boolean;
  readonly systemPolicy: SystemPolicy;
  readonly onTrailingAssistant: 'reject' | 'append_continue';
  /** Messages whose reasoning was made behind another prefix than the one sent now. */
  readonly prefixChanged: ReadonlySet<string>;
  /** Send as it stands: no repair is made, so that the validator sees what is there. */
  readonly strict: boolean;
}

/** A piece of the body in prompt order, and the messages that it was made of. */
export interface LayoutEntry {
  readonly ids: readonly string[];
  /** Index of the first turn in it; -1 when there is none. */
  readonly turn: number;
  readonly path: readonly (string | number)[];
}

/** What the encoder knows and the body does not show; the validator checks the body against it. */
export interface Facts {
  /** Wire messages whose reasoning was made behind another prefix (A12). */
  readonly prefixChanged?: readonly number[];
  /** Sizes of images in wire messages (A15). */
  readonly images?: readonly {
    readonly index: number;
    readonly width: number;
    readonly height: number;
  }[];
  /** Reasoning blocks as they came, as JSON text in order, per wire message (A9). */
  readonly reasoning?: readonly { readonly index: number; readonly blocks: readonly string[] }[];
}

/** A turn that the engine added so that the model can go on. */
export interface AddedTurn {
  readonly kind: 'continue' | 'opening' | 'media';
  readonly index: number;
  readonly text: string;
}

export interface Encoded<Body extends object> {
  readonly body: Body;
  readonly repairs: readonly Repair[];
  readonly warnings: readonly ContextWarning[];
  /** Messages that left nothing on the wire. */
  readonly omitted: readonly string[];
  readonly added: readonly AddedTurn[];
  readonly layout: readonly LayoutEntry[];
  readonly facts: Facts;
}

/** A rule of the provider that a body breaks. `code` is the tag of the fault it would be. */
export interface Violation {
  /** Id of the rule: `OC4`, `A7` … */
  readonly rule: string;
  readonly code:
    | 'OpenToolCalls'
    | 'OrphanToolResult'
    | 'OrderViolation'
    | 'RoleNotSupported'
    | 'ToolArgumentsInvalid'
    | 'ReasoningRequired'
    | 'InvalidShape'
    | 'IllFormedUnicode'
    | 'TooLarge';
  /** Tells faults of one tag apart. */
  readonly reason?: OrderRule | ToolArgumentsRule | ReasoningRule;
  /** Index of the message. */
  readonly index?: number;
  /** Call ids where calls are concerned, else message ids where they are known. */
  readonly ids: readonly string[];
  readonly role?: string;
  readonly path?: string;
}

/** The neutral form of a provider's answer, ready to be recorded. */
export interface DecodedResponse {
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string;
  readonly usage: Usage;
  readonly responseId?: string;
  readonly model?: string;
  /** The message word for word, where encoding the neutral form would not give it back exactly. */
  readonly raw?: Raw;
}

/** The neutral form of one provider message, or of a part of one. */
export interface DecodedMessage {
  /** Index of the wire message: parts of one message share it. */
  readonly index: number;
  readonly role: Role;
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCall[];
  readonly answersCallIds: readonly string[];
  readonly outcome?: Outcome;
  readonly name?: string;
  readonly raw?: Raw;
}

export interface DecodeOptions {
  /** Names that tools have on the wire, with the names of the caller. */
  readonly toolNames?: ReadonlyMap<string, string>;
}

/**
 * The rules of one protocol: roles, placement, pairing, ids, and both directions of translation.
 * Pure and versioned; a recorded call names the version that built it.
 */
export interface Profile<Body extends object = object> {
  readonly id: string;
  readonly version: number;
  /** Whose reasoning and opaque blocks it may send back. */
  readonly provider: string;
  readonly model?: string;
  readonly roles: readonly Role[];
  readonly capabilities: Capabilities;
  readonly limits: Limits;
  readonly contextWindow?: number;
  /** Output tokens that a call asks for, unless its parameters say otherwise. */
  readonly maxOutputTokens?: number;
  /** `adjacent`: results directly behind their calls; `free`: no rule. */
  readonly pairing: 'adjacent' | 'free';
  /** Id of the rule that asks for adjacency. */
  readonly pairingRule?: string;
  readonly requireUserStart: boolean;
  /** Reasoning that is sent back: none, what its own provider made, or any. */
  readonly reasoning: 'none' | 'own' | 'any';
  /** `object`: arguments are sent as parsed JSON. */
  readonly argumentsAs: 'text' | 'object';
  readonly argumentsRule?: string;
  readonly mediaTokens: (block: MediaBlock) => number;
  /** Name, version and parameters as a recorded call keeps them. */
  readonly ruling: Ruling;
  /** The same profile for a model with other capabilities. */
  readonly configure: (capabilities: Capabilities) => Profile<Body>;
  /** The wire id of the n-th use (from 0) of a call id; valid first uses keep theirs. */
  readonly mapCallId: (id: string, occurrence: number) => string;
  readonly encode: (
    turns: readonly Turn[],
    options: EncodeOptions,
  ) => E.Either<StemmaFault, Encoded<Body>>;
  /** Every rule that the body breaks; empty when the provider would take it. */
  readonly validate: (body: unknown, facts?: Facts) => readonly Violation[];
  readonly decode: (
    response: unknown,
    options?: DecodeOptions,
  ) => E.Either<StemmaFault, DecodedResponse>;
  /** Refuses messages of another provider's shape with `ProfileMismatch` (B60). */
  readonly decodeMessages: (messages: unknown) => E.Either<StemmaFault, readonly DecodedMessage[]>;
}
