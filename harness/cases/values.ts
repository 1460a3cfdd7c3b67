import { isFields, isList } from './shape.js';

/** JSON text of a value, for people; what JSON cannot carry is shown by its type. */
export const shown = (value: unknown, limit = 400): string => {
  const plain = (_key: string, entry: unknown): unknown => {
    if (typeof entry === 'bigint') return `${String(entry)}n`;
    if (typeof entry === 'number' && !Number.isFinite(entry)) return String(entry);
    return entry === undefined ? '(undefined)' : entry;
  };
  const text = value === undefined ? 'nothing' : JSON.stringify(value, plain);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
};

/** JSON text as the cases compare it: non-ASCII characters stand as they are. */
export const jsonText = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value);

const keysOf = (value: object): readonly string[] => Object.keys(value);

/** Equality of values; the order of keys does not count, that of lists does. */
export const isEqual = (a: unknown, b: unknown): boolean => firstDifference(a, b, '') === undefined;

export interface Difference {
  readonly at: string;
  readonly expected: unknown;
  readonly found: unknown;
}

/** Where two values differ first; undefined when they are equal. */
export const firstDifference = (
  expected: unknown,
  found: unknown,
  at: string,
): Difference | undefined => {
  if (Object.is(expected, found)) return undefined;
  if (isList(expected) && isList(found)) {
    for (let index = 0; index < Math.max(expected.length, found.length); index += 1) {
      const there = index < expected.length && index < found.length;
      const place = `${at}/${String(index)}`;
      if (!there) return { at: place, expected: expected[index], found: found[index] };
      const inner = firstDifference(expected[index], found[index], place);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  if (isFields(expected) && isFields(found)) {
    for (const key of new Set([...keysOf(expected), ...keysOf(found)])) {
      const place = `${at}/${key}`;
      const there = Object.hasOwn(expected, key) && Object.hasOwn(found, key);
      if (!there) return { at: place, expected: expected[key], found: found[key] };
      const inner = firstDifference(expected[key], found[key], place);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  return { at, expected, found };
};

export const told = ({ at, expected, found }: Difference): string =>
  `${at}: expected ${shown(expected)}, found ${shown(found)}`;

/** Equal as sets: order and repetition do not count. */
export const sameSet = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.every((entry) => b.some((other) => isEqual(entry, other))) &&
  b.every((entry) => a.some((other) => isEqual(entry, other)));

export type Found = { readonly there: true; readonly node: unknown } | { readonly there: false };

const missing: Found = { there: false };

/** Segments of a JSON pointer (RFC 6901). */
export const segmentsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The node at a path of keys and indexes. */
export const nodeAt = (root: unknown, segments: readonly string[]): Found => {
  let node = root;
  for (const segment of segments) {
    if (isList(node)) {
      if (!/^(0|[1-9]\d*)$/.test(segment) || Number(segment) >= node.length) return missing;
      node = node[Number(segment)];
    } else if (typeof node === 'object' && node !== null && Object.hasOwn(node, segment)) {
      node = (node as Readonly<Record<string, unknown>>)[segment];
    } else return missing;
  }
  return { there: true, node };
};

/** Every text in a value, keys of objects included. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (isList(value)) for (const item of value) yield* textsIn(item);
  else if (isFields(value)) {
    for (const [key, entry] of Object.entries(value)) {
      yield key;
      yield* textsIn(entry);
    }
  }
}

/** Whether no text in the value holds half a surrogate pair. */
export const isWellFormedBelow = (value: unknown): boolean => {
  for (const text of textsIn(value)) if (/\p{Surrogate}/u.test(text)) return false;
  return true;
};
