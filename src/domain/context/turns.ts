import { textOf, type Block, type Message, type Outcome } from '../message.js';
import type { Profile, Turn, TurnAnswer, TurnCall } from '../profiles/profile.js';
import type { ContextWarning, Repair } from '../profiles/repair.js';
import { repairJson } from '../profiles/wire-text.js';
import { isWellFormed, repairText } from '../text.js';
import {
  argumentsFault,
  isBlank,
  losesDigits,
  onBadArguments,
  parsesArguments,
} from './arguments.js';
import type { Entry } from './arrange.js';
import type { Candidate } from './candidates.js';
import { callKey, type CallState } from './exchanges.js';
import type { ContextPolicy } from './policy.js';
import { shortenArguments } from './shorten.js';
import type { WireNames } from './wire-names.js';

export interface TurnInput {
  readonly entries: readonly Entry[];
  readonly list: readonly Candidate[];
  readonly calls: ReadonlyMap<string, CallState>;
  readonly names: WireNames;
  readonly policy: ContextPolicy;
  readonly profile: Profile;
}

export interface Turns {
  readonly turns: readonly Turn[];
  readonly repairs: readonly Repair[];
  readonly warnings: readonly ContextWarning[];
}

interface Work {
  readonly input: TurnInput;
  readonly ranks: ReadonlyMap<number, number>;
  readonly repairs: Repair[];
  readonly warnings: ContextWarning[];
}

interface Clean<T> {
  readonly value: T;
  readonly changed: boolean;
}

const cleanText = (text: string, work: Work): Clean<string> => {
  if (work.input.policy.strict || isWellFormed(text)) return { value: text, changed: false };
  return { value: repairText(text).text, changed: true };
};

const cleanJsonText = (json: string, work: Work): Clean<string> => {
  if (work.input.policy.strict || !/\\u[dD][89a-fA-F]|\p{Surrogate}/u.test(json)) {
    return { value: json, changed: false };
  }
  const value: unknown = JSON.parse(json);
  const repaired = repairJson(value);
  return { value: JSON.stringify(repaired), changed: repaired !== value };
};

// What another provider made is valid for its producer only.
const isForeign = (block: Block, { input: { profile, policy } }: Work): boolean =>
  profile.reasoning === 'own' &&
  !policy.strict &&
  (block.type === 'reasoning' || block.type === 'provider') &&
  block.provider !== profile.provider;

// Reasoning that cannot be encoded cannot be sent unmodified either (A9): it is left out.
const cleanBlock = (block: Block, work: Work): Clean<Block | undefined> => {
  switch (block.type) {
    case 'text':
    case 'refusal': {
      const { value, changed } = cleanText(block.text, work);
      return { value: changed ? { ...block, text: value } : block, changed };
    }
    case 'reasoning': {
      const isLost = cleanText(block.text, work).changed;
      return { value: isLost ? undefined : block, changed: isLost };
    }
    case 'provider': {
      const { value, changed } = cleanJsonText(block.json, work);
      return { value: changed ? { ...block, json: value } : block, changed };
    }
    case 'file': {
      const { value, changed } = cleanText(block.name ?? '', work);
      return { value: changed ? { ...block, name: value } : block, changed };
    }
    default:
      return { value: block, changed: false };
  }
};

const reportArguments = (work: Work, state: CallState, action: string): void => {
  const { ref, call } = state;
  work.repairs.push({
    code: 'TOOL_ARGS_NOT_JSON',
    id: ref.messageId,
    toolCallId: call.id,
    action,
  });
};

