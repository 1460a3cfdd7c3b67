/** Stored format: what this file accepts is what is on disk. It may only ever grow. */
import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from './errors.js';
import { ENVELOPE_JSON, parseJson } from './json-scan.js';
import type { Json } from './json-value.js';

const STORED_KEY = /^[\x20-\x7e]*$/;
// JavaScript moves such keys in front of all others, so their written order would be lost.
const INTEGER_LIKE = /^(?:0|[1-9]\d*)$/;

const isStoredKey = (key: string): boolean =>
  STORED_KEY.test(key) && !INTEGER_LIKE.test(key) && key !== '__proto__';

const isStoredScalar = (value: unknown): boolean =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (Number.isSafeInteger(value) && !Object.is(value, -0));

const { maxDepth, maxKeys } = ENVELOPE_JSON;

/** Whether a value has only what stored JSON may have. Not recursive; the value has no cycles. */
const isStorable = (root: unknown): boolean => {
  let level: unknown[] = [root];
  let keys = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const inner: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) {
        if (!isStoredScalar(value)) return false;
        continue;
      }
      if (depth === maxDepth) return false;
      if (Array.isArray(value)) {
        for (const item of value) inner.push(item);
        continue;
      }
      for (const [key, member] of Object.entries(value)) {
        keys += 1;
        if (!isStoredKey(key) || keys > maxKeys) return false;
        inner.push(member);
      }
    }
    level = inner;
  }
  return true;
};

/**
 * The stored text of a value that its schema already accepts. Throws when the value breaks the rules
 * of stored JSON all the same: that is a fault of ours and must not reach a store.
 */
export const encodeStemmaJson = (value: unknown): string => {
  // First, because it is what notices a cycle.
  const text = JSON.stringify(value);
  if (!isStorable(value)) throw new TypeError('a schema let through what stored JSON cannot hold');
  return text;
};

/**
 * The value of a stored text. Anything but stored JSON, to the byte, is Damaged: keys are printable
 * ASCII, not integer-like, unique and in written order; numbers are safe integers; nothing is spelt
 * in two ways. So JSON.stringify of the value gives the text again.
 */
export const parseStemmaJson = (text: string): E.Either<FaultOf<'Damaged'>, Json> => {
  const parsed = parseJson(text);
  return E.isRight(parsed) && isStorable(parsed.right) && JSON.stringify(parsed.right) === text
    ? parsed
    : E.left({ _tag: 'Damaged', check: 'payload' });
};

/** Whether a text is stored JSON. */
export const isStemmaJson = (text: string): boolean => E.isRight(parseStemmaJson(text));
