import type { Notes } from '../foreign.js';
import { isEqualJson, usableId } from '../foreign.js';
import { fanOf, type Fan } from './fan.js';
import type { SourceFile, SourceRecord, UnreadLine } from './records.js';
import { unnamedKeys } from './records.js';

/** How a record came to its place in the tree. */
export type LinkKind = 'none' | 'parent' | 'logical' | 'before' | 'call';

/** The first record of a uuid. */
export interface Node {
  /** Place among the nodes, in file order. */
  readonly index: number;
  readonly record: SourceRecord;
  readonly key: string;
  /** Index of the node that it follows; -1 for none. */
  up: number;
  link: LinkKind;
  /** A sidechain that begins here: the record of the main thread that it hangs on. */
  hangsOn?: number;
  /** Indexes of blocks that repeat a call of an earlier record. */
  readonly repeated: ReadonlySet<number>;
}

/** What a line of the file is, in file order. */
export type Entry =
  | { readonly kind: 'node'; readonly node: Node }
  | { readonly kind: 'loose'; readonly record: SourceRecord; readonly key: string }
  | {
      readonly kind: 'again';
      readonly record: SourceRecord;
      readonly of: Node;
      readonly isEqual: boolean;
      readonly key: string;
    }
  | { readonly kind: 'unread'; readonly line: UnreadLine; readonly key: string };

/** The records of a file with their places in the tree. */
export interface Links {
  /** File order is the transcript: no record names a parent, or all name the prompt. */
  readonly isList: boolean;
  readonly fan: Fan | undefined;
  readonly nodes: readonly Node[];
  readonly byUuid: ReadonlyMap<string, Node>;
  readonly entries: readonly Entry[];
  readonly hasLogicalCycle: boolean;
}

const isSame = (a: SourceRecord, b: SourceRecord): boolean =>
  a.text === b.text || isEqualJson(a.value, b.value);

const link = (node: Node, to: Node | undefined, kind: LinkKind): void => {
  node.up = to?.index ?? -1;
  node.link = to === undefined ? 'none' : kind;
};

type Found = Pick<Links, 'isList' | 'byUuid' | 'fan'> & {
  readonly nodes: Node[];
  readonly byUuid: Map<string, Node>;
  readonly entries: { readonly line: number; readonly entry: Entry }[];
  readonly nameOf: (text: string) => string;
};

const NONE: ReadonlySet<number> = new Set();

const addNode = ({ nodes, entries, fan }: Found, record: SourceRecord, key: string): Node => {
  const repeated = fan?.repeated.get(record) ?? NONE;
  const node: Node = { index: nodes.length, record, key, up: -1, link: 'none', repeated };
  nodes.push(node);
  entries.push({ line: record.line, entry: { kind: 'node', node } });
  return node;
};

const addRecord = (found: Found, record: SourceRecord, notes: Notes): void => {
  const { byUuid, entries, nameOf } = found;
  const { line, uuid } = record;
  if (uuid === undefined) {
    const key = nameOf(record.text);
    if (found.isList && record.isConversational) addNode(found, record, key);
    else entries.push({ line, entry: { kind: 'loose', record, key } });
    return;
  }
  const of = byUuid.get(uuid);
  if (of === undefined) {
    const key = usableId(uuid);
    if (key !== uuid) notes.add('unusable_id', { line, id: key });
    byUuid.set(uuid, addNode(found, record, key));
    return;
  }
  const same = isSame(of.record, record);
  notes.add(same ? 'duplicate_record' : 'conflicting_record', { line, id: of.key });
  const key = usableId(`${of.key}${nameOf(record.text)}`);
  entries.push({ line, entry: { kind: 'again', record, of, isEqual: same, key } });
};

/** Whether any record says what it follows, be it nothing. */
export const namesParents = ({ records }: SourceFile): boolean =>
  records.some(
    ({ isConversational, value }) => isConversational && Object.hasOwn(value, 'parentUuid'),
  );

const entriesOf = (
  file: SourceFile,
  notes: Notes,
): Pick<Links, 'isList' | 'fan' | 'nodes' | 'byUuid' | 'entries'> => {
  const fan = fanOf(file.records);
  const isList = fan !== undefined || !namesParents(file);
  const found: Found = {
    isList,
    fan,
    nodes: [],
    byUuid: new Map(),
    entries: [],
    nameOf: unnamedKeys(),
  };
  for (const record of file.records) addRecord(found, record, notes);
  for (const unread of file.unread.filter(({ isTorn }) => !isTorn)) {
    const { line } = unread;
    const key = found.nameOf(line.text);
    found.entries.push({ line: line.number, entry: { kind: 'unread', line: unread, key } });
  }
  const { nodes, byUuid, entries } = found;
  entries.sort((a, b) => a.line - b.line);
  return { isList, fan, nodes, byUuid, entries: entries.map(({ entry }) => entry) };
};

/** File order is the order: each record follows the one before it of its session and thread. */
const linkList = (nodes: readonly Node[]): void => {
  const last = new Map<string, Node>();
  let session = '';
  for (const node of nodes) {
    if (!node.record.isConversational) continue;
    session = node.record.sessionId ?? session;
    const thread = JSON.stringify([session, node.record.isSidechain]);
    const before = last.get(thread);
    if (before !== undefined) link(node, before, 'before');
    last.set(thread, node);
  }
};

/** The record just before in file order, of the same thread kind. */
export const nodeBefore = (nodes: readonly Node[], node: Node): Node | undefined => {
  for (let at = node.index - 1; at >= 0; at -= 1) {
    const before = nodes[at];
    if (before?.record.isSidechain === node.record.isSidechain) return before;
  }
  return undefined;
};

