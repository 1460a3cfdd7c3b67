import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, InvalidValueKind } from './errors.js';
import { pointerTo } from './json-pointer.js';
import { isWellFormed } from './text.js';

/** A value that JSON carries without loss. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** An object of JSON values. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Limits of a value that a caller hands over. */
export interface ValueLimits {
  /** Lists and objects inside each other; a scalar has depth 0. */
  readonly maxDepth: number;
  /** Keys of all objects together. */
  readonly maxKeys: number;
  /** Items of all lists together. A shared list counts each time that it is written out. */
  readonly maxItems: number;
}

const DEFAULT_LIMITS: ValueLimits = { maxDepth: 64, maxKeys: 100_000, maxItems: 1_000_000 };

/** Why a value of the caller is no JSON. */
export type ValueFault = FaultOf<
  'InvalidValue' | 'UnsafeNumber' | 'ForbiddenKey' | 'IllFormedUnicode' | 'TooDeep' | 'TooManyKeys'
>;

type Target = Json[] | Record<string, Json>;

interface Frame {
  readonly source: object;
  readonly target: Target;
  /** Keys to copy; undefined for a list, whose items are copied up to its length. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  readonly isConstructor: boolean;
  next: number;
  place: string | number;
}

interface Walk {
  readonly base: string;
  readonly limits: ValueLimits;
  readonly frames: Frame[];
  readonly ancestors: Set<object>;
  keys: number;
  items: number;
}

const pointer = ({ base, frames }: Walk): string =>
  pointerTo(
    base,
    frames.map((frame) => frame.place),
  );

const refused = (walk: Walk, kind: InvalidValueKind): ValueFault => ({
  _tag: 'InvalidValue',
  path: pointer(walk),
  kind,
});

const topOf = (walk: Walk): Frame | undefined => walk.frames[walk.frames.length - 1];

// Objects of another realm (a test runner's sandbox, a frame) are plain too: their prototype is the
// root of its own chain.
const isPlainPrototype = (prototype: object | null): boolean =>
  prototype === null ||
  prototype === Object.prototype ||
  (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'));

// Array.prototype is a list itself, in every realm; the prototype of a subclass is not.
const isPlain = (source: object): boolean => {
  const prototype = Object.getPrototypeOf(source) as object | null;
  return Array.isArray(source) ? Array.isArray(prototype) : isPlainPrototype(prototype);
};

const COLLECTIONS: readonly string[] = ['Map', 'Set', 'WeakMap', 'WeakSet'];

const kindOfInstance = (source: object): InvalidValueKind => {
  const name = Object.prototype.toString.call(source).slice(8, -1);
  if (name === 'Date') return 'date';
  return COLLECTIONS.includes(name) ? 'collection' : 'class_instance';
};

const isSymbol = (key: string | symbol): key is symbol => typeof key === 'symbol';

/** What a list holds besides its items. Holes that this misses are found when they are reached. */
const oddityOfList = (source: readonly unknown[]): InvalidValueKind | undefined => {
  const keys = Reflect.ownKeys(source);
  if (keys.length <= source.length) return 'sparse_array';
  // One key more than there are items: that is `length`.
  if (keys.length === source.length + 1) return undefined;
  return keys.some(isSymbol) ? 'symbol_key' : 'array_property';
};

const openList = (walk: Walk, source: readonly unknown[]): ValueFault | Frame => {
  walk.items += source.length;
  const oddity = oddityOfList(source);
  if (oddity !== undefined) return refused(walk, oddity);
  if (walk.items > walk.limits.maxItems) {
    return { _tag: 'TooManyKeys', limit: walk.limits.maxItems };
  }
  const { length } = source;
  return { source, target: [], names: undefined, length, isConstructor: false, next: 0, place: 0 };
};

const openObject = (walk: Walk, source: object): ValueFault | Frame => {
  const names = Reflect.ownKeys(source);
  walk.keys += names.length;
  if (walk.keys > walk.limits.maxKeys) return { _tag: 'TooManyKeys', limit: walk.limits.maxKeys };
  if (names.some(isSymbol)) return refused(walk, 'symbol_key');
  return {
    source,
    target: {},
    names: names as readonly string[],
    length: names.length,
    isConstructor: topOf(walk)?.place === 'constructor',
    next: 0,
    place: '',
  };
};

const open = (walk: Walk, source: object): ValueFault | Frame => {
  if (walk.ancestors.has(source)) return refused(walk, 'cycle');
  const depth = walk.frames.length + 1;
  const limit = walk.limits.maxDepth;
  if (depth > limit) return { _tag: 'TooDeep', depth, limit };
  if (!isPlain(source)) return refused(walk, kindOfInstance(source));
  return Array.isArray(source) ? openList(walk, source) : openObject(walk, source);
};

/** The copy of `value`, as far as it is known: objects and lists are filled by later steps. */
const convert = (walk: Walk, value: unknown): E.Either<ValueFault, Json> => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') {
    return E.right(value);
  }
  if (typeof value === 'number') {
    const isUnsafe =
      !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
    if (isUnsafe) return E.left({ _tag: 'UnsafeNumber', path: pointer(walk) });
    return E.right(Object.is(value, -0) ? 0 : value);
  }
  if (typeof value !== 'object') {
    // These four are what typeof can still say.
    const kind = typeof value as 'undefined' | 'function' | 'symbol' | 'bigint';
    return E.left(refused(walk, kind));
  }
  const opened = open(walk, value);
  if ('_tag' in opened) return E.left(opened);
  walk.ancestors.add(value);
  walk.frames.push(opened);
  return E.right(opened.target);
};

