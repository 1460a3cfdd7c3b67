import * as E from 'fp-ts/lib/Either.js';
import { messageOf } from '../domain/decide/prepared-message.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Revision } from '../domain/ids.js';
import type { CallRef } from '../domain/message.js';
import { readStored, type Recorded } from '../domain/recorded.js';
import { parseStream } from '../domain/stream-name.js';
import type { EngineContext } from './engine-context.js';
import type { Task } from './runtime.js';

export type LocatedKind = 'message' | 'model_call' | 'tool_call' | 'approval';

/** Something that has an id, and the branch on which it was recorded. */
export interface Located {
  readonly kind: LocatedKind;
  readonly id: string;
  readonly conversation: string;
  readonly branch: string;
  readonly revision: Revision;
  /** tool_call: the call that the provider's id stands for; approval: the call that waits. */
  readonly call?: CallRef;
}

type Named = Pick<Located, 'kind' | 'id' | 'call'>;

const namedIn = ({ event }: Recorded): readonly Named[] => {
  if (event?.type === 'ModelCallRequested') {
    return [{ kind: 'model_call', id: event.data.modelCallId }];
  }
  if (event?.type === 'ApprovalRequested') {
    return [{ kind: 'approval', id: event.data.requestId, call: event.data.call }];
  }
  if (event?.type === 'InstructionsRevised') {
    return [{ kind: 'message', id: event.data.messageId }];
  }
  const message = messageOf(event);
  if (message === undefined) return [];
  const calls = message.toolCalls.map(({ id }, index): Named => {
    return { kind: 'tool_call', id, call: { messageId: message.id, index } };
  });
  return [{ kind: 'message', id: message.id }, ...calls];
};

/** How an id that begins with `id` stands in stored JSON. */
const needleOf = (id: string): string => JSON.stringify(id).slice(0, -1);

const matchesIn = (recorded: Recorded, kind: LocatedKind, id: string): readonly Located[] =>
  namedIn(recorded)
    .filter((named) => named.kind === kind && named.id.startsWith(id))
    .map((named) => ({
      ...named,
      conversation: recorded.meta.conv,
      branch: recorded.meta.branch,
      revision: recorded.revision,
    }));

/**
 * Everything of a kind whose id is this one, or else begins with it, in all conversations. Looks at
 * every event of the tenant: made for people at a terminal, not for loops.
 */
export const locate =
  (context: EngineContext, kind: LocatedKind, id: string): Task<readonly Located[]> =>
  async () => {
    const { runtime, tenant } = context;
    const stop = new AbortController();
    const options = { categories: ['branch'], after: 'start' as const, signal: stop.signal };
    const needle = needleOf(id);
    const found: Located[] = [];
    let fault: StemmaFault | undefined;
    for await (const item of runtime.events.feed(options)) {
      if (item._tag === 'Fault') fault = item.fault;
      if (item._tag === 'Fault' || item._tag === 'CaughtUp') break;
      if (item._tag !== 'Events') continue;
      for (const stored of item.events) {
        if (parseStream(stored.stream)?.tenant !== tenant) continue;
        if (!stored.data.includes(needle)) continue;
        const recorded = readStored(stored, runtime.upcasts);
        // A damaged event is found by verify; the others can still be named.
        if (E.isRight(recorded)) found.push(...matchesIn(recorded.right, kind, id));
      }
    }
    stop.abort();
    if (fault !== undefined) return E.left(fault);
    const exact = found.filter((one) => one.id === id);
    return E.right(exact.length > 0 ? exact : id === '' ? [] : found);
  };
