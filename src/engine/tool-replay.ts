import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../domain/errors.js';
import { FOREIGN_JSON, parseJson } from '../domain/json-scan.js';
import { textOf, type Message, type Outcome } from '../domain/message.js';
import type { BranchContext } from './engine-context.js';
import { readSurface } from './histories.js';
import type { Task } from './runtime.js';

/** A tool call that is asked for again. */
export interface ToolRequest {
  readonly name: string;
  /** Argument text; compared as JSON, so that key order and white space do not count. */
  readonly arguments: string;
}

/** What the recorded call of this occurrence gave. */
export interface RecordedResult {
  readonly toolCallId: string;
  readonly messageId: string;
  readonly outcome: Outcome;
  readonly content: string;
}

/** Answers tool calls from what is recorded; no tool runs. */
export interface ToolReplay {
  /** The n-th question for a name and arguments is answered by the n-th such call, as they were issued. */
  readonly answer: (request: ToolRequest) => E.Either<StemmaFault, RecordedResult>;
}

const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Numbers that do not fit a double are told apart by their text: then the text itself is compared. */
const questionOf = ({ name, arguments: text }: ToolRequest): string => {
  const parsed = parseJson(text, { ...FOREIGN_JSON, unsafeNumbers: 'refuse' });
  return `${name} ${E.isRight(parsed) ? JSON.stringify(parsed.right, sorted) : `"${text}`}`;
};

interface Occurrence {
  readonly callId: string;
  readonly result?: Message;
}

const occurrences = (messages: readonly Message[]): ReadonlyMap<string, readonly Occurrence[]> => {
  const results = new Map<string, Message>();
  for (const message of messages) {
    if (message.late === true) continue;
    for (const { messageId, index } of message.answers) {
      results.set(`${String(index)} ${messageId}`, message);
    }
  }
  const found = new Map<string, Occurrence[]>();
  for (const { id, toolCalls } of messages) {
    toolCalls.forEach((call, index) => {
      const question = questionOf(call);
      const result = results.get(`${String(index)} ${id}`);
      const occurrence = { callId: call.id, ...(result === undefined ? {} : { result }) };
      found.set(question, [...(found.get(question) ?? []), occurrence]);
    });
  }
  return found;
};

/** Prepares a replay of the tools of a branch, as its history stands now. */
export const toolReplay =
  (context: BranchContext): Task<ToolReplay> =>
  async () => {
    const surface = await readSurface(context.runtime, context.histories, context.key)();
    if (E.isLeft(surface)) return surface;
    const recorded = occurrences(
      surface.right.items
        .filter(({ message }) => message.status === 'confirmed')
        .map(({ message }) => message),
    );
    const asked = new Map<string, number>();
    return E.right({
      answer: (request) => {
        const question = questionOf(request);
        const occurrence = (asked.get(question) ?? 0) + 1;
        asked.set(question, occurrence);
        const found = recorded.get(question)?.[occurrence - 1];
        const { result } = found ?? {};
        if (found === undefined || result === undefined) {
          return E.left({ _tag: 'ReplayMiss', name: request.name, occurrence });
        }
        return E.right({
          toolCallId: found.callId,
          messageId: result.id,
          outcome: result.outcome ?? 'ok',
          content: textOf(result.blocks),
        });
      },
    });
  };
