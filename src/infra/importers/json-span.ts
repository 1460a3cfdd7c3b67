/** Where a JSON value stands in a text: from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;

const isSpace = (unit: number): boolean =>
  unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;

const skipSpace = (text: string, at: number): number => {
  let next = at;
  while (isSpace(text.charCodeAt(next))) next += 1;
  return next;
};

/** Behind the string that begins at `at`. Looks at quotes alone, so long strings cost little. */
const afterString = (text: string, at: number): number => {
  let quote = text.indexOf('"', at + 1);
  while (quote >= 0) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
};

const isEndOfScalar = (unit: number): boolean =>
  isSpace(unit) || unit === 0x2c || unit === 0x5d || unit === 0x7d;

const afterScalar = (text: string, at: number): number => {
  let next = at;
  while (next < text.length && !isEndOfScalar(text.charCodeAt(next))) next += 1;
  return next;
};

const afterContainer = (text: string, at: number): number => {
  let [depth, next] = [0, at];
  while (next < text.length) {
    const unit = text.charCodeAt(next);
    if (unit === QUOTE) {
      next = afterString(text, next);
      continue;
    }
    if (unit === OPEN_OBJECT || unit === OPEN_LIST) depth += 1;
    else if (unit === 0x7d || unit === 0x5d) depth -= 1;
    next += 1;
    if (depth === 0) return next;
  }
  return text.length;
};

const afterValue = (text: string, at: number): number => {
  const unit = text.charCodeAt(at);
  if (unit === QUOTE) return afterString(text, at);
  return unit === OPEN_OBJECT || unit === OPEN_LIST
    ? afterContainer(text, at)
    : afterScalar(text, at);
};

/** The value that a text begins with. The text must be JSON. */
export const rootSpan = (text: string): Span => {
  const start = skipSpace(text, 0);
  return { start, end: afterValue(text, start) };
};

const spanAt = (text: string, at: number): Span => {
  const start = skipSpace(text, at);
  return { start, end: afterValue(text, start) };
};

/**
 * Members of the object at `span`, which must be JSON; empty for any other value. A key that is there
 * twice has the place of its last value, the one that JSON.parse takes.
 */
export const memberSpans = (text: string, span: Span): ReadonlyMap<string, Span> => {
  const members = new Map<string, Span>();
  if (text.charCodeAt(span.start) !== OPEN_OBJECT) return members;
  let at = skipSpace(text, span.start + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = afterString(text, at);
    const quoted = text.slice(at, keyEnd);
    const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    const value = spanAt(text, skipSpace(text, keyEnd) + 1);
    members.set(key, value);
    // Behind the comma, or behind the end of the object.
    at = skipSpace(text, skipSpace(text, value.end) + 1);
  }
  return members;
};

/** Items of the list at `span`, which must be JSON; empty for any other value. */
export const itemSpans = (text: string, span: Span): readonly Span[] => {
  const items: Span[] = [];
  if (text.charCodeAt(span.start) !== OPEN_LIST) return items;
  let at = skipSpace(text, span.start + 1);
  while (at < span.end - 1) {
    const item = spanAt(text, at);
    items.push(item);
    at = skipSpace(text, skipSpace(text, item.end) + 1);
  }
  return items;
};

/** A value inside the one at `span`, by keys and indexes; undefined where there is none. */
export const spanOf = (
  text: string,
  span: Span,
  path: readonly (string | number)[],
): Span | undefined => {
  let at: Span | undefined = span;
  for (const step of path) {
    if (at === undefined) return undefined;
    at = typeof step === 'number' ? itemSpans(text, at)[step] : memberSpans(text, at).get(step);
  }
  return at;
};

/** The source text of a value, word for word. */
export const sliceOf = (text: string, span: Span): string => text.slice(span.start, span.end);
