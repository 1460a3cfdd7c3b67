import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../errors.js';
import type { Profile } from '../profiles/profile.js';
import type { Repair } from '../profiles/repair.js';
import type { Candidate } from './candidates.js';
import type { CallState } from './exchanges.js';
import type { InputLiteral, SyntheticResult } from './plan.js';
import type { ContextPolicy } from './policy.js';
import type { Unit } from './units.js';

/** One message to be sent, before it is translated. */
export type Entry =
  | { readonly type: 'message'; readonly index: number; readonly answers?: CallState }
  | { readonly type: 'synthetic'; readonly state: CallState; readonly result: SyntheticResult }
  | { readonly type: 'literal'; readonly literal: InputLiteral }
  | { readonly type: 'opening'; readonly text: string };

export interface Arranged {
  readonly entries: readonly Entry[];
  readonly repairs: readonly Repair[];
}

export interface ArrangeInput {
  readonly list: readonly Candidate[];
  readonly units: readonly Unit[];
  /** Indexes of candidates that are sent. */
  readonly chosen: ReadonlySet<number>;
  readonly policy: ContextPolicy;
  readonly profile: Profile;
  readonly literals: readonly InputLiteral[];
  readonly needsOpening: boolean;
}

/** First turn of a context that would otherwise begin with the model. */
export const OPENING_TEXT = '[The conversation begins with the assistant.]';

const reasonTexts: Readonly<Record<SyntheticResult['reason'], string>> = {
  unanswered: '[No result: this call was not answered. This note is not from the tool.]',
  closed: '[No result: this call was cancelled. This note is not from the tool.]',
  result_out:
    '[The result of this call is not available any more. This note is not from the tool.]',
  answered_together: '[Answered together with another call of this turn; see its result.]',
};

const reasonOf = (state: CallState): SyntheticResult['reason'] => {
  if (state.result !== undefined) return 'answered_together';
  if (state.closed) return 'closed';
  return state.resultOut === undefined ? 'unanswered' : 'result_out';
};

/** The results that the engine adds on the wire for calls of a unit, so that none stands alone. */
export const syntheticOf = (unit: Unit): readonly SyntheticResult[] => {
  const carriers = new Set<number>();
  return unit.calls.flatMap((state) => {
    if (state.dropped) return [];
    if (state.result !== undefined && !carriers.has(state.result)) {
      carriers.add(state.result);
      return [];
    }
    const reason = reasonOf(state);
    const { ref, call } = state;
    const text = reasonTexts[reason];
    return [{ messageId: ref.messageId, index: ref.index, toolCallId: call.id, text, reason }];
  });
};

/** An assistant turn on the wire: its parts, and the results that stand behind them. */
interface Group {
  readonly parts: readonly number[];
  readonly results: readonly Entry[];
}

const resultsOf = (unit: Unit, parts: ReadonlySet<number>): readonly Entry[] => {
  const made = syntheticOf(unit);
  return unit.calls.flatMap((state): readonly Entry[] => {
    if (state.dropped || !parts.has(state.caller)) return [];
    const own = made.find(
      ({ messageId, index }) => messageId === state.ref.messageId && index === state.ref.index,
    );
    if (own !== undefined) return [{ type: 'synthetic', state, result: own }];
    return state.result === undefined
      ? []
      : [{ type: 'message', index: state.result, answers: state }];
  });
};

// Parts of one provider message are one turn; an aggregate result may join several turns to a unit.
const groupsOf = (unit: Unit, list: readonly Candidate[]): readonly Group[] => {
  const turns: number[][] = [];
  let part: string | undefined;
  for (const index of unit.members) {
    const message = list[index]?.message;
    if (message === undefined || message.role === 'tool') continue;
    const last = turns.at(-1);
    if (last !== undefined && part !== undefined && message.partOf === part) last.push(index);
    else turns.push([index]);
    part = message.partOf;
  }
  return turns.map((parts) => ({ parts, results: resultsOf(unit, new Set(parts)) }));
};

interface Moves {
  readonly repairs: Repair[];
  readonly violated: { readonly caller: number; readonly ids: readonly string[] }[];
}

interface Order {
  readonly indexes: readonly number[];
  readonly placeOf: ReadonlyMap<number, number>;
}

// Which results stand behind something that is not of their exchange.
const noteMoves = (group: Group, order: Order, list: readonly Candidate[], moves: Moves): void => {
  const results = group.results.flatMap((entry) => (entry.type === 'message' ? [entry] : []));
  const own = new Set([...group.parts, ...results.map(({ index }) => index)]);
  const first = order.placeOf.get(group.parts[0] ?? -1) ?? 0;
  let stranger = first + 1;
  while (stranger < order.indexes.length && own.has(order.indexes[stranger] ?? -1)) stranger += 1;
  const ids: string[] = [];
  for (const { index, answers } of results) {
    const fromIndex = order.placeOf.get(index) ?? 0;
    const id = list[index]?.message.id;
    if (fromIndex < stranger || id === undefined || answers === undefined) continue;
    ids.push(answers.call.id);
    moves.repairs.push({
      code: 'MOVED_FOR_ADJACENCY',
      id,
      fromIndex,
      toolCallId: answers.call.id,
    });
  }
  if (ids.length > 0) moves.violated.push({ caller: first, ids });
};

