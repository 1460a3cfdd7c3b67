import { shapeViolation, type AnthropicCheck, type CheckedMessage } from './anthropic-check.js';
import { isWireObject, type WireObject } from './whitelist.js';

const isReasoning = (block: WireObject | undefined): boolean =>
  block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking';

// A9 and A11: every block as it came, and signed.
const checkBlocks = (check: AnthropicCheck): void => {
  const { messages, facts, found } = check;
  const recordedAt = new Map(facts.reasoning?.map(({ index, blocks }) => [index, blocks]));
  for (const { blocks, index, role } of messages) {
    const own = blocks.filter(isReasoning);
    for (const block of own) {
      const isRedacted = block['type'] === 'redacted_thinking';
      const isWhole = isRedacted
        ? typeof block['data'] === 'string'
        : typeof block['thinking'] === 'string';
      if (!isWhole || role !== 'assistant') found.push(shapeViolation('A9', index, '/content'));
      if (isRedacted || (typeof block['signature'] === 'string' && block['signature'] !== '')) {
        continue;
      }
      const reason = 'signature_missing' as const;
      found.push({ rule: 'A11', code: 'ReasoningRequired', reason, index, ids: [] });
    }
    const recorded = recordedAt.get(index);
    if (facts.reasoning === undefined) continue;
    const sent = own.map((block) => JSON.stringify(block));
    if (JSON.stringify(sent) !== JSON.stringify(recorded ?? [])) {
      found.push(shapeViolation('A9', index, '/content'));
    }
  }
};

const isRealUser = ({ role, blocks }: CheckedMessage): boolean =>
  role === 'user' && blocks.some(({ type }) => type !== 'tool_result');

// A10: with manual reasoning the open tool loop starts with it; without it, a message in the last
// place has none.
const checkLoop = (check: AnthropicCheck): void => {
  const { body, messages, capabilities, found } = check;
  const config = body['thinking'];
  const type = isWireObject(config) ? config['type'] : undefined;
  const last = messages.at(-1);
  if (last === undefined) return;
  const isOff = type === undefined || type === 'disabled';
  if (isOff && last.role === 'assistant' && last.blocks.some(isReasoning)) {
    found.push(shapeViolation('A10', last.index, '/content'));
  }
  if (type !== 'enabled' || capabilities.thinkingRequiredInToolLoop === false) return;
  if (last.blocks.at(-1)?.['type'] !== 'tool_result') return;
  const start = messages.findLastIndex(isRealUser);
  const first = messages.slice(start + 1).find(({ role }) => role === 'assistant');
  if (first === undefined || isReasoning(first.blocks[0])) return;
  const reason = 'reasoning_missing' as const;
  found.push({ rule: 'A10', code: 'ReasoningRequired', reason, index: first.index, ids: [] });
};

// A12: reasoning behind another prefix than its own, and the provider not asked to drop it.
const checkPrefix = (check: AnthropicCheck): void => {
  const { body, messages, capabilities, facts, found } = check;
  if (capabilities.prefixBoundThinking !== true) return;
  const config = body['thinking'];
  const binding = isWireObject(config) ? config['block_binding'] : undefined;
  if (isWireObject(binding) && binding['prefix_mismatch_behavior'] === 'drop_block') return;
  for (const index of facts.prefixChanged ?? []) {
    const message = messages[index];
    if (message?.blocks.some(isReasoning) === true) found.push(shapeViolation('A12', index));
  }
};

/** Rules about reasoning: A9 to A12. */
export const checkAnthropicThinking = (check: AnthropicCheck): void => {
  checkBlocks(check);
  checkLoop(check);
  checkPrefix(check);
};
