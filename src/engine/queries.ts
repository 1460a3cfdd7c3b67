import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../domain/errors.js';
import { isUid, type Revision, type Uid } from '../domain/ids.js';
import { readStored, type Recorded } from '../domain/recorded.js';
import type { Slot } from '../domain/slot.js';
import { branchNamed, type BranchEntry } from '../domain/directory-state.js';
import { branchStream, directoryStream, parseStream } from '../domain/stream-name.js';
import { byActivity, catalog, type CatalogRow } from '../projections/catalog.js';
import type { Projection } from '../projections/projection.js';
import { argumentFault, nameFault, optionalNameFault } from './arguments.js';
import { openSlots } from './content.js';
import { wantedConversations, type ConversationFilter } from './conversation-filter.js';
import { branchesOf, completeBranch, conversationUid } from './conversation-commands.js';
import { left, type EngineContext } from './engine-context.js';
import { forkPointFault, readForward } from './event-reader.js';
import { forkPoints } from './histories.js';
import { checkedPoint, utcOf, type ReadPoint } from './read-point.js';
import type { BranchKey, Task } from './runtime.js';

/** Folds a branch's lineage, ancestors first, and its conversation's directory. */
export const projectBranch =
  <Draft, View>(
    context: EngineContext,
    key: BranchKey,
    projection: Projection<Draft, View>,
    point: ReadPoint = {},
  ): Task<View> =>
  async () => {
    const { runtime } = context;
    const checked = checkedPoint(point);
    if (E.isLeft(checked)) return checked;
    const { revision, time } = checked.right;
    const ancestors = await forkPoints(runtime, key)();
    if (E.isLeft(ancestors)) return ancestors;
    const draft = projection.start();
    const step = (recorded: Recorded): undefined => {
      if (time === undefined || recorded.meta.at <= time) projection.apply(draft, recorded);
    };
    for (const ref of ancestors.right) {
      const stream = branchStream(key.tenant, key.conversation, ref.branch);
      const read = await readForward(runtime, stream, undefined, ref.revision, step)();
      if (E.isLeft(read)) return read;
      const fault = forkPointFault(stream, ref, read.right);
      if (fault !== undefined) return E.left(fault);
    }
    const own = branchStream(key.tenant, key.conversation, key.branch);
    const upTo = revision ?? Number.MAX_SAFE_INTEGER;
    const last = await readForward(runtime, own, undefined, upTo, step)();
    if (E.isLeft(last)) return last;
    const head = last.right?.revision ?? -1;
    if (revision !== undefined && revision > head) {
      return left({ _tag: 'RevisionInFuture', revision, head });
    }
    const read = await projectDirectory(context, key, (recorded) => {
      projection.apply(draft, recorded);
    })();
    return E.isLeft(read) ? read : E.right(projection.view(draft));
  };

const projectDirectory = (
  { runtime }: EngineContext,
  key: Pick<BranchKey, 'tenant' | 'conversation'>,
  apply: (recorded: Recorded) => void,
) =>
  readForward(
    runtime,
    directoryStream(key.tenant, key.conversation),
    undefined,
    Number.MAX_SAFE_INTEGER,
    (recorded) => {
      apply(recorded);
      return undefined;
    },
  );

/** Folds the directory of a conversation and all events of all its branches, each once. */
export const projectConversation =
  <Draft, View>(
    context: EngineContext,
    conversation: Uid,
    projection: Projection<Draft, View>,
  ): Task<View> =>
  async () => {
    const directory = await branchesOf(context, conversation)();
    if (E.isLeft(directory)) return directory;
    const { tenant, runtime } = context;
    const draft = projection.start();
    const read = await projectDirectory(context, { tenant, conversation }, (recorded) => {
      projection.apply(draft, recorded);
    })();
    if (E.isLeft(read)) return read;
    for (const { branch } of directory.right.branches.values()) {
      const stream = branchStream(tenant, conversation, branch);
      const events = await readForward(runtime, stream, undefined, Number.MAX_SAFE_INTEGER, (r) => {
        projection.apply(draft, r);
        return undefined;
      })();
      if (E.isLeft(events)) return events;
    }
    return E.right(projection.view(draft));
  };

/** A conversation in a list, with its texts at hand. */
export interface ConversationSummary extends Omit<
  CatalogRow,
  'title' | 'externalRef' | 'annotations' | 'messages' | 'turns' | 'compactions'
