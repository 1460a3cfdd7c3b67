import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from './errors.js';
import { pointerTo } from './json-pointer.js';
import type { Json } from './json-value.js';
import { isWellFormed } from './text.js';

/** What to do when a construct is found that JSON allows and readers disagree about. */
export type OnFind = 'refuse' | 'flag';

/** Limits of a document, and how strict to be with it. */
export interface JsonRules {
  /** Lists and objects inside each other; a scalar has depth 0. */
  readonly maxDepth: number;
  /** Keys of all objects together. */
  readonly maxKeys: number;
  readonly duplicateKeys: OnFind;
  /** `__proto__` anywhere, and `prototype` directly inside `constructor`. */
  readonly forbiddenKeys: OnFind;
  /** Whole numbers beyond 2^53-1 and exponents that overflow. */
  readonly unsafeNumbers: OnFind;
  /** Keys with half a surrogate pair. */
  readonly illFormedKeys: OnFind;
}

/** Rules for documents that the engine itself reads: commands, envelopes, metadata. */
export const ENVELOPE_JSON: JsonRules = {
  maxDepth: 64,
  maxKeys: 100_000,
  duplicateKeys: 'refuse',
  forbiddenKeys: 'refuse',
  unsafeNumbers: 'refuse',
  illFormedKeys: 'refuse',
};

/** Rules for documents that are carried as text, such as tool arguments: found, flagged, kept. */
export const FOREIGN_JSON: JsonRules = {
  ...ENVELOPE_JSON,
  duplicateKeys: 'flag',
  forbiddenKeys: 'flag',
  unsafeNumbers: 'flag',
  illFormedKeys: 'flag',
};

/** What a document holds, seen without parsing it. */
export interface ScanReport {
  readonly depth: number;
  readonly keys: number;
  readonly dupKeys: boolean;
  readonly forbiddenKeys: boolean;
  readonly unsafeNumbers: boolean;
  readonly illFormedKeys: boolean;
  readonly negativeZero: boolean;
}

/** Why a document is refused before it is parsed. */
export type JsonTextFault = FaultOf<
  | 'InvalidJson'
  | 'TooDeep'
  | 'TooManyKeys'
  | 'DuplicateKey'
  | 'ForbiddenKey'
  | 'UnsafeNumber'
  | 'IllFormedUnicode'
>;

type Expected =
  'value' | 'item or end' | 'key or end' | 'key' | 'colon' | 'comma or end' | 'nothing';

interface Frame {
  readonly names: Set<string> | undefined;
  readonly isConstructor: boolean;
  place: string | number;
}

interface Scanner {
  readonly text: string;
  readonly rules: JsonRules;
  readonly frames: Frame[];
  readonly report: { -readonly [K in keyof ScanReport]: ScanReport[K] };
  at: number;
  expected: Expected;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LOWER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const SHORT_ESCAPES = '"\\/bfnrt';
const FOUR_HEX = /[0-9A-Fa-f]{4}/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS = ['true', 'false', 'null'] as const;
/** Numbers of up to this many characters cannot be unsafe unless they have an exponent. */
const SAFE_LENGTH = 15;

const invalid = (offset: number): JsonTextFault => ({ _tag: 'InvalidJson', offset });

const pointer = ({ frames }: Scanner): string =>
  pointerTo(
    '',
    frames.map((frame) => frame.place),
  );

const skipSpace = (scanner: Scanner): void => {
  const { text } = scanner;
  for (;;) {
    const unit = text.charCodeAt(scanner.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    scanner.at += 1;
  }
};

/** Length of the escape that begins at the backslash, or 0 when it is none. */
const escapeLength = (text: string, at: number): number => {
  if (text.charCodeAt(at + 1) === LOWER_U) {
    FOUR_HEX.lastIndex = at + 2;
    return FOUR_HEX.test(text) ? 6 : 0;
  }
  const kind = text.charAt(at + 1);
  return kind !== '' && SHORT_ESCAPES.includes(kind) ? 2 : 0;
};

/** Moves behind the string that begins at the scanner; the fault is where it stops being one. */
const passString = (scanner: Scanner): JsonTextFault | undefined => {
  const { text } = scanner;
  let at = scanner.at + 1;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      scanner.at = at + 1;
      return undefined;
    }
    if (unit < 0x20) return invalid(at);
    if (unit === BACKSLASH) {
      const length = escapeLength(text, at);
      if (length === 0) return invalid(at);
      at += length;
    } else at += 1;
  }
  return invalid(text.length);
};

