/** A case that says something outside its closed vocabulary; the case fails with this text. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** Reads a value of one shape, or throws `Unreadable` with the place. */
export type Reader<T> = (value: unknown, at: string) => T;

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export const refuse = (at: string, what: string): never => {
  throw new Unreadable(`${at}: ${what}`);
};

export const text: Reader<string> = (value, at) =>
  typeof value === 'string' ? value : refuse(at, 'is no text');

export const flag: Reader<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : refuse(at, 'is neither true nor false');

export const yes: Reader<true> = (value, at) =>
  value === true ? value : refuse(at, 'is not true');

export const number: Reader<number> = (value, at) =>
  typeof value === 'number' ? value : refuse(at, 'is no number');

export const anything: Reader<unknown> = (value) => value;

export const fields: Reader<Fields> = (value, at) =>
  isFields(value) ? value : refuse(at, 'is no object');

export const oneOf =
  <const T extends readonly unknown[]>(...words: T): Reader<T[number]> =>
  (value, at) =>
    words.includes(value)
      ? value
      : refuse(at, `${JSON.stringify(value)} is none of ${words.map(String).join(', ')}`);

export const listOf =
  <T>(item: Reader<T>): Reader<readonly T[]> =>
  (value, at) =>
    isList(value)
      ? value.map((entry, index) => item(entry, `${at}/${String(index)}`))
      : refuse(at, 'is no list');

export const recordOf =
  <T>(item: Reader<T>): Reader<Readonly<Record<string, T>>> =>
  (value, at) =>
    Object.fromEntries(
      Object.entries(fields(value, at)).map(([key, entry]) => [key, item(entry, `${at}/${key}`)]),
    );

export const nullable =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, at) =>
    value === null ? null : reader(value, at);

/** The first reader that the value is for; they are tried in order. */
export const either =
  <A, B>(first: Reader<A>, second: Reader<B>): Reader<A | B> =>
  (value, at) => {
    try {
      return first(value, at);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return second(value, at);
    }
  };

/** A list of these, or one alone. */
export const oneOrMore =
  <T>(item: Reader<T>): Reader<T | readonly T[]> =>
  (value, at) =>
    isList(value) ? listOf(item)(value, at) : item(value, at);

/** A reader that may refer to itself. */
export const later =
  <T>(reader: () => Reader<T>): Reader<T> =>
  (value, at) =>
    reader()(value, at);

export interface Optional<T> {
  readonly optional: Reader<T>;
}

export const optional = <T>(reader: Reader<T>): Optional<T> => ({ optional: reader });

type Member = Reader<unknown> | Optional<unknown>;
type Shape = Readonly<Record<string, Member>>;

type OptionalKeys<S extends Shape> = {
  [K in keyof S]: S[K] extends Optional<unknown> ? K : never;
}[keyof S];

type ReadBy<M> = M extends Optional<infer T> ? T : M extends Reader<infer T> ? T : never;

export type ReadShape<S extends Shape> = {
  readonly [K in Exclude<keyof S, OptionalKeys<S>>]: ReadBy<S[K]>;
} & { readonly [K in OptionalKeys<S>]?: ReadBy<S[K]> };

/** Exactly these fields; an unknown one is refused, since nothing may be passed over. */
export const object =
  <S extends Shape>(shape: S, what = 'field'): Reader<ReadShape<S>> =>
  (value, at) => {
    const given = fields(value, at);
    const read: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(given)) {
      const member = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (member === undefined) return refuse(at, `unknown ${what} ${key}`);
      const reader = typeof member === 'function' ? member : member.optional;
      read[key] = reader(entry, `${at}/${key}`);
    }
    for (const [key, member] of Object.entries(shape)) {
      if (typeof member === 'function' && !Object.hasOwn(given, key)) {
        refuse(at, `${what} ${key} is missing`);
      }
    }
    return read as ReadShape<S>;
  };
