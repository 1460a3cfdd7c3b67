import type { ModelCallRequested, Purpose, Usage } from '../domain/events/model-call-events.js';
import { handle, type Handlers } from './places.js';
import type { Projection } from './projection.js';

/** Sums over calls; a provider that did not report a number adds none. */
export interface UsageTotals {
  readonly calls: number;
  readonly completed: number;
  readonly failed: number;
  readonly lost: number;
  /** Answers with which the provider reported usage, late ones too. */
  readonly reported: number;
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  /** What the engine counted before sending. */
  readonly counted: number;
}

export interface UsageRow extends UsageTotals {
  /** Absent when the request named none. */
  readonly model?: string;
  readonly profile: string;
  readonly purpose: Purpose;
}

export interface UsageView {
  /** Sorted by model, profile and purpose. */
  readonly rows: readonly UsageRow[];
  readonly totals: UsageTotals;
}

type Sums = { -readonly [K in keyof UsageTotals]: UsageTotals[K] };

interface RowDraft {
  readonly model?: string;
  readonly profile: string;
  readonly purpose: Purpose;
  readonly sums: Sums;
}

export interface UsageDraft {
  readonly rows: Map<string, RowDraft>;
  /** Call to the key of its row, and whether it had its outcome. */
  readonly callOf: Map<string, { readonly row: string; done: boolean }>;
}

const noSums = (): Sums => ({
  calls: 0,
  completed: 0,
  failed: 0,
  lost: 0,
  reported: 0,
  input: 0,
  output: 0,
  cachedInput: 0,
  cacheWrite: 0,
  reasoning: 0,
  counted: 0,
});

const rowFor = (draft: UsageDraft, data: ModelCallRequested): readonly [string, RowDraft] => {
  const { model, profile, purpose } = data;
  const key = JSON.stringify([model ?? null, profile.name, purpose]);
  const row = draft.rows.get(key) ?? {
    ...(model === undefined ? {} : { model }),
    profile: profile.name,
    purpose,
    sums: noSums(),
  };
  draft.rows.set(key, row);
  return [key, row];
};

const measures = ['input', 'output', 'cachedInput', 'cacheWrite', 'reasoning'] as const;

const addUsage = (sums: Sums, usage: Usage): void => {
  if (measures.some((name) => usage[name] !== undefined)) sums.reported += 1;
  for (const name of measures) sums[name] += usage[name] ?? 0;
};

// Sibling branches may use one id for two calls; within a branch it names one.
const callKey = (branch: string, id: string): string => `${branch} ${id}`;

const handlers: Handlers<UsageDraft> = {
  ModelCallRequested: (draft, data, { meta }) => {
    const [row, { sums }] = rowFor(draft, data);
    draft.callOf.set(callKey(meta.branch, data.modelCallId), { row, done: false });
    sums.calls += 1;
    sums.counted += data.tokens;
  },
  ModelCallCompleted: (draft, data, { meta }) => {
    const call = draft.callOf.get(callKey(meta.branch, data.modelCallId));
    const sums = draft.rows.get(call?.row ?? '')?.sums;
    if (call === undefined || sums === undefined) return;
    // A late answer was paid for, but the call keeps the outcome that it had.
    if (data.late !== true && !call.done) sums.completed += 1;
    call.done = true;
    addUsage(sums, data.usage);
  },
  ModelCallFailed: (draft, data, { meta }) => {
    const call = draft.callOf.get(callKey(meta.branch, data.modelCallId));
    const sums = draft.rows.get(call?.row ?? '')?.sums;
    if (call === undefined || sums === undefined || call.done) return;
    call.done = true;
    if (data.error.kind === 'lost' || data.error.lost === true) sums.lost += 1;
    else sums.failed += 1;
  },
};

const names = Object.keys(noSums()) as readonly (keyof UsageTotals)[];

const total = (rows: readonly RowDraft[]): UsageTotals => {
  const sums = noSums();
  for (const row of rows) for (const name of names) sums[name] += row.sums[name];
  return sums;
};

/**
 * Tokens as providers reported them, by model, profile and purpose. Give it each branch's own events
 * once: over a lineage for one branch, over all streams for a conversation.
 */
export const usage: Projection<UsageDraft, UsageView> = {
  name: 'usage',
  version: 1,
  start: () => ({ rows: new Map(), callOf: new Map() }),
  apply: (draft, recorded) => {
    handle(handlers, draft, recorded);
  },
  view: (draft) => ({
    rows: [...draft.rows]
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([, { sums, ...row }]) => ({ ...row, ...sums })),
    totals: total([...draft.rows.values()]),
  }),
};
