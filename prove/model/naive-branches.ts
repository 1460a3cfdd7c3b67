import { append, commandOf, knownCommand } from './naive-append.js';
import {
  done,
  fault,
  guardFault,
  headOf,
  isSealed,
  messagesOf,
  seenBy,
  write,
  writeDirectory,
  type DirectoryEntry,
  type Seen,
  type World,
} from './naive.js';
import type { Expected, ForkAt, Step } from './steps.js';

type Of<K extends Step['do']> = Extract<Step, { readonly do: K }>;

export const isConversationClosed = (world: World): boolean => {
  let closed = false;
  for (const { entry } of world.directory) {
    if (entry.is === 'closed') closed = true;
    if (entry.is === 'reopened') closed = false;
  }
  return closed;
};

export const nameOf = (world: World, branch: number): string => {
  let name = '';
  for (const { entry } of world.directory) {
    const isNaming = entry.is === 'registered' || entry.is === 'labelled';
    if (isNaming && entry.branch === branch) name = entry.name;
  }
  return name;
};

export const promotedBranch = (world: World): number | undefined => {
  let promoted: number | undefined;
  for (const { entry } of world.directory) {
    if (entry.is === 'promoted') promoted = entry.branch;
  }
  return promoted;
};

/** A name for a new branch that no branch has. */
const freeName = (world: World, wanted: string): string => {
  const taken = [...world.branches.keys()].map((branch) => nameOf(world, branch));
  if (!taken.includes(wanted)) return wanted;
  let count = 2;
  while (taken.includes(`${wanted}-${count}`)) count += 1;
  return `${wanted}-${count}`;
};

interface Point {
  readonly branch: number;
  readonly at: number;
}

const placeOf = (world: World, branch: number, at: ForkAt): Point | Expected => {
  const seen = seenBy(world, branch);
  if ('revision' in at) {
    if (at.revision < 0) return fault('InvalidArgument');
    return at.revision > headOf(world, branch)
      ? fault('RevisionInFuture')
      : { branch, at: at.revision };
  }
  if ('after' in at || 'before' in at) {
    const id = 'after' in at ? at.after : at.before;
    const message = messagesOf(world, branch).find((known) => known.id === id);
    if (message === undefined) return fault('after' in at ? 'ParentNotFound' : 'NotFound');
    return { branch: message.branch, at: 'after' in at ? message.at : message.at - 1 };
  }
  const index = seen.findIndex(
    ({ entry }) => entry.is === 'requested' && entry.call === at.beforeCall,
  );
  const found = seen[index];
  if (found === undefined) return fault('NotFound');
  const previous = seen[index - 1];
  // The turn that was opened together with the call is left out too.
  const together = previous?.entry.is === 'turn' && previous.batch === found.batch;
  return { branch: found.branch, at: found.at - (together ? 2 : 1) };
};

const registered = (world: World): readonly Seen[] =>
  world.directory.map((written) => ({ ...written, branch: -1, at: -1, own: true }) as never);

const forkAt = (
  world: World,
  step: Of<'fork'> | Of<'retry'>,
  at: ForkAt,
  name: string,
): Expected => {
  const replay = knownCommand(registered(world), step);
  if (replay !== undefined) return replay;
  const point = placeOf(world, step.branch, at);
  if ('kind' in point) return point;
  if (isConversationClosed(world)) return fault('ConversationIsClosed');
  const branch = world.branches.length;
  const answer = { branch, name: freeName(world, name) };
  const entry: DirectoryEntry = { is: 'registered', branch, name: answer.name };
  writeDirectory(world, [entry], commandOf(step, answer));
  world.branches.push({
    parent: { branch: point.branch, upTo: point.at },
    log: [{ entry: { is: 'begun' }, batch: world.batches++ }],
  });
  return done(answer);
};

export const fork = (world: World, step: Of<'fork'>): Expected =>
  forkAt(world, step, step.at, step.name);

