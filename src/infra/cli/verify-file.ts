import * as E from 'fp-ts/lib/Either.js';
import { blobName } from '../../domain/digest.js';
import { isExchangeHeader, type ExchangeEvent } from '../../domain/exchange-lines.js';
import type { StoredEvent } from '../../domain/event-store.js';
import { readStored } from '../../domain/recorded.js';
import { branchStream, parseStream } from '../../domain/stream-name.js';
import { decodeUtf8 } from '../../domain/text.js';
import type { FoundFault, Verification } from '../../engine/verification.js';
import {
  forkFault,
  startVerify,
  verifyPage,
  verifyReport,
  type VerifyReport,
} from '../../projections/verify.js';
import { readExchange, type ExchangeFile } from '../importers/stemma-jsonl.js';
import { refuse } from './faults.js';

const storedOf = (event: ExchangeEvent): StoredEvent => ({ ...event, position: '' });

const byStream = (
  events: readonly ExchangeEvent[],
): ReadonlyMap<string, readonly StoredEvent[]> => {
  const streams = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const list = streams.get(event.stream);
    if (list === undefined) streams.set(event.stream, [storedOf(event)]);
    else list.push(storedOf(event));
  }
  return streams;
};

type Streams = ReadonlyMap<string, readonly StoredEvent[]>;

const reportOf = (stream: string, events: readonly StoredEvent[]): VerifyReport => {
  const draft = startVerify(stream);
  verifyPage(draft, events);
  return verifyReport(draft);
};

const parentHash = (streams: Streams, { stream, parent }: VerifyReport): string | undefined => {
  const name = parseStream(stream);
  if (parent === undefined || name?.kind !== 'branch') return undefined;
  const own = streams.get(branchStream(name.tenant, name.conversation, parent.branch));
  const event = own?.find(({ revision }) => revision === parent.revision);
  const recorded = event && readStored(event);
  return recorded !== undefined && E.isRight(recorded) ? recorded.right.hash : undefined;
};

const faultsOf = (streams: Streams, report: VerifyReport): readonly FoundFault[] => {
  const { first, stream } = report;
  const faults: FoundFault[] = [];
  if (first !== undefined) {
    const revision = first._tag === 'Damaged' ? (first.revision ?? -1) : -1;
    const event = streams.get(stream)?.find((one) => one.revision === revision);
    faults.push({
      stream,
      revision,
      check: first._tag === 'Damaged' ? first.check : first._tag,
      ...(event === undefined ? {} : { eventId: event.id }),
    });
  }
  const fork = forkFault(report, parentHash(streams, report));
  if (fork !== undefined) faults.push({ stream, revision: 0, check: 'chain' });
  return faults;
};

const blobReferences = /"blob":"([A-Za-z0-9_-]{43})"/g;

const bodyFaults = (file: ExchangeFile): readonly FoundFault[] => {
  const bodies = new Map(file.blobs.map(({ name, bytes }) => [name, bytes]));
  return file.events.flatMap((event): readonly FoundFault[] => {
    const conversation = parseStream(event.stream);
    const owner = conversation?.kind === 'branch' || conversation?.kind === 'conversation';
    return [...event.data.matchAll(blobReferences)].flatMap(([, name]): readonly FoundFault[] => {
      const bytes = name === undefined ? undefined : bodies.get(name);
      const isSound =
        owner && bytes !== undefined && blobName(conversation.conversation, bytes) === name;
      const { stream, revision, id } = event;
      return isSound ? [] : [{ stream, revision, check: 'blob', eventId: id }];
    });
  });
};

const NONE: Verification = {
  ok: false,
  streams: 0,
  events: 0,
  blobs: 0,
  clockRegressions: 0,
  unknown: [],
  faults: [],
  heads: [],
};

const verified = (file: ExchangeFile, isCut: boolean): Verification => {
  const streams = byStream(file.events);
  const reports = [...streams].map(([stream, events]) => reportOf(stream, events));
  const cut: readonly FoundFault[] = isCut ? [{ stream: '-', revision: -1, check: 'tail' }] : [];
  const faults = [
    ...reports.flatMap((report) => faultsOf(streams, report)),
    ...bodyFaults(file),
    ...cut,
  ];
  const unknown = new Map<string, number>();
  for (const { type, events } of reports.flatMap((report) => report.unknown)) {
    unknown.set(type, (unknown.get(type) ?? 0) + events);
  }
  return {
    ok: faults.length === 0,
    streams: streams.size,
    events: file.events.length,
    blobs: file.blobs.length,
    clockRegressions: reports.reduce((sum, report) => sum + report.clockRegressions, 0),
    unknown: [...unknown].map(([type, events]) => ({ type, events })),
    faults,
    heads: reports.flatMap(({ stream, head }) => (head === undefined ? [] : [{ stream, ...head }])),
  };
};

const beginsAsOurs = (bytes: Uint8Array): boolean => {
  const end = bytes.indexOf(0x0a);
  const first = decodeUtf8(end < 0 ? bytes : bytes.subarray(0, end));
  return E.isRight(first) && isExchangeHeader(first.right.text.trimStart());
};

/**
 * Verifies exchange lines by themselves: no store, no key, no network. A file that is none of ours is
 * refused; one that was ours and cannot be read is a finding.
 */
export const verifyFile = (bytes: Uint8Array): Verification => {
  const whole = readExchange(bytes);
  if (E.isRight(whole)) return verified(whole.right, false);
  if (!beginsAsOurs(bytes)) return refuse(whole.left);
  const rest = readExchange(bytes, { salvage: true });
  return E.isRight(rest)
    ? verified(rest.right, true)
    : { ...NONE, faults: [{ stream: '-', revision: -1, check: 'payload' }] };
};
