import type { BranchState } from '../branch-state.js';
import type { EventRef, MessageRef } from '../events/references.js';
import { messageEvent, type PreparedMessage } from './prepared-message.js';
import { append, plain, refuse, type Command } from './decision.js';
import { sealedFault, turnFault, type BranchScope } from './guards.js';

/** A copy, and the message of the other branch that it is of. */
export interface MergeItem {
  readonly prepared: PreparedMessage;
  readonly origin: MessageRef;
}

export interface MergeInput {
  readonly scope: BranchScope;
  /** Head of the other branch when it was read. */
  readonly from: EventRef;
  readonly items: readonly MergeItem[];
}

/** Takes copies of another branch's messages in; the other branch is not touched. */
export const mergeMessages = (
  input: MergeInput,
): Command<BranchState, { readonly messages: readonly string[] }> => ({
  name: 'merge',
  keysOf: [],
  decide: (state) => {
    const fault = sealedFault(input.scope, state) ?? turnFault(input.scope, state);
    if (fault !== undefined) return refuse(fault);
    if (input.items.length === 0) {
      return refuse({ _tag: 'InvalidShape', path: '/messages', expected: 'at least one message' });
    }
    const messages = input.items.map(({ prepared, origin }) => ({
      id: prepared.message.id,
      origin,
    }));
    return append([
      plain({ type: 'BranchMerged', data: { from: input.from, mode: 'pick', messages } }),
      ...input.items.map(({ prepared }) => messageEvent(prepared)),
    ]);
  },
  answer: (): { readonly messages: readonly string[] } => ({
    messages: input.items.map(({ prepared }) => prepared.message.id),
  }),
});
