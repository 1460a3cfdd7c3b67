import type { BranchState } from '../branch-state.js';
import type { InstructionsRevised } from '../events/branch-events.js';
import type { MessageRef } from '../events/references.js';
import type { Uid } from '../ids.js';
import type { MessageStatus } from '../message.js';
import type { Recorded } from '../recorded.js';
import type { Slot } from '../slot.js';
import { messageOf, roleFault } from './prepared-message.js';
import { append, known, plain, refuse, type Command, type Facts } from './decision.js';
import { sealedFault, turnFault, type BranchScope } from './guards.js';

export interface ReviseInput {
  readonly scope: BranchScope;
  readonly origin: 'operator' | 'app' | 'end_user' | 'model' | 'tool' | 'importer' | 'engine';
  readonly instructions: Omit<InstructionsRevised, 'version' | 'supersedes'>;
}

/** Writes a new version of the instructions in a slot; the same text again writes nothing (RL2). */
export const reviseInstructions = (
  input: ReviseInput,
): Command<BranchState, { readonly version: number }> => ({
  name: 'reviseInstructions',
  keysOf: [{ kind: 'message', id: input.instructions.messageId }],
  decide: (state, facts) => {
    const { instructions, scope } = input;
    const current = state.instructions.get(instructions.name);
    const fault =
      roleFault(instructions.role, input.origin) ??
      sealedFault(scope, state) ??
      turnFault(scope, state);
    if (fault !== undefined) return refuse(fault);
    if (current?.digest === instructions.digest) return known([]);
    const clash = facts.of('message', instructions.messageId)[0];
    if (clash !== undefined) {
      return refuse({
        _tag: 'MessageIdConflict',
        id: instructions.messageId,
        place: { branch: clash.meta.branch, revision: clash.revision },
        digest: instructions.digest,
        storedDigest: messageOf(clash.event)?.contentDigest ?? '',
      });
    }
    const data: InstructionsRevised = {
      ...instructions,
      version: (current?.version ?? 0) + 1,
      ...(current === undefined ? {} : { supersedes: current.version }),
    };
    return append([
      {
        event: { type: 'InstructionsRevised', data },
        keys: [{ kind: 'message', id: instructions.messageId }],
      },
    ]);
  },
  answer: (before, written, state) => {
    const event = [...before, ...written].at(-1)?.event;
    const inForce = state.instructions.get(input.instructions.name)?.version ?? 0;
    return { version: event?.type === 'InstructionsRevised' ? event.data.version : inForce };
  },
});

/** The reference of a stored message; undefined for an id that this lineage does not know. */
export const messageRef = (facts: Facts, id: string): MessageRef | undefined => {
  const stored = facts.of('message', id)[0];
  return stored === undefined
    ? undefined
    : {
        id,
        branch: stored.meta.branch as Uid,
        revision: stored.revision,
        hash: stored.hash,
      };
};

const notFound = (id: string) => ({ _tag: 'NotFound', kind: 'message', ref: id }) as const;

/** What was blocked or broken off never runs its calls: only a draft's calls are still to be made. */
const makesCalls = (facts: Facts, id: string): boolean =>
  facts.of('message', id).some(({ event }) => (messageOf(event)?.toolCalls.length ?? 0) > 0);

export interface StatusInput {
  readonly scope: BranchScope;
  readonly messageId: string;
  readonly to: MessageStatus;
  readonly by: string;
  readonly reason?: Slot;
}

/** Changes what a message counts as: a draft is confirmed or blocked, an answer superseded (RL5). */
export const changeStatus = (
  input: StatusInput,
): Command<BranchState, { readonly to: MessageStatus }> => ({
  name: 'changeStatus',
  keysOf: [{ kind: 'message', id: input.messageId }],
  decide: (state, facts) => {
    const fault = sealedFault(input.scope, state) ?? turnFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    const message = messageRef(facts, input.messageId);
    if (message === undefined) return refuse(notFound(input.messageId));
    const { to, by, reason } = input;
    // A message is a draft from the beginning or never.
    if (to === 'draft')
      return refuse({ _tag: 'InvalidArgument', name: 'to', reason: 'unknown_value' });
    if (
      to === 'confirmed' &&
      !state.drafts.has(input.messageId) &&
      makesCalls(facts, input.messageId)
    ) {
      return refuse({ _tag: 'InvalidArgument', name: 'to', reason: 'has_tool_calls' });
    }
    return append([
      plain({
        type: 'MessageStatusChanged',
        data: { message, to, by, ...(reason === undefined ? {} : { reason }) },
      }),
    ]);
  },
  answer: () => ({ to: input.to }),
});

/** Takes messages out of later contexts; they stay in history. */
export const withdrawMessages = (
  scope: BranchScope,
  ids: readonly string[],
  reason?: Slot,
): Command<BranchState, { readonly messages: readonly string[] }> => ({
  name: 'withdraw',
  keysOf: ids.map((id) => ({ kind: 'message', id })),
  decide: (state, facts) => {
    const fault = sealedFault(scope, state) ?? turnFault(scope, state);
    if (fault !== undefined) return refuse(fault);
    if (ids.length === 0) return refuse({ _tag: 'InvalidShape', path: '', expected: 'ids' });
    const missing = ids.find((id) => messageRef(facts, id) === undefined);
    if (missing !== undefined) return refuse(notFound(missing));
    return append([
      plain({
        type: 'MessagesWithdrawn',
        data: { messages: ids, ...(reason === undefined ? {} : { reason }) },
      }),
    ]);
  },
  answer: (): { readonly messages: readonly string[] } => ({ messages: ids }),
});

/** Closes or opens one branch in its own stream. */
export const sealBranch = (
  sealed: boolean,
  reason?: Slot,
): Command<BranchState, { readonly sealed: boolean }> => ({
  name: 'seal',
  keysOf: [],
  decide: (state) =>
    state.sealed === sealed
      ? known([])
      : append([
          plain({
            type: sealed ? 'BranchSealed' : 'BranchUnsealed',
            data: reason === undefined ? {} : { reason },
          }),
        ]),
  answer: (_before: readonly Recorded[]) => ({ sealed }),
});
