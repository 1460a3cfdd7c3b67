import * as E from 'fp-ts/lib/Either.js';
import { chainFault, type Link } from '../domain/chain.js';
import { decodeMeta, hashEvent, idFromHash } from '../domain/envelope.js';
import type { DamageCheck, FaultOf } from '../domain/errors.js';
import type { StoredEvent } from '../domain/event-store.js';
import type { Upcasts } from '../domain/events/catalog.js';
import type { EventRef } from '../domain/events/references.js';
import { NO_UID, type Revision } from '../domain/ids.js';
import { readStored, type RecordFault, type Recorded } from '../domain/recorded.js';
import { parseStream } from '../domain/stream-name.js';

/** How many events of a type and version that this build does not know. */
export interface UnknownType {
  readonly type: string;
  readonly version: number;
  readonly compat: 'must' | 'skip';
  readonly events: number;
}

/** What verifying a stream found. */
export interface VerifyReport {
  readonly stream: string;
  readonly events: number;
  /** Last event that was read and is what was written. */
  readonly head?: Link;
  /** Fork point: whoever verifies compares it with the parent's event there. */
  readonly parent?: EventRef;
  readonly unknown: readonly UnknownType[];
  /** Events of which the clock stood before the recorded time. */
  readonly clockRegressions: number;
  readonly faults: number;
  readonly first?: RecordFault;
}

interface Part {
  readonly index: number;
  readonly count: number;
}

/** A stream under verification. */
export interface VerifyDraft {
  readonly stream: string;
  /** A head seen before (a checkpoint, a seal): the stream must still hold it. */
  readonly known?: Link;
  events: number;
  before?: Link;
  /** The event before was damaged: the next one may name any past that agrees with its id. */
  damaged?: { readonly revision: Revision; readonly id: string; readonly content?: string };
  at: string;
  part?: Part;
  parent?: EventRef;
  readonly unknown: Map<string, { -readonly [K in keyof UnknownType]: UnknownType[K] }>;
  clockRegressions: number;
  faults: number;
  first?: RecordFault;
}

export const startVerify = (stream: string, known?: Link): VerifyDraft => ({
  stream,
  ...(known === undefined ? {} : { known }),
  events: 0,
  at: '',
  unknown: new Map(),
  clockRegressions: 0,
  faults: 0,
});

const blame = (draft: VerifyDraft, fault: RecordFault): void => {
  draft.faults += 1;
  draft.first ??= fault;
};

const damage = (draft: VerifyDraft, revision: Revision, check: DamageCheck): RecordFault => ({
  _tag: 'Damaged',
  stream: draft.stream,
  revision,
  check,
});

/** The hash that the content has now, whatever the id says; undefined when it cannot be read. */
const contentHash = (stored: StoredEvent): string | undefined => {
  try {
    const meta = decodeMeta(JSON.parse(stored.meta) as unknown);
    if (E.isLeft(meta)) return undefined;
    const place = { ...meta.right, revision: stored.revision };
    return hashEvent(place, stored.type, stored.meta, stored.data);
  } catch {
    return undefined;
  }
};

const isHash = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/**
 * Behind a damaged event its own hash is not known. Its id is cut from it, and so is the next `prev`:
 * they must agree, or the content must be whole and only the id be damaged.
 */
const followsDamaged = (
  { id, content, revision }: NonNullable<VerifyDraft['damaged']>,
  next: Recorded,
): boolean =>
  next.revision === revision + 1 &&
  isHash(next.meta.prev) &&
  (idFromHash(next.meta.prev) === id || next.meta.prev === content);

const linkFault = (draft: VerifyDraft, next: Recorded): RecordFault | undefined => {
  if (draft.damaged === undefined) return chainFault(draft.before, next);
  if (followsDamaged(draft.damaged, next)) return undefined;
  const check = next.revision === draft.damaged.revision + 1 ? 'chain' : 'order';
  return damage(draft, next.revision, check);
};

const placeFault = (draft: VerifyDraft, { meta, revision }: Recorded): RecordFault | undefined => {
  const name = parseStream(draft.stream);
  if (name === undefined) return undefined;
  const conversation = name.kind === 'governance' ? NO_UID : name.conversation;
  const branch = name.kind === 'branch' ? name.branch : NO_UID;
  return meta.conv === conversation && meta.branch === branch
    ? undefined
    : damage(draft, revision, 'chain');
};

const partOf = (text: string): Part | undefined => {
  const [, index, count] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  const part = { index: Number(index), count: Number(count) };
  return part.index <= part.count ? part : undefined;
};

const isWhole = (part: Part | undefined): boolean =>
  part === undefined || part.index === part.count;

