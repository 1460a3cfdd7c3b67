import * as E from 'fp-ts/lib/Either.js';
import type { EventOf } from '../domain/events/catalog.js';
import type { Uid } from '../domain/ids.js';
import type { Recorded } from '../domain/recorded.js';
import { branchStream } from '../domain/stream-name.js';
import { branchesOf } from './conversation-commands.js';
import { left, type EngineContext } from './engine-context.js';
import { lookUp } from './known-ids.js';
import { conversations } from './queries.js';
import type { BranchKey, Task } from './runtime.js';

/** A recorded model call and the branch on which it was made. */
export interface FoundCall {
  readonly key: BranchKey;
  readonly branchName: string;
  readonly requested: Recorded & { readonly event: EventOf<'ModelCallRequested'> };
  /** Events of the call, in order. */
  readonly events: readonly Recorded[];
}

const isRequested = (
  recorded: Recorded,
): recorded is Recorded & { readonly event: EventOf<'ModelCallRequested'> } =>
  recorded.event?.type === 'ModelCallRequested';

/** Finds a call by its id among all branches of a conversation. */
export const findCallIn =
  (context: EngineContext, conversation: Uid, modelCallId: string): Task<FoundCall> =>
  async () => {
    const directory = await branchesOf(context, conversation)();
    if (E.isLeft(directory)) return directory;
    const { tenant, runtime } = context;
    const lineage = [...directory.right.branches.keys()].map((branch) => ({
      stream: branchStream(tenant, conversation, branch),
      upTo: Number.MAX_SAFE_INTEGER,
    }));
    const refs = [{ kind: 'call', id: modelCallId } as const];
    const facts = await lookUp(runtime, conversation, lineage, refs)();
    if (E.isLeft(facts)) return facts;
    const events = facts.right.of('call', modelCallId);
    const requested = events.find(isRequested);
    if (requested === undefined) return left({ _tag: 'NotFound', kind: 'call', ref: modelCallId });
    const branch = requested.meta.branch as Uid;
    const branchName = directory.right.branches.get(branch)?.name ?? branch;
    return E.right({ key: { tenant, conversation, branch }, branchName, requested, events });
  };

/** Finds a call by its id among all conversations, those with the latest activity first. */
export const findCall =
  (context: EngineContext, modelCallId: string): Task<FoundCall> =>
  async () => {
    const all = await conversations(context)();
    if (E.isLeft(all)) return all;
    for (const row of all.right) {
      const found = await findCallIn(context, row.conversation as Uid, modelCallId)();
      if (E.isRight(found) || found.left._tag !== 'NotFound') return found;
    }
    return left({ _tag: 'NotFound', kind: 'call', ref: modelCallId });
  };
