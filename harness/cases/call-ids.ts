import type { CaseInput } from './read-case.js';
import { isFields, isList } from './shape.js';

const take = (ids: Set<string>, value: unknown): void => {
  if (typeof value === 'string') ids.add(value);
};

const fromCalls = (ids: Set<string>, key: string, list: unknown): void => {
  if (!isList(list)) return;
  for (const call of list) {
    if (!isFields(call)) continue;
    if (key === 'tool_calls') take(ids, call['id']);
    if (key === 'toolInvocations') take(ids, call['toolCallId']);
  }
};

const walk = (ids: Set<string>, value: unknown): void => {
  if (isList(value)) {
    for (const item of value) walk(ids, item);
    return;
  }
  if (!isFields(value)) return;
  if (value['type'] === 'tool_use') take(ids, value['id']);
  for (const [key, entry] of Object.entries(value)) {
    fromCalls(ids, key, entry);
    if (key === 'tool_call' && isFields(entry)) take(ids, entry['id']);
    walk(ids, entry);
  }
};

/** Ids of all calls that anything in the case makes (rule 7). */
export const callIdsIn = (
  input: Pick<CaseInput, 'messages' | 'wire' | 'events' | 'params'>,
  ...others: readonly unknown[]
): ReadonlySet<string> => {
  const ids = new Set<string>();
  walk(ids, [input.messages, input.wire, input.events, input.params, ...others]);
  return ids;
};
