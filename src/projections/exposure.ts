import type { EventRef } from '../domain/events/references.js';
import type { ModelCallRequested } from '../domain/events/model-call-events.js';
import type { MessageStatus } from '../domain/message.js';
import { applyHistory, redactionOf, startHistory } from './history-fold.js';
import type { CompactionDraft, EntryDraft, HistoryDraft } from './history-fold.js';
import { expand, liveRanges } from './live-compactions.js';
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
  /** Compactions in force when it was made, by index. */
  readonly live: readonly number[];
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

/** What a compaction stands for, through the summaries that it was made from. */
export interface Cover {
  readonly compaction: string;
  readonly ids: ReadonlySet<string>;
  readonly shortened: ReadonlySet<string>;
  readonly summary?: string;
}

/** What was there and what was sent when; ask it with `exposuresOf`. */
export interface ExposureView {
  readonly calls: readonly SendingCall[];
  readonly candidates: ReadonlyMap<string, Candidate>;
  readonly covers: readonly Cover[];
}

export interface ExposureDraft {
  readonly history: HistoryDraft;
  readonly calls: SendingCall[];
  live: readonly number[];
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
    live: draft.live,
  });
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
  if (event?.type === 'ContextCompacted' || event?.type === 'CompactionReverted') {
    draft.live = liveRanges(draft.history).map(({ index }) => index);
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

const coverOf = (draft: ExposureDraft, { data }: CompactionDraft, index: number): Cover => {
  const { covered, through } = expand(draft.history, index);
  const inner = through.flatMap((at) => {
    const id = draft.history.compactions[at]?.data.replacement?.id;
    return id === undefined ? [] : [id];
  });
  return {
    compaction: data.compaction,
    ids: new Set([...covered, ...inner]),
    shortened: new Set(data.shortened.map(({ messageId }) => messageId)),
    ...(data.replacement === undefined ? {} : { summary: data.replacement.id }),
  };
};

/** Which model calls of a lineage sent which message, from the recorded selections. */
export const exposure: Projection<ExposureDraft, ExposureView> = {
  name: 'exposure',
  version: 1,
  start: () => ({ history: startHistory(), calls: [], live: [], steps: new Map() }),
  apply,
  view: (draft) => ({
    calls: [...draft.calls],
    candidates: new Map(
      [
        ...draft.history.entries.map((entry) => entryCandidate(draft, entry)),
        ...summaryCandidates(draft),
      ].map((candidate) => [candidate.id, candidate]),
    ),
    covers: draft.history.compactions.map((entry, index) => coverOf(draft, entry, index)),
  }),
};

/** What the candidate counted as when the call was made; undefined when it was hidden or not there. */
const statusAt = (call: SendingCall, candidate: Candidate): StatusStep['status'] | undefined => {
  const { sequence, redactedAt, recordedAs, steps, compaction } = candidate;
  if (sequence >= call.sequence) return undefined;
  if (redactedAt !== undefined && redactedAt <= call.directoryRevision) return undefined;
  if (compaction !== undefined && !call.live.includes(compaction)) return undefined;
  const before = steps.filter((step) => step.sequence < call.sequence);
  if (before.some(({ status }) => status === 'withdrawn')) return 'withdrawn';
  return before[before.length - 1]?.status ?? recordedAs;
};

const dispositionOf = (call: SendingCall, { kind, version, place }: Candidate) =>
  kind === 'instructions'
    ? call.instructions.some(
        (used) => used.name === version?.name && used.version === version.version,
      )
      ? 'instructions'
      : undefined
    : call.selection.find(
        ({ branch, from, to }) =>
          branch === place.branch && from <= place.revision && place.revision <= to,
      )?.disposition;

type Sent = Pick<Exposure, 'disposition' | 'certain'>;

/** Whether the call sent what stands at the candidate's place, and under which disposition. */
const sent = (call: SendingCall, candidate: Candidate): Sent | undefined => {
  const status = statusAt(call, candidate);
  const disposition = dispositionOf(call, candidate);
  if (disposition === undefined || outDispositions.has(disposition)) return undefined;
  if (status !== 'confirmed' && status !== 'interrupted') return undefined;
  return { disposition, certain: status === 'confirmed' && inDispositions.has(disposition) };
};

const exposureIn = (
  view: ExposureView,
  call: SendingCall,
  candidate: Candidate,
): Exposure | undefined => {
  const { modelCallId, place, at, profile, model } = call;
  const told = (how: Exposure['how'], by: Sent | undefined, compaction?: string) =>
    by && {
      modelCallId,
      requested: place,
      at,
      profile: profile.name,
      ...(model === undefined ? {} : { model }),
      how,
      ...by,
      ...(compaction === undefined ? {} : { compaction }),
    };
  const cover = call.live
    .map((index) => view.covers[index])
    .find((candidateCover) => candidateCover?.ids.has(candidate.id));
  if (cover?.shortened.has(candidate.id) === true) {
    return told('shortened', sent(call, candidate), cover.compaction);
  }
  if (cover === undefined) return told(candidate.kind, sent(call, candidate));
  const summary = view.candidates.get(cover.summary ?? '');
  return told('summary', summary && sent(call, summary), cover.compaction);
};

/**
 * The calls that sent this message, in log order: as it is, shortened, as instructions, or within a
 * summary made from it. What a call of another branch sent is asked of that branch's lineage.
 */
export const exposuresOf = (view: ExposureView, id: string): readonly Exposure[] => {
  const candidate = view.candidates.get(id);
  if (candidate === undefined) return [];
  return view.calls.flatMap((call) => exposureIn(view, call, candidate) ?? []);
};
