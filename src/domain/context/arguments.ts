import * as E from 'fp-ts/lib/Either.js';
import type { ToolArgumentsRule } from '../errors.js';
import { FOREIGN_JSON, scanJson, type JsonRules } from '../json-scan.js';
import type { Profile } from '../profiles/profile.js';
import type { ContextPolicy } from './policy.js';

// What a model wrote may be odd; only what cannot be parsed and written again is refused.
const ARGUMENT_JSON: JsonRules = { ...FOREIGN_JSON, maxDepth: 512, maxKeys: 1_000_000 };

export const isBlank = (text: string): boolean => text.trim() === '';

/** Why an argument text is no JSON object; undefined when it is one. */
export const argumentsFault = (text: string): ToolArgumentsRule | undefined => {
  if (E.isLeft(scanJson(text, ARGUMENT_JSON))) return 'not_json';
  return text.trimStart().startsWith('{') ? undefined : 'not_an_object';
};

/** Whether numbers of the text change when it is parsed: digits beyond what a double holds. */
export const losesDigits = (text: string): boolean => {
  const scanned = scanJson(text, ARGUMENT_JSON);
  return E.isRight(scanned) && scanned.right.unsafeNumbers;
};

/** Whether the provider reads arguments as JSON, so that a blank text has to become an object. */
export const parsesArguments = (profile: Profile): boolean =>
  profile.argumentsAs === 'object' || profile.capabilities.parsesArguments === true;

/** What happens to arguments that are no JSON object, policy and profile taken together. */
export const onBadArguments = (
  policy: ContextPolicy,
  profile: Profile,
): NonNullable<ContextPolicy['onBadArguments']> => {
  const chosen = policy.onBadArguments ?? (parsesArguments(profile) ? 'reject' : 'as_is');
  return chosen === 'as_is' && profile.argumentsAs === 'object' ? 'reject' : chosen;
};
