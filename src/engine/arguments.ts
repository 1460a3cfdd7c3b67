import * as E from 'fp-ts/lib/Either.js';
import { allowedRoles } from '../domain/decide/prepared-message.js';
import type { InvalidArgumentReason, StemmaFault } from '../domain/errors.js';
import { foreignId } from '../domain/text.js';

/** What an option may be. `any` is looked at by whoever uses it. */
export type OptionKind = 'text' | 'flag' | 'list' | 'object' | 'any';

/** A name that a caller made up is not echoed at any length. */
const NAME_LENGTH = 120;

export const argumentFault = (name: string, reason: InvalidArgumentReason): StemmaFault => ({
  _tag: 'InvalidArgument',
  name: name.slice(0, NAME_LENGTH),
  reason,
});

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fits: Readonly<Record<OptionKind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  list: Array.isArray,
  object: isObject,
  any: () => true,
};

/**
 * Why the options of a call cannot be taken: types do not bind a caller in plain JavaScript, and an
 * option that is misspelt must not be passed by in silence.
 */
export const optionsFault = <O extends object>(
  options: O,
  kinds: { readonly [K in keyof Required<O>]: OptionKind },
): StemmaFault | undefined => {
  if (!isObject(options)) return argumentFault('options', 'wrong_type');
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (!Object.hasOwn(kinds, name)) return argumentFault(name, 'unknown_option');
    const kind = kinds[name as keyof O];
    if (value !== undefined && !fits[kind](value)) return argumentFault(name, 'wrong_type');
  }
  return undefined;
};

/** A name that is stored as it is: not blank, without control characters, at most 256 bytes. */
export const nameFault = (path: string, name: unknown): StemmaFault | undefined => {
  if (typeof name !== 'string') return { _tag: 'InvalidShape', path, expected: 'text' };
  const checked = foreignId(path, name);
  return E.isLeft(checked) ? checked.left : undefined;
};

/** The same for a name that may be left out. */
export const optionalNameFault = (path: string, name: unknown): StemmaFault | undefined =>
  name === undefined ? undefined : nameFault(path, name);

/** Who gives a command: of a known kind, with an id that may be stored. */
export const actorFault = (as: unknown): StemmaFault | undefined => {
  if (as === undefined) return undefined;
  if (!isObject(as)) return argumentFault('as', 'wrong_type');
  const { kind, id } = as as { readonly kind?: unknown; readonly id?: unknown };
  return typeof kind === 'string' && Object.hasOwn(allowedRoles, kind)
    ? optionalNameFault('/as/id', id)
    : argumentFault('as', 'unknown_value');
};
