import type { ContextPolicy } from '../../src/domain/context/policy.js';
import type { Profile } from '../../src/domain/profiles/profile.js';
import type { ContextInput } from '../../src/face/branch-face.js';
import type { Toolbox } from '../../src/face/toolbox.js';
import type { Params } from './input-shape.js';
import { capabilitiesOf } from './profiles.js';

type Given<T> = { readonly [K in keyof T]: T[K] | null | undefined };
type Set<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };

/** The fields that are there: an absent one and null leave the engine's own rule. */
const present = <T extends object>(fields: Given<T>): Set<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as Set<T>;

/** Names of the case to the ids that the engine knows. */
export interface Naming {
  readonly idOf: (name: string) => string;
  /** Messages that are there so that the case can be told; they cost nothing. */
  readonly setup: ReadonlySet<string>;
  /** Messages that the engine made: label to engine id. */
  readonly summaries: readonly string[];
}

const tokensOf = (
  { tokens, summary_tokens: summary }: Params,
  naming: Naming,
): Readonly<Record<string, number>> | undefined => {
  if (tokens === undefined && summary === undefined) return undefined;
  return Object.fromEntries([
    ...(summary === undefined ? [] : naming.summaries.map((id) => [id, summary] as const)),
    ...Object.entries(tokens ?? {}).map(([name, count]) => [naming.idOf(name), count] as const),
    ...(tokens === undefined ? [] : [...naming.setup].map((id) => [id, 0] as const)),
  ]);
};

/** The engine's policy for the options of a case, with the defaults that the vocabulary gives. */
export const policyOf = (
  params: Params,
  naming: Naming,
  profile: Pick<Profile, 'id'>,
): Partial<ContextPolicy> => ({
  gaps: false,
  interrupted: params.interrupted ?? 'leave_out',
  onUnanswered: params.on_unanswered ?? 'reject',
  adjacency: params.adjacency ?? 'reject',
  systemPolicy: params.system_policy ?? 'profile',
  onTrailingAssistant: params.on_trailing_assistant ?? 'reject',
  onMissingSignature: params.on_missing_signature ?? 'reject',
  onStaleSummary: params.on_stale_summary ?? 'fall_back_to_messages',
  shorten: params.shorten ?? 'head_and_tail',
  truncateToolResults: params.truncate_tool_results ?? false,
  thinking: params.thinking === 'enabled' || params.thinking === true,
  ...present<Partial<ContextPolicy>>({
    // Neutral has no rules of a provider that arguments could break.
    onBadArguments: params.on_bad_arguments ?? (profile.id === 'neutral' ? undefined : 'reject'),
    budgetTokens: params.max_tokens,
    maxItems: params.max_items,
    maxToolResultTokens: params.max_tool_result_tokens,
    maxArgumentChars: params.max_argument_chars,
    requireUserStart: params.require_user_start,
    tokens: tokensOf(params, naming),
    mustKeep: params.must_keep?.map(naming.idOf),
    pinRoles: params.pin_roles,
    capabilities: capabilitiesOf(params),
  }),
});

type Effects = Readonly<Record<string, { readonly effect?: Toolbox[string]['effect'] }>>;

const effectsOf = ({ tools }: Params): Effects => {
  if (tools === undefined) return {};
  return Array.isArray(tools)
    ? Object.fromEntries((tools as readonly string[]).map((name) => [name, {}]))
    : (tools as Effects);
};

/** What a tool would do if it were run twice, as the case says. */
export const effectOf = (params: Params, name: string): Toolbox[string]['effect'] =>
  effectsOf(params)[name]?.effect;

/** The tools on offer; `ran` is called when one of them is run. */
export const toolboxOf = (params: Params, ran?: (name: string) => void): Toolbox =>
  Object.fromEntries(
    Object.entries(effectsOf(params)).map(([name, { effect }]) => [
      name,
      {
        ...(effect === undefined ? {} : { effect }),
        run: () => {
          ran?.(name);
          return 'done';
        },
      },
    ]),
  );

/** Parameters of the call that the case sends along. */
const callParams = ({ store }: Params): Readonly<Record<string, unknown>> =>
  typeof store === 'boolean' ? { store } : {};

/** Everything that a context of this case is built with. */
export const contextInputOf = (
  params: Params,
  profile: Profile,
  naming: Naming,
): ContextInput<object> => ({
  profile,
  policy: policyOf(params, naming, profile),
  tools: toolboxOf(params),
  params: callParams(params),
});
