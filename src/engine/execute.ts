import * as E from 'fp-ts/lib/Either.js';
import { foldBranch, type BranchState } from '../domain/branch-state.js';
import { mayRebase, type Command, type Facts, type KeyRef } from '../domain/decide/decision.js';
import { foldDirectory, type DirectoryState } from '../domain/directory-state.js';
import type { AppendFault, FaultOf, StemmaFault } from '../domain/errors.js';
import type { Appended, NewEvent } from '../domain/event-store.js';
import type { Recorded } from '../domain/recorded.js';
import { NO_UID } from '../domain/ids.js';
import { branchStream, directoryStream } from '../domain/stream-name.js';
import { isWellFormed, utf8Bytes } from '../domain/text.js';
import { nameFault, optionalNameFault } from './arguments.js';
import {
  loadBranch,
  loadDirectory,
  remember,
  type Loaded,
  type StateCache,
} from './branch-loader.js';
import { storeBlobs, type SlotMaker } from './content.js';
import { writeBatch, type BatchContext, type WrittenEvent } from './event-writer.js';
import { lookUp } from './known-ids.js';
import type { BranchKey, ConversationKey, Runtime, Task } from './runtime.js';

/** How a command is given: by whom, in which run, and under which command id. */
export interface Given {
  readonly actor: string;
  readonly run?: string;
  readonly command?: { readonly id: string; readonly digest: string };
  readonly slots?: SlotMaker;
}

/** What a command gave: its answer, and whether anything was written for it. */
export interface Done<Answer> {
  readonly answer: Answer;
  readonly written: readonly Recorded[];
  readonly replayed: boolean;
}

interface Target<State> {
  readonly tenant: string;
  readonly conversation: string;
  readonly branch: string;
  readonly stream: string;
  readonly load: Task<Loaded<State>>;
  readonly keep: (state: State, written: readonly Recorded[]) => void;
  readonly forget: () => void;
}

interface Chained {
  readonly head: number;
  readonly hash: string;
  readonly at: string;
}

const REBASES = 64;
const RESENDS = 6;

const pause = (runtime: Runtime, attempt: number): Promise<void> => {
  const [byte = 0] = runtime.random(1);
  return runtime.sleep(Math.min(200, 2 ** attempt) * (0.5 + byte / 255));
};

type AppendResult = E.Either<AppendFault, Appended>;

/**
 * An unknown outcome is resolved by sending the same bytes at the same revision again: the store
 * then gives the first answer, or appends now (architecture.md, Consistency).
 */
const appendCertain = async (
  runtime: Runtime,
  stream: string,
  head: number,
  events: readonly [NewEvent, ...NewEvent[]],
): Promise<AppendResult> => {
  const expected = head < 0 ? 'none' : head;
  let result = await runtime.events.append(stream, expected, events)();
  for (let attempt = 1; attempt <= RESENDS && isUnknown(result); attempt += 1) {
    await pause(runtime, attempt + 3);
    result = await runtime.events.append(stream, expected, events)();
  }
  return result;
};

const isUnknown = (result: AppendResult): boolean =>
  E.isLeft(result) && result.left._tag === 'OutcomeUnknown';

/** CM1: the same id and input is a replay with the first answer; other input is a conflict. */
const commandFault = (
  command: NonNullable<Given['command']>,
  stored: readonly Recorded[],
): FaultOf<'CommandConflict'> | undefined => {
  const storedDigest = stored[0]?.meta.cmdDigest ?? '';
  return storedDigest === command.digest
    ? undefined
    : { _tag: 'CommandConflict', commandId: command.id, digest: command.digest, storedDigest };
};

const knownCommand = <State, Answer>(
  command: Command<State, Answer>,
  given: Given,
  facts: Facts,
  state: State,
): E.Either<StemmaFault, Done<Answer>> | undefined => {
  if (given.command === undefined) return undefined;
  const stored = facts.of('command', given.command.id);
  if (stored.length === 0) return undefined;
  const fault = commandFault(given.command, stored);
  if (fault !== undefined) return E.left(fault);
  const answer = command.answerAgain?.(facts) ?? command.answer(stored, [], state);
  return E.right({ answer, written: [], replayed: true });
};

const isNonEmpty = <A>(items: readonly A[]): items is readonly [A, ...A[]] => items.length > 0;

const contextOf = <State extends Chained>(
  runtime: Runtime,
  target: Target<State>,
  state: State,
  given: Given,
): BatchContext => ({
  stream: target.stream,
  conversation: target.conversation,
  branch: target.branch,
  head: state.head,
  hash: state.hash,
  at: state.at,
  now: runtime.now(),
  actor: given.actor,
  via: runtime.via,
  ...(given.run === undefined ? {} : { run: given.run }),
  ...(given.command === undefined
    ? {}
    : { commandId: given.command.id, commandDigest: given.command.digest }),
});

