import type { Projection } from './projection.js';

/**
 * Drafts as text and back. A draft is made of texts, finite numbers, booleans, null, plain objects,
 * arrays, Maps and Sets; each mutable part has one owner, since a text cannot say that two are one.
 */
type Encoded =
  string | number | boolean | null | readonly Encoded[] | { readonly [K: string]: Encoded };

// An object is written as itself unless one of its keys could be taken for a tag.
const MAP = '$map';
const SET = '$set';
const ENTRIES = '$entries';
const tags = new Set([MAP, SET, ENTRIES]);

const encodeObject = (value: object): Encoded => {
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]: [string, unknown]) => [key, encode(item)] as const);
  return entries.some(([key]) => tags.has(key))
    ? { [ENTRIES]: entries }
    : Object.fromEntries(entries);
};

const encode = (value: unknown): Encoded => {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(encode);
  if (value instanceof Map) {
    return { [MAP]: [...value].map(([key, item]) => [encode(key), encode(item)]) };
  }
  if (value instanceof Set) return { [SET]: [...value].map(encode) };
  if (typeof value === 'object') return encodeObject(value);
  throw new TypeError(`a draft cannot hold a ${typeof value}`);
};

type Pairs = readonly (readonly [Encoded, Encoded])[];

const decode = (value: Encoded): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Encoded[]).map(decode);
  const object = value as { readonly [K: string]: Encoded };
  if (MAP in object) {
    return new Map((object[MAP] as Pairs).map(([key, item]) => [decode(key), decode(item)]));
  }
  if (SET in object) return new Set((object[SET] as readonly Encoded[]).map(decode));
  const entries = ENTRIES in object ? (object[ENTRIES] as Pairs) : Object.entries(object);
  return Object.fromEntries(entries.map(([key, item]) => [key, decode(item)]));
};

/** The text of a draft. Throws for what a draft may not hold: that is a fault of the projection. */
export const freeze = (draft: unknown): string => JSON.stringify(encode(draft));

/** A draft of its own from a text that `freeze` made. What it is of, the caller knows: see `thawFor`. */
export const thaw = (text: string): unknown => decode(JSON.parse(text) as Encoded);

/** A draft with the name and version of the projection that made it. */
export const freezeFor = <Draft, View>(
  { name, version }: Projection<Draft, View>,
  draft: Draft,
): string => JSON.stringify([name, version, encode(draft)]);

/**
 * The draft of a checkpoint; undefined for one of another projection or version, or for a text that
 * is none: rebuild from zero.
 */
export const thawFor = <Draft, View>(
  { name, version }: Projection<Draft, View>,
  text: string,
): Draft | undefined => {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed) || parsed.length !== 3) return undefined;
    const [ofName, ofVersion, draft] = parsed as [unknown, unknown, Encoded];
    return ofName === name && ofVersion === version ? (decode(draft) as Draft) : undefined;
  } catch {
    return undefined;
  }
};
