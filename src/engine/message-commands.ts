import * as E from 'fp-ts/lib/Either.js';
import { appendMessages, type AppendedMessage } from '../domain/decide/append-messages.js';
import {
  changeStatus,
  messageRef,
  reviseInstructions,
  withdrawMessages,
} from '../domain/decide/message-life.js';
import { redactMessage } from '../domain/decide/directory.js';
import { digestOf } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import { takeMessages, type MessageInput } from '../domain/intake.js';
import { MESSAGE_BYTES } from '../domain/message-size.js';
import { plainJson } from '../domain/json-value.js';
import type { MessageStatus, Role } from '../domain/message.js';
import { utf8Bytes } from '../domain/text.js';
import {
  actorFault,
  argumentFault,
  nameFault,
  optionalNameFault,
  optionsFault,
} from './arguments.js';
import { loadBranch } from './branch-loader.js';
import { slotMaker } from './content.js';
import {
  actorText,
  commandScopedId,
  given,
  left,
  provenanceOf,
  scopeOf,
  type Actor,
  type BranchContext,
  type CommandOptions,
} from './engine-context.js';
import { onBranch, onDirectory, type Done } from './execute.js';
import { lookUp } from './known-ids.js';
import type { Task } from './runtime.js';

export interface AppendOptions extends CommandOptions {
  /** Exact revision of the branch's head; another head is `RevisionConflict`. */
  readonly expectedRevision?: number;
  readonly as?: Actor;
}

/** A revision that a caller gives: a branch has its first event, so never below 0 (B38). */
const revisionFault = (value: unknown): StemmaFault | undefined => {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0)) return undefined;
  const isFraction = typeof value === 'number' && Number.isFinite(value) && value % 1 !== 0;
  const reason =
    typeof value !== 'number' ? 'wrong_type' : isFraction ? 'not_an_integer' : 'out_of_range';
  return argumentFault('expectedRevision', reason);
};

/** Appends a message or a batch, all or nothing. */
export const append =
  (
    context: BranchContext,
    input: MessageInput | readonly MessageInput[],
    options: AppendOptions = {},
  ): Task<Done<readonly AppendedMessage[]>> =>
  async () => {
    const fault =
      optionsFault(options, { commandId: 'any', expectedRevision: 'any', as: 'any' }) ??
      revisionFault(options.expectedRevision) ??
      actorFault(options.as) ??
      optionalNameFault('/commandId', options.commandId);
    if (fault !== undefined) return left(fault);
    const slots = slotMaker(context.runtime, context.key.conversation);
    const items = takeMessages(input, {
      provenance: provenanceOf(options.as ?? context.as),
      make: slots.make,
      newId: (index) => commandScopedId(context, options, 'm', index),
    });
    if (E.isLeft(items)) return items;
    const { expectedRevision: expected } = options;
    const command = appendMessages({
      scope: scopeOf(context),
      items: items.right,
      ...(expected === undefined ? {} : { expected }),
    });
    // The input was found to be plain JSON above; its digest is of the values, not of the objects.
    const plain = plainJson(input);
    const as = { ...context, as: options.as ?? context.as };
    return onBranch(context.runtime, context.states, context.key, command, {
      ...given(as, options, 'append', E.isRight(plain) ? plain.right : null),
      slots,
    })();
  };

export interface InstructionsOptions extends CommandOptions {
  /** Slot name; two agents with names of their own do not overwrite each other. */
  readonly name?: string;
  readonly role?: Role;
  readonly owner?: string;
}

/** Instructions are text, and no longer than a message may be. */
export const instructionsFault = (text: unknown): StemmaFault | undefined => {
  if (text === undefined) return undefined;
  if (typeof text !== 'string') {
    return { _tag: 'InvalidShape', path: '/instructions', expected: 'text' };
  }
  const bytes = text.length * 3 > MESSAGE_BYTES ? utf8Bytes(text) : 0;
  return bytes > MESSAGE_BYTES ? { _tag: 'TooLarge', bytes, limit: MESSAGE_BYTES } : undefined;
};

