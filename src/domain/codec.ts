import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';

/**
 * A codec whose output is plain stored JSON. `encode` writes the keys of a record in the order in
 * which the codec names them, and leaves absent fields out: stored bytes depend on it (format.md).
 */
export type Codec<A> = t.Type<A, unknown>;

/** A field that may be absent; it is never written as null. */
export interface OptionalField<A> {
  readonly optional: Codec<A>;
}

type Field<A, K extends keyof A> =
  object extends Pick<A, K> ? OptionalField<Exclude<A[K], undefined>> : Codec<A[K]>;

type Fields<A> = { readonly [K in keyof A]-?: Field<A, K> };

export const optional = <A>(codec: Codec<A>): OptionalField<A> => ({ optional: codec });

const isOptional = (field: unknown): field is OptionalField<unknown> =>
  typeof field === 'object' && field !== null && 'optional' in field;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface CompiledField {
  readonly key: string;
  readonly codec: Codec<unknown>;
  readonly isOptional: boolean;
}

const compile = (fields: object): readonly CompiledField[] =>
  Object.entries(fields).map(([key, field]: [string, unknown]) =>
    isOptional(field)
      ? { key, codec: field.optional, isOptional: true }
      : { key, codec: field as Codec<unknown>, isOptional: false },
  );

const validateRecord =
  (fields: readonly CompiledField[], known: ReadonlySet<string>) =>
  (input: unknown, context: t.Context): t.Validation<Record<string, unknown>> => {
    if (!isRecord(input)) return t.failure(input, context);
    const output: Record<string, unknown> = {};
    const errors: t.Errors = [];
    for (const { key, codec, isOptional: mayMiss } of fields) {
      const value = Object.hasOwn(input, key) ? input[key] : undefined;
      if (value === undefined && mayMiss) continue;
      const result = codec.validate(value, t.appendContext(context, key, codec, value));
      if (E.isLeft(result)) errors.push(...result.left);
      else output[key] = result.right;
    }
    for (const key of Object.keys(input)) {
      if (known.has(key)) continue;
      errors.push({ value: undefined, context: t.appendContext(context, key, t.never) });
    }
    return errors.length > 0 ? t.failures(errors) : t.success(output);
  };

/**
 * A record with exactly these fields: unknown keys are refused, so that nothing stored is lost by
 * reading it. io-ts' own intersections of strict and partial keep or drop them silently.
 */
export const record = <A extends object>(name: string, fields: Fields<A>): Codec<A> => {
  const compiled = compile(fields);
  const known = new Set(compiled.map((field) => field.key));
  const validate = validateRecord(compiled, known);
  return new t.Type<A, unknown>(
    name,
    (input): input is A => E.isRight(validate(input, [])),
    (input, context) => validate(input, context) as t.Validation<A>,
    (value) => {
      const source = value as Readonly<Record<string, unknown>>;
      const output: Record<string, unknown> = {};
      for (const { key, codec } of compiled) {
        if (source[key] !== undefined) output[key] = codec.encode(source[key]);
      }
      return output;
    },
  );
};

/** One of these texts and no other. */
export const oneOf = <const T extends readonly string[]>(...values: T): Codec<T[number]> => {
  const known = new Set<unknown>(values);
  return new t.Type<T[number], unknown>(
    values.join(' | '),
    (input): input is T[number] => known.has(input),
    (input, context) =>
      known.has(input) ? t.success(input as T[number]) : t.failure(input, context),
    (value) => value,
  );
};

/** Anything that JSON carries; what it is is checked elsewhere. */
export const anything: Codec<unknown> = t.unknown;

/** A text, or something else that has its own codec. */
export const textOr = <A>(other: Codec<A>): Codec<string | A> =>
  new t.Type<string | A, unknown, unknown>(
    `text | ${other.name}`,
    (input): input is string | A => typeof input === 'string' || other.is(input),
    (input, context) =>
      typeof input === 'string' ? t.success(input) : other.validate(input, context),
    (value) => (typeof value === 'string' ? value : other.encode(value)),
  );

export const text: Codec<string> = t.string;
export const flag: Codec<boolean> = t.boolean;

/** A whole number that JSON carries exactly. */
export const whole: Codec<number> = new t.Type<number, unknown, unknown>(
  'whole',
  (input): input is number => Number.isSafeInteger(input) && !Object.is(input, -0),
  (input, context) =>
    Number.isSafeInteger(input) && !Object.is(input, -0)
      ? t.success(input as number)
      : t.failure(input, context),
  (value) => value,
);

export const list = <A>(item: Codec<A>): Codec<readonly A[]> => t.readonlyArray(item);

/** A union told apart by the value of one key. */
export const tagged = <A extends object>(
  key: string,
  members: Readonly<Record<string, Codec<never> | Codec<A>>>,
): Codec<A> => {
  const memberOf = (input: unknown): Codec<A> | undefined => {
    const tag = isRecord(input) ? input[key] : undefined;
    return typeof tag === 'string' && Object.hasOwn(members, tag)
      ? (members[tag] as Codec<A>)
      : undefined;
  };
  return new t.Type<A, unknown>(
    `by ${key}`,
    (input): input is A => memberOf(input)?.is(input) ?? false,
    (input, context) => memberOf(input)?.validate(input, context) ?? t.failure(input, context),
    (value) => memberOf(value)?.encode(value),
  );
};

/** Where a value does not fit, and what was expected there. Never the value itself. */
export interface Misfit {
  readonly path: string;
  readonly expected: string;
}

const misfit = (error: t.ValidationError): Misfit => ({
  path: error.context.map((entry) => (entry.key === '' ? '' : `/${entry.key}`)).join(''),
  expected: error.context[error.context.length - 1]?.type.name ?? 'unknown',
});

export const decodeWith = <A>(codec: Codec<A>, input: unknown): E.Either<Misfit, A> => {
  const result = codec.decode(input);
  if (E.isRight(result)) return result;
  const first = result.left[0];
  return E.left(first === undefined ? { path: '', expected: codec.name } : misfit(first));
};
