import type { Json, JsonObject } from '../../../domain/json-value.js';
import { isList, isObject, member, textMember } from '../foreign.js';
import { itemSpans, memberSpans, rootSpan, sliceOf, spanOf, type Span } from '../json-span.js';

/** A value in the file with its place and its source text. */
export interface Located {
  readonly value: Json;
  /** JSON pointer. */
  readonly pointer: string;
  readonly source: string;
}

/** A document of chat messages, whichever shape it has. */
export interface ChatDocument {
  readonly text: string;
  readonly value: Json;
  /** Lists of messages: one, or the attempts of a search. */
  readonly lists: readonly (readonly Located[])[];
  /** Alternative answers of a recorded response. */
  readonly choices: readonly Located[];
  /** Root of a search tree. */
  readonly tree?: Located;
  /** Members that are neither messages nor answers, word for word. */
  readonly rest: readonly Located[];
  readonly id?: string;
  readonly responseId?: string;
}

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Items of a list inside the document, by its path. */
const itemsAt = (
  text: string,
  root: Span,
  value: Json | undefined,
  path: readonly (string | number)[],
): readonly Located[] => {
  const span = spanOf(text, root, path);
  if (!isList(value) || span === undefined) return [];
  const spans = itemSpans(text, span);
  return value.map((item, index) => {
    const at = spans[index];
    return {
      value: item,
      pointer: `${path.map((step) => `/${escapeKey(String(step))}`).join('')}/${String(index)}`,
      source: at === undefined ? JSON.stringify(item) : sliceOf(text, at),
    };
  });
};

/** Members of an object inside the document, but for some. */
const membersAt = (
  text: string,
  root: Span,
  value: Json | undefined,
  path: readonly string[],
  without: readonly string[],
): readonly Located[] => {
  const span = spanOf(text, root, path);
  if (!isObject(value) || span === undefined) return [];
  const base = path.map((step) => `/${escapeKey(step)}`).join('');
  return [...memberSpans(text, span)]
    .filter(([key]) => !without.includes(key))
    .map(([key, at]) => ({
      value: member(value, key) ?? null,
      pointer: `${base}/${escapeKey(key)}`,
      source: sliceOf(text, at),
    }));
};

/** Where a request stands in the document: at the top, or beside its response. */
const requestPath = (value: Json): readonly string[] =>
  isObject(member(value, 'request')) ? ['request'] : [];

const searchDocument = (text: string, value: JsonObject): ChatDocument => {
  const root = rootSpan(text);
  const attempts = member(value, 'train_messages');
  const tree = member(member(value, 'tree'), 'tree');
  const treeSpan = spanOf(text, root, ['tree', 'tree']);
  const lists = isList(attempts)
    ? attempts.map((list, index) => itemsAt(text, root, list, ['train_messages', index]))
    : [];
  return {
    text,
    value,
    lists,
    choices: [],
    ...(isObject(tree) && treeSpan !== undefined
      ? { tree: { value: tree, pointer: '/tree/tree', source: sliceOf(text, treeSpan) } }
      : {}),
    rest: [
      ...membersAt(text, root, value, [], ['train_messages', 'tree']),
      ...membersAt(text, root, member(value, 'tree'), ['tree'], ['tree']),
    ],
  };
};

const requestDocument = (text: string, value: JsonObject): ChatDocument => {
  const root = rootSpan(text);
  const path = requestPath(value);
  const request = path.length === 0 ? value : member(value, 'request');
  const response = member(value, 'response');
  const choices = itemsAt(text, root, member(response, 'choices'), ['response', 'choices']);
  const hasChoices = choices.length > 0;
  const responseId = textMember(response, 'id');
  return {
    text,
    value,
    lists: [itemsAt(text, root, member(request, 'messages'), [...path, 'messages'])],
    choices,
    rest: [
      ...membersAt(text, root, request, path, [
        'messages',
        ...(path.length === 0 && hasChoices ? ['response'] : []),
      ]),
      ...(path.length === 0
        ? []
        : membersAt(text, root, value, [], ['request', ...(hasChoices ? ['response'] : [])])),
      ...(hasChoices ? membersAt(text, root, response, ['response'], ['choices']) : []),
    ],
    ...(responseId === undefined ? {} : { responseId }),
  };
};

/** The parts of a document. The text must be JSON, `value` what it says. */
export const readDocument = (text: string, value: Json): ChatDocument => {
  if (isList(value)) {
    return {
      text,
      value,
      lists: [itemsAt(text, rootSpan(text), value, [])],
      choices: [],
      rest: [],
    };
  }
  const object = isObject(value) ? value : {};
  return isList(member(object, 'train_messages'))
    ? searchDocument(text, object)
    : requestDocument(text, object);
};

/** Members of a choice or of a tree node but for some, as one JSON text of their source texts. */
export const sourceWithout = (located: Located, without: readonly string[]): string => {
  const { source } = located;
  const members = [...memberSpans(source, rootSpan(source))].filter(
    ([key]) => !without.includes(key),
  );
  const texts = members.map(([key, span]) => `${JSON.stringify(key)}: ${sliceOf(source, span)}`);
  return `{${texts.join(', ')}}`;
};

/** A member of a located object, with its source text. */
export const locatedMember = (located: Located, key: string): Located | undefined => {
  const value = member(located.value, key);
  const span = spanOf(located.source, rootSpan(located.source), [key]);
  if (value === undefined || span === undefined) return undefined;
  const pointer = `${located.pointer}/${escapeKey(key)}`;
  return { value, pointer, source: sliceOf(located.source, span) };
};

/** Items of a located list, each with its source text. */
export const locatedItems = (located: Located | undefined): readonly Located[] => {
  if (located === undefined || !isList(located.value)) return [];
  const spans = itemSpans(located.source, rootSpan(located.source));
  return located.value.map((value, index) => {
    const span = spans[index];
    return {
      value,
      pointer: `${located.pointer}/${String(index)}`,
      source: span === undefined ? JSON.stringify(value) : sliceOf(located.source, span),
    };
  });
};
