import { digestOf } from './digest.js';
import { list, oneOf, optional, record, tagged, text, whole, type Codec } from './codec.js';

export const Role = oneOf('system', 'developer', 'user', 'assistant', 'tool');
/** Source and protocol meaning of a message, never a permission (RL1). */
export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool';

export const Trust = oneOf('system', 'operator', 'user', 'model', 'external');
export type Trust = 'system' | 'operator' | 'user' | 'model' | 'external';

export const MessageStatus = oneOf('confirmed', 'draft', 'blocked', 'interrupted', 'superseded');
/** Only confirmed messages enter later contexts by default (RL5). */
export type MessageStatus = 'confirmed' | 'draft' | 'blocked' | 'interrupted' | 'superseded';

export const Outcome = oneOf('ok', 'error', 'denied', 'unknown', 'not_started');
/** How a tool call ended. */
export type Outcome = 'ok' | 'error' | 'denied' | 'unknown' | 'not_started';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}
export interface ImageBlock {
  readonly type: 'image';
  readonly mediaType: string;
  /** Base64 bytes. Exactly one of `data` and `url`. */
  readonly data?: string;
  readonly url?: string;
  readonly width?: number;
  readonly height?: number;
  readonly detail?: string;
}
export interface AudioBlock {
  readonly type: 'audio';
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
}
export interface FileBlock {
  readonly type: 'file';
  readonly mediaType: string;
  readonly name?: string;
  readonly data?: string;
  readonly url?: string;
  readonly fileId?: string;
}
/** Hidden reasoning. Signature, ciphertext and redacted data are valid for their producer only. */
export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly text: string;
  readonly provider?: string;
  readonly model?: string;
  readonly signature?: string;
  /** Opaque text in place of readable reasoning (redacted or encrypted by the provider). */
  readonly encrypted?: string;
}
export interface RefusalBlock {
  readonly type: 'refusal';
  readonly text: string;
}
/** The place of a tool call among the blocks; without one, calls stand after all blocks. */
export interface ToolCallBlock {
  readonly type: 'tool_call';
  /** Index into `toolCalls`. */
  readonly call: number;
}
/** A block that only its provider understands, kept word for word as JSON text. */
export interface ProviderBlock {
  readonly type: 'provider';
  readonly provider: string;
  readonly json: string;
}

export type Block =
  | TextBlock
  | ImageBlock
  | AudioBlock
  | FileBlock
  | ReasoningBlock
  | RefusalBlock
  | ToolCallBlock
  | ProviderBlock;

export type BlockType = Block['type'];

const is = <const T extends string>(type: T): Codec<T> => oneOf(type);

const media = { data: optional(text), url: optional(text) };

export const Block: Codec<Block> = tagged<Block>('type', {
  text: record<TextBlock>('TextBlock', { type: is('text'), text }),
  image: record<ImageBlock>('ImageBlock', {
    type: is('image'),
    mediaType: text,
    ...media,
    width: optional(whole),
    height: optional(whole),
    detail: optional(text),
  }),
  audio: record<AudioBlock>('AudioBlock', { type: is('audio'), mediaType: text, ...media }),
  file: record<FileBlock>('FileBlock', {
    type: is('file'),
    mediaType: text,
    name: optional(text),
    ...media,
    fileId: optional(text),
  }),
  reasoning: record<ReasoningBlock>('ReasoningBlock', {
    type: is('reasoning'),
    text,
    provider: optional(text),
    model: optional(text),
    signature: optional(text),
    encrypted: optional(text),
  }),
  refusal: record<RefusalBlock>('RefusalBlock', { type: is('refusal'), text }),
  tool_call: record<ToolCallBlock>('ToolCallBlock', { type: is('tool_call'), call: whole }),
  provider: record<ProviderBlock>('ProviderBlock', {
    type: is('provider'),
    provider: text,
    json: text,
  }),
} as never);

export const Blocks: Codec<readonly Block[]> = list(Block);