// Broken arguments are never completed by a guess: they are replaced whole, or sent as they are.
const argumentsOf = (state: CallState, work: Work): Clean<string> => {
  const { policy, profile } = work.input;
  const { ref, call } = state;
  const given = call.arguments;
  if (policy.strict) return { value: given, changed: false };
  let { value, changed } = cleanText(given, work);
  const chosen = onBadArguments(policy, profile);
  if (isBlank(value)) {
    if (parsesArguments(profile)) return { value: '{}', changed: true };
  } else if (argumentsFault(value) !== undefined) {
    reportArguments(work, state, chosen);
    if (chosen === 'empty_object') return { value: '{}', changed: true };
  } else if (profile.argumentsAs === 'object' && losesDigits(value)) {
    work.warnings.push({ code: 'ARGUMENT_DIGITS', id: ref.messageId, toolCallId: call.id });
  }
  const limit = policy.maxArgumentChars;
  if (limit !== undefined && value.length > limit) {
    const originalChars = value.length;
    value = shortenArguments(value, limit, policy.shorten);
    changed = true;
    const about = { id: ref.messageId, toolCallId: call.id, originalChars, retrievable: true };
    work.repairs.push({ code: 'TOOL_ARGS_SHORTENED', action: policy.shorten, ...about });
  }
  return { value, changed };
};

const callOf = (state: CallState, work: Work): Clean<TurnCall> => {
  const { names } = work.input;
  const { ref, call } = state;
  const text = argumentsOf(state, work);
  const id = names.callIds.get(callKey(ref)) ?? call.id;
  const name = names.tools.get(call.name) ?? call.name;
  const changed = text.changed || id !== call.id || name !== call.name;
  return { value: { id, name, arguments: text.value, source: call, ref }, changed };
};

const answerOf = (state: CallState, work: Work): TurnAnswer => ({
  id: work.input.names.callIds.get(callKey(state.ref)) ?? state.call.id,
  name: work.input.names.tools.get(state.call.name) ?? state.call.name,
  sourceId: state.call.id,
});

const isError = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && outcome !== 'ok';

// The original form may be sent only while nothing in it differs from what is sent now.
const rawOf = (message: Message, changed: boolean): Pick<Turn, 'raw'> =>
  changed || message.raw === undefined ? {} : { raw: message.raw };

/** Blocks of a message with every call at its place, numbered as in `kept`. */
const placedBlocks = (blocks: readonly Block[], kept: readonly number[]): readonly Block[] => {
  const placed = new Set<number>();
  const inPlace = blocks.flatMap((block): readonly Block[] => {
    if (block.type !== 'tool_call') return [block];
    const call = kept.indexOf(block.call);
    if (call < 0 || placed.has(call)) return [];
    placed.add(call);
    return [{ type: 'tool_call', call }];
  });
  const behind = kept.flatMap((_index, call): readonly Block[] =>
    placed.has(call) ? [] : [{ type: 'tool_call', call }],
  );
  return [...inPlace, ...behind];
};

const noteForeign = (message: Message, work: Work): void => {
  const foreign = new Set(
    message.blocks.filter((block) => isForeign(block, work)).map(({ type }) => type),
  );
  const { id } = message;
  if (foreign.has('reasoning')) work.repairs.push({ code: 'FOREIGN_REASONING_DROPPED', id });
  if (foreign.has('provider')) work.repairs.push({ code: 'FOREIGN_BLOCK_DROPPED', id });
};

