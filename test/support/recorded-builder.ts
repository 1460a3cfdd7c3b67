import * as E from 'fp-ts/lib/Either.js';
import { publicUid } from '../../src/domain/digest.js';
import { expectedPrev } from '../../src/domain/chain.js';
import {
  compatOf,
  encodeMeta,
  FORMAT,
  hashEvent,
  idFromHash,
  type Meta,
} from '../../src/domain/envelope.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import { encodeEvent, type DomainEvent, type EventOf } from '../../src/domain/events/catalog.js';
import type {
  ContextCompacted,
  StoredMessage,
  ToolResultAttached,
} from '../../src/domain/events/message-events.js';
import type { ModelCallRequested } from '../../src/domain/events/model-call-events.js';
import type { EventRef, MessageRef } from '../../src/domain/events/references.js';
import { NO_UID, type Uid } from '../../src/domain/ids.js';
import type { Role } from '../../src/domain/message.js';
import { readStored, type Recorded } from '../../src/domain/recorded.js';
import type { InlineSlot } from '../../src/domain/slot.js';
import { branchStream, directoryStream } from '../../src/domain/stream-name.js';

/** A uid that is the same for the same name. */
export const uid = (name: string): Uid => publicUid('test', name);

const TENANT = uid('tenant');
export const CONVERSATION: Uid = uid('conversation');
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** The time `seconds` after the first event of a built stream. */
export const second = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

/** What differs from the defaults in the envelope of one event. */
export type Envelope = Partial<
  Pick<Meta, 'at' | 'wall' | 'actor' | 'run' | 'cmd' | 'part' | 'compat' | 'sv' | 'prev'>
>;

/** A stream under construction; each event is chained to the one before it. */
export interface StreamBuilder {
  readonly stream: string;
  readonly events: readonly Recorded[];
  readonly stored: readonly StoredEvent[];
  readonly add: (event: DomainEvent, envelope?: Envelope) => Recorded;
  /** An event as another build would write it: any type, any data. */
  readonly addRaw: (type: string, data: string, envelope?: Envelope) => Recorded;
}

interface Frame {
  readonly stream: string;
  readonly branch: string;
  readonly conversation: Uid;
}

const builder = ({ stream, branch, conversation }: Frame): StreamBuilder => {
  const events: Recorded[] = [];
  const stored: StoredEvent[] = [];
  const write = (
    type: string,
    data: string,
    envelope: Envelope,
    event: DomainEvent | undefined,
  ): Recorded => {
    const before = events.at(-1);
    const revision = events.length;
    const draft: Meta = {
      fmt: FORMAT,
      sv: '1',
      compat: event === undefined ? 'must' : compatOf(event.type),
      conv: conversation,
      branch,
      prev: '',
      part: '1/1',
      at: second(revision),
      actor: 'tester',
      via: 'test',
    };
    const prev = expectedPrev(
      before,
      event === undefined ? { meta: draft } : { event, meta: draft },
    );
    const meta: Meta = { ...draft, prev, ...envelope };
    const metaText = encodeMeta(meta);
    const hash = hashEvent({ ...meta, revision }, type, metaText, data);
    const position = `${stream}:${String(revision)}`;
    const one = { stream, revision, position, id: idFromHash(hash), type, meta: metaText, data };
    const recorded = readStored(one);
    if (E.isLeft(recorded)) throw new Error(`built event does not read back: ${type}`);
    stored.push(one);
    events.push(recorded.right);
    return recorded.right;
  };
  return {
    stream,
    events,
    stored,
    add: (event, envelope = {}) => write(event.type, encodeEvent(event), envelope, event),
    addRaw: (type, data, envelope = {}) => write(type, data, envelope, undefined),
  };
};

export const buildBranch = (name: string, conversation: Uid = CONVERSATION): StreamBuilder =>
  builder({
    stream: branchStream(TENANT, conversation, uid(name)),
    branch: uid(name),
    conversation,
  });

