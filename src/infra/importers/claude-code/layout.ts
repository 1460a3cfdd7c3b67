import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../../../domain/errors.js';
import type { ImportedConversation, ImportedItem } from '../../../domain/import-plan.js';
import { member, nameMember, textMember, usableId, type Notes } from '../foreign.js';
import { compactionOf } from './compactions.js';
import {
  addBranch,
  conversationOf,
  mainOf,
  newConversation,
  putItems,
  type Beginning,
  type BranchDraft,
  type ConversationDraft,
  type Group,
} from './draft.js';
import { treeOrder, type Entry, type Links, type Node } from './links.js';
import { itemsOfRecord, keptRecord, messagesOf } from './messages.js';
import { contentItems, type SourceRecord } from './records.js';

/** Limit of what all compactions of a file together may cover. */
const COVER_LIMIT = 4_000_000;

interface Layout {
  readonly links: Links;
  readonly notes: Notes;
  readonly fallbackId: string;
  readonly conversations: ConversationDraft[];
  readonly bySession: Map<string, ConversationDraft>;
  /** Kept before the first conversation is known. */
  readonly pending: ImportedItem[];
  /** By index of the node: where it was put. */
  readonly groups: (Group | undefined)[];
  readonly homes: (ConversationDraft | undefined)[];
  /** By index: the nearest record above, itself included, that a model reads. */
  readonly spoken: (Node | undefined)[];
  readonly positions: number[];
  /** Prompt text of a call that starts a subagent, and the message that made it. */
  readonly prompts: Map<string, string>;
  /** Boundaries that made a compaction. */
  readonly compacted: Set<Node>;
  latest: ConversationDraft | undefined;
  covered: number;
}

/** Records that carry the conversation on; all others stand beside it. */
const isSpoken = ({ isConversational, isBoundary }: SourceRecord): boolean =>
  isConversational || isBoundary;

const addConversation = (layout: Layout, conversation: ConversationDraft): ConversationDraft => {
  layout.conversations.push(conversation);
  putItems(mainOf(conversation), layout.pending.splice(0));
  return conversation;
};

const sessionOf = (layout: Layout, record: SourceRecord): ConversationDraft => {
  const id = record.sessionId === undefined ? undefined : usableId(record.sessionId);
  if (id === undefined && layout.latest !== undefined) return layout.latest;
  const externalId = id ?? layout.fallbackId;
  const known = layout.bySession.get(externalId);
  if (known !== undefined) return known;
  const conversation = addConversation(layout, newConversation(externalId));
  layout.bySession.set(externalId, conversation);
  return conversation;
};

/** The text of a first prompt, to find the call that gave it. */
const promptOf = (node: Node): string | undefined => {
  const message = messagesOf({ record: node.record, key: node.key, sourceId: node.key })[0]
    ?.message;
  const block = message?.blocks.length === 1 ? message.blocks[0] : undefined;
  return block?.type === 'text' ? block.text : undefined;
};

/** A sidechain is a conversation of its own, started by a call of its session. */
const subagentOf = (layout: Layout, node: Node): ConversationDraft => {
  const { sessionId } = node.record;
  const session = sessionId === undefined ? layout.fallbackId : usableId(sessionId);
  const above = node.hangsOn === undefined ? undefined : layout.links.nodes[node.hangsOn];
  const messageId = above?.key ?? layout.prompts.get(promptOf(node) ?? '');
  return addConversation(
    layout,
    newConversation(usableId(`${session}/${node.key}`), {
      externalId: session,
      relation: 'subagent',
      ...(messageId === undefined ? {} : { messageId }),
    }),
  );
};

const beginningOf = (record: SourceRecord): Beginning => {
  if (record.type === 'assistant') return 'retry';
  return record.type === 'user' && record.answeredIds.length === 0 && !record.isCompactSummary
    ? 'edit'
    : 'part';
};

/** Where a fork at a group begins: the last item of it, or of what led on from it to the fork. */
const forkAt = (layout: Layout, node: Node, group: Group): number => {
  const end = (group.continuedAt ?? group.branch.items.length) - 1;
  const via = layout.positions[node.up] ?? -1;
  let own = end;
  while (own > 0 && group.branch.groups[own] !== group) own -= 1;
  return Math.max(own, via <= end ? via : -1);
};

const joins = (group: Group, record: SourceRecord): boolean =>
  record.type === 'assistant'
    ? record.apiMessageId !== undefined && record.apiMessageId === group.apiMessageId
    : record.answeredIds.some((id) => group.callIds.has(id));

