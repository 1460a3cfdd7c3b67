import { actor, oneOf, pointInTime, wholeNumber, type Range } from './arguments.js';
import type { Actor } from '../../engine/engine-context.js';
import { refuseArgument } from './faults.js';

/** Options of one call of a command, each read as what it must be or refused by its name. */
export interface Options {
  readonly text: (name: string) => string | undefined;
  readonly needed: (name: string) => string;
  readonly flag: (name: string) => boolean;
  readonly list: (name: string) => readonly string[];
  readonly whole: (name: string, range: Range) => number | undefined;
  readonly choice: <const T extends string>(name: string, values: readonly T[]) => T | undefined;
  readonly actor: (name: string) => Actor | undefined;
  readonly time: (name: string, nowMs: number) => string | undefined;
}

const camel = (name: string): string =>
  name.replace(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** Reads what commander found. */
export const optionsOf = (values: Readonly<Record<string, unknown>>): Options => {
  const value = (name: string): unknown =>
    Object.hasOwn(values, camel(name)) ? values[camel(name)] : undefined;
  const text = (name: string): string | undefined => {
    const found = value(name);
    return typeof found === 'string' ? found : undefined;
  };
  const read = <A>(name: string, as: (text: string) => A): A | undefined => {
    const found = text(name);
    return found === undefined ? undefined : as(found);
  };
  return {
    text,
    needed: (name) => text(name) ?? refuseArgument(name, 'missing'),
    flag: (name) => value(name) === true,
    list: (name) => {
      const found = value(name);
      return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
    },
    whole: (name, range) => read(name, (found) => wholeNumber(name, found, range)),
    choice: (name, values_) => read(name, (found) => oneOf(name, found, values_)),
    actor: (name) => read(name, (found) => actor(name, found)),
    time: (name, nowMs) => read(name, (found) => pointInTime(name, found, nowMs)),
  };
};
