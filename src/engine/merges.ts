import * as E from 'fp-ts/lib/Either.js';
import { mergeMessages, type MergeItem } from '../domain/decide/merge.js';
import type { Uid } from '../domain/ids.js';
import { prepare } from '../domain/intake.js';
import type { Message } from '../domain/message.js';
import type { SurfaceItem } from '../domain/surface.js';
import { slotMaker } from './content.js';
import { branchesOf } from './conversation-commands.js';
import {
  commandScopedId,
  given,
  left,
  scopeOf,
  type BranchContext,
  type CommandOptions,
} from './engine-context.js';
import { onBranch, priorCommand, type Done } from './execute.js';
import { readHistory, readSurface } from './histories.js';
import type { Task } from './runtime.js';

export interface MergeOptions extends CommandOptions {
  /** Uid of the branch to take from. */
  readonly from: Uid;
  /** Ids of the messages to take, in any order; they are appended in their own. */
  readonly messages: readonly string[];
}

/** A copy stands alone: calls and results are not picked apart from each other. */
const pickable = (item: SurfaceItem): boolean =>
  item.out === undefined && item.message.role !== 'tool' && item.message.toolCalls.length === 0;

const copyOf =
  (context: BranchContext, options: MergeOptions) =>
  (item: SurfaceItem, index: number): { readonly item: SurfaceItem; readonly message: Message } => {
    const { raw: _raw, partOf: _partOf, ...rest } = item.message;
    const id = commandScopedId(context, options, 'm', index);
    return { item, message: { ...rest, id, status: 'confirmed' } };
  };

/** Takes messages of another branch of the conversation in, as copies that name their originals. */
export const mergeFrom =
  (
    context: BranchContext,
    options: MergeOptions,
  ): Task<Done<{ readonly messages: readonly string[] }>> =>
  async () => {
    const { runtime, states, histories, key } = context;
    const by = given(context, options, 'merge', [options.from, options.messages]);
    const prior = await priorCommand(runtime, states, key, by)();
    if (E.isLeft(prior)) return prior;
    const merged = prior.right?.map(({ event }) => event).find((e) => e?.type === 'BranchMerged');
    if (merged?.type === 'BranchMerged') {
      const messages = merged.data.messages.map(({ id }) => id);
      return E.right({ answer: { messages }, written: [], replayed: true });
    }
    const directory = await branchesOf(context, key.conversation)();
    if (E.isLeft(directory)) return directory;
    if (!directory.right.branches.has(options.from)) {
      return left({ _tag: 'NotFound', kind: 'branch', ref: options.from });
    }
    const source = { ...key, branch: options.from };
    const surface = await readSurface(runtime, histories, source)();
    if (E.isLeft(surface)) return surface;
    const history = await readHistory(runtime, histories, source)();
    if (E.isLeft(history)) return history;
    const { head } = history.right;
    if (head === undefined) return left({ _tag: 'NotFound', kind: 'branch', ref: options.from });
    const wanted = new Set(options.messages);
    const picked = surface.right.items.filter((item) => wanted.has(item.message.id));
    const missing = options.messages.find((id) => !picked.some(({ message }) => message.id === id));
    if (missing !== undefined) return left({ _tag: 'NotFound', kind: 'message', ref: missing });
    const torn = picked.find((item) => !pickable(item));
    if (torn !== undefined) {
      return left({ _tag: 'InvalidShape', path: '/messages', expected: 'messages without calls' });
    }
    const slots = slotMaker(runtime, key.conversation);
    const items = picked.map(copyOf(context, options)).map(({ item, message }): MergeItem => ({
      prepared: prepare(message, slots.make, { origin: item.message.id }),
      origin: { id: item.message.id, ...item.place },
    }));
    const command = mergeMessages({ scope: scopeOf(context), from: head, items });
    return onBranch(runtime, states, key, command, {
      ...by,
      slots,
    })();
  };