export const buildDirectory = (conversation: Uid = CONVERSATION): StreamBuilder =>
  builder({ stream: directoryStream(TENANT, conversation), branch: NO_UID, conversation });

/** Reference to a built event. */
export const refOf = (recorded: Recorded): EventRef => ({
  branch: recorded.meta.branch as Uid,
  revision: recorded.revision,
  hash: recorded.hash,
});

export const messageRefOf = (recorded: Recorded, id: string): MessageRef => ({
  id,
  ...refOf(recorded),
});

export const inline = (text: string): InlineSlot => ({ slot: `slot of ${text}`, inline: text });

export const textBlocks = (text: string): InlineSlot =>
  inline(JSON.stringify(text === '' ? [] : [{ type: 'text', text }]));

/** A call as `[provider id, tool name]`. */
export type CallSpec = readonly [id: string, name: string];

export const storedMessage = (
  id: string,
  role: Role,
  text: string,
  more: Partial<StoredMessage> & { readonly calls?: readonly CallSpec[] } = {},
): StoredMessage => {
  const { calls = [], ...rest } = more;
  return {
    id,
    role,
    blocks: textBlocks(text),
    toolCalls: calls.map(([callId, name]) => ({ id: callId, name, arguments: inline('{}') })),
    provenance: { kind: role === 'assistant' ? 'model' : 'app' },
    trust: role === 'assistant' ? 'model' : role === 'tool' ? 'external' : 'user',
    status: 'confirmed',
    contentDigest: `digest of ${id}`,
    ...rest,
  };
};

/** MessageAppended. */
export const said = (
  id: string,
  role: Role,
  text: string,
  more: Parameters<typeof storedMessage>[3] = {},
): EventOf<'MessageAppended'> => ({
  type: 'MessageAppended',
  data: { message: storedMessage(id, role, text, more) },
});

/** ToolResultAttached: answers call `index` of `messageId`. */
export const answered = (
  id: string,
  calls: readonly (readonly [messageId: string, index: number, callId: string])[],
  more: Partial<ToolResultAttached> = {},
): EventOf<'ToolResultAttached'> => ({
  type: 'ToolResultAttached',
  data: {
    message: storedMessage(id, 'tool', `result ${id}`),
    calls: calls.map(([messageId, index, callId]) => ({ messageId, index, callId })),
    outcome: 'ok',
    ...more,
  },
});

/** ContextCompacted with a summary `summary-<name>` in place of the covered messages. */
export const compacted = (
  name: string,
  covered: readonly string[],
  more: Partial<ContextCompacted> = {},
): EventOf<'ContextCompacted'> => ({
  type: 'ContextCompacted',
  data: {
    compaction: name,
    covers: [],
    covered,
    coveredDigest: 'digest',
    replacement: storedMessage(`summary-${name}`, 'user', `summary of ${covered.join(' ')}`),
    shortened: [],
    strategy: 'summary',
    strategyVersion: 1,
    tokensBefore: 100,
    tokensAfter: 10,
    trust: 'user',
    ...more,
  },
});

export const requested = (
  modelCallId: string,
  more: Partial<ModelCallRequested> = {},
): EventOf<'ModelCallRequested'> => ({
  type: 'ModelCallRequested',
  data: {
    modelCallId,
    attempt: 1,
    purpose: 'turn',
    source: 'built',
    profile: { name: 'openai-chat', version: 1 },
    policy: { name: 'default', version: 1 },
    branchRevision: 0,
    directoryRevision: 0,
    selection: [],
    literals: [],
    instructions: [],
    counter: 'estimate',
    exact: false,
    tokens: 100,
    requestDigest: `digest of ${modelCallId}`,
    ...more,
  },
});

/** BranchOpened or, with a parent, BranchForked. */
export const opened = (name: string, parent?: Recorded): DomainEvent =>
  parent === undefined
    ? { type: 'BranchOpened', data: { name } }
    : {
        type: 'BranchForked',
        data: { parent: refOf(parent), depth: 1, ancestors: [refOf(parent)] },
      };
