import * as E from 'fp-ts/lib/Either.js';
import { digestOf } from '../../domain/digest.js';
import type { StemmaFault } from '../../domain/errors.js';
import type { ImportPlan } from '../../domain/import-plan.js';
import { scanJson } from '../../domain/json-scan.js';
import type { Json, JsonObject } from '../../domain/json-value.js';
import {
  FILE_JSON,
  importIdOf,
  isObject,
  member,
  nameMember,
  startNotes,
  usableId,
  type ImportOptions,
  type Notes,
} from './foreign.js';
import { byteOffset, splitLines, type Line, type SourceLines } from './lines.js';
import { conversationsOf } from './parent-linked/layout.js';
import { isMessageRecord, PARENT_LINKED } from './parent-linked/messages.js';
import type { LinkedRecord } from './parent-linked/record.js';

export interface ParentLinkedOptions extends ImportOptions {
  /** Id of the record that was shown last; absent: the last record of the file. */
  readonly leaf?: string;
  /** What becomes of a record whose parent is not in the file: `reject` without a word. */
  readonly onDangling?: 'reject' | 'attach_previous';
}

interface ReadRecord extends Omit<LinkedRecord, 'parent'> {
  /** As the record says; undefined for none. */
  readonly named: string | undefined;
}

const parentNamed = (value: JsonObject): string | undefined => {
  const parent = member(value, 'parent');
  if (parent === undefined || parent === null) return undefined;
  return typeof parent === 'string' ? parent : JSON.stringify(parent);
};

const lineFault = (line: Line, lines: SourceLines, offset: number): StemmaFault => {
  const isTorn = line.number === lines.last && !lines.finalNewline;
  const at = byteOffset(line, offset, lines.bom);
  return isTorn
    ? { _tag: 'TruncatedInput', line: line.number, offset: at }
    : { _tag: 'InvalidJson', offset: at };
};

const readLine = (line: Line, lines: SourceLines): E.Either<StemmaFault, JsonObject> => {
  const scanned = scanJson(line.text, FILE_JSON);
  if (E.isLeft(scanned)) {
    return E.left(
      scanned.left._tag === 'InvalidJson'
        ? lineFault(line, lines, scanned.left.offset)
        : scanned.left,
    );
  }
  const value = JSON.parse(line.text) as Json;
  return isObject(value)
    ? E.right(value)
    : E.left({ _tag: 'InvalidShape', path: '', index: line.number - 1, expected: 'record' });
};

interface Reading {
  readonly records: ReadRecord[];
  readonly byId: Map<string, ReadRecord>;
  duplicates: number;
}

const take = (reading: Reading, line: Line, value: JsonObject, notes: Notes): void => {
  const given = nameMember(value, 'id');
  const id = given ?? `line-${String(line.number)}`;
  const known = reading.byId.get(id);
  if (known?.text === line.text) {
    reading.duplicates += 1;
    return;
  }
  if (known !== undefined) notes.add('duplicate_id', { line: line.number, id: usableId(id) });
  const own = known === undefined ? id : `${id}#${String(line.number)}`;
  const record: ReadRecord = {
    id: own,
    line: line.number,
    text: line.text,
    value,
    named: parentNamed(value),
    // A second record under a known id is kept, but it can be no other's parent and no message.
    isMessage: known === undefined && isMessageRecord(value),
  };
  reading.records.push(record);
  reading.byId.set(own, record);
};

const readRecords = (
  lines: SourceLines,
  options: ParentLinkedOptions,
  notes: Notes,
): E.Either<StemmaFault, Reading> => {
  const reading: Reading = { records: [], byId: new Map(), duplicates: 0 };
  const [broken] = lines.undecodable;
  if (broken !== undefined && options.salvage !== true) {
    return E.left({ _tag: 'InvalidUtf8', line: broken.number, byte: broken.byte });
  }
  for (const line of lines.lines) {
    const value = readLine(line, lines);
    if (E.isRight(value)) take(reading, line, value.right, notes);
    else if (options.salvage !== true) return value;
    else notes.add('unreadable_line', { line: line.number });
  }
  return E.right(reading);
};

/** Where records hang: each below its parent, or below none. */
type Links = Map<string, string | undefined>;

/** Whether the way up from a record comes past itself. */
const isInCircle = (links: Links, id: string): boolean => {
  const seen = new Set<string>();
  for (let at = links.get(id); at !== undefined && !seen.has(at); at = links.get(at)) {
    if (at === id) return true;
    seen.add(at);
  }
  return false;
};

