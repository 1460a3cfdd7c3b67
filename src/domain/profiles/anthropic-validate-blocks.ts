import { shapeViolation, type AnthropicCheck, type CheckedMessage } from './anthropic-check.js';
import { isWireObject, textAt, type WireObject } from './whitelist.js';

const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const isBlank = (value: unknown): boolean => typeof value !== 'string' || value.trim() === '';

const textsOf = (block: WireObject): readonly unknown[] => {
  if (block['type'] === 'text') return [block['text']];
  if (block['type'] !== 'tool_result') return [];
  const { content } = block as { readonly content?: unknown };
  if (typeof content === 'string') return [content];
  const parts = Array.isArray(content) ? content.filter(isWireObject) : [];
  return parts.flatMap(textsOf);
};

const checkTexts = ({ found }: AnthropicCheck, { blocks, index }: CheckedMessage): void => {
  if (blocks.length === 0 || blocks.flatMap(textsOf).some(isBlank)) {
    found.push(shapeViolation('A7', index, '/content'));
  }
};

const checkPlaces = ({ found }: AnthropicCheck, { blocks, role, index }: CheckedMessage): void => {
  const isUsers = (block: WireObject): boolean =>
    block['type'] === 'image' || block['type'] === 'document';
  if (role === 'assistant' && blocks.some(isUsers)) {
    found.push(shapeViolation('A15', index, '/content'));
  }
};

const checkIds = ({ messages, found }: AnthropicCheck): void => {
  const seen = new Set<string>();
  for (const { blocks, index } of messages) {
    for (const block of blocks) {
      if (block['type'] !== 'tool_use') continue;
      const id = textAt(block, 'id');
      if (!ID.test(id) || seen.has(id)) {
        found.push({ ...shapeViolation('A6', index, '/content'), ids: [id] });
      }
      seen.add(id);
      const name = textAt(block, 'name');
      if (!TOOL_NAME.test(name)) {
        found.push({ ...shapeViolation('A-name', index, '/content'), ids: [id] });
      }
      if (!isWireObject(block['input'])) {
        const reason = typeof block['input'] === 'string' ? 'not_json' : 'not_an_object';
        found.push({ rule: 'A3', code: 'ToolArgumentsInvalid', reason, index, ids: [id] });
      }
    }
  }
};

const isServerResult = (block: WireObject): boolean =>
  typeof block['type'] === 'string' &&
  block['type'].endsWith('_tool_result') &&
  block['tool_use_id'] !== undefined;

const isServerUse = (block: WireObject): boolean =>
  block['type'] === 'server_tool_use' || block['type'] === 'mcp_tool_use';

// A13: a server tool and its result stand in one assistant message; only the very last message may
// stop in between.
const checkServerTools = (check: AnthropicCheck, message: CheckedMessage): void => {
  const { blocks, index, role } = message;
  const isLast = check.messages.at(-1) === message;
  const used = new Map<unknown, number>();
  blocks.forEach((block, at) => {
    if (isServerUse(block)) used.set(block['id'], at);
    if (!isServerResult(block)) return;
    if (role !== 'assistant' || !used.delete(block['tool_use_id'])) {
      check.found.push(shapeViolation('A13', index, '/content'));
    }
  });
  const isPaused = isLast && [...used.values()].every((at) => at === blocks.length - 1);
  if (used.size > 0 && !isPaused) check.found.push(shapeViolation('A13', index, '/content'));
};

// A16: nothing stands before what the provider itself compacted.
const checkCompaction = (check: AnthropicCheck, message: CheckedMessage): void => {
  message.blocks.forEach((block, at) => {
    const isFirst = at === 0 && check.messages[0] === message;
    if (block['type'] === 'compaction' && !isFirst) {
      check.found.push(shapeViolation('A16', message.index, `/content/${String(at)}`));
    }
  });
};

/** Rules about single blocks: A6, A7, A13, A15, A16, and the names of tools. */
export const checkAnthropicBlocks = (check: AnthropicCheck): void => {
  for (const message of check.messages) {
    checkTexts(check, message);
    checkPlaces(check, message);
    checkServerTools(check, message);
    checkCompaction(check, message);
  }
  checkIds(check);
  const system = check.body['system'];
  const texts = typeof system === 'string' ? [system] : Array.isArray(system) ? system : [];
  for (const text of texts) {
    if (!isBlank(isWireObject(text) ? text['text'] : text)) continue;
    check.found.push({ rule: 'A7', code: 'InvalidShape', ids: [], path: '/system' });
  }
};
