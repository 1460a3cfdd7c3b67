import type { ImportedItem, ImportedMessage } from '../../../domain/import-plan.js';
import type { Block, Message, Outcome, Trust } from '../../../domain/message.js';
import { claimedAtOf, member, textMember, usableId } from '../foreign.js';
import {
  assistantContent,
  blockOf,
  itemsOf,
  plainText,
  resultBlocks,
  type ContentItem,
} from './blocks.js';
import type { SourceRecord } from './records.js';

/** Name of the format: of its raw lines, provenance and record keys. */
export const SYSTEM = 'claude-code';

/** A record, and how it is to be named and taken over. */
export interface Sourced {
  readonly record: SourceRecord;
  readonly key: string;
  /** Id of the record in the source: that of the first one, where a uuid is there twice. */
  readonly sourceId: string;
  /** A later record of a uuid, with other content: kept, but out of contexts. */
  readonly isConflict?: boolean;
  /** Indexes of blocks that repeat a call of an earlier record. */
  readonly repeated?: ReadonlySet<number>;
}

type Draft = Pick<Message, 'role' | 'blocks' | 'trust'> &
  Partial<Pick<Message, 'toolCalls' | 'outcome' | 'partOf' | 'name'>> & {
    readonly callIds?: readonly string[];
  };

/** What later readers ask of a record and no other field says; never sent to a model. */
const metadataOf = (record: SourceRecord): { readonly metadata?: string } => {
  const flags = {
    ...(record.isMeta ? { isMeta: true } : {}),
    ...(record.isCompactSummary ? { isCompactSummary: true } : {}),
    ...(member(record.value, 'isApiErrorMessage') === true ? { isApiErrorMessage: true } : {}),
  };
  return Object.keys(flags).length === 0 ? {} : { metadata: JSON.stringify(flags) };
};

const authorOf = (record: SourceRecord): Pick<Message, 'author'> =>
  record.agentId === undefined ? {} : { author: { agent: usableId(record.agentId) } };

const messageOf = (sourced: Sourced, draft: Draft, id: string, isFirst: boolean): Message => {
  const { record, sourceId, isConflict } = sourced;
  const { callIds: _callIds, ...rest } = draft;
  return {
    id,
    toolCalls: [],
    ...rest,
    answers: [],
    ...authorOf(record),
    provenance: { kind: 'importer', system: SYSTEM, sourceId },
    status: isConflict === true ? 'superseded' : 'confirmed',
    ...metadataOf(record),
    ...(isFirst ? { raw: { system: SYSTEM, text: record.text } } : {}),
    ...claimedAtOf(member(record.value, 'timestamp')),
  };
};

const importedOf = (sourced: Sourced, drafts: readonly Draft[]): readonly ImportedMessage[] =>
  drafts.map((draft, index) => {
    const isOnly = drafts.length === 1;
    const record = isOnly ? sourced.key : usableId(`${sourced.key}#${String(index)}`);
    const whole = isOnly ? draft : { partOf: sourced.key, ...draft };
    return {
      kind: 'message',
      record,
      message: messageOf(sourced, whole, record, index === 0),
      answersCallIds: draft.callIds ?? [],
    };
  });

const NONE: ReadonlySet<number> = new Set();

const assistantDraft = ({ record, repeated = NONE }: Sourced): Draft => {
  const { apiMessageId } = record;
  return {
    role: 'assistant',
    trust: 'model',
    ...assistantContent(record, repeated),
    ...(apiMessageId === undefined ? {} : { partOf: usableId(apiMessageId) }),
  };
};

const DENIED = 'User rejected tool use';

/** The client marks a refused permission in the record, beside the error text for the model. */
const outcomeOf = (record: SourceRecord, item: ContentItem): Outcome => {
  if (member(item.value, 'is_error') !== true) return 'ok';
  return textMember(record.value, 'toolUseResult') === DENIED ? 'denied' : 'error';
};

const resultDraft = (record: SourceRecord, item: ContentItem): Draft => ({
  role: 'tool',
  trust: 'external',
  blocks: resultBlocks(item),
  outcome: outcomeOf(record, item),
  callIds: [textMember(item.value, 'tool_use_id') ?? ''],
});

/**
 * Text that the client put in by itself may hold anything from files and hooks; the prompt of a
 * sidechain was written by the model that started it.
 */
const userTrust = (record: SourceRecord): Trust => {
  if (record.isMeta) return 'external';
  return record.isSidechain || record.isCompactSummary ? 'model' : 'user';
};

const userDrafts = (record: SourceRecord): readonly Draft[] => {
  const items = itemsOf(record);
  const results = items.filter((item) => item.type === 'tool_result');
  const others: readonly Block[] = items
    .filter((item) => item.type !== 'tool_result')
    .map((item) => blockOf(item));
  const blocks = [...plainText(record), ...others];
  const drafts = results.map((item) => resultDraft(record, item));
  return drafts.length > 0 && blocks.length === 0
    ? drafts
    : [...drafts, { role: 'user', trust: userTrust(record), blocks }];
};

/**
 * Canonical messages of a record. A user record with several results becomes one message for each,
 * and one for what else it says. The line is kept on the first (MS4).
 */
export const messagesOf = (sourced: Sourced): readonly ImportedMessage[] =>
  importedOf(
    sourced,
    sourced.record.type === 'assistant' ? [assistantDraft(sourced)] : userDrafts(sourced.record),
  );

// The kind is stored in the clear: it is a word of the format or none.
const KIND = /^[\w.-]{1,64}(?:\/[\w.-]{1,64})?$/;

const kindOf = ({ type, subtype }: SourceRecord): string => {
  const kind = subtype === undefined ? type : `${type}/${subtype}`;
  return KIND.test(kind) ? kind : 'other';
};

/** A record that no model reads, kept word for word. */
export const keptRecord = ({ record, key }: Pick<Sourced, 'record' | 'key'>): ImportedItem => ({
  kind: 'record',
  record: key,
  recordKind: kindOf(record),
  raw: record.text,
});

/** The items of a record: messages where a model reads it, else the record itself. */
export const itemsOfRecord = (sourced: Sourced): readonly ImportedItem[] =>
  sourced.record.isConversational ? messagesOf(sourced) : [keptRecord(sourced)];
