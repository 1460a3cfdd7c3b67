import { message, messageFields, type CaseEvent, type CaseMessage } from './input-shape.js';
import { isFields, isList, Unreadable, type Fields } from './shape.js';

/** Versions whose shape the translator knows: text or parts, and calls told inside the message. */
const KNOWN_VERSION = 2;

const INVOCATIONS = 'toolInvocations';

const known: ReadonlySet<string> = new Set([...messageFields, INVOCATIONS]);

const isMessageData = (data: unknown): data is Fields =>
  isFields(data) &&
  typeof data['role'] === 'string' &&
  Object.keys(data).every((key) => known.has(key));

/** An event that nobody here knows goes to the loader as it is (rule 5). */
export const isForeign = ({ type, version = 1, data }: CaseEvent): boolean => {
  if (type === 'NobodyKnowsThis' || version > KNOWN_VERSION) return true;
  return type === 'MessageAppended' && !isMessageData(data);
};

const textIn = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

const callOf = (invocation: Fields): Fields => ({
  id: invocation['toolCallId'],
  name: invocation['toolName'],
  arguments: textIn(invocation['args'] ?? {}),
});

const resultOf = (id: unknown, invocation: Fields): readonly Fields[] =>
  invocation['state'] === 'result'
    ? [
        {
          id: `${String(id)}.${String(invocation['toolCallId'])}`,
          role: 'tool',
          tool_call_id: invocation['toolCallId'],
          content: textIn(invocation['result']),
        },
      ]
    : [];

/**
 * The messages that a stored message event stands for. Calls and results told inside an assistant
 * message of old are a call and a message of their own now; nothing else changes.
 */
export const messagesIn = (data: unknown, at: string): readonly CaseMessage[] => {
  if (!isFields(data)) throw new Unreadable(`${at}: is no message`);
  const { [INVOCATIONS]: given, ...rest } = data;
  const invocations = isList(given) ? given.filter(isFields) : [];
  if (invocations.length === 0) return [message(rest, at)];
  const caller = { ...rest, tool_calls: invocations.map(callOf) };
  return [
    message(caller, at),
    ...invocations
      .flatMap((invocation) => resultOf(rest['id'], invocation))
      .map((result) => message(result, at)),
  ];
};
