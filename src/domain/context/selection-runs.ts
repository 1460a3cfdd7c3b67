import type { SelectionRun } from '../events/model-call-events.js';
import type { EventRef } from '../events/references.js';
import type { Disposition } from './plan.js';

// Dispositions that the policy decided on; what the log says by itself is derived again on replay.
const outByPolicy: ReadonlySet<string> = new Set(['budget', 'policy']);

export interface Decided {
  readonly place: EventRef;
  readonly in: boolean;
  readonly disposition: Disposition;
}

/**
 * What was decided, as runs of neighbours in surface order. A run never spans a message that was
 * decided otherwise, also where surface order differs from the order of the log.
 */
export const selectionRuns = (decisions: readonly Decided[]): readonly SelectionRun[] => {
  const byBranch = new Map<string, number[]>();
  for (const { place } of decisions) {
    const revisions = byBranch.get(place.branch);
    if (revisions === undefined) byBranch.set(place.branch, [place.revision]);
    else revisions.push(place.revision);
  }
  const next = new Map<string, number>();
  for (const [branch, revisions] of byBranch) {
    const sorted = [...revisions].sort((a, b) => a - b);
    sorted.forEach((revision, at) => {
      const after = sorted[at + 1];
      if (after !== undefined) next.set(`${branch} ${String(revision)}`, after);
    });
  }
  const runs: SelectionRun[] = [];
  for (const { place, disposition } of decisions) {
    const last = runs.at(-1);
    const { branch, revision } = place;
    const follows =
      last?.branch === branch &&
      last.disposition === disposition &&
      next.get(`${branch} ${String(last.to)}`) === revision;
    if (follows) runs[runs.length - 1] = { ...last, to: revision };
    else runs.push({ branch, from: revision, to: revision, disposition });
  }
  return runs;
};

/** What a recorded selection said of one candidate. */
export interface RecordedDecision {
  readonly in: boolean;
  readonly disposition: Disposition;
}

/** Reads recorded runs back, by the place of a candidate; undefined: nothing was decided on it. */
export const recordedIn = (
  list: readonly { readonly place: EventRef }[],
  runs: readonly SelectionRun[],
): ((index: number) => RecordedDecision | undefined) => {
  const byBranch = new Map<string, SelectionRun[]>();
  for (const run of runs) {
    const own = byBranch.get(run.branch);
    if (own === undefined) byBranch.set(run.branch, [run]);
    else own.push(run);
  }
  for (const own of byBranch.values()) own.sort((a, b) => a.from - b.from);
  return (index) => {
    const place = list[index]?.place;
    const own = place === undefined ? undefined : byBranch.get(place.branch);
    const run = own?.findLast(({ from }) => place !== undefined && from <= place.revision);
    if (run === undefined || place === undefined || place.revision > run.to) return undefined;
    // Names of a registry: one that this version does not know is passed on as it is.
    const disposition = run.disposition as Disposition;
    return { in: !outByPolicy.has(disposition), disposition };
  };
};