/** Writes a version of the instructions; the same text again writes nothing. */
export const setInstructions =
  (
    context: BranchContext,
    text: string,
    options: InstructionsOptions = {},
  ): Task<Done<{ readonly version: number }>> =>
  async () => {
    const kinds = { commandId: 'any', name: 'any', role: 'text', owner: 'any' } as const;
    const fault =
      optionsFault(options, kinds) ??
      instructionsFault(text) ??
      optionalNameFault('/name', options.name) ??
      optionalNameFault('/owner', options.owner) ??
      optionalNameFault('/commandId', options.commandId);
    if (fault !== undefined) return left(fault);
    const name = options.name ?? 'main';
    const role = options.role ?? 'system';
    const slots = slotMaker(context.runtime, context.key.conversation);
    const command = reviseInstructions({
      scope: scopeOf(context),
      origin: context.as.kind,
      instructions: {
        name,
        owner: options.owner ?? actorText(context.as),
        role,
        messageId: commandScopedId(context, options, 'i', 0),
        content: slots.make(text, 'instructions'),
        digest: digestOf(JSON.stringify([role, text])),
      },
    });
    return onBranch(context.runtime, context.states, context.key, command, {
      ...given(context, options, 'instructions', [name, role, text, options.owner ?? null]),
      slots,
    })();
  };

export interface ReasonOptions extends CommandOptions {
  readonly reason?: string;
}

const reasonKinds = { commandId: 'any', reason: 'text' } as const;

const idsFault = (ids: unknown): StemmaFault | undefined => {
  const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  return isList ? undefined : { _tag: 'InvalidShape', path: '/ids', expected: 'ids' };
};

const reasonSlot = (slots: ReturnType<typeof slotMaker>, reason: string | undefined) =>
  reason === undefined ? undefined : slots.make(reason, 'reason');

/** Changes the status of a message: confirms or blocks a draft, supersedes an answer. */
export const setStatus =
  (
    context: BranchContext,
    messageId: string,
    to: MessageStatus,
    options: ReasonOptions = {},
  ): Task<Done<{ readonly to: MessageStatus }>> =>
  async () => {
    const fault = optionsFault(options, reasonKinds);
    if (fault !== undefined) return left(fault);
    const slots = slotMaker(context.runtime, context.key.conversation);
    const reason = reasonSlot(slots, options.reason);
    const command = changeStatus({
      scope: scopeOf(context),
      messageId,
      to,
      by: actorText(context.as),
      ...(reason === undefined ? {} : { reason }),
    });
    return onBranch(context.runtime, context.states, context.key, command, {
      ...given(context, options, 'status', [messageId, to, options.reason ?? null]),
      slots,
    })();
  };

/** Takes messages out of later contexts; they stay in history. */
export const withdraw =
  (
    context: BranchContext,
    ids: readonly string[],
    options: ReasonOptions = {},
  ): Task<Done<{ readonly messages: readonly string[] }>> =>
  async () => {
    const fault = optionsFault(options, reasonKinds) ?? idsFault(ids);
    if (fault !== undefined) return left(fault);
    const slots = slotMaker(context.runtime, context.key.conversation);
    const reason = reasonSlot(slots, options.reason);
    const command = withdrawMessages(scopeOf(context), ids, reason);
    return onBranch(context.runtime, context.states, context.key, command, {
      ...given(context, options, 'withdraw', [ids, options.reason ?? null]),
      slots,
    })();
  };

/** Hides a message from contexts and views on every branch; its event stays as it is. */
export const redact =
  (
    context: BranchContext,
    messageId: string,
    options: ReasonOptions & { readonly authority?: string } = {},
  ): Task<Done<{ readonly message: string }>> =>
  async () => {
    const { runtime, states, key } = context;
    const fault =
      optionsFault(options, { ...reasonKinds, authority: 'any' }) ??
      nameFault('/id', messageId) ??
      optionalNameFault('/authority', options.authority);
    if (fault !== undefined) return left(fault);
    const loaded = await loadBranch(runtime, states, key)();
    if (E.isLeft(loaded)) return loaded;
    const refs = [{ kind: 'message', id: messageId } as const];
    const facts = await lookUp(runtime, key.conversation, loaded.right.lineage, refs)();
    if (E.isLeft(facts)) return facts;
    const ref = messageRef(facts.right, messageId);
    if (ref === undefined) return left({ _tag: 'NotFound', kind: 'message', ref: messageId });
    const slots = slotMaker(runtime, key.conversation);
    const authority = options.authority ?? actorText(context.as);
    const command = redactMessage(ref, authority, reasonSlot(slots, options.reason));
    return onDirectory(runtime, states, key, command, {
      ...given(context, options, 'redact', [
        key.branch,
        messageId,
        authority,
        options.reason ?? null,
      ]),
      slots,
    })();
  };