const messageTurn = (
  entry: Extract<Entry, { readonly type: 'message' }>,
  candidate: Candidate,
  work: Work,
): Turn => {
  const { message } = candidate;
  const states =
    message.role === 'assistant'
      ? message.toolCalls.map((_call, index) =>
          work.input.calls.get(callKey({ messageId: message.id, index })),
        )
      : [];
  const kept = states.flatMap((state, index) =>
    state === undefined || state.dropped ? [] : [index],
  );
  const calls = kept.flatMap((index) => {
    const state = states[index];
    return state === undefined ? [] : [callOf(state, work)];
  });
  const own = message.blocks.filter((block) => !isForeign(block, work));
  noteForeign(message, work);
  const blocks = own.map((block) => cleanBlock(block, work));
  if (blocks.some(({ changed }) => changed)) {
    work.repairs.push({ code: 'TEXT_REPAIRED', id: message.id });
  }
  const cleaned = blocks.flatMap(({ value }) => (value === undefined ? [] : [value]));
  const changed =
    candidate.kind === 'summary' ||
    own.length !== message.blocks.length ||
    kept.length !== message.toolCalls.length ||
    message.answers.length > 1 ||
    [...blocks, ...calls].some((part) => part.changed);
  const answer = entry.answers === undefined ? undefined : answerOf(entry.answers, work);
  const renamed = answer !== undefined && answer.id !== answer.sourceId;
  return {
    ids: [message.id],
    role: message.role,
    blocks: message.role === 'assistant' ? placedBlocks(cleaned, kept) : cleaned,
    calls: calls.map(({ value }) => value),
    ...(answer !== undefined && { answer }),
    ...(isError(message.outcome) && { isError: true }),
    ...(message.name !== undefined && { name: message.name }),
    ...(message.partOf !== undefined && { partOf: message.partOf }),
    ...rawOf(message, changed || renamed),
    index: work.ranks.get(entry.index) ?? -1,
  };
};

const madeTurn = (role: Turn['role'], text: string, index: number): Turn => ({
  ids: [],
  role,
  blocks: [{ type: 'text', text }],
  calls: [],
  synthetic: true,
  index,
});

const turnOf = (entry: Entry, work: Work): Turn | undefined => {
  switch (entry.type) {
    case 'literal': {
      const { value, changed } = cleanText(entry.literal.text, work);
      if (changed) work.repairs.push({ code: 'TEXT_REPAIRED', action: 'literal' });
      const { synthetic: _made, ...turn } = madeTurn('user', value, -1);
      return turn;
    }
    case 'opening':
      return madeTurn('user', entry.text, -1);
    case 'synthetic': {
      const { state, result } = entry;
      const turn = madeTurn('tool', result.text, work.ranks.get(state.caller) ?? -1);
      const failed = result.reason === 'answered_together' ? {} : { isError: true };
      return { ...turn, answer: answerOf(state, work), ...failed };
    }
    case 'message': {
      const candidate = work.input.list[entry.index];
      return candidate === undefined ? undefined : messageTurn(entry, candidate, work);
    }
  }
};

const shiftCalls = (blocks: readonly Block[], by: number): readonly Block[] =>
  blocks.map((block) =>
    block.type === 'tool_call' ? { type: 'tool_call', call: block.call + by } : block,
  );

const joinParts = (before: Turn, after: Turn): Turn => {
  const { raw: _raw, ...rest } = before;
  return {
    ...rest,
    ids: [...before.ids, ...after.ids],
    blocks: [...before.blocks, ...shiftCalls(after.blocks, before.calls.length)],
    calls: [...before.calls, ...after.calls],
  };
};

const isSamePart = (before: Turn | undefined, after: Turn): before is Turn =>
  before?.role === 'assistant' &&
  after.role === 'assistant' &&
  after.partOf !== undefined &&
  before.partOf === after.partOf;

/** The messages as a profile encodes them: names and ids of the wire, texts that can be sent. */
export const turnsOf = (input: TurnInput): Turns => {
  const indexes = input.entries.flatMap((entry) => (entry.type === 'message' ? [entry.index] : []));
  const ranks = new Map(
    [...new Set(indexes)].sort((a, b) => a - b).map((index, rank) => [index, rank]),
  );
  const work: Work = { input, ranks, repairs: [], warnings: [] };
  const turns: Turn[] = [];
  for (const entry of input.entries) {
    const turn = turnOf(entry, work);
    if (turn === undefined) continue;
    const last = turns.at(-1);
    if (isSamePart(last, turn)) turns[turns.length - 1] = joinParts(last, turn);
    else turns.push(turn);
  }
  return { turns, repairs: work.repairs, warnings: work.warnings };
};

/** The text of a tool turn, as it is compared and reported. */
export const turnText = (turn: Turn): string => textOf(turn.blocks);
