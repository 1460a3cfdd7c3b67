import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../errors.js';
import type { EventRef } from '../events/references.js';
import type { Message } from '../message.js';
import type { Profile } from '../profiles/profile.js';
import type { Repair } from '../profiles/repair.js';
import type { EffectiveInstructions, LiveCompaction, Surface, SurfaceItem } from '../surface.js';
import type { Disposition } from './plan.js';
import type { ContextPolicy } from './policy.js';

/** Why a candidate is out before anything is selected. */
export interface Exclusion {
  readonly disposition: Disposition;
  readonly cause?: EventRef;
  readonly note?: string;
}

/** A message that a context may hold, as it would be sent, and what the log alone says against it. */
export interface Candidate {
  readonly message: Message;
  readonly place: EventRef;
  readonly kind: 'message' | 'instructions' | 'summary';
  readonly closedCalls: readonly number[];
  readonly out?: Exclusion;
  /** Shorter than recorded, by this event or by the policy. */
  readonly shortened?: boolean;
  readonly cause?: EventRef;
  readonly note?: string;
}

export interface Candidates {
  /** In surface order, with the effective instructions first and summaries at their place. */
  readonly list: readonly Candidate[];
  readonly repairs: readonly Repair[];
}

/** First line of a summary on the wire: nobody may take it for words of the user. */
export const SUMMARY_PREFIX =
  '[Summary of earlier messages. It was generated; the user did not write it.]';

const ERASED_TEXT = '[erased]';

const instructionsMessage = (slot: EffectiveInstructions): Message => ({
  id: slot.messageId,
  role: slot.role,
  blocks: [{ type: 'text', text: slot.text }],
  toolCalls: [],
  answers: [],
  provenance: { kind: 'operator' },
  trust: 'operator',
  status: 'confirmed',
});

const isOpaque = (message: Message): boolean =>
  message.blocks.some((block) => block.type === 'provider');

// A summary never has more authority than a user (RL7), whatever role a foreign source gave it.
const summaryMessage = (message: Message): Message =>
  isOpaque(message)
    ? message
    : {
        ...message,
        role: 'user',
        blocks: [{ type: 'text', text: SUMMARY_PREFIX }, ...message.blocks],
      };

const erasedMessage = (message: Message): Message => {
  const { raw: _raw, name: _name, metadata: _metadata, ...rest } = message;
  return {
    ...rest,
    blocks:
      message.toolCalls.length > 0 && message.role === 'assistant'
        ? []
        : [{ type: 'text', text: ERASED_TEXT }],
    toolCalls: message.toolCalls.map((call) => ({ ...call, arguments: '{}' })),
  };
};

const interruptedText = (message: Message): Message => {
  const { raw: _raw, ...rest } = message;
  return {
    ...rest,
    blocks: message.blocks.filter((block) => block.type === 'text' || block.type === 'refusal'),
    toolCalls: [],
  };
};

const isReadable = (compaction: LiveCompaction, profile: Profile): boolean =>
  (compaction.replacement?.blocks ?? []).every(
    (block) => block.type !== 'provider' || block.provider === profile.provider,
  );

interface Coverage {
  /** Covered id -> the compaction that covers it, the widest first. */
  readonly byId: ReadonlyMap<string, LiveCompaction>;
  readonly shortened: ReadonlyMap<string, { readonly text: string; readonly by: LiveCompaction }>;
  readonly applied: readonly LiveCompaction[];
  readonly stale: readonly LiveCompaction[];
}

const coverageOf = (surface: Surface, policy: ContextPolicy, profile: Profile): Coverage => {
  const byId = new Map<string, LiveCompaction>();
  const shortened = new Map<string, { readonly text: string; readonly by: LiveCompaction }>();
  const applied: LiveCompaction[] = [];
  const stale: LiveCompaction[] = [];
  const widestFirst = [...surface.compactions].sort((a, b) => b.covered.length - a.covered.length);
  for (const compaction of widestFirst) {
    for (const [id, text] of compaction.shortened) {
      const isChanged = compaction.changed.includes(id);
      if (!isChanged && !shortened.has(id)) shortened.set(id, { text, by: compaction });
    }
    if (compaction.shortened.size > 0 && compaction.replacement === undefined) continue;
    if (compaction.changed.length > 0 && policy.onStaleSummary !== 'keep') stale.push(compaction);
    else if (isReadable(compaction, profile) && !compaction.covered.every((id) => byId.has(id))) {
      applied.push(compaction);
      for (const id of compaction.covered) if (!byId.has(id)) byId.set(id, compaction);
    }
  }
  return { byId, shortened, applied, stale };
};

const isProtected = (message: Message, policy: ContextPolicy): boolean =>
  message.pinned === true || policy.pinRoles.includes(message.role);

const shortenedMessage = (message: Message, text: string): Message => {
  const { raw: _raw, ...rest } = message;
  return { ...rest, blocks: [{ type: 'text', text }] };
};

