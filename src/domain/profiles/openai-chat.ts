import * as E from 'fp-ts/lib/Either.js';
import { decodeOpenAIMessages, decodeOpenAIResponse, OPENAI_CHAT } from './openai-chat-decode.js';
import { encodeOpenAIChat } from './openai-chat-encode.js';
import { exactRaw } from './exact-raw.js';
import { openaiMediaTokens } from './openai-media.js';
import { validateOpenAIChat } from './openai-chat-validate.js';
import type { OpenAIChatBody } from './openai-chat-wire.js';
import type { Capabilities, Limits, Profile } from './profile.js';
import { mapId } from './wire-ids.js';

export interface OpenAIChatOptions {
  readonly model: string;
  /** Whose opaque blocks it may read, when the model is served by another provider. */
  readonly provider?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly capabilities?: Capabilities;
}

const VERSION = 1;
const CALL_ID_CHARS = 40;

// As of autumn 2026: models that refuse the role (OC1).
const NO_DEVELOPER_ROLE = /^o1-(mini|preview)/;

const limits: Limits = {
  callIdLength: CALL_ID_CHARS,
  toolNameLength: 64,
  toolNameForbidden: /[^a-zA-Z0-9_-]/g,
};

const paramsOf = (options: OpenAIChatOptions, capabilities: Capabilities): string =>
  JSON.stringify({
    model: options.model,
    ...(options.provider !== undefined && { provider: options.provider }),
    ...(options.contextWindow !== undefined && { contextWindow: options.contextWindow }),
    ...(options.maxOutputTokens !== undefined && { maxOutputTokens: options.maxOutputTokens }),
    capabilities: Object.fromEntries(
      Object.entries(capabilities).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  });

/** OpenAI Chat Completions as its official endpoint takes it (rules OC1–OC10). */
export const openaiChat = (options: OpenAIChatOptions): Profile<OpenAIChatBody> => {
  const capabilities: Capabilities = {
    developerRole: !NO_DEVELOPER_ROLE.test(options.model),
    parsesArguments: false,
    ...options.capabilities,
  };
  const { model, contextWindow, maxOutputTokens } = options;
  const encode: Profile<OpenAIChatBody>['encode'] = (turns, encoding) =>
    encodeOpenAIChat(model, capabilities, turns, encoding);
  const profile: Profile<OpenAIChatBody> = {
    id: OPENAI_CHAT,
    version: VERSION,
    provider: options.provider ?? 'openai',
    model,
    roles: ['system', 'developer', 'user', 'assistant', 'tool'],
    capabilities,
    limits,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    pairing: 'adjacent',
    pairingRule: 'OC4',
    requireUserStart: false,
    reasoning: 'none',
    argumentsAs: 'text',
    argumentsRule: 'OC8',
    mediaTokens: openaiMediaTokens,
    ruling: { name: OPENAI_CHAT, version: VERSION, params: paramsOf(options, capabilities) },
    configure: (changed) =>
      openaiChat({ ...options, capabilities: { ...capabilities, ...changed } }),
    mapCallId: (id, occurrence) => mapId(id, occurrence, { maxLength: CALL_ID_CHARS }),
    encode,
    validate: (body) => validateOpenAIChat(body, capabilities),
    decode: (response, decoding) => {
      const answer = decodeOpenAIResponse(response, decoding);
      if (E.isLeft(answer)) return answer;
      const { decoded, message } = answer.right;
      const neutral = { index: 0, role: 'assistant' as const, answersCallIds: [], ...decoded };
      const raw = exactRaw(profile, OPENAI_CHAT, [neutral], message);
      return E.right({ ...decoded, ...(raw && { raw }) });
    },
    decodeMessages: (messages) => {
      const list = decodeOpenAIMessages(messages);
      if (E.isLeft(list)) return list;
      return E.right(
        list.right.map((decoded) => {
          const raw = exactRaw(
            profile,
            OPENAI_CHAT,
            [decoded],
            (messages as unknown[])[decoded.index],
          );
          return raw === undefined ? decoded : { ...decoded, raw };
        }),
      );
    },
  };
  return profile;
};
