import type { ToolArgumentsRule } from '../errors.js';
import { isWireObject } from './whitelist.js';

/** Why a value is no text of a JSON object; undefined when it is. */
export const argumentsRuleOf = (value: unknown): ToolArgumentsRule | undefined => {
  if (typeof value !== 'string') return 'not_json';
  try {
    return isWireObject(JSON.parse(value)) ? undefined : 'not_an_object';
  } catch {
    return 'not_json';
  }
};
