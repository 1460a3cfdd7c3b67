import type { Message } from '../message.js';
import type { Profile } from '../profiles/profile.js';
import type { Repair } from '../profiles/repair.js';
import type { TokenCounter } from '../tokens.js';
import { syntheticOf } from './arrange.js';
import type { Candidate } from './candidates.js';
import { MESSAGE_TOKENS, messageTokens, textTokens } from './costs.js';
import type { Exchanges } from './exchanges.js';
import type { InputLiteral } from './plan.js';
import type { ContextPolicy } from './policy.js';
import { shortenText } from './shorten.js';
import type { Shrink } from './selection.js';
import type { Unit } from './units.js';

export interface SizingOptions {
  readonly policy: ContextPolicy;
  readonly profile: Profile;
  readonly counter: TokenCounter;
  readonly literals: readonly InputLiteral[];
}

/** Token counts of candidates, and the tool results that were made shorter to have fewer. */
export interface Sizing {
  /** With the results that are over the cap already cut. */
  readonly exchanges: Exchanges;
  readonly literalTokens: number;
  readonly tokensOf: (unit: Unit) => number;
  readonly tokensOfCandidate: (index: number) => number;
  readonly syntheticTokens: (unit: Unit) => number;
  readonly shrink: Shrink;
  /** The candidates as they are now. */
  readonly current: () => readonly Candidate[];
  readonly repairsOf: (chosen: ReadonlyMap<number, unknown>) => readonly Repair[];
}

// A result that is cut to fit keeps at least this much, else leaving its unit out says more.
const LEAST_RESULT_TOKENS = 32;

const textTokensOf = (message: Message, counter: TokenCounter): number =>
  message.blocks.reduce(
    (tokens, block) => tokens + (block.type === 'text' ? counter.count(block.text) : 0),
    0,
  );

// Longest text first, until the texts together are within the limit.
const shortenMessage = (message: Message, limit: number, options: SizingOptions): Message => {
  const { counter, policy } = options;
  const { raw: _raw, ...rest } = message;
  const blocks = [...message.blocks];
  const order = blocks
    .map((block, at) => ({ at, tokens: block.type === 'text' ? counter.count(block.text) : 0 }))
    .sort((a, b) => b.tokens - a.tokens);
  let total = order.reduce((sum, { tokens }) => sum + tokens, 0);
  for (const { at, tokens } of order) {
    const block = blocks[at];
    if (total <= limit || block?.type !== 'text') break;
    const room = Math.max(1, limit - (total - tokens));
    const text = shortenText(block.text, room, counter.count, policy.shorten);
    blocks[at] = { ...block, text };
    total += counter.count(text) - tokens;
  }
  return { ...rest, blocks };
};

const charsOf = (message: Message): number =>
  message.blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);

interface Work {
  readonly options: SizingOptions;
  readonly list: Candidate[];
  readonly repairs: Map<number, Repair>;
  readonly counts: Map<number, number>;
}

const counted = ({ options, list, repairs }: Work, index: number): number => {
  const message = list[index]?.message;
  if (message === undefined) return 0;
  const { policy, counter, profile } = options;
  const fixed = policy.tokens ?? {};
  const known = Object.hasOwn(fixed, message.id) ? fixed[message.id] : undefined;
  if (known !== undefined && !repairs.has(index)) return known;
  return Math.min(known ?? Infinity, messageTokens(message, counter, profile));
};

const tokensAt = (work: Work, index: number): number => {
  const known = work.counts.get(index);
  if (known !== undefined) return known;
  const tokens = counted(work, index);
  work.counts.set(index, tokens);
  return tokens;
};

const cutResult = (work: Work, index: number, limit: number): void => {
  const candidate = work.list[index];
  if (candidate === undefined) return;
  const { message } = candidate;
  const shorter = shortenMessage(message, limit, work.options);
  const toolCallId = message.answers[0]?.callId;
  work.list[index] = { ...candidate, message: shorter, shortened: true };
  work.repairs.set(index, {
    code: 'TOOL_RESULT_SHORTENED',
    id: message.id,
    ...(toolCallId !== undefined && { toolCallId }),
    action: work.options.policy.shorten,
    originalChars: work.repairs.get(index)?.originalChars ?? charsOf(message),
    retrievable: true,
  });
  work.counts.delete(index);
};

const capResults = (work: Work): void => {
  const { policy, counter } = work.options;
  const cap = policy.maxToolResultTokens;
  if (cap === undefined) return;
  work.list.forEach(({ message, out }, index) => {
    if (message.role !== 'tool' || out !== undefined) return;
    const fixed = policy.tokens?.[message.id] ?? 0;
    const texts = textTokensOf(message, counter);
    if (Math.max(fixed, texts + MESSAGE_TOKENS) <= cap) return;
    cutResult(work, index, Math.max(1, cap - MESSAGE_TOKENS));
  });
};

const shrinkUnit = (work: Work, unit: Unit, overBy: number): number => {
  const results = unit.members
    .filter((index) => work.list[index]?.message.role === 'tool')
    .sort((a, b) => tokensAt(work, b) - tokensAt(work, a));
  const spare = (index: number): number => Math.max(0, tokensAt(work, index) - LEAST_RESULT_TOKENS);
  if (results.reduce((sum, index) => sum + spare(index), 0) < overBy) return 0;
  let saved = 0;
  for (const index of results) {
    const message = work.list[index]?.message;
    if (saved >= overBy || message === undefined || spare(index) === 0) continue;
    const before = tokensAt(work, index);
    const texts = textTokensOf(message, work.options.counter);
    const least = Math.max(1, texts - spare(index));
    cutResult(work, index, Math.max(least, texts - (overBy - saved)));
    saved += before - tokensAt(work, index);
  }
  return saved;
};

/** Counts every candidate once, and cuts tool results that are over the cap of the policy. */
export const sizing = (given: Exchanges, options: SizingOptions): Sizing => {
  const { counter, literals } = options;
  const list = [...given.list];
  const work: Work = { options, list, repairs: new Map(), counts: new Map() };
  capResults(work);
  const syntheticTokens = (unit: Unit): number =>
    syntheticOf(unit).reduce((sum, { text }) => sum + textTokens(text, counter), 0);
  const tokensOf = (unit: Unit): number =>
    unit.members.reduce((sum, index) => sum + tokensAt(work, index), syntheticTokens(unit));
  return {
    exchanges: { list: [...list], calls: given.calls },
    literalTokens: literals.reduce((sum, { text }) => sum + textTokens(text, counter), 0),
    tokensOf,
    tokensOfCandidate: (index) => tokensAt(work, index),
    syntheticTokens,
    shrink: (unit, overBy) => shrinkUnit(work, unit, overBy),
    current: () => list,
    repairsOf: (chosen) =>
      [...work.repairs].flatMap(([index, repair]) => (chosen.has(index) ? [repair] : [])),
  };
};