const keptEntries = (
  input: ArrangeInput,
  order: Order,
  unitOf: ReadonlyMap<number, Unit>,
): readonly Entry[] =>
  order.indexes.flatMap((index): readonly Entry[] => {
    const unit = unitOf.get(index);
    const answers = unit?.calls.find((state) => state.result === index);
    const entry: Entry = { type: 'message', index, ...(answers && { answers }) };
    if (unit === undefined || input.policy.strict || index !== unit.members.at(-1)) return [entry];
    const results = resultsOf(unit, new Set(unit.members));
    return [entry, ...results.filter(({ type }) => type === 'synthetic')];
  });

const entriesOf = (input: ArrangeInput, moves: Moves): readonly Entry[] => {
  const { list, units, chosen, profile, policy } = input;
  const indexes = list.map((_candidate, index) => index).filter((index) => chosen.has(index));
  const order: Order = {
    indexes,
    placeOf: new Map(indexes.map((index, place) => [index, place])),
  };
  const unitOf = new Map<number, Unit>();
  const groupOf = new Map<number, Group>();
  for (const unit of units) {
    for (const index of unit.members) unitOf.set(index, unit);
    for (const group of groupsOf(unit, list)) {
      for (const index of group.parts) groupOf.set(index, group);
    }
  }
  if (profile.pairing === 'free' || policy.strict) return keptEntries(input, order, unitOf);
  return indexes.flatMap((index): readonly Entry[] => {
    const group = groupOf.get(index);
    if (group?.parts[0] !== index) return [];
    noteMoves(group, order, list, moves);
    const parts = group.parts.map((part): Entry => ({ type: 'message', index: part }));
    return [...parts, ...group.results];
  });
};

const withTargets = (
  repairs: readonly Repair[],
  entries: readonly Entry[],
  list: readonly Candidate[],
): readonly Repair[] =>
  repairs.map((repair) => {
    const toIndex = entries.findIndex(
      (entry) => entry.type === 'message' && list[entry.index]?.message.id === repair.id,
    );
    return toIndex < 0 ? repair : { ...repair, toIndex };
  });

const isLeading = (entry: Entry | undefined, list: readonly Candidate[]): boolean => {
  if (entry?.type !== 'message') return false;
  const candidate = list[entry.index];
  return (
    candidate?.kind === 'instructions' ||
    candidate?.message.role === 'system' ||
    candidate?.message.role === 'developer'
  );
};

const isResult = (entry: Entry | undefined, list: readonly Candidate[]): boolean =>
  entry?.type === 'synthetic' ||
  (entry?.type === 'message' && list[entry.index]?.message.role === 'tool');

// A literal stands where it was asked for, never before the instructions and never inside an
// exchange: there it waits until the results are through.
const withLiterals = (
  entries: readonly Entry[],
  literals: readonly InputLiteral[],
  list: readonly Candidate[],
): readonly Entry[] => {
  const slots = new Map<number, Entry[]>();
  for (const literal of literals) {
    let at = literal.place < 0 ? entries.length : Math.min(literal.place, entries.length);
    while (isLeading(entries[at], list) || isResult(entries[at], list)) at += 1;
    slots.set(at, [...(slots.get(at) ?? []), { type: 'literal', literal }]);
  }
  const placed = entries.flatMap((entry, at) => [...(slots.get(at) ?? []), entry]);
  return [...placed, ...(slots.get(entries.length) ?? [])];
};

const withOpening = (entries: readonly Entry[], list: readonly Candidate[]): readonly Entry[] => {
  const at = entries.findIndex((entry) => !isLeading(entry, list));
  const cut = at < 0 ? entries.length : at;
  return [...entries.slice(0, cut), { type: 'opening', text: OPENING_TEXT }, ...entries.slice(cut)];
};

/**
 * The order in which the chosen messages are sent: surface order, with each exchange drawn together
 * and its results in the order of the calls where the profile asks for it. Refuses instead where
 * the policy does not let results be moved (B32).
 */
export const arrange = (input: ArrangeInput): E.Either<FaultOf<'OrderViolation'>, Arranged> => {
  const moves: Moves = { repairs: [], violated: [] };
  const entries = entriesOf(input, moves);
  const { policy, profile, list } = input;
  const violated = moves.violated[0];
  if (violated !== undefined && policy.adjacency === 'reject') {
    const rule = profile.pairingRule;
    return E.left({
      _tag: 'OrderViolation',
      rule: 'tool_result_not_adjacent',
      ...(rule !== undefined && { profileRule: rule }),
      index: violated.caller,
      ids: violated.ids,
    });
  }
  const placed = withLiterals(entries, input.literals, list);
  const opened = input.needsOpening ? withOpening(placed, list) : placed;
  return E.right({ entries: opened, repairs: withTargets(moves.repairs, opened, list) });
};
