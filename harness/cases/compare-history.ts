import type { FoundViolation } from '../../src/domain/context/check.js';
import { contentBack, itemBack, plainText } from './canonical.js';
import { violates } from './codes.js';
import type { Expected } from './expected-shape.js';
import type { HistoryItem } from './run.js';
import { isList, type Fields } from './shape.js';
import { firstDifference, isEqual, sameSet, shown, told } from './values.js';

/** The field of a history row in the form in which the case writes it. */
const fieldOf = (found: HistoryItem, key: string, wanted: unknown, row: Fields): unknown => {
  const { item, given } = found;
  if (key !== 'content') return itemBack(item, given)[key];
  const hidesReasoning = Object.hasOwn(row, 'reasoning') || typeof wanted === 'string';
  const { blocks } = item.message;
  const said = hidesReasoning ? blocks.filter(({ type }) => type !== 'reasoning') : blocks;
  return contentBack(said, typeof wanted === 'string');
};

const valueOf = (found: HistoryItem, key: string, wanted: unknown, row: Fields): unknown => {
  if (key === 'id') return found.name;
  return key === 'parent' ? found.parent : fieldOf(found, key, wanted, row);
};

const rowDifference = (wanted: Fields, found: HistoryItem, at: string): string | undefined => {
  for (const [key, value] of Object.entries(wanted)) {
    const read = valueOf(found, key, value, wanted);
    const difference = firstDifference(value, read, `${at}/${key}`);
    if (difference !== undefined) return told(difference);
  }
  return undefined;
};

/** A list of rows in order, or rows by message id. */
export const historyDifference = (
  wanted: readonly Fields[] | Readonly<Record<string, Fields>>,
  found: readonly HistoryItem[],
): string | undefined => {
  if (!isList(wanted)) {
    for (const [id, row] of Object.entries(wanted)) {
      const one = found.find(({ name }) => name === id);
      const wrong =
        one === undefined ? `history/${id} is not there` : rowDifference(row, one, `history/${id}`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
  if (wanted.length !== found.length) {
    const ids = found.map(({ name }) => name);
    return `history: expected ${String(wanted.length)} messages, found ${shown(ids)}`;
  }
  for (const [index, row] of wanted.entries()) {
    const one = found[index];
    const wrong = one && rowDifference(row, one, `history/${String(index)}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
};

const rawDifference = (
  id: string,
  wanted: string | readonly string[],
  { item: { message } }: HistoryItem,
): string | undefined => {
  const args = message.toolCalls.map((call) => call.arguments);
  if (typeof wanted === 'string') {
    const texts = [...args, plainText(message)];
    return texts.includes(wanted)
      ? undefined
      : `history_raw/${id}: expected ${shown(wanted)}, found ${shown(texts)}`;
  }
  const names = message.toolCalls.map(({ name }) => name);
  return isEqual(wanted, names) || isEqual(wanted, args)
    ? undefined
    : `history_raw/${id}: expected ${shown(wanted)}, found ${shown(names)}`;
};

/** Stored text by message id: arguments, content, or names of tools. */
export const historyRawDifference = (
  wanted: Readonly<Record<string, string | readonly string[]>>,
  found: readonly HistoryItem[],
): string | undefined => {
  for (const [id, value] of Object.entries(wanted)) {
    const one = found.find(({ name }) => name === id);
    const wrong =
      one === undefined ? `history_raw/${id} is not there` : rawDifference(id, value, one);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
};

type Violations = NonNullable<NonNullable<Expected['validate_raw']>['violations']>;

const isFound = (wanted: Violations[number], found: FoundViolation): boolean =>
  violates(found, wanted.code) &&
  (wanted.index === undefined || wanted.index === found.index) &&
  (wanted.role === undefined || wanted.role === found.role) &&
  (wanted.ids === undefined ||
    sameSet(wanted.ids, found.ids) ||
    sameSet(wanted.ids, found.messageIds));

/** What a profile says about the messages as they stand. */
export const violationsDifference = (
  wanted: NonNullable<Expected['validate_raw']>,
  found: readonly FoundViolation[],
): string | undefined => {
  const ok = found.length === 0;
  if (ok !== wanted.ok) {
    return `validate_raw/ok: expected ${String(wanted.ok)}, found ${shown(found)}`;
  }
  const absent = (wanted.violations ?? []).find(
    (one) => !found.some((other) => isFound(one, other)),
  );
  return absent === undefined
    ? undefined
    : `validate_raw: expected ${shown(absent)}, found ${shown(found)}`;
};
