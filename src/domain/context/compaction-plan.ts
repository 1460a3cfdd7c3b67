import * as E from 'fp-ts/lib/Either.js';
import { digestOf } from '../digest.js';
import type { StemmaFault } from '../errors.js';
import type { Run } from '../events/references.js';
import { lowestTrust, type CallRef, type Trust } from '../message.js';
import type { Profile } from '../profiles/profile.js';
import type { Surface } from '../surface.js';
import type { TokenCounter } from '../tokens.js';
import { candidatesOf, SUMMARY_PREFIX, type Candidate } from './candidates.js';
import { messageTokens, textTokens } from './costs.js';
import { callKey, exchangesOf } from './exchanges.js';
import { defaultPolicy } from './policy.js';
import { unitsOf, type Unit } from './units.js';

export type CompactionStrategy = 'keep-last' | 'elide-tool-results' | 'summary';

export interface CompactionInput {
  readonly surface: Surface;
  readonly profile: Profile;
  readonly counter: TokenCounter;
  readonly strategy: CompactionStrategy;
  /** First message that stays as it is; null: none does. */
  readonly keepFrom?: string | null;
  /** Messages at the end that stay as they are. */
  readonly keepLast?: number;
  /** The text that stands for what is covered. */
  readonly summary?: string;
  /** A cut inside a unit: moved to the unit's beginning, or refused. */
  readonly onSplit?: 'move' | 'reject';
  /** Calls that wait for an approval: nothing that holds them is covered. */
  readonly pending?: readonly CallRef[];
  /** What users wrote is not covered: it stays word for word. */
  readonly keepUserText?: boolean;
  /** Refuse what would not lower the count; for compactions that nobody asked for. */
  readonly requireProgress?: boolean;
}