const attach = (frame: Frame, value: Json): void => {
  const { target } = frame;
  if (Array.isArray(target)) target.push(value);
  else if (!(frame.place in target)) target[frame.place] = value;
  else {
    // The prototype has this name: assignment would call its setter, or fail when it is frozen.
    const own = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(target, frame.place, own);
  }
};

const keyFault = (walk: Walk, frame: Frame, key: string): ValueFault | undefined => {
  if (!isWellFormed(key)) return { _tag: 'IllFormedUnicode', path: pointer(walk) };
  return key === '__proto__' || (key === 'prototype' && frame.isConstructor)
    ? { _tag: 'ForbiddenKey', path: pointer(walk) }
    : undefined;
};

/** Copies the next member of `frame`, the innermost one. */
const step = (walk: Walk, frame: Frame): ValueFault | undefined => {
  const key = frame.names?.[frame.next] ?? frame.next;
  frame.place = key;
  frame.next += 1;
  const fault = typeof key === 'string' ? keyFault(walk, frame, key) : undefined;
  if (fault !== undefined) return fault;
  const property = Object.getOwnPropertyDescriptor(frame.source, key);
  if (property === undefined) return refused(walk, 'sparse_array');
  if (property.get !== undefined || property.set !== undefined) return refused(walk, 'accessor');
  // JSON.stringify would leave it out in silence.
  if (property.enumerable !== true) return refused(walk, 'hidden_property');
  const converted = convert(walk, property.value);
  if (E.isLeft(converted)) return converted.left;
  attach(frame, converted.right);
  return undefined;
};

const walkAll = (walk: Walk, value: unknown): E.Either<ValueFault, Json> => {
  const root = convert(walk, value);
  if (E.isLeft(root)) return root;
  for (let frame = topOf(walk); frame !== undefined; frame = topOf(walk)) {
    if (frame.next >= frame.length) {
      walk.ancestors.delete(frame.source);
      walk.frames.pop();
      continue;
    }
    const fault = step(walk, frame);
    if (fault !== undefined) return E.left(fault);
  }
  return root;
};

/**
 * A copy of a value that a caller handed over, when JSON carries it whole: what JSON.stringify would
 * drop, convert or call is refused with its place (B13, B14). Negative zero becomes 0; half surrogate
 * pairs in strings are kept, in keys refused (B15, B16). Runs no code of the value, except that of a
 * Proxy. `path` is the pointer to the value itself.
 */
export const plainJson = (
  value: unknown,
  path = '',
  limits: Partial<ValueLimits> = {},
): E.Either<ValueFault, Json> => {
  const walk: Walk = {
    base: path,
    limits: { ...DEFAULT_LIMITS, ...limits },
    frames: [],
    ancestors: new Set(),
    keys: 0,
    items: 0,
  };
  try {
    return walkAll(walk, value);
  } catch {
    // Only the traps of a Proxy can throw here, and then it is no plain value.
    return E.left(refused(walk, 'class_instance'));
  }
};
