import { expected, type Expected } from './expected-shape.js';
import {
  event,
  message,
  params,
  providerMessage,
  type CaseEvent,
  type CaseMessage,
  type Params,
} from './input-shape.js';
import { expand } from './macros.js';
import {
  anything,
  fields,
  listOf,
  object,
  oneOf,
  optional,
  refuse,
  text,
  type Fields,
} from './shape.js';
import {
  formats,
  operations,
  presentProfiles,
  profileNames,
  type Format,
  type Operation,
  type ProfileName,
} from './words.js';

/** What a case gives to the engine, with every macro replaced. */
export interface CaseInput {
  readonly profile: ProfileName;
  readonly format: Format;
  readonly operation: Operation;
  /** Messages of the canonical form; empty in the other formats. */
  readonly messages: readonly CaseMessage[];
  /** Messages as the provider sends them; empty in the other formats. */
  readonly wire: readonly Fields[];
  readonly events: readonly CaseEvent[];
  readonly params: Params;
}

export interface Case {
  readonly id: string;
  readonly input: CaseInput;
  readonly expected: Expected;
}

const bareCase = object(
  {
    id: text,
    kind: optional(anything),
    summary: optional(anything),
    input: anything,
    expected: anything,
    rule: optional(anything),
    source: optional(anything),
  },
  'field of a case',
);

const bareInput = object(
  {
    profile: oneOf(...profileNames),
    format: optional(oneOf(...formats)),
    operation: oneOf(...operations),
    messages: optional(anything),
    events: optional(listOf(event)),
    params: optional(params),
  },
  'input field',
);

const inputOf = (value: unknown): CaseInput => {
  const read = bareInput(expand(value, '/input'), '/input');
  const { profile, operation, format = 'canonical', messages = [], events = [] } = read;
  if (format === 'chatgpt-export') fields(messages, '/input/messages');
  return {
    profile,
    operation,
    format,
    messages: format === 'canonical' ? listOf(message)(messages, '/input/messages') : [],
    wire: format === 'provider' ? listOf(providerMessage)(messages, '/input/messages') : [],
    events,
    params: read.params ?? {},
  };
};

/** Reads a case; what is outside the closed vocabulary is `Unreadable`. */
export const readCase = (value: unknown): Case => {
  const read = bareCase(value, '');
  const input = inputOf(read.input);
  if (input.operation === 'import' && input.format === 'canonical') {
    if (input.params.source_format === undefined) refuse('/input/params', 'no source_format');
  }
  return {
    id: read.id,
    input,
    expected: expected(expand(read.expected, '/expected'), '/expected'),
  };
};

/** The id of a case as far as it can be read, for the line that says that it cannot be run. */
export const idOf = (value: unknown, index: number): string => {
  const id: unknown =
    typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? id : `#${String(index)}`;
};

/** Profiles that any path of the case encodes for. */
const profilesOf = ({ input, expected: { variants = [] } }: Case): readonly string[] =>
  [
    input.profile,
    input.params.also_profile,
    ...variants.map((one) => one.params?.also_profile),
  ].filter((name) => name !== undefined);

/** Why a case is left for later; undefined for one that is run. */
export const skipOf = (one: Case): string | undefined => {
  const { operation, format } = one.input;
  const others = (one.expected.variants ?? []).map((variant) => variant.operation);
  const absent = profilesOf(one).find((name) => !presentProfiles.has(name));
  if (absent !== undefined) return `profile ${absent} comes later`;
  if (format === 'chatgpt-export') return 'importer chatgpt-export comes later';
  if (operation === 'redact' || others.includes('redact')) return 'operation redact comes later';
  return undefined;
};
