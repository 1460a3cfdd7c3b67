import { isFields, isList, refuse, text } from './shape.js';

type Macro = (argument: unknown, at: string) => unknown;

const pieces = (argument: unknown, at: string): readonly unknown[] =>
  isList(argument) ? argument : refuse(at, 'is no list');

const repeat: Macro = (argument, at) => {
  const [piece, times, ...rest] = pieces(argument, at);
  if (typeof times !== 'number' || !Number.isInteger(times) || times < 0 || rest.length > 0) {
    return refuse(at, 'is no [text, n]');
  }
  return text(expand(piece, at), at).repeat(times);
};

const concat: Macro = (argument, at) =>
  pieces(argument, at)
    .map((piece) => text(expand(piece, at), at))
    .join('');

const date: Macro = (argument, at) => {
  const made = new Date(text(argument, at));
  return Number.isNaN(made.getTime()) ? refuse(at, 'is no time') : made;
};

const bigint: Macro = (argument, at) => {
  const digits = text(argument, at);
  return /^-?\d+$/.test(digits) ? BigInt(digits) : refuse(at, 'is no whole number');
};

const bytes: Macro = (argument, at) => new Uint8Array(Buffer.from(text(argument, at), 'base64'));

const oddNumber: Macro = (argument, at) => {
  const word = text(argument, at);
  const known = /^(NaN|[+-]?Infinity|-?0|[+-]?\d+(\.\d+)?([eE][+-]?\d+)?)$/.test(word);
  return known ? Number(word) : refuse(at, 'is no number');
};

const nothing: Macro = (argument, at) =>
  argument === true ? undefined : refuse(at, 'is not true');

const macros: Readonly<Record<string, Macro>> = {
  $repeat: repeat,
  $concat: concat,
  $date: date,
  $bigint: bigint,
  $bytes: bytes,
  $number: oddNumber,
  $undefined: nothing,
};

/** Label of a provider object; it stays where it is and is taken off before sending. */
export const LABEL = '$id';

const macroOf = (value: Readonly<Record<string, unknown>>): string | undefined => {
  const [name, ...rest] = Object.keys(value);
  return name !== undefined && rest.length === 0 && name.startsWith('$') && name !== LABEL
    ? name
    : undefined;
};

/** The value with every macro in it replaced by what it stands for. */
export const expand = (value: unknown, at: string): unknown => {
  if (isList(value)) return value.map((item, index) => expand(item, `${at}/${String(index)}`));
  if (!isFields(value)) return value;
  const name = macroOf(value);
  if (name !== undefined) {
    const macro = Object.hasOwn(macros, name) ? macros[name] : undefined;
    return macro === undefined
      ? refuse(at, `unknown macro ${name}`)
      : macro(value[name], `${at}/${name}`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, expand(entry, `${at}/${key}`)]),
  );
};