> {
  /** The caller's id, where it gave one. */
  readonly id?: string;
  readonly title?: string;
}

const textOf = async (
  context: EngineContext,
  row: CatalogRow,
  slot: Slot | undefined,
): Promise<string | undefined> => {
  if (slot === undefined) return undefined;
  const key = { tenant: context.tenant, conversation: row.conversation as Uid };
  const open = await openSlots(context.runtime, key, [slot])();
  const opened = E.isRight(open) ? open.right(slot) : undefined;
  return opened?._tag === 'text' ? opened.text : undefined;
};

const summaryOf = async (context: EngineContext, row: CatalogRow): Promise<ConversationSummary> => {
  const [id, name] = [
    await textOf(context, row, row.externalRef),
    await textOf(context, row, row.title),
  ];
  const { conversation, labels, parent, main, promoted, startedAt, startedBy } = row;
  const { branches, redactions, closed, importing, lastActivityAt } = row;
  return {
    conversation,
    labels,
    startedAt,
    startedBy,
    branches,
    redactions,
    closed,
    importing,
    lastActivityAt,
    ...(parent === undefined ? {} : { parent }),
    ...(main === undefined ? {} : { main }),
    ...(promoted === undefined ? {} : { promoted }),
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { title: name }),
  };
};

/** The conversations of the tenant that a filter lets pass, the one with the latest activity first. */
export const conversations =
  (context: EngineContext, filter: ConversationFilter = {}): Task<readonly ConversationSummary[]> =>
  async () => {
    const wanted = wantedConversations(filter);
    if (E.isLeft(wanted)) return wanted;
    const { runtime, tenant } = context;
    const draft = catalog.start();
    const stop = new AbortController();
    const options = { categories: ['conversation'], after: 'start' as const, signal: stop.signal };
    let fault: StemmaFault | undefined;
    for await (const item of runtime.events.feed(options)) {
      if (item._tag === 'Fault') fault = item.fault;
      if (item._tag === 'CaughtUp' || item._tag === 'Fault') break;
      if (item._tag !== 'Events') continue;
      for (const stored of item.events) {
        if (parseStream(stored.stream)?.tenant !== tenant) continue;
        const recorded = readStored(stored, runtime.upcasts);
        // A damaged directory must not hide the others; reading that conversation tells of it.
        if (E.isRight(recorded)) catalog.apply(draft, recorded.right);
      }
    }
    stop.abort();
    if (fault !== undefined) return E.left(fault);
    const rows = byActivity(catalog.view(draft)).filter((row) => !row.importing);
    const summaries = await Promise.all(rows.map((row) => summaryOf(context, row)));
    return E.right(summaries.filter(wanted.right));
  };

/** A place that people name: a conversation, a branch of it, and how far to read. */
export interface Reference {
  readonly conversation: Uid;
  readonly entry: BranchEntry;
  readonly point: ReadPoint;
}

/** Whether there is such a conversation. One that cannot be read is there all the same. */
const exists = async (
  context: EngineContext,
  conversation: Uid,
): Promise<E.Either<StemmaFault, boolean>> => {
  const directory = await branchesOf(context, conversation)();
  if (E.isRight(directory)) return E.right(true);
  return directory.left._tag === 'NotFound' ? E.right(false) : directory;
};

/** What people call a conversation: its id, its uid, and the id that an imported one had at home. */
const namesOf = ({ id, conversation }: ConversationSummary): readonly string[] => {
  const colon = id?.indexOf(':') ?? -1;
  return [
    conversation,
    ...(id === undefined ? [] : [id]),
    ...(id === undefined || colon < 0 ? [] : [id.slice(colon + 1)]),
  ];
};

/** Finds a conversation by the caller's id, its uid, or a unique beginning of either. */
export const findConversation =
  (context: EngineContext, name: string): Task<Uid> =>
  async () => {
    const fault = nameFault('/conversation', name);
    if (fault !== undefined) return left(fault);
    const derived = conversationUid(context, name);
    for (const uid of [derived, ...(isUid(name) ? [name] : [])]) {
      const found = await exists(context, uid);
      if (E.isLeft(found)) return found;
      if (found.right) return E.right(uid);
    }
    const all = await conversations(context)();
    if (E.isLeft(all)) return all;
    const exact = all.right.filter((row) => namesOf(row).includes(name));
    const byPrefix = all.right.filter((row) =>
      namesOf(row).some((known) => known.startsWith(name)),
    );
    const matches = exact.length > 0 ? exact : name === '' ? [] : byPrefix;
    if (matches.length > 1) {
      return left({ _tag: 'InvalidArgument', name: 'conversation', reason: 'ambiguous' });
    }
    const [found] = matches;
    return found === undefined
      ? left({ _tag: 'NotFound', kind: 'conversation', ref: name })
      : E.right(found.conversation as Uid);
  };

