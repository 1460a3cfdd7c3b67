import { checkAnthropicBlocks } from './anthropic-validate-blocks.js';
import { checkAnthropicPairs } from './anthropic-validate-pairs.js';
import { checkAnthropicThinking } from './anthropic-validate-thinking.js';
import { cacheMarkers, MAX_CACHE_MARKERS } from './anthropic-cache.js';
import { MANY_IMAGES, MAX_SIDE, MAX_SIDE_OF_MANY } from './anthropic-images.js';
import { anthropicFields } from './anthropic-fields.js';
import { shapeViolation, type AnthropicCheck, type CheckedMessage } from './anthropic-check.js';
import type { Capabilities, Facts, Violation } from './profile.js';
import { foreignFields, isWireObject, type WireObject } from './whitelist.js';
import { isSendable } from './wire-text.js';

const MAX_MESSAGES = 100_000;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const blocksOf = (content: unknown): readonly WireObject[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isWireObject) : [];
};

const maySystemStand = (check: AnthropicCheck, at: number): boolean => {
  if (check.capabilities.systemInMessages !== true) return false;
  const before = check.messages[at - 1];
  const after = check.messages[at + 1];
  const follows =
    before?.role === 'user' ||
    (before?.role === 'assistant' && before.blocks.at(-1)?.['type'] === 'server_tool_use');
  return follows && (after === undefined || after.role === 'assistant');
};

const checkRoles = (check: AnthropicCheck): void => {
  const { messages, found } = check;
  messages.forEach(({ role, index, blocks }, at) => {
    if (role === 'user' || role === 'assistant') return;
    if (role !== 'system') {
      found.push({ rule: 'A2', code: 'RoleNotSupported', index, ids: [], role });
    } else if (!maySystemStand(check, at)) {
      const reason = 'system_placement' as const;
      found.push({ rule: 'A2', code: 'OrderViolation', reason, index, ids: [], role });
    } else if (blocks.some(({ type }) => type !== 'text')) {
      found.push(shapeViolation('A2', index, '/content'));
    }
  });
};

const checkFirst = ({ messages, found }: AnthropicCheck): void => {
  const first = messages.find(({ role }) => role === 'user' || role === 'assistant');
  const isCompacted = first?.blocks[0]?.['type'] === 'compaction';
  if (first?.role === 'user' || isCompacted) return;
  const index = first?.index ?? 0;
  found.push({ rule: 'A1', code: 'OrderViolation', reason: 'first_role', index, ids: [] });
};

const checkLast = ({ messages, capabilities, found }: AnthropicCheck): void => {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const { index, blocks } = last;
  if (capabilities.prefill === false) {
    found.push({ rule: 'A8', code: 'OrderViolation', reason: 'last_role', index, ids: [] });
    return;
  }
  const text = blocks.at(-1)?.['text'];
  if (typeof text === 'string' && text.trimEnd() !== text) {
    found.push(shapeViolation('A8', index, '/content'));
  }
};

const checkWhole = (check: AnthropicCheck): void => {
  const { body, messages, facts, found } = check;
  if (messages.length > MAX_MESSAGES) found.push({ rule: 'A1', code: 'TooLarge', ids: [] });
  if (cacheMarkers(body) > MAX_CACHE_MARKERS) {
    found.push({ rule: 'A14', code: 'InvalidShape', ids: [], path: '/messages' });
  }
  const images = messages
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => [block, ...blocksOf(block['content'])])
    .filter(({ type }) => type === 'image').length;
  const limit = images > MANY_IMAGES ? MAX_SIDE_OF_MANY : MAX_SIDE;
  for (const { index, width, height } of facts.images ?? []) {
    if (Math.max(width, height) > limit) found.push(shapeViolation('A15', index));
  }
  if (!isSendable(body)) {
    const at = messages.find(({ blocks }) => !isSendable(blocks));
    const index = at === undefined ? {} : { index: at.index };
    found.push({ rule: 'A17', code: 'IllFormedUnicode', ids: [], path: '/messages', ...index });
  }
};

const checkTools = ({ body, found }: AnthropicCheck): void => {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isWireObject) : [];
  for (const { name } of tools) {
    if (typeof name === 'string' && TOOL_NAME.test(name)) continue;
    found.push({ rule: 'A-name', code: 'InvalidShape', ids: [], path: '/tools' });
  }
};

/** Every rule A1–A17 that a request breaks. */
export const validateAnthropic = (
  body: unknown,
  capabilities: Capabilities,
  facts: Facts = {},
): readonly Violation[] => {
  const list = isWireObject(body) ? body['messages'] : undefined;
  if (!isWireObject(body) || !Array.isArray(list)) {
    return [{ rule: 'A1', code: 'InvalidShape', ids: [], path: '/messages' }];
  }
  const found: Violation[] = [];
  const messages = list.filter(isWireObject).map((message, index): CheckedMessage => {
    for (const field of foreignFields(message, anthropicFields)) {
      found.push(shapeViolation('A-field', index, `/${field}`));
    }
    return { index, role: String(message['role']), blocks: blocksOf(message['content']) };
  });
  const check: AnthropicCheck = { body, messages, capabilities, facts, found };
  checkFirst(check);
  checkRoles(check);
  checkAnthropicBlocks(check);
  checkAnthropicPairs(check);
  checkAnthropicThinking(check);
  checkLast(check);
  checkTools(check);
  checkWhole(check);
  return found;
};
