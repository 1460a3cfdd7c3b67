import * as E from 'fp-ts/lib/Either.js';
import { openBranch } from '../domain/decide/branch-opening.js';
import {
  annotate as annotateTarget,
  closeConversation,
  labelBranch,
  promoteBranch,
  registerBranch,
  reopenConversation,
  startConversation,
} from '../domain/decide/directory.js';
import { sealBranch } from '../domain/decide/message-life.js';
import { deriveUid } from '../domain/digest.js';
import type { BranchEntry, DirectoryState } from '../domain/directory-state.js';
import type {
  AnnotationTarget,
  BranchReason,
  ParentConversation,
} from '../domain/events/directory-events.js';
import type { EventRef } from '../domain/events/references.js';
import type { Revision, Uid } from '../domain/ids.js';
import { plainJson } from '../domain/json-value.js';
import { pointerTo } from '../domain/json-pointer.js';
import type { StemmaFault } from '../domain/errors.js';
import { branchStream } from '../domain/stream-name.js';
import { nameFault, optionalNameFault } from './arguments.js';
import { loadBranch, lookIntoDirectory } from './branch-loader.js';
import { slotMaker } from './content.js';
import {
  actorText,
  given,
  inputDigest,
  left,
  newUid,
  type Actor,
  type BranchContext,
  type CommandOptions,
  type EngineContext,
} from './engine-context.js';
import { readBatch, readOne } from './event-reader.js';
import { onBranch, onDirectory, type Given } from './execute.js';
import type { ConversationKey, Task } from './runtime.js';

export interface StartOptions extends CommandOptions {
  /** The caller's id for the conversation; starting it again finds it, from every node. */
  readonly id?: string;
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly parent?: ParentConversation;
  readonly as?: Actor;
}

export interface Started {
  readonly conversation: Uid;
  readonly main: Uid;
  readonly created: boolean;
}

/** Uid of the conversation with this foreign id; repeatable on every node that has the tenant secret. */
export const conversationUid = (context: EngineContext, id: string): Uid =>
  deriveUid(context.secret, 'conversation', id);

const mainUid = (context: EngineContext, conversation: Uid): Uid =>
  deriveUid(context.secret, 'main branch', conversation);

const actorGiven = (as: Actor | undefined) => ({ actor: actorText(as ?? { kind: 'app' }) });

/** Writes the first event of a registered branch, if nobody did yet. */
const ensureOpen =
  (context: EngineContext, key: ConversationKey, entry: BranchEntry, as?: Actor): Task<void> =>
  async () => {
    const { runtime, states } = context;
    const branchKey = { ...key, branch: entry.branch };
    const opened = await onBranch(runtime, states, branchKey, openBranch(entry), actorGiven(as))();
    return E.isLeft(opened) ? opened : E.right(undefined);
  };

const mainEntry = (main: Uid): BranchEntry => ({
  branch: main,
  name: 'main',
  reason: 'start',
  depth: 0,
  ancestors: [],
});

/** Labels are names with texts: names are compared and shown, so they follow the rules of ids. */
const labelsFault = (labels: unknown): StemmaFault | undefined => {
  const plain = plainJson(labels, '/labels');
  if (E.isLeft(plain)) return plain.left;
  for (const [name, value] of Object.entries(plain.right as object) as [string, unknown][]) {
    const path = pointerTo('/labels', [name]);
    const fault = nameFault(path, name);
    if (fault !== undefined) return fault;
    if (typeof value !== 'string') return { _tag: 'InvalidShape', path, expected: 'text' };
  }
  return undefined;
};

