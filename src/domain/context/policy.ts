import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, InvalidArgumentReason } from '../errors.js';
import type { Ruling } from '../events/references.js';
import type { Role } from '../message.js';
import type { Capabilities, Profile, SystemPolicy } from '../profiles/profile.js';

/** The rules by which a context is selected and repaired. Every field is recorded with the call. */
export interface ContextPolicy {
  /** Tokens that the context may have; absent: the window of the profile, or no limit. */
  readonly budgetTokens?: number;
  /** Kept free for the output; absent: what the profile asks for when its window is the budget. */
  readonly reserveTokens?: number;
  /** Whether older units that fit are taken behind one that does not. */
  readonly gaps: boolean;
  /** Newest messages that are looked at; older ones are out, except pinned ones. */
  readonly maxItems?: number;
  /** Token counts by message id that stand in for the counter. */
  readonly tokens?: Readonly<Record<string, number>>;
  readonly pinRoles: readonly Role[];
  /** Message ids, `$last_user`, `$open_unit`. */
  readonly mustKeep: readonly string[];
  /** Absent: the rule of the profile. */
  readonly requireUserStart?: boolean;
  readonly interrupted: 'leave_out' | 'keep_text';
  readonly onUnanswered: 'reject' | 'synthesize' | 'drop_call';
  readonly adjacency: 'move_results_up' | 'reject';
  readonly systemPolicy: SystemPolicy;
  /** Absent: `reject` where the profile parses arguments, else they are sent as they are. */
  readonly onBadArguments?: 'reject' | 'empty_object' | 'drop_pair' | 'as_is';
  readonly onTrailingAssistant: 'reject' | 'append_continue';
  readonly onMissingSignature: 'reject' | 'documented_skip_value';
  readonly onStaleSummary: 'fall_back_to_messages' | 'keep' | 'reject';
  readonly onErased: 'placeholder' | 'leave_out';
  readonly onLateResult: 'leave_out' | 'replace';
  readonly maxToolResultTokens?: number;
  readonly maxArgumentChars?: number;
  readonly shorten: 'head_and_tail' | 'head';
  readonly truncateToolResults: boolean;
  readonly thinking: boolean;
  readonly capabilities?: Capabilities;
  /** No repair at all: what would need one is refused. */
  readonly strict: boolean;
}

export const POLICY_NAME = 'default';
export const POLICY_VERSION = 1;

export const defaultPolicy: ContextPolicy = {
  gaps: false,
  pinRoles: ['system', 'developer'],
  mustKeep: ['$last_user', '$open_unit'],
  interrupted: 'leave_out',
  onUnanswered: 'reject',
  adjacency: 'move_results_up',
  systemPolicy: 'profile',
  onTrailingAssistant: 'reject',
  onMissingSignature: 'reject',
  onStaleSummary: 'fall_back_to_messages',
  onErased: 'placeholder',
  onLateResult: 'leave_out',
  shorten: 'head_and_tail',
  truncateToolResults: false,
  thinking: false,
  strict: false,
};

// Every field, in the one order in which a policy is recorded.
const fieldOrder: Readonly<Record<keyof ContextPolicy, true>> = {
  budgetTokens: true,
  reserveTokens: true,
  gaps: true,
  maxItems: true,
  tokens: true,
  pinRoles: true,
  mustKeep: true,
  requireUserStart: true,
  interrupted: true,
  onUnanswered: true,
  adjacency: true,
  systemPolicy: true,
  onBadArguments: true,
  onTrailingAssistant: true,
  onMissingSignature: true,
  onStaleSummary: true,
  onErased: true,
  onLateResult: true,
  maxToolResultTokens: true,
  maxArgumentChars: true,
  shorten: true,
  truncateToolResults: true,
  thinking: true,
  capabilities: true,
  strict: true,
};

const fields = Object.keys(fieldOrder) as readonly (keyof ContextPolicy)[];

type InvalidArgument = FaultOf<'InvalidArgument'>;

const refuse = (name: string, reason: InvalidArgumentReason): InvalidArgument => ({
  _tag: 'InvalidArgument',
  name,
  reason,
});

