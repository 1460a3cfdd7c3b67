import * as E from 'fp-ts/lib/Either.js';
import { blobName, toBase64 } from '../domain/digest.js';
import { chainFault, type Link } from '../domain/chain.js';
import type { StemmaFault } from '../domain/errors.js';
import type { NewEvent, Page, StoredEvent } from '../domain/event-store.js';
import {
  blobLine,
  eventLine,
  EXCHANGE_FORMAT,
  headerLine,
  type ExchangeEvent,
} from '../domain/exchange-lines.js';
import { type Uid } from '../domain/ids.js';
import { readStored, type Recorded } from '../domain/recorded.js';
import { branchStream, directoryStream, parseStream } from '../domain/stream-name.js';
import { branchesOf } from './conversation-commands.js';
import { left, type EngineContext } from './engine-context.js';
import { run as throwing } from './throwing.js';
import type { Task } from './runtime.js';

const PAGE = { direction: 'forwards', limit: 500, maxBytes: 4_000_000 } as const;

const blobReferences = /"blob":"([A-Za-z0-9_-]{43})"/g;

async function* storedEvents(
  { runtime }: EngineContext,
  stream: string,
): AsyncGenerator<StoredEvent, void> {
  let from: number | undefined = 0;
  while (from !== undefined) {
    const page: Page = await throwing(runtime.events.read({ ...PAGE, stream, from }));
    yield* page.events;
    from = page.next;
  }
}

async function* streamLines(
  context: EngineContext,
  stream: string,
  sent: Set<string>,
): AsyncGenerator<string, void> {
  for await (const stored of storedEvents(context, stream)) {
    for (const [, name] of stored.data.matchAll(blobReferences)) {
      if (name === undefined || sent.has(name)) continue;
      const bytes = await throwing(context.runtime.blobs.get(context.tenant, name));
      sent.add(name);
      if (bytes !== undefined) yield blobLine({ blob: name, bytes: toBase64(bytes) });
    }
    const { revision, id, type, meta, data } = stored;
    yield eventLine({ stream, revision, id, type, meta, data });
  }
}

/**
 * A conversation as exchange lines: directory first, then branch by branch in the order of their
 * registration, so that a parent comes before its forks. Events go out as they are stored, unknown
 * ones too.
 */
export async function* exportConversation(
  context: EngineContext,
  find: () => Promise<Uid>,
): AsyncGenerator<string, void> {
  const conversation = await find();
  const { tenant, runtime } = context;
  const directory = await throwing(branchesOf(context, conversation));
  const streams = [
    directoryStream(tenant, conversation),
    ...[...directory.branches.keys()].map((branch) => branchStream(tenant, conversation, branch)),
  ];
  let events = 0;
  for (const stream of streams) {
    const page = await throwing(
      runtime.events.read({ stream, from: 'end', direction: 'backwards', limit: 1, maxBytes: 1 }),
    );
    events += (page.events[0]?.revision ?? -1) + 1;
  }
  yield headerLine({
    format: EXCHANGE_FORMAT,
    producer: runtime.via,
    conversations: [conversation],
    events,
  });
  const sent = new Set<string>();
  for (const stream of streams) yield* streamLines(context, stream, sent);
}

export interface ExchangeResult {
  readonly conversations: readonly Uid[];
  readonly events: number;
  /** Events written; what the store held already was compared and is not counted. */
  readonly appended: number;
}

interface CheckedEvent {
  readonly stream: string;
  readonly recorded: Recorded;
  readonly stored: NewEvent;
}