const passNumber = (scanner: Scanner): JsonTextFault | undefined => {
  NUMBER.lastIndex = scanner.at;
  const token = NUMBER.exec(scanner.text)?.[0];
  if (token === undefined) return invalid(scanner.at);
  scanner.at += token.length;
  if (token.length <= SAFE_LENGTH && !/[-eE]/.test(token)) return undefined;
  const value = Number(token);
  if (Object.is(value, -0)) scanner.report.negativeZero = true;
  const isUnsafe =
    !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  if (!isUnsafe) return undefined;
  scanner.report.unsafeNumbers = true;
  return scanner.rules.unsafeNumbers === 'refuse'
    ? { _tag: 'UnsafeNumber', path: pointer(scanner) }
    : undefined;
};

const passLiteral = (scanner: Scanner): JsonTextFault | undefined => {
  const literal = LITERALS.find((word) => scanner.text.startsWith(word, scanner.at));
  if (literal === undefined) return invalid(scanner.at);
  scanner.at += literal.length;
  return undefined;
};

const open = (scanner: Scanner, isObject: boolean): JsonTextFault | undefined => {
  const { frames, report, rules } = scanner;
  const depth = frames.length + 1;
  if (depth > rules.maxDepth) return { _tag: 'TooDeep', depth, limit: rules.maxDepth };
  report.depth = Math.max(report.depth, depth);
  const isConstructor = isObject && frames[frames.length - 1]?.place === 'constructor';
  frames.push({ names: isObject ? new Set() : undefined, isConstructor, place: isObject ? '' : 0 });
  scanner.expected = isObject ? 'key or end' : 'item or end';
  scanner.at += 1;
  return undefined;
};

const afterValue = (scanner: Scanner): void => {
  scanner.expected = scanner.frames.length === 0 ? 'nothing' : 'comma or end';
};

const close = (scanner: Scanner): JsonTextFault | undefined => {
  scanner.frames.pop();
  scanner.at += 1;
  afterValue(scanner);
  return undefined;
};

const passValue = (scanner: Scanner, unit: number): JsonTextFault | undefined => {
  if (unit === OPEN_OBJECT || unit === OPEN_LIST) return open(scanner, unit === OPEN_OBJECT);
  // Set before the value is read: a fault ends the scan, so nobody sees the difference.
  afterValue(scanner);
  if (unit === QUOTE) return passString(scanner);
  if (unit === MINUS || (unit >= ZERO && unit <= NINE)) return passNumber(scanner);
  return passLiteral(scanner);
};

const keyFault = (scanner: Scanner, frame: Frame, key: string): JsonTextFault | undefined => {
  const { report, rules } = scanner;
  report.keys += 1;
  if (report.keys > rules.maxKeys) return { _tag: 'TooManyKeys', limit: rules.maxKeys };
  if (!isWellFormed(key)) {
    report.illFormedKeys = true;
    if (rules.illFormedKeys === 'refuse')
      return { _tag: 'IllFormedUnicode', path: pointer(scanner) };
  }
  if (key === '__proto__' || (key === 'prototype' && frame.isConstructor)) {
    report.forbiddenKeys = true;
    if (rules.forbiddenKeys === 'refuse') return { _tag: 'ForbiddenKey', path: pointer(scanner) };
  }
  if (frame.names?.has(key) === true) {
    report.dupKeys = true;
    if (rules.duplicateKeys === 'refuse') return { _tag: 'DuplicateKey', path: pointer(scanner) };
  }
  frame.names?.add(key);
  return undefined;
};

