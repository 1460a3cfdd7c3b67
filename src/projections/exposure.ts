import type { EventRef } from '../domain/events/references.js';
import type { ModelCallRequested } from '../domain/events/model-call-events.js';
import type { MessageStatus } from '../domain/message.js';
import { applyHistory, redactionOf, startHistory } from './history-fold.js';
import type { CompactionDraft, EntryDraft, HistoryDraft } from './history-fold.js';
import { liveRanges, liveWith, standingFor } from './live-compactions.js';
import { placeOf } from './places.js';
import type { Projection } from './projection.js';
import type { Recorded } from '../domain/recorded.js';

/** Dispositions under which a message was not sent; all others say that it was. */
const outDispositions: ReadonlySet<string> = new Set([
  'budget',
  'covered_by_compaction',
  'superseded',
  'draft',
  'blocked',
  'interrupted',
  'redacted',
  'erased',
  'withdrawn',
  'orphan_result',
  'unanswered_call',
  'role_not_in_profile',
  'foreign_reasoning',
  'not_on_branch',
  'policy',
]);

const inDispositions: ReadonlySet<string> = new Set([
  'system',
  'instructions',
  'must_keep',
  'pinned',
  'window',
  'summary',
  'open_exchange',
  'shortened',
  'injected',
]);

/** A call that sent a message, or something made from it. */
export interface Exposure {
  readonly modelCallId: string;
  readonly requested: EventRef;
  readonly at: string;
  readonly profile: string;
  readonly model?: string;
  /** Itself, cut short by a compaction, as instructions, or within a summary. */
  readonly how: 'message' | 'shortened' | 'instructions' | 'summary';
  readonly disposition: string;
  /** The compaction whose summary or shortening was sent. */
  readonly compaction?: string;
  /** False where the log alone does not tell: a policy may have kept interrupted text. */
  readonly certain: boolean;
}

/** A model call as far as exposure depends on it. */
export interface SendingCall extends Pick<
  ModelCallRequested,
  'modelCallId' | 'profile' | 'model' | 'selection' | 'instructions' | 'directoryRevision'
> {
  readonly sequence: number;
  readonly place: EventRef;
  readonly at: string;
  /** Which of the `generations` was in force when it was made. */
  readonly generation: number;
}

/** What a message counted as from an event on. */
export interface StatusStep {
  readonly sequence: number;
  readonly status: MessageStatus | 'withdrawn';
}

/** Something of history that a call may have sent. */
export interface Candidate {
  readonly id: string;
  readonly kind: 'message' | 'instructions' | 'summary';
  readonly place: EventRef;
  readonly sequence: number;
  readonly recordedAs: MessageStatus;
  readonly steps: readonly StatusStep[];
  /** Directory revision of its redaction. */
  readonly redactedAt?: number;
  /** instructions: which version of which slot name. */
  readonly version?: { readonly name: string; readonly version: number };
  /** summary: index of its compaction. */
  readonly compaction?: number;
}

/** A compaction as far as exposure depends on it. */
export interface Cover {
  readonly compaction: string;
  readonly shortened: ReadonlySet<string>;
  /** Message id of its summary. */
  readonly summary?: string;
}

/** What was there and what was sent when; ask it with `exposuresOf`. */
export interface ExposureView {
  readonly calls: readonly SendingCall[];
  readonly candidates: ReadonlyMap<string, Candidate>;
  /** By index of the compaction. */
  readonly covers: readonly Cover[];
  /** Id of a message or summary to the compactions that name it as covered. */
  readonly coveredBy: ReadonlyMap<string, readonly number[]>;
  /** Compactions in force after each event that changed them. */
  readonly generations: readonly (readonly number[])[];
}

export interface ExposureDraft {
  readonly history: HistoryDraft;
  readonly calls: SendingCall[];
  readonly coveredBy: Map<string, number[]>;
  readonly generations: (readonly number[])[];
  readonly steps: Map<string, StatusStep[]>;
}