/** What the store would refuse: found before its blobs are stored, so that nothing of it stays. */
const sizeFault = (
  { events: { limits } }: Runtime,
  events: readonly NewEvent[],
): FaultOf<'AppendTooLarge'> | undefined => {
  const bytes = events.reduce(
    (sum, { type, meta, data }) => sum + utf8Bytes(type) + utf8Bytes(meta) + utf8Bytes(data),
    0,
  );
  const count = events.length;
  if (count > limits.appendEvents) {
    return { _tag: 'AppendTooLarge', bytes, events: count, limit: limits.appendEvents };
  }
  return bytes > limits.appendBytes
    ? { _tag: 'AppendTooLarge', bytes, events: count, limit: limits.appendBytes }
    : undefined;
};

type Attempt<Answer> =
  | { readonly _tag: 'done'; readonly result: E.Either<StemmaFault, Done<Answer>> }
  | { readonly _tag: 'lost'; readonly fault: FaultOf<'RevisionConflict'> };

const send = async <State extends Chained>(
  runtime: Runtime,
  target: Target<State>,
  given: Given,
  state: State,
  batch: readonly WrittenEvent[],
): Promise<AppendResult> => {
  const events = batch.map(({ stored }) => stored);
  if (!isNonEmpty(events)) return E.right({ first: state.head, last: state.head });
  if (given.slots !== undefined && given.slots.blobs.size > 0) {
    const fault = sizeFault(runtime, events);
    if (fault !== undefined) return E.left(fault);
    const stored = await storeBlobs(runtime, target.tenant, given.slots.blobs)();
    if (E.isLeft(stored)) return stored as E.Left<AppendFault>;
  }
  return appendCertain(runtime, target.stream, state.head, events);
};

/**
 * A branch begins with its opening, which says what it continues, a conversation with its start:
 * nothing else may come first.
 */
const unopenedFault = <State extends Chained, Answer>(
  target: Target<State>,
  command: Command<State, Answer>,
  state: State,
): FaultOf<'NotFound'> | undefined => {
  if (state.head >= 0 || command.name === 'openBranch' || command.name === 'start')
    return undefined;
  return target.branch === NO_UID
    ? { _tag: 'NotFound', kind: 'conversation', ref: target.conversation }
    : { _tag: 'NotFound', kind: 'branch', ref: target.branch };
};

const attemptOnce = async <State extends Chained, Answer>(
  runtime: Runtime,
  target: Target<State>,
  command: Command<State, Answer>,
  given: Given,
): Promise<Attempt<Answer>> => {
  const done = (result: E.Either<StemmaFault, Done<Answer>>) => ({ _tag: 'done', result }) as const;
  const loaded = await target.load();
  if (E.isLeft(loaded)) return done(loaded);
  const { state, lineage } = loaded.right;
  const unopened = unopenedFault(target, command, state);
  if (unopened !== undefined) return done(E.left(unopened));
  const refs: readonly KeyRef[] =
    given.command === undefined
      ? command.keysOf
      : [...command.keysOf, { kind: 'command', id: given.command.id }];
  const facts = await lookUp(runtime, target.conversation, lineage, refs)();
  if (E.isLeft(facts)) return done(facts);
  const replay = knownCommand(command, given, facts.right, state);
  if (replay !== undefined) return done(replay);
  const decided = command.decide(state, facts.right);
  if (E.isLeft(decided)) return done(decided);
  const { known, events } = decided.right;
  const made = writeBatch(contextOf(runtime, target, state, given), events);
  if (E.isLeft(made)) return done(made);
  const batch = made.right;
  const appended = await send(runtime, target, given, state, batch);
  if (E.isLeft(appended)) {
    target.forget();
    const { left } = appended;
    if (left._tag !== 'WrongRevision') return done(appended);
    const { expected, actual } = left;
    return { _tag: 'lost', fault: { _tag: 'RevisionConflict', expected, actual } };
  }
  const written = batch.map(({ recorded }) => recorded);
  if (written.length > 0) target.keep(state, written);
  const answer = command.answer(known, written, state);
  return done(E.right({ answer, written, replayed: written.length === 0 }));
};

/** Ids that cannot be looked up: no texts, or texts that UTF-8 would turn into others (B16). */
const lookupFault = (refs: readonly KeyRef[], commandId: unknown): StemmaFault | undefined => {
  const refused = optionalNameFault('/commandId', commandId);
  if (refused !== undefined) return refused;
  for (const { kind, id } of refs as readonly { readonly kind: string; readonly id: unknown }[]) {
    if (typeof id !== 'string') return { _tag: 'InvalidShape', path: `/${kind}`, expected: 'id' };
    const fault = kind === 'message' ? nameFault('/id', id) : undefined;
    if (fault !== undefined) return fault;
    if (!isWellFormed(id)) return { _tag: 'IllFormedUnicode', path: `/${kind}` };
  }
  return undefined;
};