/** Exchange lines that were read: events in order, and the bodies they name. */
export interface ExchangeSource {
  readonly events: readonly ExchangeEvent[];
  readonly blobs: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** The same event under this tenant: names are locations, the bytes stay. */
const relocated = (context: EngineContext, stream: string): string | undefined => {
  const name = parseStream(stream);
  if (name?.kind === 'branch') return branchStream(context.tenant, name.conversation, name.branch);
  return name?.kind === 'conversation'
    ? directoryStream(context.tenant, name.conversation)
    : undefined;
};

const checkEvent = (
  context: EngineContext,
  event: ExchangeEvent,
  links: Map<string, Link>,
): E.Either<StemmaFault, CheckedEvent> => {
  const stream = relocated(context, event.stream);
  if (stream === undefined) {
    return left({ _tag: 'InvalidShape', path: '/stream', expected: 'stream of a conversation' });
  }
  const recorded = readStored({ ...event, stream, position: '' }, context.runtime.upcasts);
  if (E.isLeft(recorded)) return recorded;
  const fault = chainFault(links.get(stream), recorded.right);
  if (fault !== undefined) return left(fault);
  const { hash, revision, meta } = recorded.right;
  if (!stream.includes(meta.conv) || (meta.branch !== '-' && !stream.includes(meta.branch))) {
    return left({ _tag: 'Damaged', stream, revision, check: 'payload' });
  }
  links.set(stream, { revision, hash });
  const { id, type, meta: metaText, data } = event;
  return E.right({
    stream,
    recorded: recorded.right,
    stored: { id, hash, type, meta: metaText, data },
  });
};

/** Blobs that events name, with the conversation whose key names them. */
const blobFault = (source: ExchangeSource, events: readonly CheckedEvent[]) => {
  const blobs = new Map(source.blobs.map(({ name, bytes }) => [name, bytes]));
  for (const { stored, recorded } of events) {
    for (const [, name] of stored.data.matchAll(blobReferences)) {
      const bytes = name === undefined ? undefined : blobs.get(name);
      if (bytes === undefined || blobName(recorded.meta.conv, bytes) !== name) {
        return { _tag: 'Damaged', check: 'blob' } as const;
      }
    }
  }
  return undefined;
};

/** Recomputes every hash before anything is written. */
const checkAll = (
  context: EngineContext,
  source: ExchangeSource,
): E.Either<StemmaFault, readonly CheckedEvent[]> => {
  const links = new Map<string, Link>();
  const events: CheckedEvent[] = [];
  for (const event of source.events) {
    const checked = checkEvent(context, event, links);
    if (E.isLeft(checked)) return checked;
    events.push(checked.right);
  }
  const fault = blobFault(source, events);
  return fault === undefined ? E.right(events) : left(fault);
};

const BATCH = 100;

const appendStream = async (
  { runtime }: EngineContext,
  stream: string,
  events: readonly CheckedEvent[],
): Promise<E.Either<StemmaFault, number>> => {
  const page = await runtime.events.read({
    stream,
    from: 'end',
    direction: 'backwards',
    limit: 1,
    maxBytes: 1,
  })();
  if (E.isLeft(page)) return page;
  const head = page.right.events[0];
  const same = head === undefined || events[head.revision]?.stored.id === head.id;
  const isPrefix = head !== undefined && head.revision >= events.length;
  if (!same && !isPrefix) {
    return left({
      _tag: 'RevisionConflict',
      expected: events.length - 1,
      actual: head.revision,
    });
  }
  let appended = 0;
  for (let at = (head?.revision ?? -1) + 1; at < events.length;) {
    const batch = batchFrom(events, at);
    const [first, ...rest] = batch.map(({ stored }) => stored);
    if (first === undefined) break;
    const result = await runtime.events.append(stream, at === 0 ? 'none' : at - 1, [
      first,
      ...rest,
    ])();
    if (E.isLeft(result)) return result;
    at += batch.length;
    appended += batch.length;
  }
  return E.right(appended);
};

/** Events up to the limits of one append. */
const batchFrom = (events: readonly CheckedEvent[], from: number): readonly CheckedEvent[] => {
  let chars = 0;
  const batch: CheckedEvent[] = [];
  for (const event of events.slice(from, from + BATCH)) {
    chars += (event.stored.data.length + event.stored.meta.length) * 3;
    if (batch.length > 0 && chars > 900_000) break;
    batch.push(event);
  }
  return batch;
};

/**
 * Takes exchange lines in: the same events with the same hashes. What the store holds already must
 * be the same and is passed by.
 */
export const importExchange =
  (context: EngineContext, source: ExchangeSource): Task<ExchangeResult> =>
  async () => {
    const checked = checkAll(context, source);
    if (E.isLeft(checked)) return checked;
    const events = checked.right;
    const conversations = [...new Set(events.map(({ recorded }) => recorded.meta.conv as Uid))];
    for (const { name, bytes } of source.blobs) {
      const put = await context.runtime.blobs.put(context.tenant, name, bytes)();
      if (E.isLeft(put)) return put;
    }
    const byStream = new Map<string, CheckedEvent[]>();
    for (const event of events) {
      const list = byStream.get(event.stream);
      if (list === undefined) byStream.set(event.stream, [event]);
      else list.push(event);
    }
    let appended = 0;
    for (const [stream, own] of byStream) {
      const result = await appendStream(context, stream, own);
      if (E.isLeft(result)) return result;
      appended += result.right;
    }
    return E.right({ conversations, events: events.length, appended });
  };