const branchFor = (layout: Layout, node: Node, above: Group | undefined): BranchDraft => {
  const { record, key } = node;
  if (above === undefined) {
    const conversation = record.isSidechain ? subagentOf(layout, node) : sessionOf(layout, record);
    layout.homes[node.index] = conversation;
    const main = mainOf(conversation);
    return main.hasMessages ? addBranch(conversation, key, 'root') : main;
  }
  if (above.continuedAt === undefined) {
    above.continuedAt = above.branch.items.length;
    return above.branch;
  }
  const home = layout.homes[node.index] ?? sessionOf(layout, record);
  const at = forkAt(layout, node, above);
  return addBranch(home, key, beginningOf(record), { branch: above.branch, at });
};

const messageName = (apiMessageId: string): string => `message ${apiMessageId}`;
const callName = (callId: string): string => `call ${callId}`;

/** The group of the same API message that went on from there already: its parts may be siblings. */
const siblingOf = (above: Group, record: SourceRecord): Group | undefined => {
  const names =
    record.apiMessageId === undefined
      ? record.answeredIds.map(callName)
      : [messageName(record.apiMessageId)];
  return names.map((name) => above.next.get(name)).find((group) => group !== undefined);
};

const groupFor = (layout: Layout, node: Node, above: Group | undefined): Group => {
  const { apiMessageId } = node.record;
  if (above !== undefined && joins(above, node.record)) return above;
  const sibling = above === undefined ? undefined : siblingOf(above, node.record);
  if (sibling !== undefined) return sibling;
  const group: Group = {
    branch: branchFor(layout, node, above),
    ...(apiMessageId === undefined ? {} : { apiMessageId }),
    callIds: new Set(),
    next: new Map(),
  };
  if (apiMessageId !== undefined) above?.next.set(messageName(apiMessageId), group);
  return group;
};

const STARTERS: readonly string[] = ['Task', 'Agent'];

const rememberPrompts = (layout: Layout, { record, key }: Node): void => {
  if (record.callIds.length === 0) return;
  for (const item of contentItems(record.value)) {
    const prompt = textMember(member(item, 'input'), 'prompt');
    if (prompt !== undefined && STARTERS.includes(textMember(item, 'name') ?? '')) {
      layout.prompts.set(prompt, key);
    }
  }
};

const summaryItems = (
  layout: Layout,
  node: Node,
  branch: BranchDraft,
  above: Node | undefined,
): readonly ImportedItem[] => {
  const boundary = above?.record.isBoundary === true ? above : undefined;
  const summary = { record: node.record, key: node.key, sourceId: node.key };
  const compaction = compactionOf(summary, boundary, branch);
  if (compaction === undefined) {
    layout.notes.add('summary_of_nothing', { line: node.record.line, id: node.key });
    return messagesOf(summary);
  }
  layout.covered += compaction.covers.length;
  if (boundary !== undefined) layout.compacted.add(boundary);
  return [compaction];
};

const markActive = (conversation: ConversationDraft, branch: BranchDraft, line: number): void => {
  if (line < conversation.activeLine) return;
  conversation.active = branch;
  conversation.activeLine = line;
};

const placeSpoken = (layout: Layout, node: Node, above: Node | undefined): void => {
  const { record, key, index } = node;
  const upper = above === undefined ? undefined : layout.groups[above.index];
  if (above !== undefined) layout.homes[index] = layout.homes[above.index];
  const group = groupFor(layout, node, upper);
  const items = record.isCompactSummary
    ? summaryItems(layout, node, group.branch, above)
    : itemsOfRecord({ record, key, sourceId: key, repeated: node.repeated });
  rememberPrompts(layout, node);
  for (const id of record.callIds) {
    group.callIds.add(id);
    if (upper !== group) upper?.next.set(callName(id), group);
  }
  layout.positions[index] = putItems(group.branch, items, group);
  group.branch.hasMessages = true;
  layout.groups[index] = group;
  const home = layout.homes[index];
  if (home === undefined) return;
  home.current = group.branch;
  if (!record.isSidechain) layout.latest = home;
  if (record.isConversational) markActive(home, group.branch, record.line);
};

/** Puts a record that no model reads at the end of a branch, or before all that is to come. */
const placeKept = (layout: Layout, item: ImportedItem, branch: BranchDraft | undefined): number => {
  if (branch !== undefined) return putItems(branch, [item]);
  layout.pending.push(item);
  return -1;
};

