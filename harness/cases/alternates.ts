import { isFields, isList } from './shape.js';

/** What the words of `alternate` allow besides, as data: words to a way to see two values as one. */
interface Alternate {
  readonly words: RegExp;
  readonly widen: (value: unknown) => unknown;
}

const isEmpty = (content: unknown): boolean =>
  content === undefined || content === null || content === '';

/** Assistant messages with calls say nothing else: null, the empty text or no content at all. */
const emptyAssistantContent = (value: unknown): unknown => {
  if (isList(value)) return value.map(emptyAssistantContent);
  if (!isFields(value)) return value;
  const calls = value['tool_calls'];
  if (value['role'] === 'assistant' && isList(calls) && isEmpty(value['content'])) {
    const { content: _content, ...rest } = value as { readonly content?: unknown };
    return rest;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, emptyAssistantContent(entry)]),
  );
};

const alternates: readonly Alternate[] = [
  {
    words: /^(assistant )?content may be (null|the empty string|empty|absent)\b/,
    widen: emptyAssistantContent,
  },
];

/** How `output` is compared when the case allows more than its words; undefined for unknown words. */
export const wideningOf = (alternate: string): ((value: unknown) => unknown) | undefined =>
  alternates.find(({ words }) => words.test(alternate))?.widen;
