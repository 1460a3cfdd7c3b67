import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { parseJson, type JsonRules } from '../../domain/json-scan.js';
import type { Json, JsonObject } from '../../domain/json-value.js';
import { decodeUtf8 } from '../../domain/text.js';
import { readFault, refuse, refuseArgument } from './faults.js';
import type { Invocation } from './invocation.js';

/** What a command reads at most from a file or from standard input. */
const LIMIT = 256 * 1024 * 1024;

const decoded = (bytes: Uint8Array): string => {
  const text = decodeUtf8(bytes);
  return E.isLeft(text) ? refuse(text.left) : text.right.text;
};

/** The bytes of a file; the path is the user's own, so it may lead anywhere. */
export const fileBytes = ({ io }: Pick<Invocation, 'io'>, name: string): Uint8Array => {
  const file = path.resolve(io.cwd, name);
  try {
    const { size } = fs.statSync(file);
    if (size > LIMIT) return refuse({ _tag: 'TooLarge', bytes: size, limit: LIMIT });
    return fs.readFileSync(file);
  } catch (error) {
    return refuse(readFault(error, name));
  }
};

export const fileText = (call: Pick<Invocation, 'io'>, name: string): string =>
  decoded(fileBytes(call, name));

/** All of standard input. */
export const inputText = async ({ io }: Pick<Invocation, 'io'>): Promise<string> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of io.stdin()) {
    size += part.length;
    if (size > LIMIT) return refuse({ _tag: 'TooLarge', limit: LIMIT });
    parts.push(part);
  }
  return decoded(Buffer.concat(parts));
};

/** A file by name, or standard input for `-`. */
export const namedText = (call: Pick<Invocation, 'io'>, name: string): Promise<string> =>
  name === '-' ? inputText(call) : Promise.resolve(fileText(call, name));

/** Content from exactly one of `--text`, `--file` and `-`; undefined where none is given. */
export const contentGiven = async (
  call: Invocation,
  operand: string,
): Promise<string | undefined> => {
  const { options } = call;
  const [text, file] = [options.text('text'), options.text('file')];
  if (operand !== '' && operand !== '-') return refuseArgument('content', 'unknown_value');
  const given = [text !== undefined, file !== undefined, operand === '-'].filter(Boolean);
  if (given.length > 1) return refuseArgument('text', 'excludes_another');
  if (text !== undefined) return text;
  if (file !== undefined) return namedText(call, file);
  return operand === '-' ? inputText(call) : undefined;
};

export const neededContent = async (call: Invocation, operand: string): Promise<string> =>
  (await contentGiven(call, operand)) ?? refuseArgument('text', 'missing');

/** A JSON document of a file or of standard input, under these rules. */
export const jsonFrom = async (call: Invocation, name: string, rules: JsonRules): Promise<Json> => {
  const text = await namedText(call, name);
  // Nothing at all is no broken JSON: it is a body without a value (B02).
  if (text.trim() === '') return refuse({ _tag: 'InvalidShape', path: '', expected: 'JSON' });
  const parsed = parseJson(text, rules);
  return E.isLeft(parsed) ? refuse(parsed.left) : parsed.right;
};

export const objectFrom = async (
  call: Invocation,
  name: string,
  rules: JsonRules,
): Promise<JsonObject> => {
  const value = await jsonFrom(call, name, rules);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : refuse({ _tag: 'InvalidShape', path: '', expected: 'object' });
};