/** A fork, and what stands in place of the message that was left out. */
export const retry = (world: World, step: Of<'retry'>, run: string): Expected => {
  const { before, ofCall, replace, commandId } = step;
  const at =
    before !== undefined ? { before } : ofCall !== undefined ? { beforeCall: ofCall } : undefined;
  if (at === undefined) return fault('InvalidArgument');
  const forked = forkAt(world, step, at, 'retry');
  if (forked.kind === 'fault' || replace === undefined || before === undefined) return forked;
  const { branch } = forked.answer as { readonly branch: number };
  const original = messagesOf(world, step.branch).find(({ id }) => id === before);
  const item = { ...replace, role: original?.role ?? ('user' as const) };
  const edited = append(
    world,
    {
      do: 'append',
      items: [item],
      branch,
      handle: step.handle,
      ...(commandId === undefined ? {} : { commandId: `${commandId}.edit` }),
    },
    run,
  );
  return edited.kind === 'fault' ? edited : forked;
};

const inDirectory = (world: World, step: Step, entry: DirectoryEntry | undefined): Expected => {
  const replay = knownCommand(registered(world), step);
  if (replay !== undefined) return replay;
  if (entry === undefined) return done({}, true);
  writeDirectory(world, [entry], commandOf(step, {}));
  return done({}, false);
};

export const label = (world: World, step: Of<'label'>): Expected => {
  const { branch, name } = step;
  const isNew = nameOf(world, branch) !== name;
  return inDirectory(world, step, isNew ? { is: 'labelled', branch, name } : undefined);
};

export const promote = (world: World, step: Of<'promote'>): Expected => {
  const { branch } = step;
  const isNew = promotedBranch(world) !== branch;
  return inDirectory(world, step, isNew ? { is: 'promoted', branch } : undefined);
};

export const annotate = (world: World, step: Of<'annotate'>): Expected =>
  inDirectory(world, step, { is: 'annotated' });

export const redact = (world: World, step: Of<'redact'>): Expected => {
  const message = messagesOf(world, step.branch).find(({ id }) => id === step.id);
  if (message === undefined) return fault('NotFound');
  const { branch, at } = message;
  return inDirectory(world, step, { is: 'redacted', branch, at });
};

/** Decided once for the conversation, then in each branch. */
export const setClosed = (world: World, closed: boolean): Expected => {
  if (isConversationClosed(world) !== closed) {
    writeDirectory(world, [{ is: closed ? 'closed' : 'reopened' }]);
  }
  for (const branch of world.branches.keys()) {
    if (isSealed(seenBy(world, branch)) === closed) continue;
    write(world, branch, [{ is: closed ? 'sealed' : 'unsealed' }]);
  }
  return done({});
};

export const setInstructions = (world: World, step: Of<'instructions'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  if (step.as !== undefined) return fault('RoleNotAllowed');
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const { name, text } = step;
  const versions = seen.flatMap(({ entry }) =>
    entry.is === 'instructions' && entry.name === name ? [entry.text] : [],
  );
  // Answering the version in force again writes nothing.
  if (versions.at(-1) === text) return done({ version: versions.length }, true);
  const answer = { version: versions.length + 1 };
  write(world, step.branch, [{ is: 'instructions', name, text }], commandOf(step, answer));
  return done(answer, false);
};

export const setStatus = (world: World, step: Of<'status'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const { id, to } = step;
  const message = messagesOf(world, step.branch).find((known) => known.id === id);
  if (message === undefined) return fault('NotFound');
  // A message is a draft from the beginning or never; only a draft's calls are still to be made.
  if (to === 'draft') return fault('InvalidArgument');
  const isDraft = message.status === 'draft' && !message.withdrawn;
  if (to === 'confirmed' && !isDraft && message.calls.length > 0) return fault('InvalidArgument');
  write(world, step.branch, [{ is: 'status', id, to }], commandOf(step, { to }));
  return done({ to }, false);
};

export const withdraw = (world: World, step: Of<'withdraw'>, run: string): Expected => {
  const seen = seenBy(world, step.branch);
  const replay = knownCommand(seen, step);
  if (replay !== undefined) return replay;
  const refused = guardFault(seen, run);
  if (refused !== undefined) return fault(refused);
  const { ids } = step;
  if (ids.length === 0) return fault('InvalidShape');
  const known = messagesOf(world, step.branch).map(({ id }) => id);
  if (ids.some((id) => !known.includes(id))) return fault('NotFound');
  write(world, step.branch, [{ is: 'withdrawn', ids }], commandOf(step, { messages: ids }));
  return done({ messages: ids }, false);
};
