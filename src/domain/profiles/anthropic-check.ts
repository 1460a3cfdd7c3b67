import type { Capabilities, Facts, Violation } from './profile.js';
import type { WireObject } from './whitelist.js';

/** A message with its blocks as a list, and its place. */
export interface CheckedMessage {
  readonly index: number;
  readonly role: string;
  readonly blocks: readonly WireObject[];
}

export interface AnthropicCheck {
  readonly body: WireObject;
  readonly messages: readonly CheckedMessage[];
  readonly capabilities: Capabilities;
  readonly facts: Facts;
  readonly found: Violation[];
}

export const shapeViolation = (rule: string, index: number, path = ''): Violation => ({
  rule,
  code: 'InvalidShape',
  index,
  ids: [],
  path: `/messages/${String(index)}${path}`,
});
