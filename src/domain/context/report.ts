import { digestOf } from '../digest.js';
import type { Encoded, Profile, Turn } from '../profiles/profile.js';
import type { ContextWarning, Repair } from '../profiles/repair.js';
import type { Surface } from '../surface.js';
import type { TokenCounter } from '../tokens.js';
import type { Entry } from './arrange.js';
import type { Candidate } from './candidates.js';
import type { Exchanges } from './exchanges.js';
import type {
  ContextPlan,
  InputLiteral,
  MessageDisposition,
  SyntheticResult,
  WireResult,
} from './plan.js';
import { policyRuling, type ContextPolicy } from './policy.js';
import type { Selection } from './selection.js';
import { selectionRuns, type Decided } from './selection-runs.js';
import type { Sizing } from './sizing.js';
import { turnText } from './turns.js';
import type { Unit } from './units.js';

export interface PlanInput<Body extends object> {
  readonly surface: Surface;
  readonly profile: Profile<Body>;
  readonly policy: ContextPolicy;
  readonly counter: TokenCounter;
  readonly literals: readonly InputLiteral[];
  readonly toolNames: ReadonlyMap<string, string>;
  readonly toolTokens: number;
  readonly budget?: number;
  readonly exchanges: Exchanges;
  readonly units: readonly Unit[];
  readonly selection: Selection;
  readonly entries: readonly Entry[];
  readonly turns: readonly Turn[];
  readonly size: Sizing;
  readonly encoded: Encoded<Body>;
  readonly repairs: readonly Repair[];
  readonly warnings: readonly ContextWarning[];
}

const dispositionOf = <Body extends object>(
  input: PlanInput<Body>,
  candidate: Candidate,
  index: number,
  unit: string,
  omitted: ReadonlySet<string>,
): MessageDisposition => {
  const { message, place } = candidate;
  const about = { messageId: message.id, place, tokens: input.size.tokensOfCandidate(index), unit };
  const out = candidate.out ?? input.selection.left.get(index);
  if (out !== undefined) return { ...about, in: false, ...out };
  if (omitted.has(message.id)) {
    return { ...about, in: false, disposition: 'policy', note: 'nothing of it can be sent' };
  }
  const reason = input.selection.chosen.get(index) ?? 'window';
  const { cause, shortened } = candidate;
  const isCut = shortened === true;
  const note = candidate.note ?? (isCut ? 'shortened' : undefined);
  return {
    ...about,
    in: true,
    disposition: isCut && reason === 'window' ? 'shortened' : reason,
    ...(cause && { cause }),
    ...(note !== undefined && { note }),
  };
};

const dispositionsOf = <Body extends object>(
  input: PlanInput<Body>,
): readonly MessageDisposition[] => {
  const unitOf = new Map<number, string>();
  for (const { name, members } of input.units) {
    for (const index of members) unitOf.set(index, name);
  }
  const omitted = new Set(input.encoded.omitted);
  return input.exchanges.list.map((candidate, index) =>
    dispositionOf(input, candidate, index, unitOf.get(index) ?? candidate.message.id, omitted),
  );
};

// What the selection decided; what the encoder then left out follows from it again on replay.
const decisionsOf = <Body extends object>({
  exchanges,
  selection,
}: PlanInput<Body>): readonly Decided[] =>
  exchanges.list.flatMap(({ place }, index): readonly Decided[] => {
    const reason = selection.chosen.get(index);
    if (reason !== undefined) return [{ place, in: true, disposition: reason }];
    const out = selection.left.get(index);
    return out === undefined ? [] : [{ place, in: false, disposition: out.disposition }];
  });

const resultsOf = (turns: readonly Turn[]): readonly WireResult[] =>
  turns.flatMap((turn): readonly WireResult[] => {
    if (turn.answer === undefined) return [];
    const [messageId] = turn.ids;
    return [
      {
        toolCallId: turn.answer.sourceId,
        wireId: turn.answer.id,
        synthetic: turn.synthetic === true,
        isError: turn.isError === true,
        content: turnText(turn),
        ...(messageId !== undefined && { messageId }),
      },
    ];
  });

const syntheticOf = (entries: readonly Entry[]): readonly SyntheticResult[] =>
  entries.flatMap((entry) => (entry.type === 'synthetic' ? [entry.result] : []));

const synthesized = (results: readonly SyntheticResult[]): readonly Repair[] =>
  results.map(({ messageId, toolCallId, reason }) => ({
    code: 'RESULT_SYNTHESIZED',
    id: messageId,
    toolCallId,
    action: reason,
  }));

/** The plan of a built context: the exact text, and the report of everything that was done. */
export const planOf = <Body extends object>(input: PlanInput<Body>): ContextPlan<Body> => {
  const { surface, profile, policy, counter, encoded, units, selection } = input;
  const text = JSON.stringify(encoded.body);
  const dispositions = dispositionsOf(input);
  const sentUnits = units.filter(({ members }) => members.some((at) => selection.chosen.has(at)));
  const tokens =
    dispositions.reduce((sum, { in: isIn, tokens: own }) => sum + (isIn ? own : 0), 0) +
    sentUnits.reduce((sum, unit) => sum + input.size.syntheticTokens(unit), 0) +
    input.toolTokens +
    input.size.literalTokens;
  const synthetic = syntheticOf(input.entries);
  const added = encoded.added.map(({ kind, index }): Repair => ({
    code: 'TURN_ADDED',
    action: kind,
    toIndex: index,
  }));
  return {
    body: encoded.body,
    text,
    requestDigest: digestOf(text),
    sent: [...new Set(encoded.layout.flatMap(({ ids }) => ids))],
    dispositions,
    tokens,
    toolTokens: input.toolTokens,
    ...(input.budget !== undefined && { budget: input.budget }),
    counter: { name: counter.name, exact: counter.exact },
    repairs: [...input.repairs, ...synthesized(synthetic), ...encoded.repairs, ...added],
    warnings: [...input.warnings, ...encoded.warnings],
    selection: selectionRuns(decisionsOf(input)),
    literals: input.literals,
    instructions: surface.instructions.map(({ name, version }) => ({ name, version })),
    tools: [...input.toolNames.values()].sort(),
    toolNames: new Map([...input.toolNames].filter(([wire, name]) => wire !== name)),
    profile: profile.ruling,
    policy: policyRuling(policy),
    synthetic,
    added: encoded.added,
    results: resultsOf(input.turns),
    layout: encoded.layout,
    facts: encoded.facts,
  };
};
