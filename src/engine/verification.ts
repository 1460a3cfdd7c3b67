import * as E from 'fp-ts/lib/Either.js';
import { blobName } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import type { StoredEvent } from '../domain/event-store.js';
import { isUid, type Uid } from '../domain/ids.js';
import { readStored } from '../domain/recorded.js';
import { branchStream, directoryStream, parseStream } from '../domain/stream-name.js';
import {
  forkFault,
  startVerify,
  verifyPage,
  verifyReport,
  type VerifyReport,
} from '../projections/verify.js';
import { left, type EngineContext } from './engine-context.js';
import type { Task } from './runtime.js';

/** A fault that verifying found: what failed, where, and the event's id as it is stored. */
export interface FoundFault {
  readonly stream: string;
  readonly revision: number;
  readonly check: string;
  readonly eventId?: string;
}

/** What verifying a store or a conversation found. Nothing is changed by it. */
export interface Verification {
  readonly ok: boolean;
  readonly streams: number;
  readonly events: number;
  readonly blobs: number;
  readonly clockRegressions: number;
  readonly unknown: readonly { readonly type: string; readonly events: number }[];
  readonly faults: readonly FoundFault[];
  readonly heads: readonly {
    readonly stream: string;
    readonly revision: number;
    readonly hash: string;
  }[];
}

interface Verifying {
  readonly context: EngineContext;
  readonly faults: FoundFault[];
  readonly unknown: Map<string, number>;
  readonly heads: { stream: string; revision: number; hash: string }[];
  readonly blobs: Map<string, { stream: string; revision: number; conversation: string }>;
  events: number;
  clockRegressions: number;
}

const blobReferences = /"blob":"([A-Za-z0-9_-]{43})"/g;

const noteBlobs = (verifying: Verifying, stored: StoredEvent): void => {
  const recorded = readStored(stored, verifying.context.runtime.upcasts);
  if (E.isLeft(recorded)) return;
  // Slots are the only place of this key in stored JSON; a text that looks like one is escaped there.
  for (const [, name] of stored.data.matchAll(blobReferences)) {
    const { stream, revision } = stored;
    if (name === undefined) continue;
    verifying.blobs.set(name, { stream, revision, conversation: recorded.right.meta.conv });
  }
};

const readPages = async (
  { context }: Verifying,
  stream: string,
  onPage: (events: readonly StoredEvent[]) => void,
): Promise<E.Either<StemmaFault, void>> => {
  let from: number | undefined = 0;
  while (from !== undefined) {
    const page = await context.runtime.events.read({
      stream,
      from,
      direction: 'forwards',
      limit: 500,
      maxBytes: 4_000_000,
    })();
    if (E.isLeft(page)) return page;
    onPage(page.right.events);
    from = page.right.next;
  }
  return E.right(undefined);
};

const parentHash = async (
  { context }: Verifying,
  report: VerifyReport,
): Promise<string | undefined> => {
  const name = parseStream(report.stream);
  if (report.parent === undefined || name?.kind !== 'branch') return undefined;
  const { branch, revision } = report.parent;
  const stream = branchStream(name.tenant, name.conversation, branch);
  const page = await context.runtime.events.read({
    stream,
    from: revision,
    direction: 'forwards',
    limit: 1,
    maxBytes: 4_000_000,
  })();
  const event = E.isRight(page) ? page.right.events[0] : undefined;
  const recorded = event && readStored(event, context.runtime.upcasts);
  return recorded !== undefined && E.isRight(recorded) ? recorded.right.hash : undefined;
};

const noteReport = (
  verifying: Verifying,
  report: VerifyReport,
  ids: ReadonlyMap<number, string>,
): void => {
  verifying.events += report.events;
  verifying.clockRegressions += report.clockRegressions;
  for (const { type, events } of report.unknown) {
    verifying.unknown.set(type, (verifying.unknown.get(type) ?? 0) + events);
  }
  const { head, first, stream } = report;
  if (head !== undefined) verifying.heads.push({ stream, ...head });
  if (first === undefined) return;
  const revision = first._tag === 'Damaged' ? (first.revision ?? -1) : -1;
  const eventId = ids.get(revision);
  verifying.faults.push({
    stream,
    revision,
    check: first._tag === 'Damaged' ? first.check : first._tag,
    ...(eventId === undefined ? {} : { eventId }),
  });
};