const branchOfLoose = (
  layout: Layout,
  record: SourceRecord | undefined,
): BranchDraft | undefined =>
  record?.sessionId === undefined
    ? (layout.latest ?? layout.conversations[layout.conversations.length - 1])?.current
    : sessionOf(layout, record).current;

const placeNode = (layout: Layout, node: Node): void => {
  const above = layout.spoken[node.up];
  if (isSpoken(node.record)) {
    layout.spoken[node.index] = node;
    placeSpoken(layout, node, above);
    return;
  }
  layout.spoken[node.index] = above;
  const branch =
    above === undefined ? branchOfLoose(layout, node.record) : layout.groups[above.index]?.branch;
  layout.positions[node.index] = placeKept(layout, keptRecord(node), branch);
};

/** A later record of a uuid: equal ones add nothing; others are kept where they came, set aside. */
const placeAgain = (layout: Layout, entry: Extract<Entry, { kind: 'again' }>): void => {
  const { record, of, key, isEqual } = entry;
  const branch = layout.groups[of.index]?.branch;
  const home = layout.homes[of.index];
  if (home !== undefined && branch !== undefined && record.isConversational) {
    markActive(home, branch, record.line);
  }
  if (isEqual) return;
  const items = itemsOfRecord({ record, key, sourceId: of.key, isConflict: true });
  if (branch !== undefined) putItems(branch, items);
  else for (const item of items) placeKept(layout, item, branchOfLoose(layout, record));
};

const placeEntry = (layout: Layout, entry: Entry): void => {
  if (entry.kind === 'node') placeNode(layout, entry.node);
  else if (entry.kind === 'again') placeAgain(layout, entry);
  else if (entry.kind === 'loose') {
    placeKept(layout, keptRecord(entry), branchOfLoose(layout, entry.record));
  } else {
    const raw = entry.line.line.text;
    const item: ImportedItem = {
      kind: 'record',
      record: entry.key,
      recordKind: 'unreadable',
      raw,
    };
    placeKept(layout, item, branchOfLoose(layout, undefined));
  }
};

/** A summary line names the record that it is the title of; the last one counts. */
const entitle = (layout: Layout): void => {
  for (const entry of layout.links.entries) {
    if (entry.kind !== 'loose' || entry.record.type !== 'summary') continue;
    const leaf = layout.links.byUuid.get(textMember(entry.record.value, 'leafUuid') ?? '');
    const home = leaf === undefined ? undefined : layout.homes[leaf.index];
    const title = nameMember(entry.record.value, 'summary');
    if (home !== undefined && title !== undefined) home.title = title;
  }
};

const layoutOf = (links: Links, notes: Notes, fallbackId: string): Layout => ({
  links,
  notes,
  fallbackId,
  conversations: [],
  bySession: new Map(),
  pending: [],
  groups: [],
  homes: [],
  spoken: [],
  positions: [],
  prompts: new Map(),
  compacted: new Set(),
  latest: undefined,
  covered: 0,
});

/** A file laid out as conversations. */
export interface LaidOut {
  readonly conversations: readonly ImportedConversation[];
  /** Boundaries that made no compaction: no summary follows, or nothing stands before. */
  readonly openBoundaries: readonly string[];
}

/**
 * Conversations of a tree. Records stand in file order, parents first, so that a longer version of
 * the file only adds at the ends; the first record that goes on from another stays on its branch, a
 * later one begins a branch that bears its uuid. Parts and results of one API message stay together:
 * they are no branches.
 */
export const layOut = (
  links: Links,
  notes: Notes,
  fallbackId: string,
): E.Either<FaultOf<'TooLarge'>, LaidOut> => {
  const layout = layoutOf(links, notes, fallbackId);
  for (const entry of treeOrder(links)) {
    placeEntry(layout, entry);
    if (layout.covered > COVER_LIMIT) return E.left({ _tag: 'TooLarge', limit: COVER_LIMIT });
  }
  if (layout.pending.length > 0) addConversation(layout, newConversation(fallbackId));
  entitle(layout);
  const openBoundaries = links.nodes
    .filter((node) => node.record.isBoundary && !layout.compacted.has(node))
    .map(({ key }) => key);
  return E.right({ conversations: layout.conversations.map(conversationOf), openBoundaries });
};