/** Begins a conversation, or finds the one that was begun with this id. */
export const start =
  (context: EngineContext, options: StartOptions = {}): Task<Started> =>
  async () => {
    const { id, title, labels = {}, parent } = options;
    const fault = optionalNameFault('/id', id) ?? labelsFault(labels);
    if (fault !== undefined) return left(fault);
    const conversation = id === undefined ? newUid(context) : conversationUid(context, id);
    const main = mainUid(context, conversation);
    const slots = slotMaker(context.runtime, conversation);
    const command = startConversation({
      main,
      ...(title === undefined ? {} : { title: slots.make(title, 'title') }),
      labels: Object.entries(labels).map(([name, value]) => ({ name, value })),
      ...(id === undefined ? {} : { externalRef: slots.make(id, 'id') }),
      ...(parent === undefined ? {} : { parent }),
    });
    const key = { tenant: context.tenant, conversation };
    const { commandId } = options;
    const started = await onDirectory(context.runtime, context.states, key, command, {
      ...actorGiven(options.as),
      slots,
      ...(commandId === undefined
        ? {}
        : {
            command: {
              id: commandId,
              digest: inputDigest('start', [id ?? null, title ?? null, labels]),
            },
          }),
    })();
    if (E.isLeft(started)) return started;
    const opened = await ensureOpen(context, key, mainEntry(main), options.as)();
    if (E.isLeft(opened)) return opened;
    return E.right({ conversation, main, created: !started.right.replayed });
  };

export interface ForkOptions extends CommandOptions {
  readonly name?: string;
  readonly reason?: BranchReason;
  readonly ofModelCall?: string;
  readonly replaces?: string;
  /** How the command is given, where its input is not the place alone. */
  readonly input?: Given;
  /** Uid of the branch, where the caller derives one that is repeatable. */
  readonly uid?: Uid;
}

const MAX_ANCESTORS = 64;

/** The event at a fork point, found on the lineage: the branch itself or an ancestor before its fork. */
const forkPoint = (
  context: BranchContext,
  at: Pick<EventRef, 'branch' | 'revision'>,
): Task<{ readonly ref: EventRef; readonly ancestors: readonly EventRef[] }> => {
  const { runtime, states, key } = context;
  return async () => {
    const loaded = await loadBranch(runtime, states, { ...key, branch: at.branch })();
    if (E.isLeft(loaded)) return loaded;
    const { head, ancestors } = loaded.right.state;
    if (head < 0) return left({ _tag: 'NotFound', kind: 'branch', ref: at.branch });
    if (at.revision > head) return left({ _tag: 'RevisionInFuture', revision: at.revision, head });
    const stream = branchStream(key.tenant, key.conversation, at.branch);
    const events = await readBatch(runtime, stream, at.revision, 1)();
    if (E.isLeft(events)) return events;
    const [event] = events.right;
    if (event === undefined) {
      return left({ _tag: 'NotFound', kind: 'revision', ref: String(at.revision) });
    }
    return E.right({ ref: { ...at, hash: event.hash }, ancestors });
  };
};

/**
 * Forks behind the event at `at`. Nothing is copied and the parent is not written; the fork sees its
 * parent up to and with that event.
 */
export const fork =
  (
    context: BranchContext,
    at: { readonly branch: Uid; readonly revision: Revision },
    options: ForkOptions = {},
  ): Task<Uid> =>
  async () => {
    const { runtime, states, key } = context;
    if (!Number.isSafeInteger(at.revision) || at.revision < 0) {
      return left({ _tag: 'InvalidArgument', name: 'revision', reason: 'out_of_range' });
    }
    const point = await forkPoint(context, at)();
    if (E.isLeft(point)) return point;
    const { ref, ancestors } = point.right;
    const { commandId, name, reason = 'explore', ofModelCall, replaces } = options;
    const derived =
      commandId === undefined
        ? newUid(context)
        : deriveUid(context.secret, 'branch', `${key.conversation} ${commandId}`);
    const branch = options.uid ?? derived;
    const depths = await loadBranch(runtime, states, { ...key, branch: at.branch })();
    if (E.isLeft(depths)) return depths;
    const registration = {
      branch,
      name: name ?? reason,
      parent: ref,
      depth: depths.right.state.depth + 1,
      ancestors: [ref, ...ancestors].slice(0, MAX_ANCESTORS),
      reason,
      ...(ofModelCall === undefined ? {} : { ofModelCall }),
      ...(replaces === undefined ? {} : { replaces }),
    };
    const registered = await onDirectory(
      runtime,
      states,
      key,
      registerBranch(key.conversation, registration),
      options.input ??
        given(context, options, 'fork', [at, name ?? null, reason, replaces ?? null]),
    )();
    if (E.isLeft(registered)) return registered;
    const opened = await ensureOpen(context, key, registration, context.as)();
    return E.isLeft(opened) ? opened : E.right(branch);
  };

