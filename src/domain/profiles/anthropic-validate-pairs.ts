import { shapeViolation, type AnthropicCheck } from './anthropic-check.js';
import { textAt, type WireObject } from './whitelist.js';

/** Neighbours of one role, as the provider joins them (A1). */
interface Joined {
  readonly role: string;
  readonly index: number;
  readonly blocks: readonly WireObject[];
}

const joinTurns = ({ messages }: AnthropicCheck): readonly Joined[] => {
  const turns: { role: string; index: number; blocks: WireObject[] }[] = [];
  for (const { role, index, blocks } of messages) {
    if (role === 'system') continue;
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, index, blocks: [...blocks] });
  }
  return turns;
};

const callsOf = ({ role, blocks }: Joined): readonly string[] =>
  role === 'assistant'
    ? blocks.filter(({ type }) => type === 'tool_use').map((block) => textAt(block, 'id'))
    : [];

const resultsOf = (turn: Joined | undefined): readonly string[] =>
  turn?.role === 'user'
    ? turn.blocks
        .filter(({ type }) => type === 'tool_result')
        .map((block) => textAt(block, 'tool_use_id'))
    : [];

/** The turns as they are joined, and where each result stands last. */
interface Pairs {
  readonly check: AnthropicCheck;
  readonly turns: readonly Joined[];
  readonly lastResult: ReadonlyMap<string, number>;
}

const checkAnswers = ({ check, turns, lastResult }: Pairs, at: number): void => {
  const turn = turns[at];
  if (turn === undefined) return;
  const answered = new Set(resultsOf(turns[at + 1]));
  const missing = callsOf(turn).filter((id) => !answered.has(id));
  const isLater = (id: string): boolean => (lastResult.get(id) ?? -1) > at;
  const moved = missing.filter(isLater);
  const open = missing.filter((id) => !isLater(id));
  const about = { rule: 'A3', index: turn.index };
  if (moved.length > 0) {
    const reason = 'tool_result_not_adjacent' as const;
    check.found.push({ ...about, code: 'OrderViolation', reason, ids: moved });
  }
  if (open.length > 0) check.found.push({ ...about, code: 'OpenToolCalls', ids: open });
};

const checkResults = ({ check, turns }: Pairs, at: number): void => {
  const turn = turns[at];
  const before = turns[at - 1];
  if (turn === undefined) return;
  const calls = new Set(before === undefined ? [] : callsOf(before));
  for (const id of resultsOf(turn)) {
    if (calls.delete(id)) continue;
    check.found.push({ rule: 'A3', code: 'OrphanToolResult', index: turn.index, ids: [id] });
  }
};

// A4: results stand before everything else of the joined user turn.
const checkResultsFirst = ({ check, turns }: Pairs, at: number): void => {
  const turn = turns[at];
  if (turn === undefined) return;
  const other = turn.blocks.findIndex(({ type }) => type !== 'tool_result');
  const late = other < 0 ? [] : resultsOf({ ...turn, blocks: turn.blocks.slice(other) });
  if (turn.role !== 'user' || late.length === 0) return;
  const index = turns[at - 1]?.index ?? turn.index;
  const reason = 'tool_result_not_adjacent' as const;
  check.found.push({ rule: 'A4', code: 'OrderViolation', reason, index, ids: late });
};

// A5: nothing but calls behind the first call of the joined assistant turn.
const checkCallsLast = (check: AnthropicCheck, turn: Joined): void => {
  const first = turn.blocks.findIndex(({ type }) => type === 'tool_use');
  if (turn.role !== 'assistant' || first < 0) return;
  if (turn.blocks.slice(first).every(({ type }) => type === 'tool_use')) return;
  check.found.push(shapeViolation('A5', turn.index, '/content'));
};

/** Rules about calls and results over the turns as they are joined: A3, A4, A5. */
export const checkAnthropicPairs = (check: AnthropicCheck): void => {
  const turns = joinTurns(check);
  const lastResult = new Map<string, number>();
  turns.forEach((turn, at) => {
    for (const id of resultsOf(turn)) lastResult.set(id, at);
  });
  const pairs: Pairs = { check, turns, lastResult };
  turns.forEach((turn, at) => {
    checkAnswers(pairs, at);
    checkResults(pairs, at);
    checkResultsFirst(pairs, at);
    checkCallsLast(check, turn);
  });
};
