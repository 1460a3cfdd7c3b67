import * as E from 'fp-ts/lib/Either.js';
import { fromBase64, toBase64 } from '../../domain/digest.js';
import type { StemmaFault } from '../../domain/errors.js';
import {
  readExchangeLine,
  type ExchangeEvent,
  type ExchangeHeader,
  type ExchangeLine,
} from '../../domain/exchange-lines.js';
import type { ImportNote } from '../../domain/import-plan.js';
import { startNotes, type ImportOptions, type Notes } from './foreign.js';
import { splitLines, type Line, type SourceLines } from './lines.js';

export { blobLine, eventLine, headerLine } from '../../domain/exchange-lines.js';

/** A body with the name that events call it by. */
export interface ExchangeBody {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What an exchange file holds, each line read. Hashes are not looked at here. */
export interface ExchangeFile {
  readonly header: ExchangeHeader;
  readonly events: readonly ExchangeEvent[];
  readonly blobs: readonly ExchangeBody[];
  /** The lines that were read, header first. */
  readonly lines: readonly string[];
  readonly notes: readonly ImportNote[];
}

interface Reading {
  header: ExchangeHeader | undefined;
  readonly events: ExchangeEvent[];
  readonly blobs: ExchangeBody[];
  readonly lines: string[];
}

const shapeFault = (line: Line, path: string, expected: string): StemmaFault => ({
  _tag: 'InvalidShape',
  path: `/${String(line.number)}${path}`,
  expected,
});

const bodyOf = (line: Line, blob: { readonly blob: string; readonly bytes: string }) => {
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(blob.bytes) && blob.bytes.length % 4 === 0;
  const bytes = isBase64 ? fromBase64(blob.bytes) : undefined;
  return bytes === undefined || toBase64(bytes) !== blob.bytes
    ? E.left(shapeFault(line, '/bytes', 'base64'))
    : E.right({ name: blob.blob, bytes });
};

const take = (reading: Reading, line: Line, read: ExchangeLine): StemmaFault | undefined => {
  if (read._tag === 'header') {
    if (reading.lines.length > 0) return shapeFault(line, '', 'one header, at the start');
    reading.header = read.header;
  } else if (reading.header === undefined) {
    return shapeFault(line, '', 'header');
  } else if (read._tag === 'event') {
    reading.events.push(read.event);
  } else {
    const body = bodyOf(line, read.blob);
    if (E.isLeft(body)) return body.left;
    reading.blobs.push(body.right);
  }
  reading.lines.push(line.text);
  return undefined;
};

/** The fault of a line that cannot be read; broken off at the end of the file, it is a torn one. */
const lineFault = (source: SourceLines, line: Line, fault: StemmaFault): StemmaFault =>
  fault._tag === 'InvalidJson' && line.number === source.last
    ? { _tag: 'TruncatedInput', line: line.number, offset: line.start }
    : fault;

const undecodableFault = (source: SourceLines): StemmaFault | undefined => {
  const first = source.undecodable[0];
  if (first === undefined) return undefined;
  return first.number === source.last
    ? { _tag: 'TruncatedInput', line: first.number, offset: first.start }
    : { _tag: 'InvalidUtf8', line: first.number, byte: first.byte };
};

/** Ends before all the events that its header promises. */
const shortFault = (
  source: SourceLines,
  bytes: Uint8Array,
  reading: Reading,
): StemmaFault | undefined => {
  const { header, events } = reading;
  if (header === undefined || events.length === header.events) return undefined;
  return events.length < header.events
    ? { _tag: 'TruncatedInput', line: source.last, offset: bytes.length }
    : { _tag: 'InvalidShape', path: '/1/events', expected: String(events.length) };
};

const salvageable = (fault: StemmaFault): boolean => fault._tag === 'TruncatedInput';

const readLines = (
  source: SourceLines,
  reading: Reading,
  salvage: boolean,
  notes: Notes,
): StemmaFault | undefined => {
  for (const line of source.lines) {
    const read = readExchangeLine(line.text, line.number);
    const raw = E.isLeft(read) ? read.left : take(reading, line, read.right);
    if (raw === undefined) continue;
    const fault = lineFault(source, line, raw);
    if (!salvage || !salvageable(fault)) return fault;
    notes.add('torn_line', { line: line.number });
  }
  return undefined;
};

/**
 * Reads stemma JSONL: a header, then events in order and the bodies they name. A torn end is refused
 * (B58); with `salvage` the whole lines before it are given and the rest is noted. Whether events are
 * what was written is told by their hashes, which whoever takes them in computes again.
 */
export const readExchange = (
  bytes: Uint8Array,
  options: ImportOptions = {},
): E.Either<StemmaFault, ExchangeFile> => {
  const salvage = options.salvage === true;
  const notes = startNotes();
  const source = splitLines(bytes);
  if (source.bom) notes.add('byte_order_mark', { line: 1 });
  const undecodable = undecodableFault(source);
  if (undecodable !== undefined) {
    if (!salvage || !salvageable(undecodable)) return E.left(undecodable);
    notes.add('torn_line', { line: source.last });
  }
  const reading: Reading = { header: undefined, events: [], blobs: [], lines: [] };
  const fault = readLines(source, reading, salvage, notes);
  if (fault !== undefined) return E.left(fault);
  const { header, events, blobs, lines } = reading;
  if (header === undefined) {
    return E.left({ _tag: 'InvalidShape', path: '', expected: 'stemma JSONL' });
  }
  const short = shortFault(source, bytes, reading);
  if (short === undefined) return E.right({ header, events, blobs, lines, notes: notes.list });
  if (!salvage || !salvageable(short)) return E.left(short);
  notes.add('missing_events', { detail: String(header.events - events.length) });
  const whole = { ...header, events: events.length };
  return E.right({ header: whole, events, blobs, lines, notes: notes.list });
};