const noteStep = (draft: ExposureDraft, id: string, status: StatusStep['status']): void => {
  // Folded already: the event stands one before the cursor.
  const step = { sequence: draft.history.cursor.sequence - 1, status };
  const steps = draft.steps.get(id);
  if (steps === undefined) draft.steps.set(id, [step]);
  else steps.push(step);
};

const noteCall = (draft: ExposureDraft, recorded: Recorded, data: ModelCallRequested): void => {
  const { modelCallId, profile, model, selection, instructions, directoryRevision } = data;
  draft.calls.push({
    modelCallId,
    profile,
    ...(model === undefined ? {} : { model }),
    selection,
    instructions,
    directoryRevision,
    sequence: draft.history.cursor.sequence - 1,
    place: placeOf(recorded),
    at: recorded.meta.at,
    generation: draft.generations.length - 1,
  });
};

const noteCompaction = (draft: ExposureDraft, covered: readonly string[]): void => {
  const index = draft.history.compactions.length - 1;
  for (const id of covered) {
    const by = draft.coveredBy.get(id);
    if (by === undefined) draft.coveredBy.set(id, [index]);
    else by.push(index);
  }
  const before = draft.generations[draft.generations.length - 1] ?? [];
  draft.generations.push(liveWith(draft.history, draft.coveredBy, before));
};

const apply = (draft: ExposureDraft, recorded: Recorded): void => {
  applyHistory(draft.history, recorded);
  const { event } = recorded;
  if (event?.type === 'MessageStatusChanged') {
    noteStep(draft, event.data.message.id, event.data.to);
  }
  if (event?.type === 'MessagesWithdrawn') {
    for (const id of event.data.messages) noteStep(draft, id, 'withdrawn');
  }
  if (event?.type === 'ContextCompacted') noteCompaction(draft, event.data.covered);
  if (event?.type === 'CompactionReverted') {
    draft.generations.push(liveRanges(draft.history).map(({ index }) => index));
  }
  if (event?.type === 'ModelCallRequested') noteCall(draft, recorded, event.data);
};

const base = (draft: ExposureDraft, id: string, { stamp }: EntryDraft | CompactionDraft) => {
  const redaction = redactionOf(draft.history, stamp.place, id);
  return {
    id,
    place: stamp.place,
    sequence: stamp.sequence,
    steps: [...(draft.steps.get(id) ?? [])],
    ...(redaction === undefined ? {} : { redactedAt: redaction.revision }),
  };
};

const entryCandidate = (draft: ExposureDraft, entry: EntryDraft): Candidate => {
  if (entry.kind === 'message') {
    const { id, status } = entry.message;
    return { ...base(draft, id, entry), kind: 'message', recordedAs: status };
  }
  const { name, version, messageId } = entry.data;
  return {
    ...base(draft, messageId, entry),
    kind: 'instructions',
    recordedAs: 'confirmed',
    version: { name, version },
  };
};

const summaryCandidates = (draft: ExposureDraft): readonly Candidate[] =>
  draft.history.compactions.flatMap((entry, compaction) => {
    const { replacement } = entry.data;
    if (replacement === undefined) return [];
    const own = base(draft, replacement.id, entry);
    return [{ ...own, kind: 'summary' as const, recordedAs: replacement.status, compaction }];
  });

const coverOf = ({ data }: CompactionDraft): Cover => ({
  compaction: data.compaction,
  shortened: new Set(data.shortened.map(({ messageId }) => messageId)),
  ...(data.replacement === undefined ? {} : { summary: data.replacement.id }),
});

/** Which model calls of a lineage sent which message, from the recorded selections. */
export const exposure: Projection<ExposureDraft, ExposureView> = {
  name: 'exposure',
  version: 1,
  start: () => ({
    history: startHistory(),
    calls: [],
    coveredBy: new Map(),
    generations: [[]],
    steps: new Map(),
  }),
  apply,
  view: (draft) => ({
    calls: [...draft.calls],
    candidates: new Map(
      [
        ...draft.history.entries.map((entry) => entryCandidate(draft, entry)),
        ...summaryCandidates(draft),
      ].map((candidate) => [candidate.id, candidate]),
    ),
    covers: draft.history.compactions.map(coverOf),
    coveredBy: new Map([...draft.coveredBy].map(([id, by]) => [id, [...by]])),
    generations: [...draft.generations],
  }),
};

