import * as E from 'fp-ts/lib/Either.js';
import type { BranchReason } from '../domain/events/directory-events.js';
import type { EventRef } from '../domain/events/references.js';
import type { Uid } from '../domain/ids.js';
import { Blocks, type Block } from '../domain/message.js';
import { branchStream } from '../domain/stream-name.js';
import { readSurface } from './histories.js';
import { branchesOf, completeBranch, fork } from './conversation-commands.js';
import {
  given,
  left,
  partCommandId,
  type BranchContext,
  type CommandOptions,
} from './engine-context.js';
import { readBatch } from './event-reader.js';
import { priorCommand } from './execute.js';
import { forkPoints } from './histories.js';
import { lookUp } from './known-ids.js';
import { loadBranch } from './branch-loader.js';
import { append } from './message-commands.js';
import type { Task } from './runtime.js';

/** Where to fork: before or behind a message, behind a revision, or before a model call was made. */
export type ForkPlace =
  | { readonly before: string }
  | { readonly after: string }
  | { readonly revision: number }
  | { readonly beforeCall: string };

export interface ForkedBranch {
  readonly branch: Uid;
  readonly name: string;
}

type Place = Pick<EventRef, 'branch' | 'revision'>;

/** The event before a place on the lineage; the first event of a fork follows its fork point. */
const before =
  (context: BranchContext, place: Place): Task<Place> =>
  async () => {
    if (place.revision > 0) return E.right({ branch: place.branch, revision: place.revision - 1 });
    const points = await forkPoints(context.runtime, { ...context.key, branch: place.branch })();
    if (E.isLeft(points)) return points;
    const parent = points.right.at(-1);
    return parent === undefined
      ? left({ _tag: 'InvalidArgument', name: 'revision', reason: 'out_of_range' })
      : E.right(parent);
  };

const find =
  (context: BranchContext, kind: 'message' | 'call', id: string): Task<Place> =>
  async () => {
    const { runtime, states, key } = context;
    const loaded = await loadBranch(runtime, states, key)();
    if (E.isLeft(loaded)) return loaded;
    const facts = await lookUp(runtime, key.conversation, loaded.right.lineage, [{ kind, id }])();
    if (E.isLeft(facts)) return facts;
    const [found] = facts.right.of(kind, id);
    return found === undefined
      ? left({ _tag: 'NotFound', kind, ref: id })
      : E.right({ branch: found.meta.branch as Uid, revision: found.revision });
  };

/** The event behind which a fork begins. A turn that was opened for a call is left out with the call. */
const placeOf =
  (context: BranchContext, at: ForkPlace): Task<Place> =>
  async () => {
    if ('revision' in at) {
      return E.right({ branch: context.key.branch, revision: at.revision });
    }
    if ('after' in at) {
      const after = await find(context, 'message', at.after)();
      const unknown = E.isLeft(after) && after.left._tag === 'NotFound';
      return unknown ? left({ _tag: 'ParentNotFound', id: at.after }) : after;
    }
    const found =
      'before' in at
        ? await find(context, 'message', at.before)()
        : await find(context, 'call', at.beforeCall)();
    if (E.isLeft(found)) return found;
    const start = await turnStart(context, found.right)();
    return E.isLeft(start) ? start : before(context, start.right)();
  };

/** A turn that was opened together with the event begins before it: the fork leaves it out too. */
const turnStart =
  (context: BranchContext, place: Place): Task<Place> =>
  async () => {
    if (place.revision === 0) return E.right(place);
    const { runtime, key } = context;
    const stream = branchStream(key.tenant, key.conversation, place.branch);
    const events = await readBatch(runtime, stream, place.revision - 1, 2)();
    if (E.isLeft(events)) return events;
    const [previous, own] = events.right;
    const together = previous?.event?.type === 'TurnStarted' && own?.meta.part !== '1/1';
    return E.right(together ? { ...place, revision: place.revision - 1 } : place);
  };

/** Forks at a place. Nothing is copied and this branch is not written. */
export const forkAt =
  (
    context: BranchContext,
    at: ForkPlace,
    options: CommandOptions & {
      readonly name?: string;
      readonly reason?: BranchReason;
      readonly ofModelCall?: string;
      readonly replaces?: string;
    } = {},
  ): Task<ForkedBranch> =>
  async () => {
    const { runtime, states, key } = context;
    const by = given(context, options, 'forkAt', [
      key.branch,
      at,
      options.name ?? null,
      options.reason ?? null,
    ]);
    const prior = await priorCommand(runtime, states, key, by)();
    if (E.isLeft(prior)) return prior;
    const event = prior.right?.[0]?.event;
    if (event?.type === 'BranchRegistered') {
      const { branch, name } = event.data;
      const complete = await completeBranch(context, key.conversation, event.data)();
      return E.isLeft(complete) ? complete : E.right({ branch, name });
    }
    const place = await placeOf(context, at)();
    if (E.isLeft(place)) return place;
    const branch = await fork(context, place.right, { ...options, input: by })();
    if (E.isLeft(branch)) return branch;
    const directory = await branchesOf(context, context.key.conversation)();
    if (E.isLeft(directory)) return directory;
    const name = directory.right.branches.get(branch.right)?.name ?? options.name ?? 'fork';
    return E.right({ branch: branch.right, name });
  };

export interface RetryOptions extends CommandOptions {
  /** The message to leave out, with everything behind it. */
  readonly before?: string;
  /** The model call to make again from the same context. */
  readonly ofCall?: string;
  /** What stands in place of the message `before`. */
  readonly replace?: { readonly id?: string; readonly content: string | readonly Block[] };
  readonly name?: string;
}

const replacement =
  (context: BranchContext, original: string, replace: NonNullable<RetryOptions['replace']>) =>
  async () => {
    const surface = await readSurface(context.runtime, context.histories, context.key)();
    if (E.isLeft(surface)) return surface;
    const item = surface.right.items.find(({ message }) => message.id === original);
    const { content } = replace;
    return E.right({
      ...(replace.id === undefined ? {} : { id: replace.id }),
      role: item?.message.role ?? ('user' as const),
      content: typeof content === 'string' ? content : Blocks.encode(content),
    });
  };

/** A second attempt on a branch of its own: from before a message, or before a model call. */
export const retry =
  (context: BranchContext, options: RetryOptions): Task<ForkedBranch> =>
  async () => {
    const { before: message, ofCall, replace, commandId, name } = options;
    const at: ForkPlace | undefined =
      message === undefined
        ? ofCall === undefined
          ? undefined
          : { beforeCall: ofCall }
        : { before: message };
    if (at === undefined) {
      return left({ _tag: 'InvalidArgument', name: 'before', reason: 'missing' });
    }
    const forked = await forkAt(context, at, {
      name: name ?? 'retry',
      reason: replace === undefined ? 'retry' : 'edit',
      ...(commandId === undefined ? {} : { commandId }),
      ...(ofCall === undefined ? {} : { ofModelCall: ofCall }),
      ...(message === undefined ? {} : { replaces: message }),
    })();
    if (E.isLeft(forked) || replace === undefined || message === undefined) return forked;
    const edited = await replacement(context, message, replace)();
    if (E.isLeft(edited)) return edited;
    const onFork = { ...context, key: { ...context.key, branch: forked.right.branch } };
    const appended = await append(
      onFork,
      edited.right as Parameters<typeof append>[1],
      commandId === undefined ? {} : { commandId: partCommandId(commandId, 'edit') },
    )();
    return E.isLeft(appended) ? appended : forked;
  };