/** Opens a branch that continues nothing: another root of a foreign source. */
export const openRoot =
  (
    context: BranchContext,
    root: { readonly uid: Uid; readonly name: string; readonly reason: BranchReason },
  ): Task<Uid> =>
  async () => {
    const { runtime, states, key } = context;
    const { uid, name, reason } = root;
    const registration = { branch: uid, name, depth: 0, ancestors: [], reason };
    const registered = await onDirectory(
      runtime,
      states,
      key,
      registerBranch(key.conversation, registration),
      given(context, {}, 'openRoot', root),
    )();
    if (E.isLeft(registered)) return registered;
    const opened = await ensureOpen(context, key, registration, context.as)();
    return E.isLeft(opened) ? opened : E.right(uid);
  };

/** The branches of a conversation, each with its first event in place. */
export const branchesOf =
  (context: EngineContext, conversation: Uid): Task<DirectoryState> =>
  async () => {
    const key = { tenant: context.tenant, conversation };
    const directory = await lookIntoDirectory(context.runtime, context.states, key)();
    if (E.isLeft(directory)) return directory;
    return directory.right.main === undefined
      ? left({ _tag: 'NotFound', kind: 'conversation', ref: conversation })
      : directory;
  };

/** Completes a branch that was registered by somebody who then stopped. */
export const completeBranch =
  (context: EngineContext, conversation: Uid, entry: BranchEntry): Task<void> =>
  async () => {
    const key = { tenant: context.tenant, conversation, branch: entry.branch };
    const stream = branchStream(key.tenant, conversation, key.branch);
    const first = await readOne(context.runtime, stream, 0)();
    if (E.isLeft(first)) return first;
    return first.right === undefined ? ensureOpen(context, key, entry)() : E.right(undefined);
  };

export const label = (context: BranchContext, name: string, options: CommandOptions = {}) => {
  const { runtime, states, key } = context;
  const command = labelBranch(key.branch, name);
  return onDirectory(
    runtime,
    states,
    key,
    command,
    given(context, options, 'label', [key.branch, name]),
  );
};

/** Marks this branch as the delivered one. */
export const promote = (
  context: BranchContext,
  options: CommandOptions & { readonly reason?: string } = {},
) => {
  const { runtime, states, key } = context;
  const slots = slotMaker(runtime, key.conversation);
  const reason = options.reason === undefined ? undefined : slots.make(options.reason, 'reason');
  return onDirectory(runtime, states, key, promoteBranch(key.branch, reason), {
    ...given(context, options, 'promote', [key.branch, options.reason ?? null]),
    slots,
  });
};

export const annotate = (
  context: BranchContext,
  kind: 'MetadataAnnotated' | 'FeedbackRecorded',
  target: AnnotationTarget,
  note: { readonly name: string; readonly value: string },
  options: CommandOptions = {},
) => {
  const { runtime, states, key } = context;
  const slots = slotMaker(runtime, key.conversation);
  const command = annotateTarget(kind, target, note.name, slots.make(note.value, 'note'));
  return onDirectory(runtime, states, key, command, {
    ...given(context, options, kind, [key.branch, target, note]),
    slots,
  });
};

/**
 * Closes or reopens the conversation: decided in the directory, then each branch is sealed or
 * unsealed in its own stream. A close that broke off is completed by closing again.
 */
export const setClosed =
  (context: BranchContext, closed: boolean, reason?: string): Task<void> =>
  async () => {
    const { runtime, states, key } = context;
    const slots = slotMaker(runtime, key.conversation);
    const slot = reason === undefined ? undefined : slots.make(reason, 'reason');
    const by = { actor: actorText(context.as), slots };
    const command = closed ? closeConversation(slot) : reopenConversation(slot);
    const decided = await onDirectory(runtime, states, key, command, by)();
    if (E.isLeft(decided)) return decided;
    const directory = await branchesOf(context, key.conversation)();
    if (E.isLeft(directory)) return directory;
    for (const entry of directory.right.branches.values()) {
      const branchKey = { ...key, branch: entry.branch };
      const opened = await completeBranch(context, key.conversation, entry)();
      if (E.isLeft(opened)) return opened;
      const seal = sealBranch(closed, slot);
      const sealed = await onBranch(runtime, states, branchKey, seal, by)();
      if (E.isLeft(sealed)) return sealed;
    }
    return E.right(undefined);
  };