const passKey = (scanner: Scanner, frame: Frame): JsonTextFault | undefined => {
  const start = scanner.at;
  const fault = passString(scanner);
  if (fault !== undefined) return fault;
  const quoted = scanner.text.slice(start, scanner.at);
  // Two spellings of one key are one key: compare what they say, not how.
  const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  frame.place = key;
  scanner.expected = 'colon';
  return keyFault(scanner, frame, key);
};

const passColon = (scanner: Scanner): JsonTextFault | undefined => {
  scanner.at += 1;
  scanner.expected = 'value';
  return undefined;
};

const passComma = (scanner: Scanner, frame: Frame): JsonTextFault | undefined => {
  scanner.at += 1;
  scanner.expected = frame.names === undefined ? 'value' : 'key';
  if (typeof frame.place === 'number') frame.place += 1;
  return undefined;
};

const passToken = (scanner: Scanner): JsonTextFault | undefined => {
  const unit = scanner.text.charCodeAt(scanner.at);
  const frame = scanner.frames[scanner.frames.length - 1];
  const { expected } = scanner;
  if (expected === 'value') return passValue(scanner, unit);
  if (frame === undefined) return invalid(scanner.at);
  if (expected === 'item or end') {
    return unit === CLOSE_LIST ? close(scanner) : passValue(scanner, unit);
  }
  if (expected === 'key or end' && unit === CLOSE_OBJECT) return close(scanner);
  if (expected === 'key or end' || expected === 'key') {
    return unit === QUOTE ? passKey(scanner, frame) : invalid(scanner.at);
  }
  if (expected === 'colon') return unit === COLON ? passColon(scanner) : invalid(scanner.at);
  if (unit === COMMA) return passComma(scanner, frame);
  const end = frame.names === undefined ? CLOSE_LIST : CLOSE_OBJECT;
  return unit === end ? close(scanner) : invalid(scanner.at);
};

const emptyReport = (): Scanner['report'] => ({
  depth: 0,
  keys: 0,
  dupKeys: false,
  forbiddenKeys: false,
  unsafeNumbers: false,
  illFormedKeys: false,
  negativeZero: false,
});

/**
 * Reads a document once, without recursion and without building it, so that hostile nesting or
 * millions of keys are refused before JSON.parse sees them (B05, B06). What passes is JSON, exactly
 * when JSON.parse agrees. Offsets are UTF-16 units. The rules left out are those of ENVELOPE_JSON.
 */
export const scanJson = (
  text: string,
  rules: Partial<JsonRules> = {},
): E.Either<JsonTextFault, ScanReport> => {
  const scanner: Scanner = {
    text,
    rules: { ...ENVELOPE_JSON, ...rules },
    frames: [],
    report: emptyReport(),
    at: 0,
    expected: 'value',
  };
  for (;;) {
    skipSpace(scanner);
    if (scanner.at >= text.length) break;
    const fault = passToken(scanner);
    if (fault !== undefined) return E.left(fault);
  }
  return scanner.expected === 'nothing' ? E.right(scanner.report) : E.left(invalid(text.length));
};

/**
 * The value of a document that passes the scan. Negative zero becomes 0 (B13). Keys such as
 * `__proto__`, where the rules let them pass, are own properties of the result and pollute nothing.
 */
export const parseJson = (
  text: string,
  rules: Partial<JsonRules> = {},
): E.Either<JsonTextFault, Json> => {
  const scanned = scanJson(text, rules);
  if (E.isLeft(scanned)) return scanned;
  const value: unknown = scanned.right.negativeZero
    ? JSON.parse(text, (_key, part: unknown) => (Object.is(part, -0) ? 0 : part))
    : JSON.parse(text);
  return E.right(value as Json);
};