const liveIn = (view: ExposureView, call: SendingCall): readonly number[] =>
  view.generations[call.generation] ?? [];

/** What the candidate counted as when the call was made; undefined when it was hidden or not there. */
const statusAt = (
  view: ExposureView,
  call: SendingCall,
  candidate: Candidate,
): StatusStep['status'] | undefined => {
  const { sequence, redactedAt, recordedAs, steps, compaction } = candidate;
  if (sequence >= call.sequence) return undefined;
  if (redactedAt !== undefined && redactedAt <= call.directoryRevision) return undefined;
  if (compaction !== undefined && !liveIn(view, call).includes(compaction)) return undefined;
  const before = steps.filter((step) => step.sequence < call.sequence);
  if (before.some(({ status }) => status === 'withdrawn')) return 'withdrawn';
  return before[before.length - 1]?.status ?? recordedAs;
};

const dispositionOf = (
  call: SendingCall,
  { kind, version, place }: Candidate,
): string | undefined => {
  if (kind === 'instructions') {
    const isUsed = call.instructions.some(
      (used) => used.name === version?.name && used.version === version.version,
    );
    return isUsed ? 'instructions' : undefined;
  }
  return call.selection.find(
    ({ branch, from, to }) =>
      branch === place.branch && from <= place.revision && place.revision <= to,
  )?.disposition;
};

type Sent = Pick<Exposure, 'disposition' | 'certain'>;

/** Whether the call sent what stands at the candidate's place, and under which disposition. */
const sent = (view: ExposureView, call: SendingCall, candidate: Candidate): Sent | undefined => {
  const status = statusAt(view, call, candidate);
  const disposition = dispositionOf(call, candidate);
  if (disposition === undefined || outDispositions.has(disposition)) return undefined;
  if (status !== 'confirmed' && status !== 'interrupted') return undefined;
  return { disposition, certain: status === 'confirmed' && inDispositions.has(disposition) };
};

interface Told extends Sent {
  readonly how: Exposure['how'];
  readonly compaction?: string;
}

const toldIn = (
  view: ExposureView,
  call: SendingCall,
  candidate: Candidate,
  standing: ReadonlySet<number>,
): Told | undefined => {
  const index = liveIn(view, call).find((live) => standing.has(live));
  const cover = index === undefined ? undefined : view.covers[index];
  if (cover === undefined) {
    const own = sent(view, call, candidate);
    return own && { how: candidate.kind, ...own };
  }
  const { compaction } = cover;
  if (cover.shortened.has(candidate.id)) {
    const short = sent(view, call, candidate);
    return short && { how: 'shortened', ...short, compaction };
  }
  const summary = view.candidates.get(cover.summary ?? '');
  const within = summary && sent(view, call, summary);
  return within && { how: 'summary', ...within, compaction };
};

/**
 * The calls that sent this message, in log order: as it is, shortened, as instructions, or within a
 * summary made from it. What a call of another branch sent is asked of that branch's lineage.
 */
export const exposuresOf = (view: ExposureView, id: string): readonly Exposure[] => {
  const candidate = view.candidates.get(id);
  if (candidate === undefined) return [];
  const standing = standingFor(view.coveredBy, (index) => view.covers[index]?.summary, id);
  return view.calls.flatMap((call) => {
    const told = toldIn(view, call, candidate, standing);
    if (told === undefined) return [];
    const { modelCallId, place, at, profile, model } = call;
    const by = { modelCallId, requested: place, at, profile: profile.name };
    return [{ ...by, ...(model === undefined ? {} : { model }), ...told }];
  });
};
