import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import { textOf, type Block, type Role, type ToolCall } from '../message.js';
import { openaiMediaTokens } from './openai-media.js';
import { bodyParams } from './params.js';
import type {
  DecodedMessage,
  DecodedResponse,
  Encoded,
  EncodeOptions,
  LayoutEntry,
  Limits,
  Profile,
  Turn,
  WireTool,
} from './profile.js';
import { isWireObject } from './whitelist.js';

/** A message without the rules of any provider: roles, content and calls as they are recorded. */
export interface NeutralMessage {
  role: Role;
  content: string | Block[];
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  is_error?: boolean;
}

export interface NeutralBody {
  messages: NeutralMessage[];
  tools?: WireTool[];
}

const NEUTRAL = 'neutral';
const VERSION = 1;

const limits: Limits = {
  callIdLength: Number.MAX_SAFE_INTEGER,
  toolNameLength: Number.MAX_SAFE_INTEGER,
  toolNameForbidden: /(?!)/g,
};

const contentOf = (turn: Turn): string | Block[] => {
  const blocks = turn.blocks.filter(({ type }) => type !== 'tool_call');
  const [only] = blocks;
  if (only === undefined) return '';
  return blocks.length === 1 && only.type === 'text' ? only.text : [...blocks];
};

const messageOf = (turn: Turn): NeutralMessage => ({
  role: turn.role,
  content: contentOf(turn),
  ...(turn.name !== undefined && { name: turn.name }),
  ...(turn.calls.length > 0 && {
    tool_calls: turn.calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
  }),
  ...(turn.answer && { tool_call_id: turn.answer.id }),
  ...(turn.isError === true && { is_error: true }),
});

const encode = (
  turns: readonly Turn[],
  options: EncodeOptions,
): E.Either<StemmaFault, Encoded<NeutralBody>> => {
  const params = bodyParams(options.params, ['messages', 'tools']);
  if (E.isLeft(params)) return params;
  const layout = turns.map(({ ids, index }, at): LayoutEntry => ({
    ids,
    turn: index,
    path: ['messages', at],
  }));
  return E.right({
    body: {
      messages: turns.map(messageOf),
      ...(options.tools.length > 0 && { tools: [...options.tools] }),
      ...params.right,
    },
    repairs: [],
    warnings: [],
    omitted: [],
    added: turns.flatMap((turn, index) =>
      turn.synthetic === true && turn.role === 'user'
        ? [{ kind: 'opening' as const, index, text: textOf(turn.blocks) }]
        : [],
    ),
    layout,
    facts: {},
  });
};

const roles: readonly Role[] = ['system', 'developer', 'user', 'assistant', 'tool'];

const decodeOne = (message: unknown, index: number): E.Either<StemmaFault, DecodedMessage> => {
  const path = `/messages/${String(index)}`;
  if (!isWireObject(message)) {
    return E.left({ _tag: 'InvalidShape', path, index, expected: 'message' });
  }
  const {
    role,
    content,
    tool_calls: calls,
    tool_call_id: answered,
    name,
  } = message as {
    readonly [K in keyof NeutralMessage]?: unknown;
  };
  if (!roles.includes(role as Role)) {
    return E.left({ _tag: 'UnknownRole', index, path: `${path}/role` });
  }
  if (role === 'tool' && typeof answered !== 'string') {
    return E.left({ _tag: 'MissingToolCallId', index, path: `${path}/tool_call_id` });
  }
  return E.right({
    index,
    role: role as Role,
    blocks:
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : Array.isArray(content)
          ? (content as readonly Block[])
          : [],
    toolCalls: Array.isArray(calls) ? (calls as readonly ToolCall[]) : [],
    answersCallIds: typeof answered === 'string' ? [answered] : [],
    ...(role === 'tool' && { outcome: message['is_error'] === true ? 'error' : 'ok' }),
    ...(typeof name === 'string' && { name }),
  });
};

const decodeMessages = (messages: unknown): E.Either<StemmaFault, readonly DecodedMessage[]> => {
  if (!Array.isArray(messages)) {
    return E.left({ _tag: 'InvalidShape', path: '/messages', expected: 'list of messages' });
  }
  const decoded: DecodedMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const one = decodeOne(message, index);
    if (E.isLeft(one)) return one;
    decoded.push(one.right);
  }
  return E.right(decoded);
};

const decode = (response: unknown): E.Either<StemmaFault, DecodedResponse> => {
  const one = decodeOne(response, 0);
  if (E.isLeft(one)) return one;
  const { blocks, toolCalls } = one.right;
  return E.right({ blocks, toolCalls, finishReason: 'unknown', usage: {} });
};

/** No provider rules: surface order, roles, ids and names as recorded. Open calls are refused still. */
export const neutral = (): Profile<NeutralBody> => {
  const profile: Profile<NeutralBody> = {
    id: NEUTRAL,
    version: VERSION,
    provider: NEUTRAL,
    roles,
    capabilities: {},
    limits,
    pairing: 'free',
    requireUserStart: false,
    reasoning: 'any',
    argumentsAs: 'text',
    mediaTokens: openaiMediaTokens,
    ruling: { name: NEUTRAL, version: VERSION },
    configure: () => profile,
    mapCallId: (id) => id,
    encode,
    validate: () => [],
    decode,
    decodeMessages,
  };
  return profile;
};
