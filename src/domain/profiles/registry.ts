import type { Ruling } from '../events/references.js';
import { anthropic, type AnthropicOptions } from './anthropic.js';
import { neutral } from './neutral.js';
import { openaiChat, type OpenAIChatOptions } from './openai-chat.js';
import type { Profile } from './profile.js';

interface Options {
  readonly model?: string;
}

/** Profiles by id. Their options are what a recorded call keeps as parameters. */
const makers: Readonly<Record<string, (options: Options) => Profile>> = {
  'openai-chat': (options) => openaiChat({ model: 'gpt', ...options } satisfies OpenAIChatOptions),
  neutral: () => neutral(),
  anthropic: (options) => anthropic({ model: 'claude', ...options } satisfies AnthropicOptions),
};

export const profileIds: readonly string[] = Object.keys(makers);

/** The profile of this id; undefined for an unknown one. */
export const profileNamed = (id: string, options: Options = {}): Profile | undefined =>
  Object.hasOwn(makers, id) ? makers[id]?.(options) : undefined;

/** The profile that a recorded call was built with; undefined when this build has another version of it. */
export const profileOf = (ruling: Ruling): Profile | undefined => {
  const options =
    ruling.params === undefined ? {} : (JSON.parse(ruling.params) as Readonly<Options>);
  const profile = profileNamed(ruling.name, options);
  return profile?.version === ruling.version ? profile : undefined;
};
