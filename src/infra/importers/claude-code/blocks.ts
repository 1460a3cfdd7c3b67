import type { Json } from '../../../domain/json-value.js';
import type { Block, ToolCall } from '../../../domain/message.js';
import { isObject, member, textMember } from '../foreign.js';
import { itemSpans, rootSpan, sliceOf, spanOf } from '../json-span.js';
import { contentItems, type SourceRecord } from './records.js';

/** An item of the content with its source text. */
export interface ContentItem {
  readonly value: Json;
  readonly type: string;
  readonly source: string;
  /** Source text of its `input`, word for word. */
  readonly input: () => string | undefined;
}

/** Items of the content of a record's message, each with its text in the line. */
export const itemsOf = (record: SourceRecord): readonly ContentItem[] => {
  const values = contentItems(record.value);
  if (values.length === 0) return [];
  const { text } = record;
  const list = spanOf(text, rootSpan(text), ['message', 'content']);
  const spans = list === undefined ? [] : itemSpans(text, list);
  return values.map((value, index) => {
    const span = spans[index];
    return {
      value,
      type: typeof value === 'string' ? 'text' : (textMember(value, 'type') ?? ''),
      source: span === undefined ? JSON.stringify(value) : sliceOf(text, span),
      input: () => {
        const input = span === undefined ? undefined : spanOf(text, span, ['input']);
        return input === undefined ? undefined : sliceOf(text, input);
      },
    };
  });
};

const provider = 'anthropic';

const asIs = (item: ContentItem): Block => ({ type: 'provider', provider, json: item.source });

const imageOf = (item: ContentItem): Block => {
  const source = member(item.value, 'source');
  const mediaType = textMember(source, 'media_type') ?? 'image/*';
  const [data, url] = [textMember(source, 'data'), textMember(source, 'url')];
  if (data !== undefined) return { type: 'image', mediaType, data };
  return url === undefined ? asIs(item) : { type: 'image', mediaType, url };
};

const reasoningOf = (item: ContentItem, model: string | undefined): Block => {
  const signature = textMember(item.value, 'signature');
  const encrypted = item.type === 'redacted_thinking' ? textMember(item.value, 'data') : undefined;
  return {
    type: 'reasoning',
    text: textMember(item.value, 'thinking') ?? '',
    provider,
    ...(model === undefined ? {} : { model }),
    ...(signature === undefined ? {} : { signature }),
    ...(encrypted === undefined ? {} : { encrypted }),
  };
};

const textIn = (item: ContentItem): string | undefined =>
  typeof item.value === 'string' ? item.value : textMember(item.value, 'text');

/** The block of an item that is neither a call nor a result. What has no canonical form is kept. */
export const blockOf = (item: ContentItem, model?: string): Block => {
  const text = item.type === 'text' ? textIn(item) : undefined;
  if (text !== undefined) return { type: 'text', text };
  if (item.type === 'image') return imageOf(item);
  if (item.type === 'thinking' || item.type === 'redacted_thinking')
    return reasoningOf(item, model);
  return asIs(item);
};

/** Arguments as the model wrote them: the source text of an object, the text of a text. */
const argumentsOf = (item: ContentItem): string => {
  const input = member(item.value, 'input');
  return typeof input === 'string' ? input : (item.input() ?? '');
};

/** Blocks and calls of an assistant record. */
export interface AssistantContent {
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCall[];
}

/** Content of an assistant record: calls keep their place among the blocks, but for some. */
export const assistantContent = (
  record: SourceRecord,
  without: ReadonlySet<number>,
): AssistantContent => {
  const message = member(record.value, 'message');
  const model = textMember(message, 'model');
  const blocks: Block[] = [];
  const toolCalls: ToolCall[] = [];
  for (const [index, item] of itemsOf(record).entries()) {
    if (without.has(index)) continue;
    if (item.type !== 'tool_use') {
      blocks.push(blockOf(item, model));
      continue;
    }
    blocks.push({ type: 'tool_call', call: toolCalls.length });
    toolCalls.push({
      id: textMember(item.value, 'id') ?? '',
      name: textMember(item.value, 'name') ?? '',
      arguments: argumentsOf(item),
    });
  }
  return { blocks: [...plainText(record), ...blocks], toolCalls };
};

/** The block of content that is a text and not a list; empty text is no block. */
export const plainText = (record: SourceRecord): readonly Block[] => {
  const message = member(record.value, 'message');
  const text = typeof message === 'string' ? message : textMember(message, 'content');
  return text === undefined || text === '' ? [] : [{ type: 'text', text }];
};

const partsOf = (item: ContentItem): readonly ContentItem[] => {
  const content = member(item.value, 'content');
  if (!Array.isArray(content)) return [];
  const root = rootSpan(item.source);
  const list = spanOf(item.source, root, ['content']);
  const spans = list === undefined ? [] : itemSpans(item.source, list);
  return (content as readonly Json[]).map((value, index) => {
    const span = spans[index];
    return {
      value,
      type: typeof value === 'string' ? 'text' : (textMember(value, 'type') ?? ''),
      source: span === undefined ? JSON.stringify(value) : sliceOf(item.source, span),
      input: () => undefined,
    };
  });
};

/** Text of a result that iFlow wraps in what its tools answer. */
const wrappedOutput = (content: Json): string | undefined => {
  const response = member(member(content, 'responseParts'), 'functionResponse');
  return textMember(member(response, 'response'), 'output');
};

/** Content of a tool result: text, a list of parts, or any other value kept as it is. */
export const resultBlocks = (item: ContentItem): readonly Block[] => {
  const content = member(item.value, 'content');
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content)) return partsOf(item).map((part) => blockOf(part));
  const output = wrappedOutput(content);
  if (output !== undefined) return [{ type: 'text', text: output }];
  const span = spanOf(item.source, rootSpan(item.source), ['content']);
  const json = span === undefined ? JSON.stringify(content) : sliceOf(item.source, span);
  return isObject(content)
    ? [{ type: 'provider', provider, json }]
    : [{ type: 'text', text: json }];
};
