import type { Raw } from '../message.js';
import { isWireObject, type WireObject } from './whitelist.js';

/** The original object of a message, when it has the form of `system`. */
export const parseRaw = (raw: Raw | undefined, system: string): WireObject | undefined => {
  if (raw?.system !== system) return undefined;
  try {
    const value: unknown = JSON.parse(raw.text);
    return isWireObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
