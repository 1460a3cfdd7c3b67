import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../../../domain/errors.js';
import { scanJson } from '../../../domain/json-scan.js';
import type { Json, JsonObject } from '../../../domain/json-value.js';
import { FILE_JSON, isObject, member, nameMember, shortDigest, textMember } from '../foreign.js';
import type { Notes } from '../foreign.js';
import { byteOffset, type Line, type SourceLines } from '../lines.js';

/** A line of the file that holds an object. */
export interface SourceRecord {
  /** Number of the line. */
  readonly line: number;
  /** The line, word for word. */
  readonly text: string;
  readonly value: JsonObject;
  /** As the file counts it; a record without a type is of type `null`. */
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  readonly parentUuid?: string;
  readonly logicalParentUuid?: string;
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly isSidechain: boolean;
  readonly isMeta: boolean;
  readonly isCompactSummary: boolean;
  readonly isConversational: boolean;
  readonly isBoundary: boolean;
  /** Id of the API message that an assistant record is a part of. */
  readonly apiMessageId?: string;
  /** Ids of the calls that the record makes, in order. */
  readonly callIds: readonly string[];
  /** Ids of the calls that the record answers, in order. */
  readonly answeredIds: readonly string[];
}

/** A line that is no record; a torn one is the unfinished end of the file. */
export interface UnreadLine {
  readonly line: Line;
  readonly isTorn: boolean;
}

/** A session file, read line by line. */
export interface SourceFile {
  readonly lines: SourceLines;
  readonly records: readonly SourceRecord[];
  /** Full lines that are no record: not JSON, or no object. */
  readonly unread: readonly UnreadLine[];
  readonly malformedLines: readonly number[];
}

/** Items of the content of a record's message; none where the content is text. */
export const contentItems = (value: JsonObject): readonly Json[] => {
  const content = member(member(value, 'message'), 'content');
  return Array.isArray(content) ? (content as readonly Json[]) : [];
};

const idsOf = (value: JsonObject, type: string, key: string): readonly string[] =>
  contentItems(value)
    .filter((item) => textMember(item, 'type') === type)
    .map((item) => textMember(item, key) ?? '');

const named = <K extends string>(value: JsonObject, key: K): { readonly [P in K]?: string } => {
  const name = nameMember(value, key);
  return (name === undefined ? {} : { [key]: name }) as { readonly [P in K]?: string };
};

const typeOf = (value: JsonObject): string => {
  const type = member(value, 'type');
  return typeof type === 'string' ? type : type === undefined ? 'null' : JSON.stringify(type);
};

const recordOf = (line: Line, value: JsonObject): SourceRecord => {
  const type = typeOf(value);
  const isConversational = type === 'user' || type === 'assistant';
  const answeredIds = type === 'user' ? idsOf(value, 'tool_result', 'tool_use_id') : [];
  const apiMessageId =
    type === 'assistant' ? nameMember(member(value, 'message'), 'id') : undefined;
  return {
    line: line.number,
    text: line.text,
    value,
    type,
    ...named(value, 'subtype'),
    ...named(value, 'uuid'),
    ...named(value, 'parentUuid'),
    ...named(value, 'logicalParentUuid'),
    ...named(value, 'sessionId'),
    ...named(value, 'agentId'),
    isSidechain: member(value, 'isSidechain') === true,
    isMeta: member(value, 'isMeta') === true,
    isCompactSummary:
      type === 'user' && member(value, 'isCompactSummary') === true && answeredIds.length === 0,
    isConversational,
    isBoundary: type === 'system' && textMember(value, 'subtype') === 'compact_boundary',
    ...(apiMessageId === undefined ? {} : { apiMessageId }),
    callIds: type === 'assistant' ? idsOf(value, 'tool_use', 'id') : [],
    answeredIds,
  };
};

/** A torn end: the last line of the file, which the writer did not finish. */
const isTornLine = (
  source: SourceLines,
  line: Line,
  read: E.Either<StemmaFault, unknown>,
): boolean => {
  if (line.number !== source.last) return false;
  return E.isRight(read) ? !source.finalNewline : read.left._tag === 'InvalidJson';
};

/** The fault that a line means to a strict import: the last line is torn, any other is broken. */
const faultOf = (
  source: SourceLines,
  line: Line,
  read: E.Either<StemmaFault, unknown>,
): StemmaFault => {
  if (isTornLine(source, line, read)) {
    return { _tag: 'TruncatedInput', line: line.number, offset: line.start };
  }
  if (E.isRight(read)) {
    return { _tag: 'InvalidShape', path: `/${String(line.number)}`, expected: 'object' };
  }
  return read.left._tag === 'InvalidJson'
    ? { _tag: 'InvalidJson', offset: byteOffset(line, read.left.offset, source.bom) }
    : read.left;
};

const undecodableFault = (source: SourceLines): StemmaFault | undefined => {
  const first = source.undecodable[0];
  if (first === undefined) return undefined;
  return first.number === source.last
    ? { _tag: 'TruncatedInput', line: first.number, offset: first.start }
    : { _tag: 'InvalidUtf8', line: first.number, byte: first.byte };
};

const readLine = (line: Line, notes: Notes): E.Either<StemmaFault, Json> => {
  const scanned = scanJson(line.text, FILE_JSON);
  if (E.isLeft(scanned)) return scanned;
  if (scanned.right.dupKeys) notes.add('dup_keys', { line: line.number });
  return E.right(JSON.parse(line.text) as Json);
};

/**
 * Records of a file. Strict: the first line that is no record refuses the file, before anything is
 * decided (B58). Salvage: such lines are left out and noted; a torn last line is never kept, since a
 * later version of the file holds it whole.
 */
export const readRecords = (
  source: SourceLines,
  salvage: boolean,
  notes: Notes,
): E.Either<StemmaFault, SourceFile> => {
  const records: SourceRecord[] = [];
  const unread: UnreadLine[] = [];
  const malformed: number[] = source.undecodable.map(({ number }) => number);
  for (const { number } of source.undecodable) notes.add('invalid_utf8', { line: number });
  for (const line of source.lines) {
    const read = readLine(line, notes);
    if (E.isRight(read) && isObject(read.right)) {
      records.push(recordOf(line, read.right));
      continue;
    }
    if (!salvage) {
      const bytes = undecodableFault(source);
      const isLater = (source.undecodable[0]?.number ?? Infinity) > line.number;
      return E.left(bytes === undefined || isLater ? faultOf(source, line, read) : bytes);
    }
    const isTorn = isTornLine(source, line, read);
    notes.add(isTorn ? 'torn_line' : 'malformed_line', { line: line.number });
    unread.push({ line, isTorn });
    malformed.push(line.number);
  }
  const bytes = undecodableFault(source);
  if (!salvage && bytes !== undefined) return E.left(bytes);
  const malformedLines = malformed.sort((a, b) => a - b);
  return E.right({ lines: source, records, unread, malformedLines });
};

/** Name of a record without a uuid: its content, and which of the equal ones it is. */
export const unnamedKeys = (): ((text: string) => string) => {
  const seen = new Map<string, number>();
  return (text) => {
    const name = `~${shortDigest(text)}`;
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}.${String(count)}`;
  };
};