const candidateOf = (
  item: SurfaceItem,
  coverage: Coverage,
  policy: ContextPolicy,
  isOld: boolean,
): Candidate => {
  const { message, place } = item;
  const base = { message, place, kind: 'message' as const, closedCalls: item.closedCalls };
  const reason = item.out?.reason ?? (item.status === 'confirmed' ? undefined : item.status);
  const keepsText = reason === 'interrupted' && policy.interrupted === 'keep_text';
  const keepsPlace = reason === 'erased' && policy.onErased === 'placeholder';
  if (reason !== undefined && !keepsText && !keepsPlace) {
    const cause = item.out?.cause;
    return { ...base, out: { disposition: reason, ...(cause && { cause }) } };
  }
  const cover = coverage.byId.get(message.id);
  if (cover !== undefined && !isProtected(message, policy)) {
    return { ...base, out: { disposition: 'covered_by_compaction', cause: cover.place } };
  }
  if (isOld && !isProtected(message, policy)) {
    return { ...base, out: { disposition: 'policy', note: 'older than the item limit' } };
  }
  const cause = item.out?.cause;
  const changed = { ...base, ...(cause && { cause }) };
  if (keepsText) return { ...changed, message: interruptedText(message), note: 'interrupted' };
  if (keepsPlace) return { ...changed, message: erasedMessage(message), note: 'erased' };
  const shorter = coverage.shortened.get(message.id);
  if (shorter === undefined) return base;
  const { text, by } = shorter;
  return { ...base, message: shortenedMessage(message, text), shortened: true, cause: by.place };
};

const summaryOf = (compaction: LiveCompaction): readonly Candidate[] =>
  compaction.replacement === undefined
    ? []
    : [
        {
          message: summaryMessage(compaction.replacement),
          place: compaction.place,
          kind: 'summary',
          closedCalls: [],
          cause: compaction.place,
        },
      ];

const staleSummaryOf = (compaction: LiveCompaction): readonly Candidate[] =>
  summaryOf(compaction).map((candidate) => ({
    ...candidate,
    out: {
      disposition: 'superseded',
      cause: compaction.place,
      note: 'the summary covers content that changed since',
    },
  }));

// Where a summary stands: before the first message that it covers, else, when the surface begins
// behind its range, before the first message that is not protected.
const placeOf = (
  compaction: LiveCompaction,
  items: readonly SurfaceItem[],
  policy: ContextPolicy,
): number => {
  const covered = new Set(compaction.covered);
  const first = items.findIndex((item) => covered.has(item.message.id));
  if (first >= 0) return first;
  const open = items.findIndex((item) => !isProtected(item.message, policy));
  return open >= 0 ? open : items.length;
};

const staleRepair = (compaction: LiveCompaction): Repair => ({
  code: 'SUMMARY_COVERS_REDACTED',
  ...(compaction.replacement && { id: compaction.replacement.id }),
  ids: compaction.changed,
  action: 'invalidate',
});

/** All candidates of a context. Refuses a stale compaction where the policy says so. */
export const candidatesOf = (
  surface: Surface,
  policy: ContextPolicy,
  profile: Profile,
): E.Either<FaultOf<'CompactionStale'>, Candidates> => {
  const coverage = coverageOf(surface, policy, profile);
  if (policy.onStaleSummary === 'reject' && coverage.stale.length > 0) {
    const ids = coverage.stale.flatMap((compaction) => compaction.changed);
    return E.left({ _tag: 'CompactionStale', ids });
  }
  const { items } = surface;
  const inItems = new Set(items.map((item) => item.message.id));
  const effective = new Set(surface.instructions.map((slot) => slot.messageId));
  const summaries = new Map<number, Candidate[]>();
  for (const compaction of [...coverage.applied, ...coverage.stale]) {
    const isStale = coverage.stale.includes(compaction);
    const at = placeOf(compaction, items, policy);
    const made = isStale ? staleSummaryOf(compaction) : summaryOf(compaction);
    summaries.set(at, [...(summaries.get(at) ?? []), ...made]);
  }
  const oldest = policy.maxItems === undefined ? 0 : items.length - policy.maxItems;
  const list: Candidate[] = surface.instructions
    .filter((slot) => !inItems.has(slot.messageId))
    .map((slot) => ({
      message: instructionsMessage(slot),
      place: slot.place,
      kind: 'instructions',
      closedCalls: [],
    }));
  items.forEach((item, index) => {
    list.push(...(summaries.get(index) ?? []));
    const candidate = candidateOf(item, coverage, policy, index < oldest);
    const isInstruction = effective.has(item.message.id);
    list.push(isInstruction ? { ...candidate, kind: 'instructions' } : candidate);
  });
  list.push(...(summaries.get(items.length) ?? []));
  return E.right({ list, repairs: coverage.stale.map(staleRepair) });
};
