import * as E from 'fp-ts/lib/Either.js';
import { digestOf } from '../../domain/digest.js';
import type { ImportNote } from '../../domain/import-plan.js';
import type { Json, JsonObject } from '../../domain/json-value.js';
import type { JsonRules } from '../../domain/json-scan.js';
import { foreignId, isRfc3339, utf8Bytes } from '../../domain/text.js';

/** What a caller may say about a file that is imported. */
export interface ImportOptions {
  /** Identity of the conversation where the format has none. */
  readonly id?: string;
  /** Take what can be read instead of refusing the file (B58). */
  readonly salvage?: boolean;
}

/**
 * Rules for foreign documents: what readers disagree about is flagged and kept (B08, B10, B11), the
 * limits are those of whole files, not of commands.
 */
export const FILE_JSON: JsonRules = {
  maxDepth: 512,
  maxKeys: 2_000_000,
  duplicateKeys: 'flag',
  forbiddenKeys: 'flag',
  unsafeNumbers: 'flag',
  illFormedKeys: 'flag',
};

/** Whether a JSON value is an object. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a JSON value is a list. */
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** An own member: what `__proto__` or an inherited name would give is none. */
export const member = (object: Json | undefined, key: string): Json | undefined =>
  isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;

/** An own member that is text. */
export const textMember = (object: Json | undefined, key: string): string | undefined => {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
};

/** An own member that is text with something in it. */
export const nameMember = (object: Json | undefined, key: string): string | undefined => {
  const value = textMember(object, key);
  return value === '' ? undefined : value;
};

/** Equality of JSON values; the order of keys does not count. */
export const isEqualJson = (a: Json | undefined, b: Json | undefined): boolean => {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && isEqualJson(value, right.get(key)))
  );
};

const DIGEST_PREFIX = 3;

/** A short name made of content: 128 bits in base64url. */
export const shortDigest = (text: string): string =>
  digestOf(text).slice(DIGEST_PREFIX, DIGEST_PREFIX + 22);

/** Leaves room for what the engine and this code put before and behind an id. */
const ID_BYTES = 200;

/**
 * The id itself where it may stand as one (B18); else a name made of it, so that links in a hostile
 * file still hold.
 */
export const usableId = (id: string): string =>
  utf8Bytes(id) <= ID_BYTES && E.isRight(foreignId('', id)) ? id : `~${shortDigest(id)}`;

/** The time a source claims, if it is strict RFC 3339 (B52). */
export const claimedAtOf = (value: Json | undefined): { readonly claimedAt?: string } =>
  typeof value === 'string' && isRfc3339(value) ? { claimedAt: value } : {};

/** Command id of an import: the identity of the source and the digest of its bytes. */
export const importIdOf = (format: string, identity: readonly string[], digest: string): string =>
  `import:${format}:${shortDigest(JSON.stringify([...identity, digest]))}`;

/** Collects what an importer did not take over as it stood. Never content, only places and ids. */
export interface Notes {
  readonly list: ImportNote[];
  readonly add: (code: string, at?: Omit<ImportNote, 'code'>) => void;
}

/** Notes, none yet. */
export const startNotes = (): Notes => {
  const list: ImportNote[] = [];
  return { list, add: (code, at = {}) => list.push({ code, ...at }) };
};

/** How often each name is there; a name like `__proto__` is a name. */
export const countNames = (names: Iterable<string>): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
};