const linkOne = (links: Pick<Links, 'nodes' | 'byUuid'>, node: Node, notes: Notes): void => {
  const { parentUuid, logicalParentUuid, line } = node.record;
  if (parentUuid !== undefined) {
    const parent = links.byUuid.get(parentUuid);
    link(node, parent, 'parent');
    if (parent === undefined) notes.add('dangling_parent', { line, id: node.key });
  } else if (logicalParentUuid !== undefined) {
    const target = links.byUuid.get(logicalParentUuid);
    if (target === undefined) notes.add('logical_parent_missing', { line, id: node.key });
    link(
      node,
      target ?? nodeBefore(links.nodes, node),
      target === undefined ? 'before' : 'logical',
    );
  }
};

/** Circles of the parent links, each in the order of its links. Linear. */
const circlesOf = (nodes: readonly Node[]): readonly (readonly Node[])[] => {
  const circles: Node[][] = [];
  const seenIn = new Int32Array(nodes.length).fill(-1);
  for (const start of nodes) {
    const path: Node[] = [];
    let at: Node | undefined = start;
    while (at !== undefined && seenIn[at.index] === -1) {
      seenIn[at.index] = start.index;
      path.push(at);
      at = nodes[at.up];
    }
    if (at === undefined || seenIn[at.index] !== start.index) continue;
    const entry = path.indexOf(at);
    if (entry >= 0) circles.push(path.slice(entry));
  }
  return circles;
};

const firstOf = (circle: readonly Node[], kinds: readonly LinkKind[]): Node | undefined =>
  circle
    .filter((node) => kinds.includes(node.link))
    .reduce<Node | undefined>(
      (first, node) => (first === undefined || node.index < first.index ? node : first),
      undefined,
    );

/** Opens the circles that compact boundaries make, then any other. */
const openCircles = (nodes: readonly Node[], notes: Notes): boolean => {
  let hasLogicalCycle = false;
  for (const circle of circlesOf(nodes)) {
    const boundary = firstOf(circle, ['logical']);
    if (boundary === undefined) continue;
    hasLogicalCycle = true;
    notes.add('logical_parent_cycle', { line: boundary.record.line, id: boundary.key });
    link(boundary, nodeBefore(nodes, boundary), 'before');
  }
  for (const circle of circlesOf(nodes)) {
    const node =
      firstOf(circle, ['before', 'call']) ?? firstOf(circle, ['parent', 'logical', 'none']);
    if (node === undefined) continue;
    notes.add('parent_cycle', { line: node.record.line, id: node.key });
    link(node, undefined, 'none');
  }
  return hasLogicalCycle;
};

/** Sidechains are threads of their own: no link crosses from one kind of thread to the other. */
const partThreads = (nodes: readonly Node[], notes: Notes): void => {
  for (const node of nodes) {
    const parent = nodes[node.up];
    if (parent === undefined || parent.record.isSidechain === node.record.isSidechain) continue;
    if (node.record.isSidechain) node.hangsOn = parent.index;
    else notes.add('parent_in_sidechain', { line: node.record.line, id: node.key });
    link(node, undefined, 'none');
  }
};

/** A result that hangs nowhere follows the call that it answers. */
const followCalls = (nodes: readonly Node[], notes: Notes): void => {
  const callers = new Map<string, Node>();
  const nameOf = (node: Node, id: string): string =>
    JSON.stringify([node.record.isSidechain, node.record.sessionId ?? '', id]);
  for (const node of nodes) {
    const caller = node.record.answeredIds
      .map((id) => callers.get(nameOf(node, id)))
      .find((found) => found !== undefined);
    if (node.up < 0 && node.hangsOn === undefined && caller !== undefined) {
      notes.add('attached_to_call', { line: node.record.line, id: node.key });
      link(node, caller, 'call');
    }
    for (const id of node.record.callIds) callers.set(nameOf(node, id), node);
  }
};

/**
 * The tree of a file: the first record of a uuid wins, parents and compact boundaries are followed,
 * circles opened, sidechains parted. What was not clear is noted.
 */
export const linkRecords = (file: SourceFile, notes: Notes): Links => {
  const found = entriesOf(file, notes);
  if (found.isList) {
    linkList(found.nodes);
    return { ...found, hasLogicalCycle: false };
  }
  for (const node of found.nodes) linkOne(found, node, notes);
  const hasLogicalCycle = openCircles(found.nodes, notes);
  partThreads(found.nodes, notes);
  followCalls(found.nodes, notes);
  openCircles(found.nodes, notes);
  return { ...found, hasLogicalCycle };
};

/** Entries in file order, but so that each node comes after the one it follows. */
export const treeOrder = ({ nodes, entries }: Links): readonly Entry[] => {
  const waiting = new Map<number, Node[]>();
  const placed = new Uint8Array(nodes.length);
  const order: Entry[] = [];
  const place = (first: Node): void => {
    const stack = [first];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      placed[node.index] = 1;
      order.push({ kind: 'node', node });
      const behind = waiting.get(node.index) ?? [];
      for (let at = behind.length - 1; at >= 0; at -= 1) stack.push(behind[at] ?? node);
    }
  };
  for (const entry of entries) {
    if (entry.kind !== 'node') order.push(entry);
    else if (entry.node.up < 0 || placed[entry.node.up] === 1) place(entry.node);
    else {
      const queue = waiting.get(entry.node.up) ?? [];
      queue.push(entry.node);
      waiting.set(entry.node.up, queue);
    }
  }
  return order;
};