interface ReferenceParts {
  readonly name: string;
  readonly branch?: string;
  readonly back?: number;
  readonly point: ReadPoint;
}

/** Splits `<conv>[/branch][~N][@REV|@TIME]`; ids may hold any of these signs, so the last ones count. */
const splitReference = (text: string): ReferenceParts => {
  let rest = text;
  let point: ReadPoint = {};
  const at = rest.lastIndexOf('@');
  if (at > 0) {
    const tail = rest.slice(at + 1);
    if (/^\d+$/.test(tail)) point = { revision: Number(tail) };
    else if (utcOf(tail) !== undefined) point = { time: tail };
    if (point.revision !== undefined || point.time !== undefined) rest = rest.slice(0, at);
  }
  const back = /~(\d+)$/.exec(rest);
  if (back?.[1] !== undefined) rest = rest.slice(0, back.index);
  const slash = rest.lastIndexOf('/');
  return {
    name: slash > 0 ? rest.slice(0, slash) : rest,
    ...(slash > 0 ? { branch: rest.slice(slash + 1) } : {}),
    ...(back?.[1] === undefined ? {} : { back: Number(back[1]) }),
    point,
  };
};

const branchOf =
  (context: EngineContext, conversation: Uid, name: string | undefined): Task<BranchEntry> =>
  async () => {
    const fault = optionalNameFault('/branch', name);
    if (fault !== undefined) return left(fault);
    const directory = await branchesOf(context, conversation)();
    if (E.isLeft(directory)) return directory;
    const { branches, main } = directory.right;
    const byUid = name !== undefined && isUid(name) ? branches.get(name) : undefined;
    const entry =
      name === undefined
        ? main && branches.get(main)
        : (branchNamed(directory.right, name) ?? byUid);
    if (entry === undefined) {
      return left({ _tag: 'NotFound', kind: 'branch', ref: name ?? 'main' });
    }
    const complete = await completeBranch(context, conversation, entry)();
    // Who may not write can still look: the branch then shows nothing of its own.
    return E.isLeft(complete) && complete.left._tag !== 'ReadOnly' ? complete : E.right(entry);
  };

const headOf =
  ({ runtime, tenant }: EngineContext, conversation: Uid, branch: Uid): Task<Revision> =>
  async () => {
    const page = await runtime.events.read({
      stream: branchStream(tenant, conversation, branch),
      from: 'end',
      direction: 'backwards',
      limit: 1,
      maxBytes: 1,
    })();
    return E.isLeft(page) ? page : E.right(page.right.events[0]?.revision ?? -1);
  };

/** Finds what a reference names. `~N` is N events before the head. */
export const resolve =
  (context: EngineContext, text: string): Task<Reference> =>
  async () => {
    if (typeof text !== 'string') return left(argumentFault('reference', 'wrong_type'));
    // An id may contain a slash: the whole text is tried as an id first.
    const whole = await findExact(context, text);
    const parts = whole === undefined ? splitReference(text) : { name: text, point: {} };
    const found =
      whole === undefined
        ? await findConversation(context, parts.name)()
        : E.right<StemmaFault, Uid>(whole);
    if (E.isLeft(found)) return found;
    const conversation = found.right;
    const entry = await branchOf(context, conversation, parts.branch)();
    if (E.isLeft(entry)) return entry;
    if (parts.back === undefined) {
      return E.right({ conversation, entry: entry.right, point: parts.point });
    }
    const head = await headOf(context, conversation, entry.right.branch)();
    if (E.isLeft(head)) return head;
    const revision = Math.max(0, head.right - parts.back);
    return E.right({ conversation, entry: entry.right, point: { revision } });
  };

const findExact = async (context: EngineContext, text: string): Promise<Uid | undefined> => {
  if (nameFault('', text) !== undefined) return undefined;
  const derived = conversationUid(context, text);
  const found = await exists(context, derived);
  // A fault comes again when the conversation is read.
  return E.isRight(found) && !found.right ? undefined : derived;
};