const numberFault = (
  name: string,
  value: number | undefined,
  least: number,
): InvalidArgument | undefined => {
  if (value === undefined) return undefined;
  if (!Number.isInteger(value)) return refuse(name, 'not_an_integer');
  return value < least || !Number.isSafeInteger(value) ? refuse(name, 'out_of_range') : undefined;
};

const words: Readonly<Record<string, readonly unknown[]>> = {
  interrupted: ['leave_out', 'keep_text'],
  onUnanswered: ['reject', 'synthesize', 'drop_call'],
  adjacency: ['move_results_up', 'reject'],
  systemPolicy: ['profile', 'coalesce_leading', 'labelled_user', 'reject'],
  onBadArguments: [undefined, 'reject', 'empty_object', 'drop_pair', 'as_is'],
  onTrailingAssistant: ['reject', 'append_continue'],
  onMissingSignature: ['reject', 'documented_skip_value'],
  onStaleSummary: ['fall_back_to_messages', 'keep', 'reject'],
  onErased: ['placeholder', 'leave_out'],
  onLateResult: ['leave_out', 'replace'],
  shorten: ['head_and_tail', 'head'],
};

const wordFault = (policy: Readonly<Record<string, unknown>>): InvalidArgument | undefined => {
  const wrong = Object.keys(words).find((name) => !words[name]?.includes(policy[name]));
  return wrong === undefined ? undefined : refuse(wrong, 'unknown_value');
};

const tokensFault = (tokens: ContextPolicy['tokens']): InvalidArgument | undefined => {
  for (const value of Object.values(tokens ?? {})) {
    const fault = numberFault('tokens', value, 0);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/**
 * The whole policy from the fields that differ from the default. Refuses unknown fields, and numbers
 * that are no positive whole numbers (B54). A budget above the window of the profile is cut to it.
 */
export const completePolicy = (
  given: Partial<ContextPolicy> = {},
): E.Either<InvalidArgument, ContextPolicy> => {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fieldOrder, name));
  if (unknown !== undefined) return E.left(refuse(unknown, 'unknown_option'));
  const entries = Object.entries(given) as readonly (readonly [string, unknown])[];
  const known = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  const policy: ContextPolicy = { ...defaultPolicy, ...known };
  const fault =
    wordFault({ ...policy }) ??
    numberFault('budgetTokens', policy.budgetTokens, 1) ??
    numberFault('reserveTokens', policy.reserveTokens, 0) ??
    numberFault('maxItems', policy.maxItems, 1) ??
    numberFault('maxToolResultTokens', policy.maxToolResultTokens, 1) ??
    numberFault('maxArgumentChars', policy.maxArgumentChars, 2) ??
    tokensFault(policy.tokens);
  return fault === undefined ? E.right(policy) : E.left(fault);
};

const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
};

/** A policy as a recorded call keeps it: the fields that differ from the default, in one order. */
export const policyRuling = (policy: ContextPolicy): Ruling => {
  const changed = fields.filter(
    (field) => JSON.stringify(policy[field]) !== JSON.stringify(defaultPolicy[field]),
  );
  const version = { name: POLICY_NAME, version: POLICY_VERSION };
  if (changed.length === 0) return version;
  const params = Object.fromEntries(changed.map((field) => [field, sorted(policy[field])]));
  return { ...version, params: JSON.stringify(params) };
};

/** The policy of a recorded call. Refuses a ruling of another name or a newer version. */
export const policyOf = (ruling: Ruling): E.Either<InvalidArgument, ContextPolicy> => {
  if (ruling.name !== POLICY_NAME || ruling.version > POLICY_VERSION) {
    return E.left(refuse('policy', 'unknown_value'));
  }
  return completePolicy(
    ruling.params === undefined ? {} : (JSON.parse(ruling.params) as Partial<ContextPolicy>),
  );
};

/** Tokens for the whole request, tools included; undefined: no limit. */
export const budgetOf = (policy: ContextPolicy, profile: Profile): number | undefined => {
  const window = profile.contextWindow;
  if (policy.budgetTokens === undefined) {
    if (window === undefined) return undefined;
    return Math.max(0, window - (policy.reserveTokens ?? profile.maxOutputTokens ?? 0));
  }
  const budget = window === undefined ? policy.budgetTokens : Math.min(policy.budgetTokens, window);
  return Math.max(0, budget - (policy.reserveTokens ?? 0));
};
