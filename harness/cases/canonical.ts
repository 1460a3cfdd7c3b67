import type { MessageInput } from '../../src/domain/intake.js';
import { textOf, type Block, type Message } from '../../src/domain/message.js';
import type { SurfaceItem } from '../../src/domain/surface.js';
import type { CaseMessage } from './input-shape.js';
import { isFields, isList, type Fields } from './shape.js';
import { segmentsOf } from './values.js';

const fieldNames: Readonly<Record<string, string>> = {
  tool_calls: 'toolCalls',
  tool_call_id: 'toolCallId',
  media_type: 'mediaType',
  created_at: 'createdAt',
};

const caseNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(fieldNames).map(([ours, theirs]) => [theirs, ours]),
);

const partOf = (part: unknown): unknown => {
  if (!isFields(part) || part['type'] !== 'image') return part;
  const { media_type: mediaType, ...rest } = part as Fields & { readonly media_type?: unknown };
  return { ...rest, mediaType };
};

const listed = (content: unknown): readonly unknown[] => {
  if (isList(content)) return content.map(partOf);
  return content === undefined ? [] : [{ type: 'text', text: content }];
};

const contentOf = ({ content, reasoning }: CaseMessage): unknown => {
  if (reasoning === undefined) return isList(content) ? content.map(partOf) : content;
  return [{ type: 'reasoning', ...reasoning }, ...listed(content)];
};

/** A message of a case in the words of the engine. What no type allows is handed on as it is. */
export const inputOf = (message: CaseMessage): MessageInput => {
  const { parent: _parent, is_error: isError, reasoning, content: _content, ...rest } = message;
  const renamed = Object.entries(rest).map(([key, value]) => [fieldNames[key] ?? key, value]);
  const hasContent = Object.hasOwn(message, 'content') || reasoning !== undefined;
  return {
    ...(Object.fromEntries(renamed) as object),
    ...(hasContent ? { content: contentOf(message) } : {}),
    ...(isError === true ? { outcome: 'error' } : {}),
  } as MessageInput;
};

const partBack = (block: Block): Fields => {
  if (block.type !== 'image') return { ...block };
  const { mediaType, ...rest } = block;
  return { ...rest, media_type: mediaType };
};

const isPlace = ({ type }: Block): boolean => type === 'tool_call';

/** Content as a case writes it: text when it was given as text, else parts. */
export const contentBack = (blocks: readonly Block[], asText: boolean): unknown => {
  const said = blocks.filter((block) => !isPlace(block));
  const [only] = said;
  if (asText && said.length === 0) return '';
  return asText && said.length === 1 && only?.type === 'text' ? only.text : said.map(partBack);
};

interface Split {
  readonly reasoning?: Fields;
  readonly blocks: readonly Block[];
}

const splitReasoning = (blocks: readonly Block[], given: CaseMessage | undefined): Split => {
  const [first, ...rest] = blocks;
  if (given?.reasoning === undefined || first?.type !== 'reasoning') return { blocks };
  const { type: _type, ...reasoning } = first;
  return { reasoning, blocks: rest };
};

const parsedMetadata = (text: string): unknown => JSON.parse(text) as unknown;

/** A message that was read back, in the form of the cases. */
export const messageBack = (message: Message, given?: CaseMessage): Fields => {
  const { id, role, toolCalls, answers, outcome, metadata, pinned, name, claimedAt } = message;
  const { reasoning, blocks } = splitReasoning(message.blocks, given);
  const hasContent = blocks.some((block) => !isPlace(block)) || toolCalls.length === 0;
  const answered = answers[0]?.callId ?? message.foreignCallId;
  return {
    id,
    role,
    ...(hasContent ? { content: contentBack(blocks, !isList(given?.content)) } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map((call) => ({ ...call })) }),
    ...(answered === undefined ? {} : { tool_call_id: answered }),
    ...(outcome === undefined || outcome === 'ok' ? {} : { is_error: true }),
    ...(metadata === undefined ? {} : { metadata: parsedMetadata(metadata) }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(name === undefined ? {} : { name }),
    ...(claimedAt === undefined ? {} : { created_at: claimedAt }),
  };
};

/** The same with what became of the message since. */
export const itemBack = (item: SurfaceItem, given?: CaseMessage): Fields => {
  const { message, status } = item;
  const interrupted = status === 'interrupted';
  return {
    ...messageBack(message, given),
    status,
    incomplete_tool_calls: interrupted ? message.toolCalls.map(({ id }) => id) : [],
  };
};

/** All readable text of a message. */
export const plainText = ({ blocks }: Pick<Message, 'blocks'>): string => textOf(blocks);

/** A pointer of the engine as a case writes it: names of fields, and reasoning beside the content. */
export const pathBack = (path: string, given: CaseMessage | undefined): string => {
  const names = segmentsOf(path).map((segment) => caseNames[segment] ?? segment);
  const [field, index, ...rest] = names;
  if (given?.reasoning === undefined || field !== 'content' || !/^\d+$/.test(index ?? '')) {
    return names.map((name) => `/${name}`).join('');
  }
  const at = Number(index);
  if (at === 0) return ['', 'reasoning', ...rest].join('/');
  return isList(given.content) ? ['', 'content', String(at - 1), ...rest].join('/') : '/content';
};
