import type { Block } from '../message.js';
import type {
  OpenAIAssistantMessage,
  OpenAIRefusalPart,
  OpenAITextPart,
  OpenAIToolCall,
  OpenAIUserPart,
} from './openai-chat-wire.js';
import type { Turn } from './profile.js';

/** One text is sent as a string, several as parts. */
export const openaiTextContent = (texts: readonly string[]): string | OpenAITextPart[] =>
  texts.length > 1
    ? texts.map((text): OpenAITextPart => ({ type: 'text', text }))
    : (texts[0] ?? '');

const audioFormats: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
};

const isDetail = (detail: string | undefined): detail is 'auto' | 'low' | 'high' =>
  detail === 'auto' || detail === 'low' || detail === 'high';

/** A block other than text as a part of a user message; undefined when there is no such part. */
export const openaiMediaPart = (block: Block): OpenAIUserPart | undefined => {
  switch (block.type) {
    case 'image': {
      const url = block.url ?? `data:${block.mediaType};base64,${block.data ?? ''}`;
      const detail = isDetail(block.detail) ? { detail: block.detail } : {};
      return { type: 'image_url', image_url: { url, ...detail } };
    }
    case 'audio': {
      const format = audioFormats[block.mediaType];
      if (format === undefined || block.data === undefined) {
        return { type: 'text', text: `[audio ${block.mediaType} left out]` };
      }
      return { type: 'input_audio', input_audio: { data: block.data, format } };
    }
    case 'file': {
      const { fileId, data, name, mediaType } = block;
      if (fileId === undefined && data === undefined) {
        return { type: 'text', text: `[file ${name ?? mediaType} left out]` };
      }
      const inline = data === undefined ? {} : { file_data: `data:${mediaType};base64,${data}` };
      return {
        type: 'file',
        file: {
          ...inline,
          ...(fileId !== undefined && { file_id: fileId }),
          ...(name !== undefined && { filename: name }),
        },
      };
    }
    default:
      return undefined;
  }
};

const assistantContent = (
  texts: readonly string[],
  refusals: readonly string[],
): Pick<OpenAIAssistantMessage, 'content' | 'refusal'> => {
  const [refusal] = refusals;
  if (refusal === undefined) return { content: openaiTextContent(texts) };
  if (texts.length === 0 && refusals.length === 1) return { content: null, refusal };
  return {
    content: [
      ...texts.map((text): OpenAITextPart => ({ type: 'text', text })),
      ...refusals.map((text): OpenAIRefusalPart => ({ type: 'refusal', refusal: text })),
    ],
  };
};

/**
 * An assistant turn; undefined when nothing of it can be sent (OC6). `strict` keeps reasoning in the
 * field that other endpoints use, so that the validator sees it.
 */
export const encodeOpenAIAssistant = (
  turn: Turn,
  strict: boolean,
): OpenAIAssistantMessage | undefined => {
  const texts = turn.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const refusals = turn.blocks.flatMap((block) => (block.type === 'refusal' ? [block.text] : []));
  const calls = turn.calls.map(({ id, name, arguments: text }): OpenAIToolCall => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const reasoning = turn.blocks.flatMap((block) =>
    block.type === 'reasoning' ? [block.text] : [],
  );
  const isEmpty = texts.length === 0 && refusals.length === 0;
  if (isEmpty && calls.length === 0 && !strict) return undefined;
  const saysNothing = isEmpty || (refusals.length === 0 && texts.join('') === '');
  const content =
    saysNothing && (calls.length > 0 || isEmpty)
      ? { content: null }
      : assistantContent(texts, refusals);
  return {
    role: 'assistant',
    ...content,
    ...(strict && reasoning.length > 0 && { reasoning_content: reasoning.join('\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};
