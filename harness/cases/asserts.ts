import type { Assert } from './expected-shape.js';
import { isFields, isList } from './shape.js';
import {
  isEqual,
  isWellFormedBelow,
  jsonText,
  nodeAt,
  segmentsOf,
  shown,
  type Found,
} from './values.js';

/** Gives the node at a pointer, root included. */
export type Lookup = (pointer: string) => Promise<Found>;

/** Whether the operation gives the root that a pointer begins with. */
export type HasRoot = (pointer: string) => boolean;

export const rootIn =
  (roots: Readonly<Record<string, unknown>>): HasRoot =>
  (pointer) =>
    Object.hasOwn(roots, segmentsOf(pointer)[0] ?? '');

/** Lookup over roots that are found when they are asked for. */
export const lookupIn =
  (roots: Readonly<Record<string, () => Promise<unknown>>>): Lookup =>
  async (pointer) => {
    const [root = '', ...rest] = segmentsOf(pointer);
    const find = Object.hasOwn(roots, root) ? roots[root] : undefined;
    if (find === undefined) return { there: false };
    const value = await find();
    const found = nodeAt(value, rest);
    if (found.there || root !== 'reads' || rest.at(-1) !== 'length') return found;
    // A history that was read back has a length of its own.
    const list = nodeAt(value, rest.slice(0, -1));
    return list.there && isList(list.node) ? { there: true, node: list.node.length } : found;
  };

type Test = (
  wanted: unknown,
  node: unknown,
  lookup: Lookup,
) => string | undefined | Promise<string | undefined>;

const unless = (holds: boolean, wanted: unknown, node: unknown): string | undefined =>
  holds ? undefined : `expected ${shown(wanted)}, found ${shown(node)}`;

const sizeOf = (node: unknown): number | undefined => {
  if (isList(node)) return node.length;
  return typeof node === 'string' ? Array.from(node).length : undefined;
};

const sized =
  (holds: (size: number, wanted: number) => boolean): Test =>
  (wanted, node) => {
    const size = sizeOf(node);
    return unless(size !== undefined && holds(size, Number(wanted)), wanted, size ?? node);
  };

const bounded =
  (holds: (value: number, wanted: number) => boolean): Test =>
  (wanted, node) =>
    unless(typeof node === 'number' && holds(node, Number(wanted)), wanted, node);

const typeOf = (node: unknown): string => {
  if (node === null) return 'null';
  return isList(node) ? 'array' : typeof node;
};

const expression = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
};

const blankText = (node: unknown, at: string): string | undefined => {
  if (isList(node)) {
    for (const [index, item] of node.entries()) {
      const found = blankText(item, `${at}/${String(index)}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isFields(node)) return undefined;
  for (const [key, entry] of Object.entries(node)) {
    const isText = (key === 'text' || key === 'content') && typeof entry === 'string';
    if (isText && entry.trim() === '') return `${at}/${key}`;
    const found = blankText(entry, `${at}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

const isJsonObject = (node: unknown): boolean => {
  try {
    return typeof node === 'string' && isFields(JSON.parse(node) as unknown);
  } catch {
    return false;
  }
};

const instantOf = (value: unknown): number | undefined => {
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? new Date(value).getTime() : undefined;
};

const base64Of = (value: unknown): string | undefined => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isList(value) && value.every((byte) => typeof byte === 'number')) {
    return Buffer.from(value).toString('base64');
  }
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('base64') : undefined;
};

const tests: Readonly<Record<Exclude<keyof Assert, 'at' | 'absent'>, Test>> = {
  eq: (wanted, node) => unless(isEqual(wanted, node), wanted, node),
  eq_at: async (pointer, node, lookup) => {
    const other = await lookup(String(pointer));
    return other.there
      ? unless(isEqual(other.node, node), other.node, node)
      : `there is no ${String(pointer)}`;
  },
  ne_at: async (pointer, node, lookup) => {
    const other = await lookup(String(pointer));
    if (!other.there) return `there is no ${String(pointer)}`;
    return isEqual(other.node, node) ? `both are ${shown(node)}` : undefined;
  },
  one_of: (wanted, node) =>
    unless(
      (wanted as readonly unknown[]).some((one) => isEqual(one, node)),
      wanted,
      node,
    ),
  match: (wanted, node) =>
    unless(typeof node === 'string' && expression(String(wanted)).test(node), wanted, node),
  not_match: (wanted, node) =>
    unless(typeof node === 'string' && !expression(String(wanted)).test(node), wanted, node),
  min: bounded((value, wanted) => value >= wanted),
  max: bounded((value, wanted) => value <= wanted),
  length: sized((size, wanted) => size === wanted),
  min_length: sized((size, wanted) => size >= wanted),
  max_length: sized((size, wanted) => size <= wanted),
  type: (wanted, node) => unless(typeOf(node) === wanted, wanted, node),
  contains_text: (wanted, node) => unless(jsonText(node).includes(String(wanted)), wanted, node),
  not_contains_text: (wanted, node) =>
    jsonText(node).includes(String(wanted)) ? `it has ${shown(wanted)}` : undefined,
  no_blank_text: (_wanted, node) => {
    const blank = blankText(node, '');
    return blank === undefined ? undefined : `blank text at ${blank}`;
  },
  json_object: (_wanted, node) =>
    isJsonObject(node) ? undefined : `no text of a JSON object: ${shown(node)}`,
  starts_with_at: async (pointer, node, lookup) => {
    const other = await lookup(String(pointer));
    if (!other.there || !isList(other.node)) return `there is no list at ${String(pointer)}`;
    const wanted = other.node;
    return unless(isList(node) && isEqual(wanted, node.slice(0, wanted.length)), wanted, node);
  },
  well_formed_unicode: (_wanted, node) =>
    isWellFormedBelow(node) ? undefined : 'half a surrogate pair is in it',
  same_instant: (wanted, node) => {
    const [instant, found] = [instantOf(wanted), instantOf(node)];
    const holds = instant !== undefined && !Number.isNaN(instant) && instant === found;
    return unless(holds, wanted, node);
  },
  bytes: (wanted, node) => unless(base64Of(node) === base64Of(wanted), wanted, node),
};

const testNode = async (
  assert: Assert,
  node: unknown,
  lookup: Lookup,
): Promise<string | undefined> => {
  const { at, absent, ...given } = assert;
  if (absent !== undefined) return `${at}: there is ${shown(node)}`;
  for (const [name, wanted] of Object.entries(given)) {
    const test = tests[name as keyof typeof tests];
    const wrong = await test(wanted, node, lookup);
    if (wrong !== undefined) return `${at} ${name}: ${wrong}`;
  }
  return undefined;
};

/** The first assert that does not hold. */
export const assertsDifference = async (
  asserts: readonly Assert[],
  lookup: Lookup,
  hasRoot: HasRoot,
): Promise<string | undefined> => {
  for (const assert of asserts) {
    if (!hasRoot(assert.at)) return `${assert.at}: there is nothing under this root`;
    const found = await lookup(assert.at);
    if (!found.there) {
      if (assert.absent === true && Object.keys(assert).length === 2) continue;
      return `${assert.at}: there is no such node`;
    }
    const wrong = await testNode(assert, found.node, lookup);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
};
