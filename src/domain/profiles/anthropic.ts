import * as E from 'fp-ts/lib/Either.js';
import {
  ANTHROPIC,
  decodeAnthropicMessages,
  decodeAnthropicResponse,
  type DecodedPart,
} from './anthropic-decode.js';
import { encodeAnthropic } from './anthropic-encode.js';
import { anthropicMediaTokens } from './anthropic-images.js';
import { validateAnthropic } from './anthropic-validate.js';
import type { AnthropicBody, AnthropicThinkingConfig } from './anthropic-wire.js';
import { modelCapabilities } from './anthropic-models.js';
import type { AnthropicEncoding } from './anthropic-work.js';
import { exactRaw } from './exact-raw.js';
import type { Capabilities, DecodedMessage, Limits, Profile } from './profile.js';
import { mapId } from './wire-ids.js';

export interface AnthropicOptions {
  readonly model: string;
  /** Whose reasoning it may read, when the model is served by another provider. */
  readonly provider?: string;
  /** Output tokens of a call unless its parameters say otherwise; the protocol demands a number. */
  readonly maxTokens?: number;
  readonly contextWindow?: number;
  readonly capabilities?: Capabilities;
  /** How reasoning is switched on when the policy asks for it. */
  readonly thinking?: AnthropicThinkingConfig;
}

const VERSION = 1;
const ID_CHARS = 64;
const MAX_TOKENS = 4_096;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;

const limits: Limits = {
  callIdLength: ID_CHARS,
  callIdForbidden: FORBIDDEN,
  toolNameLength: 64,
  toolNameForbidden: FORBIDDEN,
  messages: 100_000,
};

const paramsOf = (options: AnthropicOptions, encoding: AnthropicEncoding): string =>
  JSON.stringify({
    model: options.model,
    ...(options.provider !== undefined && { provider: options.provider }),
    maxTokens: encoding.maxTokens,
    ...(options.contextWindow !== undefined && { contextWindow: options.contextWindow }),
    ...(options.thinking !== undefined && { thinking: options.thinking }),
    capabilities: Object.fromEntries(
      Object.entries(encoding.capabilities).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  });

const withRaw = (
  profile: Pick<Profile, 'encode'>,
  { decoded, wire }: DecodedPart,
): DecodedMessage => {
  const raw = exactRaw(profile, ANTHROPIC, [decoded], wire);
  return raw === undefined ? decoded : { ...decoded, raw };
};

/** Anthropic Messages (rules A1–A17), with the capabilities of the model where they are known. */
export const anthropic = (options: AnthropicOptions): Profile<AnthropicBody> => {
  const { model, contextWindow } = options;
  const capabilities: Capabilities = { ...modelCapabilities(model), ...options.capabilities };
  const encoding: AnthropicEncoding = {
    model,
    capabilities,
    maxTokens: options.maxTokens ?? MAX_TOKENS,
    ...(options.thinking !== undefined && { thinking: options.thinking }),
  };
  const profile: Profile<AnthropicBody> = {
    id: ANTHROPIC,
    version: VERSION,
    provider: options.provider ?? ANTHROPIC,
    model,
    roles: ['system', 'developer', 'user', 'assistant', 'tool'],
    capabilities,
    limits,
    ...(contextWindow !== undefined && { contextWindow }),
    maxOutputTokens: encoding.maxTokens,
    pairing: 'adjacent',
    pairingRule: 'A3',
    requireUserStart: true,
    reasoning: 'own',
    argumentsAs: 'object',
    mediaTokens: anthropicMediaTokens,
    ruling: { name: ANTHROPIC, version: VERSION, params: paramsOf(options, encoding) },
    configure: (changed) =>
      anthropic({ ...options, capabilities: { ...capabilities, ...changed } }),
    mapCallId: (id, occurrence) =>
      mapId(id, occurrence, { maxLength: ID_CHARS, forbidden: FORBIDDEN }),
    encode: (turns, encodeOptions) => encodeAnthropic(encoding, turns, encodeOptions),
    validate: (body, facts) => validateAnthropic(body, capabilities, facts),
    decode: (response, decoding) => {
      const decoded = decodeAnthropicResponse(response, decoding);
      if (E.isLeft(decoded)) return decoded;
      const { answer, part } = decoded.right;
      const raw = exactRaw(profile, ANTHROPIC, [part.decoded], part.wire);
      return E.right({ ...answer, ...(raw && { raw }) });
    },
    decodeMessages: (messages) => {
      const parts = decodeAnthropicMessages(messages);
      return E.isLeft(parts) ? parts : E.right(parts.right.map((part) => withRaw(profile, part)));
    },
  };
  return profile;
};