const verifyStream = async (
  verifying: Verifying,
  stream: string,
): Promise<E.Either<StemmaFault, void>> => {
  const draft = startVerify(stream);
  const { upcasts } = verifying.context.runtime;
  let bad: readonly [number, string] | undefined;
  const read = await readPages(verifying, stream, (events) => {
    for (const stored of events) {
      const before = draft.faults;
      verifyPage(draft, [stored], upcasts);
      if (draft.faults > before) bad ??= [stored.revision, stored.id];
      noteBlobs(verifying, stored);
    }
  });
  if (E.isLeft(read)) return read;
  const report = verifyReport(draft);
  noteReport(verifying, report, new Map(bad === undefined ? [] : [bad]));
  const fault = forkFault(report, await parentHash(verifying, report));
  if (fault !== undefined) verifying.faults.push({ stream, revision: 0, check: 'chain' });
  return E.right(undefined);
};

const verifyBlobs = async (verifying: Verifying): Promise<E.Either<StemmaFault, void>> => {
  const { runtime, tenant } = verifying.context;
  for (const [name, { stream, revision, conversation }] of verifying.blobs) {
    const bytes = await runtime.blobs.get(tenant, name)();
    if (E.isLeft(bytes)) return bytes;
    const sound = bytes.right !== undefined && blobName(conversation, bytes.right) === name;
    if (!sound) verifying.faults.push({ stream, revision, check: 'blob' });
  }
  return E.right(undefined);
};

/** Streams of a conversation: its directory, and each branch named in any event that can be read. */
const streamsOf = async (
  verifying: Verifying,
  conversation: Uid,
): Promise<E.Either<StemmaFault, readonly string[]>> => {
  const { runtime, tenant } = verifying.context;
  const directory = directoryStream(tenant, conversation);
  const branches = new Set<Uid>();
  const read = await readPages(verifying, directory, (events) => {
    for (const stored of events) {
      const recorded = readStored(stored, runtime.upcasts);
      const event = E.isRight(recorded) ? recorded.right.event : undefined;
      if (event?.type === 'BranchRegistered') branches.add(event.data.branch);
      // A damaged registration still names its branch, where its bytes can be read at all.
      for (const [, uid] of stored.data.matchAll(/"branch":"([A-Za-z0-9_-]{22})"/g)) {
        if (isUid(uid)) branches.add(uid);
      }
    }
  });
  if (E.isLeft(read)) return read;
  return E.right([
    directory,
    ...[...branches].map((branch) => branchStream(tenant, conversation, branch)),
  ]);
};

/** Every stream of the tenant that the store knows. */
const allStreams = async ({
  context: { runtime, tenant },
}: Verifying): Promise<E.Either<StemmaFault, readonly string[]>> => {
  const streams = new Set<string>();
  const stop = new AbortController();
  const options = { categories: [], after: 'start' as const, signal: stop.signal };
  for await (const item of runtime.events.feed(options)) {
    if (item._tag === 'Fault') return E.left(item.fault);
    if (item._tag === 'CaughtUp') break;
    if (item._tag !== 'Events') continue;
    for (const { stream } of item.events) {
      if (parseStream(stream)?.tenant === tenant) streams.add(stream);
    }
  }
  stop.abort();
  return E.right([...streams]);
};

/**
 * Reads every event of a conversation, or of the whole tenant, and checks hashes, chains, batches,
 * fork points and blobs. What cannot be known without a signed checkpoint (a tail cut off cleanly)
 * is not claimed.
 */
export const verifyConversation =
  (context: EngineContext, conversation?: Uid): Task<Verification> =>
  async () => {
    const verifying: Verifying = {
      context,
      faults: [],
      unknown: new Map(),
      heads: [],
      blobs: new Map(),
      events: 0,
      clockRegressions: 0,
    };
    const streams =
      conversation === undefined
        ? await allStreams(verifying)
        : await streamsOf(verifying, conversation);
    if (E.isLeft(streams)) return streams;
    if (streams.right.length === 0) {
      return left({ _tag: 'NotFound', kind: 'conversation', ref: conversation ?? '' });
    }
    for (const stream of streams.right) {
      const verified = await verifyStream(verifying, stream);
      if (E.isLeft(verified)) return verified;
    }
    const blobs = await verifyBlobs(verifying);
    if (E.isLeft(blobs)) return blobs;
    const { faults, events, heads, clockRegressions, unknown } = verifying;
    return E.right({
      ok: faults.length === 0,
      streams: streams.right.length,
      events,
      blobs: verifying.blobs.size,
      clockRegressions,
      unknown: [...unknown].map(([type, count]) => ({ type, events: count })),
      faults,
      heads,
    });
  };
