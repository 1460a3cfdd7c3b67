import { anthropic } from '../../src/domain/profiles/anthropic.js';
import { neutral } from '../../src/domain/profiles/neutral.js';
import { openaiChat } from '../../src/domain/profiles/openai-chat.js';
import type { Capabilities, Profile } from '../../src/domain/profiles/profile.js';
import type { Params } from './input-shape.js';
import { refuse } from './shape.js';

/** Models that the calls go to when a case names none. */
const defaultModels: Readonly<Record<string, string>> = {
  'openai-chat': 'gpt-4o',
  anthropic: 'claude-sonnet-4-5',
};

const makers: Readonly<Record<string, (model: string) => Profile>> = {
  'openai-chat': (model) => openaiChat({ model }),
  anthropic: (model) => anthropic({ model }),
  neutral: () => neutral(),
};

const forProvider = (profile: Profile, provider: string): Profile => ({
  ...profile,
  provider,
  configure: (capabilities) => forProvider(profile.configure(capabilities), provider),
});

type Target = Exclude<Params['target'], string | undefined>;

/** The profile of this name, for the target that a call goes to. */
export const profileOf = (name: string, target?: Target): Profile => {
  const maker = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (maker === undefined) return refuse('/input/profile', `profile ${name} comes later`);
  const profile = maker(target?.model ?? defaultModels[name] ?? '');
  return target === undefined || target.provider === profile.provider
    ? profile
    : forProvider(profile, target.provider);
};

/** What the model can do, in the words of the engine. */
export const capabilitiesOf = ({ capabilities }: Params): Capabilities | undefined => {
  if (capabilities === undefined) return undefined;
  const {
    prefill,
    thought_signature_required: signature,
    prefix_bound_thinking: bound,
    thinking_required_in_tool_loop: required,
  } = capabilities;
  return {
    ...(prefill === undefined ? {} : { prefill }),
    ...(signature === undefined ? {} : { thoughtSignatureRequired: signature }),
    ...(bound === undefined ? {} : { prefixBoundThinking: bound }),
    ...(required === undefined ? {} : { thinkingRequiredInToolLoop: required }),
  };
};

export const targetOf = ({ target }: Params): Target | undefined =>
  typeof target === 'string' ? undefined : target;
