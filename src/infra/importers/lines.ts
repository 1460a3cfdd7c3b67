import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, StemmaFault } from '../../domain/errors.js';
import type { JsonTextFault } from '../../domain/json-scan.js';
import { decodeUtf8, utf8Bytes } from '../../domain/text.js';

/** A line of a file, without its line feed. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Byte offset of the line in the file. */
  readonly start: number;
  readonly text: string;
}

/** A line whose bytes are no UTF-8. `byte` is the offset in the file. */
export interface UndecodableLine {
  readonly number: number;
  readonly start: number;
  readonly byte: number;
}

/** The lines of a file, and what its bytes say about it as a whole. */
export interface SourceLines {
  /** Lines with something on them, in order. */
  readonly lines: readonly Line[];
  readonly undecodable: readonly UndecodableLine[];
  /** Number of the last line with something on it; 0 for none. */
  readonly last: number;
  /** A byte order mark stood at the start (B21). */
  readonly bom: boolean;
  readonly finalNewline: boolean;
}

const LINE_FEED = 0x0a;
const BOM_BYTES = 3;

const isBlank = (text: string): boolean => text.trim() === '';

interface Bounds {
  readonly start: number;
  readonly end: number;
}

function* boundsOf(bytes: Uint8Array): Generator<Bounds> {
  let start = 0;
  while (start < bytes.length) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed < 0 ? bytes.length : feed;
    yield { start, end };
    start = end + 1;
  }
}

const decodeLine = (
  bytes: Uint8Array,
  { start, end }: Bounds,
): E.Either<FaultOf<'InvalidUtf8'>, string> => {
  const decoded = decodeUtf8(bytes.subarray(start, end));
  if (E.isLeft(decoded)) return decoded;
  // Only the mark at the start of the file is no content.
  return E.right(
    decoded.right.bom && start > 0 ? `\uFEFF${decoded.right.text}` : decoded.right.text,
  );
};

const linesOneByOne = (bytes: Uint8Array): Pick<SourceLines, 'lines' | 'undecodable' | 'last'> => {
  const lines: Line[] = [];
  const undecodable: UndecodableLine[] = [];
  let [number, last] = [0, 0];
  for (const bounds of boundsOf(bytes)) {
    number += 1;
    const text = decodeLine(bytes, bounds);
    const { start } = bounds;
    if (E.isLeft(text)) undecodable.push({ number, start, byte: start + text.left.byte });
    else if (isBlank(text.right)) continue;
    else lines.push({ number, start, text: text.right });
    last = number;
  }
  return { lines, undecodable, last };
};

const linesOfText = (bytes: Uint8Array, text: string): Pick<SourceLines, 'lines' | 'last'> => {
  const lines: Line[] = [];
  let [number, from] = [0, 0];
  for (const { start } of boundsOf(bytes)) {
    number += 1;
    const feed = text.indexOf('\n', from);
    const line = text.slice(from, feed < 0 ? text.length : feed);
    from = feed < 0 ? text.length : feed + 1;
    if (!isBlank(line)) lines.push({ number, start, text: line });
  }
  return { lines, last: lines[lines.length - 1]?.number ?? 0 };
};

/**
 * Lines of a file, found in its bytes: a line that is no UTF-8 takes no other line with it. Nothing
 * is ever replaced by U+FFFD (B20). Linear in the size of the file (B23).
 */
export const splitLines = (bytes: Uint8Array): SourceLines => {
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const finalNewline = bytes.length > 0 && bytes[bytes.length - 1] === LINE_FEED;
  const decoded = decodeUtf8(bytes);
  if (E.isLeft(decoded)) return { ...linesOneByOne(bytes), bom, finalNewline };
  return { ...linesOfText(bytes, decoded.right.text), undecodable: [], bom, finalNewline };
};

/** Byte offset in the file of a place in a line. */
export const byteOffset = (line: Line, unit: number, bom: boolean): number => {
  const mark = bom && line.number === 1 ? BOM_BYTES : 0;
  return line.start + mark + utf8Bytes(line.text.slice(0, unit));
};

/** A document that stops before its end is cut off (B58); offsets are bytes of the file. */
export const documentFault = (fault: JsonTextFault, text: string, bom: boolean): StemmaFault => {
  if (fault._tag !== 'InvalidJson') return fault;
  const offset = utf8Bytes(text.slice(0, fault.offset)) + (bom ? BOM_BYTES : 0);
  const isCut = fault.offset >= text.length && text.trim() !== '';
  return isCut
    ? { _tag: 'TruncatedInput', line: text.split('\n').length, offset }
    : { _tag: 'InvalidJson', offset };
};