/**
 * Load, look ids up, decide, append at the exact head. A lost race is decided again where the
 * command commutes; elsewhere once more, to find out whether the winner was this very command.
 */
const run =
  <State extends Chained, Answer>(
    runtime: Runtime,
    target: Target<State>,
    command: Command<State, Answer>,
    given: Given,
  ): Task<Done<Answer>> =>
  async () => {
    const unusable = lookupFault(command.keysOf, given.command?.id);
    if (unusable !== undefined) return E.left(unusable);
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await attemptOnce(runtime, target, command, given);
      if (outcome._tag === 'done') return outcome.result;
      if (mayRebase(command) && attempt < REBASES) {
        await pause(runtime, Math.min(attempt, 6));
        continue;
      }
      const again = await replayOnly(runtime, target, command, given);
      return again ?? E.left(outcome.fault);
    }
  };

const replayOnly = async <State extends Chained, Answer>(
  runtime: Runtime,
  target: Target<State>,
  command: Command<State, Answer>,
  given: Given,
): Promise<E.Either<StemmaFault, Done<Answer>> | undefined> => {
  const loaded = await target.load();
  if (E.isLeft(loaded)) return undefined;
  const refs: readonly KeyRef[] =
    given.command === undefined
      ? command.keysOf
      : [...command.keysOf, { kind: 'command', id: given.command.id }];
  const facts = await lookUp(runtime, target.conversation, loaded.right.lineage, refs)();
  if (E.isLeft(facts)) return undefined;
  const replay = knownCommand(command, given, facts.right, loaded.right.state);
  if (replay !== undefined) return replay;
  const decided = command.decide(loaded.right.state, facts.right);
  if (E.isLeft(decided) || decided.right.events.length > 0) return undefined;
  const answer = command.answer(decided.right.known, [], loaded.right.state);
  return E.right({ answer, written: [], replayed: true });
};

const CACHED_STATES = 256;

/**
 * The events of a command that was given before under this id; undefined when it is new. Commands
 * that are made from today's history ask this first, so that a replay is not decided anew (CM1).
 */
export const priorCommand =
  (
    runtime: Runtime,
    cache: StateCache,
    key: BranchKey,
    { command }: Given,
  ): Task<readonly Recorded[] | undefined> =>
  async () => {
    if (command === undefined) return E.right(undefined);
    const loaded = await loadBranch(runtime, cache, key)();
    if (E.isLeft(loaded)) return loaded;
    const directory = directoryStream(key.tenant, key.conversation);
    const lineage = [...loaded.right.lineage, { stream: directory, upTo: Number.MAX_SAFE_INTEGER }];
    const refs = [{ kind: 'command', id: command.id } as const];
    const facts = await lookUp(runtime, key.conversation, lineage, refs)();
    if (E.isLeft(facts)) return facts;
    const stored = facts.right.of('command', command.id);
    if (stored.length === 0) return E.right(undefined);
    const fault = commandFault(command, stored);
    return fault === undefined ? E.right(stored) : E.left(fault);
  };

/** Runs a command on a branch. */
export const onBranch = <Answer>(
  runtime: Runtime,
  cache: StateCache,
  key: BranchKey,
  command: Command<BranchState, Answer>,
  given: Given,
): Task<Done<Answer>> => {
  const stream = branchStream(key.tenant, key.conversation, key.branch);
  return run(
    runtime,
    {
      ...key,
      stream,
      load: loadBranch(runtime, cache, key),
      keep: (state, written) => {
        // A first event may be a fork, whose state begins with its ancestors': it is loaded, not folded.
        if (state.head < 0) cache.branches.delete(stream);
        else remember(cache.branches, stream, foldBranch(state, written), CACHED_STATES);
      },
      forget: () => {
        cache.branches.delete(stream);
      },
    },
    command,
    given,
  );
};

/** Runs a command on a conversation's directory. */
export const onDirectory = <Answer>(
  runtime: Runtime,
  cache: StateCache,
  key: ConversationKey,
  command: Command<DirectoryState, Answer>,
  given: Given,
): Task<Done<Answer>> => {
  const stream = directoryStream(key.tenant, key.conversation);
  return run(
    runtime,
    {
      ...key,
      branch: NO_UID,
      stream,
      load: loadDirectory(runtime, cache, key),
      keep: (state, written) => {
        remember(cache.directories, stream, foldDirectory(state, written), CACHED_STATES);
      },
      forget: () => {
        cache.directories.delete(stream);
      },
    },
    command,
    given,
  );
};