/** A batch is stored whole: its parts follow each other, and nothing else stands between them. */
const partFault = (draft: VerifyDraft, { meta, revision }: Recorded): RecordFault | undefined => {
  const part = partOf(meta.part);
  if (part === undefined) return damage(draft, revision, 'payload');
  const { part: before, damaged } = draft;
  draft.part = part;
  // The part of a damaged event cannot be trusted, so neither can what should follow it.
  if (damaged !== undefined) return undefined;
  const follows = isWhole(before)
    ? part.index === 1
    : part.index === (before?.index ?? 0) + 1 && part.count === before?.count;
  return follows ? undefined : damage(draft, revision, 'order');
};

const timeFault = (draft: VerifyDraft, { meta, revision }: Recorded): RecordFault | undefined => {
  const [before, now] = [Date.parse(draft.at), Date.parse(meta.at)];
  if (Number.isNaN(now)) return damage(draft, revision, 'payload');
  draft.at = meta.at;
  return now < before ? damage(draft, revision, 'order') : undefined;
};

const knownFault = (draft: VerifyDraft, { revision, hash }: Recorded): RecordFault | undefined =>
  draft.known?.revision === revision && draft.known.hash !== hash
    ? damage(draft, revision, 'chain')
    : undefined;

const noteUnknown = (draft: VerifyDraft, { unknown, meta }: Recorded): void => {
  if (unknown === undefined) return;
  const { type, version } = unknown;
  const key = `${type}@${String(version)} ${meta.compat}`;
  const found = draft.unknown.get(key);
  if (found === undefined)
    draft.unknown.set(key, { type, version, compat: meta.compat, events: 1 });
  else found.events += 1;
};

const noteSound = (draft: VerifyDraft, recorded: Recorded): void => {
  const { event, meta } = recorded;
  draft.before = { revision: recorded.revision, hash: recorded.hash };
  delete draft.damaged;
  noteUnknown(draft, recorded);
  if (event?.type === 'BranchForked') draft.parent = event.data.parent;
  if (meta.wall !== undefined && Date.parse(meta.wall) < Date.parse(meta.at)) {
    draft.clockRegressions += 1;
  }
};

/** Checks the next event that was read and decoded. At most one fault is counted for an event. */
export const verifyRecorded = (draft: VerifyDraft, recorded: Recorded): void => {
  draft.events += 1;
  const faults = [linkFault, placeFault, partFault, timeFault, knownFault].map((check) =>
    check(draft, recorded),
  );
  const fault = faults.find((found) => found !== undefined);
  if (fault !== undefined) blame(draft, fault);
  noteSound(draft, recorded);
};

const noteDamaged = (draft: VerifyDraft, stored: StoredEvent, fault: RecordFault): void => {
  draft.events += 1;
  blame(draft, fault);
  const content = contentHash(stored);
  draft.damaged = {
    revision: stored.revision,
    id: stored.id,
    ...(content === undefined ? {} : { content }),
  };
};

/**
 * Checks the next events of a stream as the store gives them: bytes against hash, order, chain,
 * place, time, whole batches. Goes on behind a fault, so that one damaged event does not hide others.
 */
export const verifyPage = (
  draft: VerifyDraft,
  page: readonly StoredEvent[],
  upcasts: Upcasts = {},
): void => {
  for (const stored of page) {
    const recorded = readStored(stored, upcasts);
    if (E.isRight(recorded)) verifyRecorded(draft, recorded.right);
    else noteDamaged(draft, stored, recorded.left);
  }
};

const tailFault = (draft: VerifyDraft): RecordFault | undefined => {
  const last = draft.damaged?.revision ?? draft.before?.revision ?? -1;
  if (draft.known !== undefined && last < draft.known.revision)
    return damage(draft, last + 1, 'tail');
  return draft.damaged === undefined && !isWhole(draft.part)
    ? damage(draft, last + 1, 'tail')
    : undefined;
};

/** The report, once all pages were given. Does not change the draft: more pages may follow. */
export const verifyReport = (draft: VerifyDraft): VerifyReport => {
  const tail = tailFault(draft);
  const first = draft.first ?? tail;
  return {
    stream: draft.stream,
    events: draft.events,
    ...(draft.before === undefined ? {} : { head: draft.before }),
    ...(draft.parent === undefined ? {} : { parent: draft.parent }),
    unknown: [...draft.unknown.values()].map((found) => ({ ...found })),
    clockRegressions: draft.clockRegressions,
    faults: draft.faults + (tail === undefined ? 0 : 1),
    ...(first === undefined ? {} : { first }),
  };
};

/** The report of a sound stream, or the first fault. */
export const verdictOf = (report: VerifyReport): E.Either<RecordFault, VerifyReport> =>
  report.first === undefined ? E.right(report) : E.left(report.first);

/** Whether a fork names the event that its parent has there; the rest of the fork's chain hangs on it. */
export const forkFault = (
  report: VerifyReport,
  parentHash: string | undefined,
): FaultOf<'Damaged'> | undefined =>
  report.parent === undefined || report.parent.hash === parentHash
    ? undefined
    : { _tag: 'Damaged', stream: report.stream, revision: 0, check: 'chain' };
