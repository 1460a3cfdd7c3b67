import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import type { SelectionRun } from '../events/model-call-events.js';
import { buildContext } from './build.js';
import type { ContextInput } from './input.js';
import { recordedIn } from './selection-runs.js';
import type { ContextPlan } from './plan.js';

export interface RebuildInput<Body extends object> extends ContextInput<Body> {
  /** The selection that the call was recorded with. */
  readonly selection: readonly SelectionRun[];
  /** Digest of the bytes that were sent. */
  readonly requestDigest: string;
}

export interface Rebuilt<Body extends object> {
  readonly plan: ContextPlan<Body>;
  /** The bytes built now are the bytes that were sent. */
  readonly same: boolean;
  /** Messages of the recorded context that the log has taken out since: why bytes may differ. */
  readonly goneSince: readonly string[];
}

/**
 * The context of a recorded call, built again from its own selection: bytes replay. Equal unless
 * something of it was redacted or erased since, which is listed.
 */
export const rebuildContext = <Body extends object>(
  input: RebuildInput<Body>,
): E.Either<StemmaFault, Rebuilt<Body>> => {
  const built = buildContext(input);
  if (E.isLeft(built)) return built;
  const plan = built.right;
  const places = plan.dispositions.map(({ place }) => ({ place }));
  const wasIn = recordedIn(places, input.selection);
  const goneSince = plan.dispositions
    .filter(({ in: isIn, note }, index) => {
      const isGone = !isIn || note === 'erased';
      return isGone && wasIn(index)?.in === true;
    })
    .map(({ messageId }) => messageId);
  return E.right({ plan, same: plan.requestDigest === input.requestDigest, goneSince });
};