const leadsTo = (links: Links, from: string, id: string): boolean => {
  const seen = new Set<string>();
  for (let at: string | undefined = from; at !== undefined && !seen.has(at); at = links.get(at)) {
    if (at === id) return true;
    seen.add(at);
  }
  return false;
};

const link = ({
  records,
  byId,
}: Reading): { readonly links: Links; readonly lost: ReadRecord[] } => {
  const hasParents = records.some(({ value }) => Object.hasOwn(value, 'parent'));
  const links: Links = new Map();
  records.forEach(({ id, named }, index) => {
    const previous = hasParents ? undefined : records[index - 1]?.id;
    links.set(id, named ?? previous);
  });
  const lost = records.filter(({ id, named }) => {
    if (named === undefined) return false;
    return !byId.has(named) || isInCircle(links, id);
  });
  return { links, lost };
};

/** Hangs records without a parent behind the one before them, and says so. */
const repair = (
  { records }: Reading,
  links: Links,
  lost: readonly ReadRecord[],
  notes: Notes,
): void => {
  for (const record of lost) {
    const { id, named = '', line } = record;
    // An earlier repair may have opened the circle.
    if (links.get(id) !== named || (links.has(named) && !isInCircle(links, id))) continue;
    const previous = records[records.indexOf(record) - 1]?.id;
    const isFree = previous !== undefined && !leadsTo(links, previous, id);
    links.set(id, isFree ? previous : undefined);
    const to = isFree ? usableId(previous) : '';
    notes.add('PARENT_REPAIRED', {
      line,
      id: usableId(id),
      detail: `${usableId(named)} -> ${to}`,
    });
  }
};

const linked = (
  reading: Reading,
  options: ParentLinkedOptions,
  notes: Notes,
): E.Either<StemmaFault, readonly LinkedRecord[]> => {
  const { links, lost } = link(reading);
  if (lost.length > 0 && options.onDangling !== 'attach_previous') {
    return E.left({
      _tag: 'DanglingParent',
      ids: lost.map(({ id }) => usableId(id)),
      missing: [...new Set(lost.map(({ named = '' }) => usableId(named)))],
    });
  }
  repair(reading, links, lost, notes);
  return E.right(
    reading.records.map(({ named: _named, ...record }) => {
      const parent = links.get(record.id);
      return { ...record, ...(parent === undefined ? {} : { parent }) };
    }),
  );
};

const leafFault = (
  records: readonly LinkedRecord[],
  leaf: string | undefined,
): StemmaFault | undefined =>
  leaf === undefined || records.some(({ id }) => id === leaf)
    ? undefined
    : { _tag: 'InvalidArgument', name: 'leaf', reason: 'unknown_value' };

/**
 * Plan of a file of records that each name one parent, in any order of time. Paths follow the parent
 * links; the results of one assistant message stand behind it as one group; what is no message takes
 * no part in where paths part, and is kept word for word. Several roots are several conversations.
 */
export const planParentLinked = (
  bytes: Uint8Array,
  options: ParentLinkedOptions = {},
): E.Either<StemmaFault, ImportPlan> => {
  const notes = startNotes();
  const lines = splitLines(bytes);
  if (lines.bom) notes.add('byte_order_mark', { line: 1 });
  const reading = readRecords(lines, options, notes);
  if (E.isLeft(reading)) return reading;
  const records = linked(reading.right, options, notes);
  if (E.isLeft(records)) return records;
  const fault = leafFault(records.right, options.leaf);
  if (fault !== undefined) return E.left(fault);
  const leaf = options.leaf ?? records.right.at(-1)?.id;
  const digest = digestOf(bytes);
  const base = usableId(options.id ?? records.right[0]?.id ?? PARENT_LINKED);
  const importId = importIdOf(PARENT_LINKED, [base], digest);
  const conversations = conversationsOf(records.right, { base, importId, leaf });
  const messages = records.right.filter(({ isMessage }) => isMessage).length;
  return E.right({
    format: PARENT_LINKED,
    importId,
    digest,
    conversations,
    report: {
      format: PARENT_LINKED,
      records: records.right.length + reading.right.duplicates,
      mapped: messages,
      kept: records.right.length - messages,
      duplicates: reading.right.duplicates,
      notes: notes.list,
      source: { leaf: leaf ?? null },
    },
  });
};
