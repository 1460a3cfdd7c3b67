import type { Block, Message } from '../message.js';
import type { Profile, WireTool } from '../profiles/profile.js';
import type { TokenCounter } from '../tokens.js';

/** Role, separators and keys around a message, on every protocol about alike. */
export const MESSAGE_TOKENS = 4;
// The same around a call and a tool.
const CALL_TOKENS = 6;
const TOOL_TOKENS = 8;

// Opaque text is not read: an upper bound by its length.
const OPAQUE_CHARS_PER_TOKEN = 4;

const opaqueTokens = (text: string): number => Math.ceil(text.length / OPAQUE_CHARS_PER_TOKEN);

const blockTokens = (block: Block, counter: TokenCounter, profile: Profile): number => {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return counter.count(block.text);
    case 'reasoning': {
      if (profile.reasoning === 'none') return 0;
      if (profile.reasoning === 'own' && block.provider !== profile.provider) return 0;
      return counter.count(block.text) + opaqueTokens(block.encrypted ?? '');
    }
    case 'provider':
      return block.provider === profile.provider ? opaqueTokens(block.json) : 0;
    case 'tool_call':
      return 0;
    case 'image':
    case 'audio':
    case 'file':
      return profile.mediaTokens(block);
  }
};

const countedTokens = (message: Message, counter: TokenCounter, profile: Profile): number => {
  if (counter.countMessage !== undefined) return counter.countMessage(message);
  let tokens = MESSAGE_TOKENS;
  for (const block of message.blocks) tokens += blockTokens(block, counter, profile);
  for (const call of message.toolCalls) {
    tokens += CALL_TOKENS + counter.count(call.name) + counter.count(call.arguments);
  }
  return tokens;
};

// A message is immutable: it is counted once by each counter and profile, and forgotten with it.
const known = new WeakMap<Message, Map<string, number>>();

/** Tokens of a message as the profile sends it. Never reads the bytes of images or files. */
export const messageTokens = (
  message: Message,
  counter: TokenCounter,
  profile: Profile,
): number => {
  const counts = known.get(message) ?? new Map<string, number>();
  const key = `${counter.name} ${profile.id}`;
  const before = counts.get(key);
  if (before !== undefined) return before;
  const tokens = countedTokens(message, counter, profile);
  known.set(message, counts.set(key, tokens));
  return tokens;
};

/** Tokens of a text that is sent as a message of its own. */
export const textTokens = (text: string, counter: TokenCounter): number =>
  MESSAGE_TOKENS + counter.count(text);

/** Tokens of the tools on offer. */
export const toolsTokens = (tools: readonly WireTool[], counter: TokenCounter): number =>
  tools.reduce(
    (tokens, tool) =>
      tokens +
      TOOL_TOKENS +
      counter.count(tool.name) +
      counter.count(tool.description ?? '') +
      (tool.parameters === undefined ? 0 : counter.count(JSON.stringify(tool.parameters))),
    0,
  );
