import { profileNamed, profileOf } from '../../domain/profiles/registry.js';
import type { Profile } from '../../domain/profiles/profile.js';
import type { Branch } from '../../face/branch-face.js';
import { refuseArgument } from './faults.js';
import type { Invocation } from './invocation.js';

const defaultModels: Readonly<Record<string, string>> = {
  'openai-chat': 'gpt-5.1',
  anthropic: 'claude-sonnet-4-5',
};

const DEFAULT_PROFILE = 'openai-chat';

/**
 * The profile of `--profile` and `--model`; without them that of the branch's last call, so that a
 * preview shows what the next call would be like.
 */
export const profileFor = async (call: Invocation, branch: Branch): Promise<Profile> => {
  const { options, settings } = call;
  const [name, model] = [options.text('profile'), options.text('model') ?? settings.model];
  const last = (await branch.calls()).calls.at(-1);
  const recorded = last === undefined ? undefined : profileOf(last.profile);
  const isSame = name === undefined || name === recorded?.id;
  if (recorded !== undefined && isSame && (model === undefined || model === recorded.model)) {
    return recorded;
  }
  const id = name ?? recorded?.id ?? DEFAULT_PROFILE;
  const chosen = model ?? defaultModels[id];
  const profile = profileNamed(id, chosen === undefined ? {} : { model: chosen });
  return profile ?? refuseArgument('profile', 'unknown_value');
};
