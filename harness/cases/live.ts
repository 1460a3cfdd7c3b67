import type { LiveAnswer, ModelCall } from '../../src/index.js';
import { listOf, number, object, optional, refuse, text } from './shape.js';
import type { CaseEvent } from './input-shape.js';
import { contextInputOf } from './policy.js';
import { capabilitiesOf, profileOf, targetOf } from './profiles.js';
import type { CaseInput } from './read-case.js';
import { namingOf, type Talk } from './talk.js';

/** Streamed answers that are being put together, by the message id of the case. */
export interface LiveCalls {
  readonly open: Map<string, LiveAnswer>;
}

export const noLiveCalls = (): LiveCalls => ({ open: new Map() });

const started = object({ message_id: text }, 'field of StreamStarted');
const aborted = object({ message_id: text, reason: optional(text) }, 'field of StreamAborted');
const delta = object(
  {
    message_id: text,
    text: optional(text),
    tool_call: optional(
      object(
        { index: number, id: optional(text), name: optional(text), arguments: optional(text) },
        'field of a streamed call',
      ),
    ),
  },
  'field of StreamDelta',
);

export const streamTypes: ReadonlySet<string> = new Set([
  'StreamStarted',
  'StreamDelta',
  'StreamAborted',
]);

const begin = async (talk: Talk, input: CaseInput): Promise<LiveAnswer> => {
  const { params } = input;
  const profile = profileOf(input.profile, targetOf(params));
  const capabilities = capabilitiesOf(params);
  const configured = capabilities === undefined ? profile : profile.configure(capabilities);
  const naming = await namingOf(talk);
  const call: ModelCall<object> = await talk.branch.request(
    contextInputOf(params, configured, naming),
  );
  return call.stream();
};

const named = (talk: Talk, id: string, messageId: string | undefined): void => {
  if (messageId !== undefined && messageId !== id) talk.names.set(messageId, id);
};

const liveOf = (calls: LiveCalls, id: string, at: string): LiveAnswer =>
  calls.open.get(id) ?? refuse(at, `nothing streams for ${id}`);

/** Feeds an event of a stream through the live call of the engine. */
export const feedStream = async (
  talk: Talk,
  input: CaseInput,
  calls: LiveCalls,
  event: CaseEvent,
  at: string,
): Promise<void> => {
  if (event.type === 'StreamStarted') {
    const { message_id: id } = started(event.data, at);
    calls.open.set(id, await begin(talk, input));
    return;
  }
  if (event.type === 'StreamAborted') {
    const { message_id: id, reason } = aborted(event.data, at);
    const reply = await liveOf(calls, id, at).abort(reason);
    calls.open.delete(id);
    named(talk, id, reply.messageId);
    return;
  }
  const { message_id: id, text: said, tool_call: call } = delta(event.data, at);
  const live = liveOf(calls, id, at);
  if (said !== undefined) live.push({ text: said });
  if (call === undefined) return;
  const { index, id: callId, name, arguments: args } = call;
  live.push({
    toolCall: {
      index,
      ...(callId === undefined ? {} : { id: callId }),
      ...(name === undefined ? {} : { name }),
      ...(args === undefined ? {} : { arguments: args }),
    },
  });
};

/** A stream that nobody broke off has come to its end. */
export const finishStreams = async (talk: Talk, calls: LiveCalls): Promise<void> => {
  for (const [id, live] of calls.open) {
    calls.open.delete(id);
    const reply = await live.finish({ id });
    named(talk, id, reply.messageId);
  }
};

/** Ids in a field of an event. */
export const idList = listOf(text);
