import { argumentsRuleOf } from './arguments-rule.js';
import { openaiFields } from './openai-chat-fields.js';
import type { Capabilities, Violation } from './profile.js';
import { foreignFields, isWireObject, textAt, type WireObject } from './whitelist.js';
import { isSendable } from './wire-text.js';

const CALL_ID_CHARS = 40;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

interface Check {
  readonly messages: readonly WireObject[];
  readonly capabilities: Capabilities;
  readonly found: Violation[];
}

const shapeViolation = (rule: string, index: number, path: string): Violation => ({
  rule,
  code: 'InvalidShape',
  index,
  ids: [],
  path: `/messages/${String(index)}${path}`,
});

const objectsAt = (message: WireObject, key: string): readonly WireObject[] => {
  const value = message[key];
  return Array.isArray(value) ? value.filter(isWireObject) : [];
};

const callIdsOf = (message: WireObject): readonly string[] =>
  objectsAt(message, 'tool_calls').map((call) => textAt(call, 'id'));

const checkRole = ({ capabilities, found }: Check, message: WireObject, index: number): boolean => {
  const role = String(message['role']);
  const isKnown = Object.hasOwn(openaiFields, role);
  if (isKnown && (role !== 'developer' || capabilities.developerRole !== false)) return true;
  found.push({ rule: 'OC1', code: 'RoleNotSupported', index, ids: [], role });
  return isKnown;
};

const hasOnly = (message: WireObject, types: readonly string[]): boolean =>
  objectsAt(message, 'content').every((part) => types.includes(String(part['type'])));

const checkContent = ({ found }: Check, message: WireObject, index: number): void => {
  const { role, content } = message as { readonly role: string; readonly content?: unknown };
  const isText = typeof content === 'string' || (Array.isArray(content) && content.length > 0);
  const add = (rule: string): void => {
    found.push(shapeViolation(rule, index, '/content'));
  };
  if (role === 'system' || role === 'developer') {
    if (!isText || !hasOnly(message, ['text'])) add('OC2');
  } else if (role === 'tool') {
    if (!isText || !hasOnly(message, ['text'])) add('OC7');
  } else if (role === 'user') {
    if (!isText || !hasOnly(message, ['text', 'image_url', 'input_audio', 'file'])) add('OC7');
  } else {
    const calls = objectsAt(message, 'tool_calls');
    const refuses = typeof message['refusal'] === 'string';
    if (!isText && calls.length === 0 && !refuses) add('OC6');
    else if (!hasOnly(message, ['text', 'refusal'])) add('OC6');
  }
};

const checkFields = ({ found }: Check, message: WireObject, index: number): void => {
  const fields = openaiFields[String(message['role'])] ?? {};
  for (const field of foreignFields(message, fields)) {
    const rule = field === 'prefix' || field === 'prefill' ? 'OC10' : 'OC9';
    found.push(shapeViolation(rule, index, `/${field}`));
  }
  objectsAt(message, 'content').forEach((part, at) => {
    if (part['type'] !== 'text') return;
    for (const field of foreignFields(part, { type: 'value', text: 'value' })) {
      found.push(shapeViolation('OC9', index, `/content/${String(at)}/${field}`));
    }
  });
};

const checkCalls = ({ capabilities, found }: Check, message: WireObject, index: number): void => {
  for (const call of objectsAt(message, 'tool_calls')) {
    const id = textAt(call, 'id');
    const made = call['function'];
    if (id === '' || id.length > CALL_ID_CHARS) {
      found.push({ ...shapeViolation('OC5', index, '/tool_calls'), ids: [id] });
    }
    const name = isWireObject(made) ? made['name'] : undefined;
    const args = isWireObject(made) ? made['arguments'] : undefined;
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
      found.push({ ...shapeViolation('OC-name', index, '/tool_calls'), ids: [id] });
    }
    const reason =
      typeof args === 'string' && capabilities.parsesArguments !== true
        ? undefined
        : argumentsRuleOf(args);
    if (reason !== undefined) {
      found.push({ rule: 'OC8', code: 'ToolArgumentsInvalid', reason, index, ids: [id] });
    }
  }
  const answered = message['tool_call_id'];
  if (
    message['role'] === 'tool' &&
    typeof answered === 'string' &&
    answered.length > CALL_ID_CHARS
  ) {
    found.push({ ...shapeViolation('OC5', index, '/tool_call_id'), ids: [answered] });
  }
};

const checkPairs = ({ messages, found }: Check): void => {
  let open = new Map<string, number>();
  let caller = -1;
  const lastResult = new Map(
    messages.map((message, index) => [textAt(message, 'tool_call_id'), index]),
  );
  const close = (until: number): void => {
    if (open.size === 0) return;
    const ids = [...open.keys()];
    const isLater = (id: string): boolean => (lastResult.get(id) ?? -1) >= until;
    const moved = ids.filter(isLater);
    const unanswered = ids.filter((id) => !isLater(id));
    const about = { rule: 'OC4', index: caller };
    if (moved.length > 0) {
      const reason = 'tool_result_not_adjacent' as const;
      found.push({ ...about, code: 'OrderViolation', reason, ids: moved });
    }
    if (unanswered.length > 0) found.push({ ...about, code: 'OpenToolCalls', ids: unanswered });
    open = new Map();
  };
  messages.forEach((message, index) => {
    if (message['role'] === 'tool') {
      const id = textAt(message, 'tool_call_id');
      const left = open.get(id) ?? 0;
      if (left === 0) found.push({ rule: 'OC3', code: 'OrphanToolResult', index, ids: [id] });
      else if (left === 1) open.delete(id);
      else open.set(id, left - 1);
      return;
    }
    close(index);
    caller = index;
    for (const id of callIdsOf(message)) open.set(id, (open.get(id) ?? 0) + 1);
  });
  close(messages.length);
};

const checkTools = ({ found }: Check, body: unknown): void => {
  const tools = isWireObject(body) ? objectsAt(body, 'tools') : [];
  for (const { function: made } of tools) {
    const name = isWireObject(made) ? textAt(made, 'name') : '';
    if (TOOL_NAME.test(name) && isSendable(made)) continue;
    found.push({ rule: 'OC-name', code: 'InvalidShape', ids: [], path: '/tools' });
  }
};

/** Every rule OC1–OC10 that a request breaks, and text that UTF-8 cannot carry. */
export const validateOpenAIChat = (
  body: unknown,
  capabilities: Capabilities,
): readonly Violation[] => {
  const list = isWireObject(body) ? body['messages'] : undefined;
  if (!Array.isArray(list)) {
    return [{ rule: 'OC1', code: 'InvalidShape', ids: [], path: '/messages' }];
  }
  const messages = list.filter(isWireObject);
  const check: Check = { messages, capabilities, found: [] };
  messages.forEach((message, index) => {
    if (!checkRole(check, message, index)) return;
    checkContent(check, message, index);
    checkFields(check, message, index);
    checkCalls(check, message, index);
  });
  messages.forEach((message, index) => {
    if (isSendable(message)) return;
    const path = `/messages/${String(index)}`;
    check.found.push({ rule: 'B15', code: 'IllFormedUnicode', index, ids: [], path });
  });
  checkPairs(check);
  checkTools(check, body);
  return check.found;
};
