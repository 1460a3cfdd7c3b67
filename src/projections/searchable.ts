import * as E from 'fp-ts/lib/Either.js';
import { decodeWith } from '../domain/codec.js';
import type { StoredMessage } from '../domain/events/message-events.js';
import type { EventRef } from '../domain/events/references.js';
import { Blocks, textOf } from '../domain/message.js';
import type { Recorded } from '../domain/recorded.js';
import type { Opened, Slot } from '../domain/slot.js';

/** Something that can be found by its text. */
export interface SearchDocument {
  readonly key: string;
  readonly kind: 'message' | 'summary' | 'instructions' | 'title';
  readonly conversation: string;
  readonly branch: string;
  readonly revision: number;
  /** Absent for a title. */
  readonly messageId?: string;
  /** JSON texts of blocks. */
  readonly blocks: readonly Slot[];
  /** Texts as they are. */
  readonly texts: readonly Slot[];
}

/** What an event does to a search index. */
export type SearchStep =
  | { readonly _tag: 'add'; readonly document: SearchDocument }
  | { readonly _tag: 'remove'; readonly key: string };

/** What must be known to let a redaction reach copies, in whatever order streams are read. */
export interface SearchFeedDraft {
  readonly redacted: Set<string>;
  /** Conversation, branch and id of a merged copy to the key of its original. */
  readonly originals: Map<string, string>;
  /** Key of a copy to the key of its original, and back. */
  readonly originalOf: Map<string, string>;
  readonly copiesOf: Map<string, string[]>;
}

export const startSearchFeed = (): SearchFeedDraft => ({
  redacted: new Set(),
  originals: new Map(),
  originalOf: new Map(),
  copiesOf: new Map(),
});

/** Key of what stands at a place of a conversation. */
export const searchKey = (
  conversation: string,
  { branch, revision }: Pick<EventRef, 'branch' | 'revision'>,
): string => `${conversation}/${branch}@${String(revision)}`;

const documentOf = ({ event, meta, revision }: Recorded): SearchDocument | undefined => {
  const place = { conversation: meta.conv, branch: meta.branch, revision };
  const key = `${meta.conv}/${meta.branch}@${String(revision)}`;
  const ofMessage = (kind: SearchDocument['kind'], message: StoredMessage): SearchDocument => ({
    key,
    kind,
    ...place,
    messageId: message.id,
    blocks: [message.blocks],
    texts: message.toolCalls.map((call) => call.arguments),
  });
  switch (event?.type) {
    case 'MessageAppended':
    case 'ToolResultAttached':
      return ofMessage('message', event.data.message);
    case 'ContextCompacted':
      return event.data.replacement && ofMessage('summary', event.data.replacement);
    case 'InstructionsRevised': {
      const { messageId, content } = event.data;
      return { key, kind: 'instructions', ...place, messageId, blocks: [], texts: [content] };
    }
    case 'ConversationStarted': {
      const { title } = event.data;
      return title && { key, kind: 'title', ...place, blocks: [], texts: [title] };
    }
    default:
      return undefined;
  }
};

/** Whether the text or any text that it is a copy of was redacted. */
const isRedacted = (draft: SearchFeedDraft, key: string): boolean => {
  const seen = new Set<string>();
  for (let at: string | undefined = key; at !== undefined && !seen.has(at);) {
    if (draft.redacted.has(at)) return true;
    seen.add(at);
    at = draft.originalOf.get(at);
  }
  return false;
};

/** The text and all copies made from it. */
const withCopies = (draft: SearchFeedDraft, key: string): readonly string[] => {
  const found = new Set<string>([key]);
  // A set grows while it is walked: copies of copies are reached without recursion.
  for (const at of found) for (const copy of draft.copiesOf.get(at) ?? []) found.add(copy);
  return [...found];
};

const removals = (keys: readonly string[]): readonly SearchStep[] =>
  keys.map((key) => ({ _tag: 'remove', key }));

const link = (draft: SearchFeedDraft, { key, ...document }: SearchDocument): void => {
  const { conversation, branch, messageId = '' } = document;
  const original = draft.originals.get(`${conversation}/${branch}/${messageId}`);
  if (original === undefined || draft.originalOf.has(key)) return;
  draft.originalOf.set(key, original);
  draft.copiesOf.set(original, [...(draft.copiesOf.get(original) ?? []), key]);
};

/**
 * What this event does to a search index. Streams may be read in any interleaving: a redaction takes
 * out what it names and every copy of it, those that are read later too.
 */
export const searchSteps = (draft: SearchFeedDraft, recorded: Recorded): readonly SearchStep[] => {
  const { event, meta } = recorded;
  if (event?.type === 'MessageRedacted') {
    const key = searchKey(meta.conv, event.data.message);
    draft.redacted.add(key);
    return removals(withCopies(draft, key));
  }
  if (event?.type === 'BranchMerged') {
    for (const { id, origin } of event.data.messages) {
      draft.originals.set(`${meta.conv}/${meta.branch}/${id}`, searchKey(meta.conv, origin));
    }
  }
  const document = documentOf(recorded);
  if (document === undefined) return [];
  link(draft, document);
  return isRedacted(draft, document.key)
    ? removals(withCopies(draft, document.key))
    : [{ _tag: 'add', document }];
};

const blocksText = (text: string): string => {
  try {
    const blocks = decodeWith(Blocks, JSON.parse(text) as unknown);
    return E.isRight(blocks) ? textOf(blocks.right) : '';
  } catch {
    return '';
  }
};

/** The text by which a document is found; what is erased or not readable gives none. */
export const searchText = (document: SearchDocument, open: (slot: Slot) => Opened): string => {
  const read = (slot: Slot): string => {
    const opened = open(slot);
    return opened._tag === 'text' ? opened.text : '';
  };
  return [...document.blocks.map((slot) => blocksText(read(slot))), ...document.texts.map(read)]
    .filter((text) => text !== '')
    .join('\n');
};
