import type { DomainEvent } from '../events/catalog.js';
import type { StemmaFault } from '../errors.js';
import type { StoredMessage } from '../events/message-events.js';
import {
  contentDigest,
  type AnsweredCall,
  type CallRef,
  type Message,
  type Provenance,
  type Role,
} from '../message.js';
import { callKey } from '../branch-state.js';
import type { Recorded } from '../recorded.js';
import type { KeyRef, Planned } from './decision.js';

/** A message on its way in: content for the digest, slots for the store. */
export interface PreparedMessage {
  readonly message: Message;
  readonly stored: Omit<StoredMessage, 'contentDigest'>;
  /** tool: what it answers, by the provider's id or by the call itself. */
  readonly answers?: { readonly callId: string } | { readonly ref: CallRef };
  readonly durationMs?: number;
}

/** What each origin may write (RL1). */
export const allowedRoles: Readonly<Record<Provenance['kind'], readonly Role[]>> = {
  operator: ['system', 'developer', 'user', 'assistant', 'tool'],
  app: ['system', 'developer', 'user', 'assistant', 'tool'],
  importer: ['system', 'developer', 'user', 'assistant', 'tool'],
  engine: ['user', 'tool'],
  end_user: ['user'],
  model: ['assistant'],
  tool: ['tool'],
};

/** RL1: an end user or a tool can never produce a system or developer message. */
export const roleFault = (role: Role, origin: Provenance['kind']): StemmaFault | undefined =>
  allowedRoles[origin].includes(role) ? undefined : { _tag: 'RoleNotAllowed', role, origin };

/** The stored message of an event that carries one. */
export const messageOf = (event: DomainEvent | undefined): StoredMessage | undefined => {
  if (event?.type === 'MessageAppended' || event?.type === 'ToolResultAttached') {
    return event.data.message;
  }
  return event?.type === 'ContextCompacted' ? event.data.replacement : undefined;
};

export const placeOf = (recorded: Recorded) => ({
  branch: recorded.meta.branch,
  revision: recorded.revision,
  hash: recorded.hash,
});

/** Provider ids as they are looked up; each once. */
const callIdsOf = (message: Message): readonly KeyRef[] =>
  [...new Set(message.toolCalls.map((call) => call.id))].map((id) => ({ kind: 'call', id }));

export const sameGiven = (item: PreparedMessage, call: AnsweredCall): boolean => {
  if (item.answers === undefined) return false;
  return 'ref' in item.answers
    ? callKey(item.answers.ref) === callKey(call)
    : item.answers.callId === call.callId;
};

export const digestFor = (item: PreparedMessage, answers: readonly AnsweredCall[]): string =>
  contentDigest({ ...item.message, answers });

export const namedCall = (item: PreparedMessage): string => {
  if (item.answers === undefined) return '';
  return 'ref' in item.answers ? callKey(item.answers.ref) : item.answers.callId;
};

export const messageEvent = (item: PreparedMessage): Planned => ({
  event: {
    type: 'MessageAppended',
    data: { message: { ...item.stored, contentDigest: digestFor(item, []) } },
  },
  keys: [{ kind: 'message', id: item.message.id }, ...callIdsOf(item.message)],
});