/** What a compaction would cover and save. Nothing is written by planning it. */
export interface CompactionDraft {
  readonly strategy: CompactionStrategy;
  readonly covers: readonly Run[];
  /** Ids in surface order, earlier summaries included. */
  readonly covered: readonly string[];
  readonly coveredDigest: string;
  readonly summary?: string;
  readonly shortened: readonly { readonly messageId: string; readonly text: string }[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly trust: Trust;
  /** Set when the cut was moved to the edge of a unit. */
  readonly moved?: { readonly from: string; readonly to: string };
  /** The first message that a provider's prefix cache cannot reuse. */
  readonly breaksPrefixAt?: string;
}

const invalid = (
  reason: 'splits_unit' | 'empty' | 'pending_approval' | 'bad_range',
  ids: readonly string[],
): E.Either<StemmaFault, never> => E.left({ _tag: 'CompactionInvalid', reason, ids });

const DEFAULT_KEPT = 4;

/** Index in the list from which on messages stay. */
const wantedCut = (
  input: CompactionInput,
  list: readonly Candidate[],
): E.Either<StemmaFault, number> => {
  const { keepFrom, keepLast = DEFAULT_KEPT } = input;
  if (keepFrom === null) return E.right(list.length);
  if (keepFrom !== undefined) {
    const at = list.findIndex(({ message }) => message.id === keepFrom);
    return at < 0 ? invalid('bad_range', [keepFrom]) : E.right(at);
  }
  if (!Number.isSafeInteger(keepLast) || keepLast < 0) {
    return E.left({ _tag: 'InvalidArgument', name: 'keepLast', reason: 'out_of_range' });
  }
  const sent = list.flatMap(({ out }, index) => (out === undefined ? [index] : []));
  return E.right(keepLast === 0 ? list.length : (sent[sent.length - keepLast] ?? 0));
};

const splits = (unit: Unit, cut: number): boolean =>
  unit.members.some((member) => member < cut) && unit.members.some((member) => member >= cut);

/** Moves the cut to the beginning of each unit that it would split; earlier units may be hit in turn. */
const movedCut = (units: readonly Unit[], wanted: number): number => {
  let cut = wanted;
  for (let unit = units.find((u) => splits(u, cut)); unit !== undefined;) {
    cut = Math.min(...unit.members);
    unit = units.find((u) => splits(u, cut));
  }
  return cut;
};

/** Without a summary the kept part must begin with words of a user. */
const withUserTurn = (list: readonly Candidate[], units: readonly Unit[], cut: number): number => {
  const isUser = ({ message, out, kind }: Candidate): boolean =>
    message.role === 'user' && out === undefined && kind === 'message';
  if (list.slice(cut).some(isUser)) return cut;
  const last = list.slice(0, cut).findLastIndex(isUser);
  return last < 0 ? cut : movedCut(units, last);
};

const isFixed = ({ message, kind, out }: Candidate, keepsUsers: boolean): boolean =>
  (keepsUsers && kind === 'message' && message.role === 'user') ||
  kind === 'instructions' ||
  out !== undefined ||
  message.pinned === true ||
  message.role === 'system' ||
  message.role === 'developer';

const textOfResult = (candidate: Candidate): string => {
  const chars = JSON.stringify(candidate.message.blocks).length;
  return `[Tool result left out to save room: ${String(chars)} characters. It is kept in history.]`;
};

const isElidable = ({ message, shortened }: Candidate): boolean =>
  message.role === 'tool' && shortened !== true;

/** Runs over covered messages; what stands between two neighbours of the surface is within the run. */
const runsOver = (surface: Surface, ids: ReadonlySet<string>): readonly Run[] => {
  const runs: { branch: Run['branch']; from: number; to: number }[] = [];
  let open = false;
  for (const { message, place, out } of surface.items) {
    if (!ids.has(message.id)) {
      // What is out anyway ends no run: a later compaction of the same range has to hold this one.
      if (out === undefined) open = false;
      continue;
    }
    const last = runs.at(-1);
    if (open && last?.branch === place.branch && place.revision > last.to) {
      last.to = place.revision;
    } else {
      runs.push({ branch: place.branch, from: place.revision, to: place.revision });
    }
    open = true;
  }
  return runs;
};

/** Ids of messages behind the covered summaries, so that the new range holds the old ones. */
const throughSummaries = (surface: Surface, covered: readonly string[]): ReadonlySet<string> => {
  const ids = new Set(covered);
  for (const { replacement, covered: inner } of surface.compactions) {
    if (replacement !== undefined && ids.has(replacement.id)) inner.forEach((id) => ids.add(id));
  }
  return ids;
};

const costOf = (input: CompactionInput, candidates: readonly Candidate[]): number =>
  candidates
    .filter(({ out }) => out === undefined)
    .reduce((sum, { message }) => sum + messageTokens(message, input.counter, input.profile), 0);

const pendingFault = (
  input: CompactionInput,
  units: readonly Unit[],
  covered: ReadonlySet<number>,
): E.Either<StemmaFault, never> | undefined => {
  const pending = new Set((input.pending ?? []).map(callKey));
  const hit = units.filter(({ members }) => members.some((member) => covered.has(member)));
  const waiting = hit.flatMap(({ calls }) => calls.filter(({ ref }) => pending.has(callKey(ref))));
  if (waiting.length > 0) {
    const ids = waiting.map(({ call }) => call.id);
    return invalid('pending_approval', ids);
  }
  const open = hit.flatMap((unit) => unit.open.map(({ call }) => call.id));
  return open.length > 0 ? invalid('splits_unit', open) : undefined;
};

interface Cut {
  readonly at: number;
  readonly wanted: number;
}

const cutOf = (
  input: CompactionInput,
  list: readonly Candidate[],
  units: readonly Unit[],
): E.Either<StemmaFault, Cut> => {
  const wanted = wantedCut(input, list);
  if (E.isLeft(wanted)) return wanted;
  const split = units.find((unit) => splits(unit, wanted.right));
  // A result alone may be shortened: its call stays where it is.
  if (input.strategy === 'elide-tool-results')
    return E.right({ at: wanted.right, wanted: wanted.right });
  if (split !== undefined && input.onSplit === 'reject') {
    const ids = split.calls.map(({ call }) => call.id);
    return invalid('splits_unit', ids.length > 0 ? ids : [split.name]);
  }
  const moved = movedCut(units, wanted.right);
  const at = input.summary === undefined ? withUserTurn(list, units, moved) : moved;
  return E.right({ at, wanted: wanted.right });
};

/**
 * Plans a compaction: what it covers, what stands for it, and the count before and after. Never
 * covers instructions, pinned messages or an exchange that is open; never cuts a unit.
 */
export const planCompaction = (input: CompactionInput): E.Either<StemmaFault, CompactionDraft> => {
  const { surface, strategy, profile, summary } = input;
  if (strategy === 'summary' && summary === undefined) {
    return E.left({ _tag: 'InvalidArgument', name: 'summary', reason: 'missing' });
  }
  const found = candidatesOf(surface, defaultPolicy, profile);
  if (E.isLeft(found)) return found;
  const exchanges = exchangesOf(found.right.list, defaultPolicy, () => false);
  const { list } = exchanges;
  const units = unitsOf(exchanges);
  const cut = cutOf(input, list, units);
  if (E.isLeft(cut)) return cut;
  const elides = strategy === 'elide-tool-results';
  const indexes = list.flatMap((candidate, index) =>
    index < cut.right.at &&
    !isFixed(candidate, input.keepUserText === true) &&
    (!elides || isElidable(candidate))
      ? [index]
      : [],
  );
  const chosen = new Set(indexes);
  if (indexes.length === 0) return invalid('empty', []);
  const fault = elides ? undefined : pendingFault(input, units, chosen);
  return fault ?? drafted(input, list, chosen, cut.right);
};

const drafted = (
  input: CompactionInput,
  list: readonly Candidate[],
  chosen: ReadonlySet<number>,
  cut: Cut,
): E.Either<StemmaFault, CompactionDraft> => {
  const { surface, strategy, counter, summary } = input;
  const elides = strategy === 'elide-tool-results';
  const own = list.filter((_candidate, index) => chosen.has(index));
  const covered = own.map(({ message }) => message.id);
  const shortened = elides
    ? own.map((candidate) => ({
        messageId: candidate.message.id,
        text: textOfResult(candidate),
      }))
    : [];
  const text = strategy === 'summary' ? summary : undefined;
  const stands =
    (text === undefined ? 0 : textTokens(`${SUMMARY_PREFIX}\n${text}`, counter)) +
    shortened.reduce((sum, item) => sum + textTokens(item.text, counter), 0);
  const tokensBefore = costOf(input, list);
  const tokensAfter = tokensBefore - costOf(input, own) + stands;
  if (input.requireProgress === true && tokensAfter >= tokensBefore) {
    return E.left({ _tag: 'CompactionNoProgress', tokensBefore, tokensAfter });
  }
  const [from, to] = [list[cut.wanted]?.message.id ?? '', list[cut.at]?.message.id ?? ''];
  const [first] = covered;
  return E.right({
    strategy,
    covers: runsOver(surface, throughSummaries(surface, covered)),
    covered,
    coveredDigest: digestOf(JSON.stringify(covered)),
    ...(text === undefined ? {} : { summary: text }),
    shortened,
    tokensBefore,
    tokensAfter,
    trust: lowestTrust(own.map(({ message }) => message.trust)),
    ...(cut.at === cut.wanted ? {} : { moved: { from, to } }),
    ...(first === undefined ? {} : { breaksPrefixAt: first }),
  });
};
