import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { ENVELOPE_JSON, parseJson } from '../../domain/json-scan.js';
import type { Json } from '../../domain/json-value.js';
import { refuse, refuseArgument, readFault } from './faults.js';

export type Language = 'en' | 'zh';

/** What a command works with, by precedence: flag, environment, `stemma.config.json`, default. */
export interface Settings {
  /** A folder or file, absolute. */
  readonly store: string;
  /** Which rule gave the store. */
  readonly storeFrom: 'flag' | 'environment' | 'config' | 'default';
  readonly tenant?: string;
  readonly model?: string;
  /** The config file, where there is one. */
  readonly configFile?: string;
  /** Read a store whose write-ahead log is gone (B45). */
  readonly salvage: boolean;
  /** Open on a network file system all the same (B48). */
  readonly allowUnsafeFilesystem: boolean;
}

export const CONFIG_FILE = 'stemma.config.json';
export const DEFAULT_STORE = '.stemma';

interface Config {
  readonly store?: string;
  readonly tenant?: string;
  readonly lang?: string;
  readonly model?: string;
  /** Names for `--store`: a word to a path. */
  readonly stores?: Readonly<Record<string, string>>;
}

const texts: readonly string[] = ['store', 'tenant', 'lang', 'model'];

const isTextRecord = (value: Json): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((item) => typeof item === 'string');

const configOf = (value: Json): Config => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse({ _tag: 'InvalidShape', path: '', expected: `${CONFIG_FILE} with an object` });
  }
  for (const [key, item] of Object.entries(value)) {
    const isKnown = texts.includes(key) || key === 'stores';
    if (!isKnown) refuseArgument(`${CONFIG_FILE}: ${key}`, 'unknown_option');
    const isRight = key === 'stores' ? isTextRecord(item) : typeof item === 'string';
    if (!isRight) refuseArgument(`${CONFIG_FILE}: ${key}`, 'wrong_type');
  }
  return value as Config;
};

const readConfig = (file: string): Config | undefined => {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    const fault = readFault(error, file);
    return fault._tag === 'NotFound' ? undefined : refuse(fault);
  }
  const parsed = parseJson(text, ENVELOPE_JSON);
  return E.isLeft(parsed) ? refuse(parsed.left) : configOf(parsed.right);
};

export interface Flags {
  readonly store?: string;
  readonly tenant?: string;
  readonly salvage?: boolean;
  readonly allowUnsafeFilesystem?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const given = (value: string | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : value;

const storePath = (name: string, config: Config | undefined, cwd: string): string => {
  const named = config?.stores;
  const text = named !== undefined && Object.hasOwn(named, name) ? (named[name] ?? name) : name;
  // Other stores than a file of this machine are not part of this release.
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) refuseArgument('store', 'unknown_value');
  return path.resolve(cwd, text);
};

export const settingsOf = (flags: Flags, env: Environment, cwd: string): Settings => {
  const file = path.join(cwd, CONFIG_FILE);
  const config = readConfig(file);
  const choices = [
    ['flag', given(flags.store)],
    ['environment', given(env['STEMMA_STORE'])],
    ['config', given(config?.store)],
  ] as const;
  const [storeFrom, name] = choices.find(([, value]) => value !== undefined) ?? [
    'default' as const,
    DEFAULT_STORE,
  ];
  const tenant = given(flags.tenant) ?? given(env['STEMMA_TENANT']) ?? given(config?.tenant);
  const model = given(env['STEMMA_MODEL']) ?? given(config?.model);
  return {
    store: storePath(name ?? DEFAULT_STORE, config, cwd),
    storeFrom,
    ...(tenant === undefined ? {} : { tenant }),
    ...(model === undefined ? {} : { model }),
    ...(config === undefined ? {} : { configFile: file }),
    salvage: flags.salvage === true,
    allowUnsafeFilesystem: flags.allowUnsafeFilesystem === true,
  };
};

const flagValue = (argv: readonly string[], flag: string): string | undefined => {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  const at = flags.indexOf(flag);
  if (at >= 0) return flags[at + 1];
  return flags.find((text) => text.startsWith(`${flag}=`))?.slice(flag.length + 1);
};

const configuredLanguage = (cwd: string): string | undefined => {
  try {
    return readConfig(path.join(cwd, CONFIG_FILE))?.lang;
  } catch {
    // A broken config is reported by the command itself; its help must still be readable.
    return undefined;
  }
};

const languageNamed = (name: string, text: string): Language =>
  text === 'en' || text === 'zh' ? text : refuseArgument(name, 'unknown_value');

/** Language of the words around the data: `--lang`, `STEMMA_LANG`, config, then the locale. */
export const languageOf = (argv: readonly string[], env: Environment, cwd: string): Language => {
  const flag = flagValue(argv, '--lang');
  if (flag !== undefined) return languageNamed('lang', flag);
  const variable = given(env['STEMMA_LANG']);
  if (variable !== undefined) return languageNamed('STEMMA_LANG', variable);
  const configured = configuredLanguage(cwd);
  if (configured !== undefined) return languageNamed(`${CONFIG_FILE}: lang`, configured);
  const locale = given(env['LC_ALL']) ?? given(env['LC_MESSAGES']) ?? given(env['LANG']) ?? '';
  return /^zh([_.-]|$)/i.test(locale) ? 'zh' : 'en';
};
