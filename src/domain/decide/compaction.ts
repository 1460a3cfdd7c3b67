import * as E from 'fp-ts/lib/Either.js';
import type { BranchState } from '../branch-state.js';
import type { StemmaFault } from '../errors.js';
import type { ContextCompacted } from '../events/message-events.js';
import type { Run } from '../events/references.js';
import { contentDigest, type Message } from '../message.js';
import type { Slot } from '../slot.js';
import type { PreparedMessage } from './prepared-message.js';
import { append, known, plain, refuse, type Command, type KeyRef } from './decision.js';
import { revisionFault, sealedFault, turnFault, type BranchScope } from './guards.js';

export interface CompactInput {
  readonly scope: BranchScope;
  /** The head at which the plan was checked against the branch. */
  readonly plannedAt: number;
  readonly compaction: Omit<ContextCompacted, 'replacement'>;
  readonly replacement?: PreparedMessage;
  /** Keys of the foreign record that this compaction was imported from. */
  readonly imported?: readonly KeyRef[];
}

const within = (inner: Run, outer: Run): boolean =>
  inner.branch === outer.branch && outer.from <= inner.from && inner.to <= outer.to;

const meets = (a: Run, b: Run): boolean =>
  a.branch === b.branch && a.from <= b.to && b.from <= a.to;

const holds = (outer: readonly Run[], inner: readonly Run[]): boolean =>
  inner.every((run) => outer.some((candidate) => within(run, candidate)));

/** Live compactions are disjoint or nested, never partly over one another (B55). */
const overlapFault = (
  state: BranchState,
  { covers, shortened }: CompactInput['compaction'],
): StemmaFault | undefined => {
  if (shortened.length > 0) return undefined;
  for (const live of state.compactions.values()) {
    if (live.shortens) continue;
    const touches = live.covers.some((run) => covers.some((other) => meets(run, other)));
    if (!touches || holds(covers, live.covers) || holds(live.covers, covers)) continue;
    return { _tag: 'CompactionInvalid', reason: 'partial_overlap', ids: [live.compaction] };
  }
  return undefined;
};

const rangeFault = (input: CompactInput, state: BranchState): StemmaFault | undefined => {
  const { covers, covered } = input.compaction;
  // What a foreign system did is recorded as it happened, whatever it covered.
  if (input.imported !== undefined) return undefined;
  const invalid = (reason: 'empty' | 'bad_range' | 'future') =>
    ({ _tag: 'CompactionInvalid', reason, ids: covered }) as const;
  if (covers.length === 0 || covered.length === 0) return invalid('empty');
  if (covers.some((run) => run.from > run.to || run.from < 0)) return invalid('bad_range');
  const { branch } = input.scope;
  if (covers.some((run) => run.branch === branch && run.to > state.head)) return invalid('future');
  const waiting = [...state.approvals.values()].filter(({ call }) =>
    covered.includes(call.messageId),
  );
  if (waiting.length > 0) {
    const ids = waiting.map(({ requestId }) => requestId);
    return { _tag: 'CompactionInvalid', reason: 'pending_approval', ids };
  }
  const open = [...state.calls.values()].filter((call) => covered.includes(call.messageId));
  return open.length > 0
    ? { _tag: 'CompactionInvalid', reason: 'splits_unit', ids: open.map((call) => call.callId) }
    : overlapFault(state, input.compaction);
};

const digested = (item: PreparedMessage) => ({
  ...item.stored,
  contentDigest: contentDigest(item.message satisfies Message),
});

/** Represents a range by something shorter in later contexts; the originals stay as they are. */
export const compactContext = (
  input: CompactInput,
): Command<BranchState, { readonly compaction: string }> => ({
  name: 'compact',
  keysOf:
    input.replacement === undefined ? [] : [{ kind: 'message', id: input.replacement.message.id }],
  decide: (state, facts) => {
    const fault =
      sealedFault(input.scope, state) ??
      turnFault(input.scope, state) ??
      revisionFault(input.plannedAt, state) ??
      rangeFault(input, state);
    if (fault !== undefined) return refuse(fault);
    const { replacement } = input;
    const clash = replacement && facts.of('message', replacement.message.id)[0];
    if (replacement !== undefined && clash !== undefined) {
      return refuse({
        _tag: 'MessageIdConflict',
        id: replacement.message.id,
        place: { branch: clash.meta.branch, revision: clash.revision },
        digest: digested(replacement).contentDigest,
        storedDigest: '',
      });
    }
    return append([
      {
        event: {
          type: 'ContextCompacted',
          data: {
            ...input.compaction,
            ...(replacement === undefined ? {} : { replacement: digested(replacement) }),
          },
        },
        keys: [
          ...(replacement === undefined
            ? []
            : [{ kind: 'message', id: replacement.message.id } as const]),
          ...(input.imported ?? []),
        ],
      },
    ]);
  },
  answer: () => ({ compaction: input.compaction.compaction }),
});

/** Takes a compaction back: its originals enter contexts again. */
export const revertCompaction = (
  scope: BranchScope,
  compaction: string,
  reason?: Slot,
): Command<BranchState, { readonly compaction: string }> => ({
  name: 'revertCompaction',
  keysOf: [{ kind: 'record', id: `revert ${compaction}` }],
  decide: (state, facts) => {
    const before = facts.of('record', `revert ${compaction}`);
    if (before.length > 0) return known(before.slice(0, 1));
    const fault = sealedFault(scope, state) ?? turnFault(scope, state);
    if (fault !== undefined) return E.left(fault);
    const live = state.compactions.get(compaction);
    if (live === undefined) {
      return refuse({ _tag: 'NotFound', kind: 'compaction', ref: compaction });
    }
    const planned = plain({
      type: 'CompactionReverted',
      data: { compaction, at: live.place, ...(reason === undefined ? {} : { reason }) },
    });
    return append([{ ...planned, keys: [{ kind: 'record', id: `revert ${compaction}` }] }]);
  },
  answer: () => ({ compaction }),
});
