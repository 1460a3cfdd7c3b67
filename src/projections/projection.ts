import type { Recorded } from '../domain/recorded.js';

/**
 * A fold of recorded events. `Draft` is mutated while folding and never leaves this module's users;
 * `view` gives what is read. A higher `version` means: rebuild from zero.
 */
export interface Projection<Draft, View> {
  readonly name: string;
  readonly version: number;
  readonly start: () => Draft;
  readonly apply: (draft: Draft, recorded: Recorded) => void;
  readonly view: (draft: Draft) => View;
}

/** Folds events in order; unknown events are given to `apply` like all others. */
export const project = <Draft, View>(
  projection: Projection<Draft, View>,
  events: Iterable<Recorded>,
): View => {
  const draft = projection.start();
  for (const recorded of events) projection.apply(draft, recorded);
  return projection.view(draft);
};
