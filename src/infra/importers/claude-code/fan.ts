import type { Json } from '../../../domain/json-value.js';
import { isEqualJson, textMember } from '../foreign.js';
import { contentItems, type SourceRecord } from './records.js';

/**
 * A session of iFlow, which writes like Claude Code but names the prompt as the parent of each of its
 * records and repeats calls from one record to the next.
 */
export interface Fan {
  /** Indexes of blocks that repeat a call of an earlier record, by record. */
  readonly repeated: ReadonlyMap<SourceRecord, ReadonlySet<number>>;
  /** Blocks that are calls, repeated ones too. */
  readonly callBlocks: number;
  /** A block with the id of an earlier call says the same. */
  readonly isFaithful: boolean;
}

const IFLOW_ANSWER = /^response-\d+/;

const repeatsOf = (record: SourceRecord, calls: Map<string, Json>) => {
  const repeated = new Set<number>();
  let [blocks, isFaithful] = [0, true];
  if (record.type !== 'assistant') return { repeated, blocks, isFaithful };
  for (const [index, item] of contentItems(record.value).entries()) {
    if (textMember(item, 'type') !== 'tool_use') continue;
    blocks += 1;
    const id = textMember(item, 'id') ?? '';
    const earlier = calls.get(id);
    if (earlier === undefined) calls.set(id, item);
    else if (isEqualJson(earlier, item)) repeated.add(index);
    else isFaithful = false;
  }
  return { repeated, blocks, isFaithful };
};

/** What is peculiar to a session of iFlow; undefined for any other. */
export const fanOf = (records: readonly SourceRecord[]): Fan | undefined => {
  const answers = records.filter(({ type }) => type === 'assistant');
  const isIflow = answers.every(({ apiMessageId }) => IFLOW_ANSWER.test(apiMessageId ?? ''));
  if (answers.length === 0 || !isIflow) return undefined;
  const calls = new Map<string, Json>();
  const repeated = new Map<SourceRecord, ReadonlySet<number>>();
  let [callBlocks, isFaithful] = [0, true];
  for (const record of records) {
    const own = repeatsOf(record, calls);
    repeated.set(record, own.repeated);
    callBlocks += own.blocks;
    isFaithful &&= own.isFaithful;
  }
  return { repeated, callBlocks, isFaithful };
};
