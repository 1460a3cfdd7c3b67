import * as E from 'fp-ts/lib/Either.js';
import { decodeWith, list, optional, record, text, whole, type Codec } from '../domain/codec.js';
import type { StemmaFault } from '../domain/errors.js';
import { plainJson } from '../domain/json-value.js';
import { Blocks } from '../domain/message.js';
import { argumentFault, optionalNameFault } from '../engine/arguments.js';
import {
  at,
  firstOf,
  member,
  named,
  needed,
  oneOf,
  optionalText,
  options,
  TURN_OUTCOMES as outcomes,
} from './looks.js';

interface AnswerShape {
  readonly blocks: readonly unknown[];
  readonly toolCalls?: readonly { id: string; name: string; arguments: string }[];
}

const AnswerShape = {
  blocks: Blocks as Codec<readonly unknown[]>,
  toolCalls: optional(
    list(
      record<{ id: string; name: string; arguments: string }>('ToolCall', {
        id: text,
        name: text,
        arguments: text,
      }),
    ),
  ),
};

const partial = record<AnswerShape>('Answer', AnswerShape);

/** What a model said is taken as it is, but it must be something that can be stored. */
const answerContent = (value: unknown): StemmaFault | undefined => {
  if (typeof value !== 'object' || value === null) return argumentFault('answer', 'wrong_type');
  const { blocks, toolCalls } = value as Partial<AnswerShape>;
  const plain = plainJson({ blocks, ...(toolCalls === undefined ? {} : { toolCalls }) });
  if (E.isLeft(plain)) return plain.left;
  const read = decodeWith(partial, plain.right);
  return E.isLeft(read)
    ? { _tag: 'InvalidShape', path: read.left.path, expected: read.left.expected }
    : undefined;
};

const answerKinds = {
  id: 'any',
  blocks: 'list',
  toolCalls: 'list',
  finishReason: 'text',
  usage: 'object',
  responseId: 'text',
  model: 'text',
  raw: 'object',
  latencyMs: 'any',
  status: 'text',
} as const;

const answerId = member('id', (id) => optionalNameFault('/id', id));

const latency = member('latencyMs', (ms) =>
  ms === undefined || whole.is(ms) ? undefined : argumentFault('latencyMs', 'not_an_integer'),
);

const failureKinds = {
  kind: 'text',
  code: 'text',
  retryable: 'flag',
  detail: 'text',
  partial: 'object',
  ends: 'text',
} as const;

const partialAnswer = (value: unknown): StemmaFault | undefined =>
  value === undefined
    ? undefined
    : (needed({ id: 'any', blocks: 'list', toolCalls: 'list' }, 'blocks')(value) ??
      answerId(value) ??
      answerContent(value));

/** What each method of a model call is given. */
export const modelCallLooks = {
  complete: at(
    0,
    (answer) =>
      needed(answerKinds, 'blocks')(answer) ??
      answerId(answer) ??
      latency(answer) ??
      answerContent(answer),
  ),
  fail: at(
    0,
    (failure) =>
      needed(failureKinds, 'kind')(failure) ??
      member('ends', oneOf('ends', ...outcomes))(failure) ??
      member('partial', partialAnswer)(failure),
  ),
  interrupt: at(0, partialAnswer),
} as const;

/** What each method of a tool call is given. */
export const toolCallLooks = {
  start: at(
    0,
    options({ effect: 'text', idempotencyKey: 'text', executor: 'text', commandId: 'any' }),
  ),
  result: firstOf(
    at(0, named('content')),
    at(1, options({ outcome: 'text', id: 'any', commandId: 'any' })),
  ),
  abandon: at(0, optionalText('reason')),
  askApproval: firstOf(
    at(0, options({ requestId: 'any', kind: 'text', expiresAt: 'text', commandId: 'any' })),
    at(
      0,
      member('requestId', (id) => optionalNameFault('/requestId', id)),
    ),
  ),
} as const;
