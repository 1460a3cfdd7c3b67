import { isWellFormed, repairText } from '../text.js';
import { isWireObject } from './whitelist.js';

/** Whether every text of a value can be sent as UTF-8. */
export const isSendable = (value: unknown): boolean => {
  if (typeof value === 'string') return isWellFormed(value);
  if (Array.isArray(value)) return value.every(isSendable);
  if (!isWireObject(value)) return true;
  return Object.entries(value).every(([key, item]) => isWellFormed(key) && isSendable(item));
};

/** Every text of a JSON value made well-formed; the same value when nothing had to be changed. */
export const repairJson = (value: unknown): unknown => {
  if (typeof value === 'string') return isWellFormed(value) ? value : repairText(value).text;
  if (Array.isArray(value)) {
    const items = value.map(repairJson);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isWireObject(value)) return value;
  const entries = Object.entries(value).map(
    ([key, item]) => [repairText(key).text, repairJson(item), key, item] as const,
  );
  return entries.every(([key, item, oldKey, old]) => key === oldKey && item === old)
    ? value
    : Object.fromEntries(entries.map(([key, item]) => [key, item]));
};