/** A call as the model made it. `id` is the provider's: it may be empty and may repeat. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The argument text, verbatim; it need not be JSON. */
  readonly arguments: string;
}

/** Names a call: the message that made it and the index in its `toolCalls`. */
export interface CallRef {
  readonly messageId: string;
  readonly index: number;
}
export const CallRef = record<CallRef>('CallRef', { messageId: text, index: whole });

/** A call that a result answers, with the provider's id that the result named. */
export interface AnsweredCall extends CallRef {
  readonly callId: string;
}
export const AnsweredCall = record<AnsweredCall>('AnsweredCall', {
  messageId: text,
  index: whole,
  callId: text,
});

/** Who or what produced a message, and through which system it came. */
export interface Provenance {
  readonly kind: 'operator' | 'app' | 'end_user' | 'model' | 'tool' | 'importer' | 'engine';
  readonly id?: string;
  readonly system?: string;
  readonly sourceId?: string;
  readonly import?: string;
}
export const Provenance = record<Provenance>('Provenance', {
  kind: oneOf('operator', 'app', 'end_user', 'model', 'tool', 'importer', 'engine'),
  id: optional(text),
  system: optional(text),
  sourceId: optional(text),
  import: optional(text),
});

export interface Author {
  readonly agent?: string;
  readonly participant?: string;
}
export const Author = record<Author>('Author', {
  agent: optional(text),
  participant: optional(text),
});

/** The original provider item, word for word, and the system whose format it has. */
export interface Raw {
  readonly system: string;
  readonly text: string;
}

/** A message with its content at hand. Immutable; its place is given by the log. */
export interface Message {
  readonly id: string;
  readonly role: Role;
  readonly blocks: readonly Block[];
  readonly name?: string;
  readonly toolCalls: readonly ToolCall[];
  /** tool: the calls this message answers. */
  readonly answers: readonly AnsweredCall[];
  /** tool: an orphan of a foreign source, kept as it is. */
  readonly foreignCallId?: string;
  readonly outcome?: Outcome;
  readonly late?: boolean;
  readonly author?: Author;
  readonly provenance: Provenance;
  readonly trust: Trust;
  readonly status: MessageStatus;
  readonly pinned?: boolean;
  /** JSON text of the user's metadata; never sent to a model. */
  readonly metadata?: string;
  readonly raw?: Raw;
  /** Messages that share this are parts of one provider message, recorded as they came in. */
  readonly partOf?: string;
  /** When the source says it was made (strict RFC 3339); never an order. */
  readonly claimedAt?: string;
}

/** Rule version of the content digest, stored with it: old digests stay comparable (format.md). */
export const DIGEST_RULE = 'c1';

/**
 * Digest of the canonical content (ID2, ID3): role, blocks, name, tool calls and calls answered,
 * before spill or sealing; never time, metadata or place.
 */
export const contentDigest = (
  message: Pick<
    Message,
    'role' | 'blocks' | 'name' | 'toolCalls' | 'answers' | 'foreignCallId' | 'outcome'
  >,
): string =>
  `${DIGEST_RULE}.${digestOf(
    JSON.stringify([
      message.role,
      Blocks.encode(message.blocks),
      message.name ?? null,
      message.toolCalls.map((call) => [call.id, call.name, call.arguments]),
      message.answers.map((call) => [call.messageId, call.index]),
      message.foreignCallId ?? null,
      message.outcome ?? null,
    ]),
  )}`;

const trustOrder: readonly Trust[] = ['system', 'operator', 'user', 'model', 'external'];

/** Derived content has the lowest trust of its sources (RL7). */
export const lowestTrust = (sources: readonly Trust[]): Trust =>
  trustOrder[Math.max(0, ...sources.map((trust) => trustOrder.indexOf(trust)))] ?? 'external';

/** All readable text of the blocks, joined by newlines. */
export const textOf = (blocks: readonly Block[]): string =>
  blocks
    .flatMap((block) => (block.type === 'text' || block.type === 'refusal' ? [block.text] : []))
    .join('\n');
