import type { Block, ToolCall } from './message.js';

/** What has come of a streamed answer so far. Deltas are not events (session.md, Streaming). */
export interface StreamDraft {
  text: string;
  reasoning: string;
  readonly calls: Map<number, { id: string; name: string; arguments: string }>;
}

/** A piece of a streamed answer; the pieces of parallel calls may come interleaved, told apart by index. */
export type StreamDelta =
  | { readonly text: string }
  | { readonly reasoning: string }
  | {
      readonly toolCall: {
        readonly index: number;
        readonly id?: string;
        readonly name?: string;
        readonly arguments?: string;
      };
    };

export const startStream = (): StreamDraft => ({ text: '', reasoning: '', calls: new Map() });

export const addDelta = (draft: StreamDraft, delta: StreamDelta): void => {
  if ('text' in delta) {
    draft.text += delta.text;
    return;
  }
  if ('reasoning' in delta) {
    draft.reasoning += delta.reasoning;
    return;
  }
  const { index, id, name, arguments: text } = delta.toolCall;
  const call = draft.calls.get(index) ?? { id: '', name: '', arguments: '' };
  draft.calls.set(index, {
    id: id ?? call.id,
    name: name ?? call.name,
    arguments: call.arguments + (text ?? ''),
  });
};

export interface Assembled {
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCall[];
}

/** The message as it stands: calls in the order of their indexes. */
export const assembled = (draft: StreamDraft, provider?: string): Assembled => ({
  blocks: [
    ...(draft.reasoning === ''
      ? []
      : [
          {
            type: 'reasoning' as const,
            text: draft.reasoning,
            ...(provider === undefined ? {} : { provider }),
          },
        ]),
    ...(draft.text === '' ? [] : [{ type: 'text' as const, text: draft.text }]),
  ],
  toolCalls: [...draft.calls].sort(([a], [b]) => a - b).map(([, call]) => call),
});
