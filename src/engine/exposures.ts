import * as E from 'fp-ts/lib/Either.js';
import type { EventRef } from '../domain/events/references.js';
import type { Uid } from '../domain/ids.js';
import { exposure, exposuresOf, type Candidate, type Exposure } from '../projections/exposure.js';
import { branchesOf } from './conversation-commands.js';
import type { EngineContext } from './engine-context.js';
import { projectBranch } from './queries.js';
import type { Task } from './runtime.js';

/** A call that sent a message, with the branch on which it was made. */
export interface ExposedBy extends Exposure {
  readonly branch: string;
  readonly branchName: string;
}

/** Where a message stands, for an id that siblings use each for one of their own. */
export type MessagePlace = Pick<EventRef, 'revision'> & { readonly branch: string };

const isAt = (candidate: Candidate | undefined, place: MessagePlace | undefined): boolean =>
  place === undefined ||
  (candidate?.place.branch === place.branch && candidate.place.revision === place.revision);

/**
 * All calls of a conversation that sent this message, or something made from it. Each branch is
 * asked, since a call of a fork is in no other branch's log.
 */
export const exposuresIn =
  (
    context: EngineContext,
    conversation: Uid,
    messageId: string,
    place?: MessagePlace,
  ): Task<readonly ExposedBy[]> =>
  async () => {
    const directory = await branchesOf(context, conversation)();
    if (E.isLeft(directory)) return directory;
    const { branches } = directory.right;
    const found = new Map<string, ExposedBy>();
    for (const { branch } of branches.values()) {
      const key = { tenant: context.tenant, conversation, branch };
      const view = await projectBranch(context, key, exposure)();
      if (E.isLeft(view)) return view;
      if (!isAt(view.right.candidates.get(messageId), place)) continue;
      for (const one of exposuresOf(view.right, messageId)) {
        const { requested } = one;
        const branchName = branches.get(requested.branch)?.name ?? requested.branch;
        // A fork sees the calls of its ancestors too.
        const callPlace = `${requested.branch}@${String(requested.revision)}`;
        if (!found.has(callPlace))
          found.set(callPlace, { ...one, branch: requested.branch, branchName });
      }
    }
    return E.right([...found.values()]);
  };
