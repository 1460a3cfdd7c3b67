import type { StemmaFault } from '../domain/errors.js';
import { argumentFault, optionsFault, type OptionKind } from '../engine/arguments.js';
import { check } from './stemma-error.js';

/** Looks at the arguments of one call, whatever they are. */
export type Look = (...args: readonly unknown[]) => StemmaFault | undefined;

type AnyMethod = (...args: readonly unknown[]) => unknown;

/**
 * The same face, whose methods look at their arguments first. Types do not bind a caller in plain
 * JavaScript: what does not fit is refused by name, before anything is read or written (B14).
 */
export const guarded = <T extends object>(
  face: T,
  looks: { readonly [K in keyof T]?: Look },
): T => {
  const wrapped = Object.entries(looks as Readonly<Record<string, Look>>).map(([name, look]) => {
    const method = face[name as keyof T] as AnyMethod;
    const call = (...args: readonly unknown[]): Promise<unknown> =>
      new Promise((resolve) => {
        check(look(...args));
        resolve(method(...args));
      });
    return [name, call] as const;
  });
  return { ...face, ...Object.fromEntries(wrapped) };
};

export const firstOf =
  (...looks: readonly Look[]): Look =>
  (...args) => {
    for (const look of looks) {
      const fault = look(...args);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };

/** The argument at `at`, looked at by a rule. */
export const at =
  (place: number, look: (value: unknown) => StemmaFault | undefined): Look =>
  (...args) =>
    look(args[place]);

export const named = (name: string) => (value: unknown) =>
  typeof value === 'string' ? undefined : argumentFault(name, 'wrong_type');

export const optionalText = (name: string) => (value: unknown) =>
  value === undefined ? undefined : named(name)(value);

/** Options that may be left out altogether. */
export const options =
  (kinds: Readonly<Record<string, OptionKind>>) =>
  (value: unknown): StemmaFault | undefined =>
    value === undefined ? undefined : optionsFault(value as object, kinds);

/** Options of which some have to be there. */
export const needed =
  (kinds: Readonly<Record<string, OptionKind>>, ...names: readonly string[]) =>
  (value: unknown): StemmaFault | undefined => {
    const fault = optionsFault(value as object, kinds);
    if (fault !== undefined) return fault;
    const missing = names.find(
      (name) => (value as Readonly<Record<string, unknown>>)[name] === undefined,
    );
    return missing === undefined ? undefined : argumentFault(missing, 'missing');
  };

export const member =
  (name: string, look: (value: unknown) => StemmaFault | undefined) =>
  (value: unknown): StemmaFault | undefined =>
    typeof value === 'object' && value !== null
      ? look((value as Readonly<Record<string, unknown>>)[name])
      : undefined;

/** One of a closed list of words. */
export const oneOf =
  (name: string, ...values: readonly string[]) =>
  (value: unknown): StemmaFault | undefined =>
    value === undefined || values.includes(value as string)
      ? undefined
      : argumentFault(name, 'unknown_value');

export const TURN_OUTCOMES = ['completed', 'interrupted', 'failed', 'lost'] as const;
