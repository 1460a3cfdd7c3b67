import type { Block, Message, ToolCall } from '../../domain/message.js';
import type { EventRef } from '../../domain/events/references.js';
import type { Slot } from '../../domain/slot.js';
import { estimator } from '../../domain/tokens.js';
import {
  historyRows,
  type CompactionEntry,
  type History,
  type HistoryEntry,
  type InstructionsEntry,
  type MessageEntry,
} from '../../projections/history.js';
import type { Target } from './targets.js';
import { plainText } from './show.js';

/** One line of a history, with its content. */
export interface HistoryRow {
  readonly kind: 'message' | 'tool_result' | 'instructions' | 'summary';
  /** Place among the events of the lineage. */
  readonly sequence: number;
  readonly place: EventRef;
  readonly branchName: string;
  readonly at: string;
  readonly actor: string;
  readonly run?: string;
  readonly turn?: string;
  /** Id of the message; of a summary: of its compaction. */
  readonly id: string;
  readonly role: string;
  readonly status: string;
  /** Why it is in no context, whatever a policy says, and the event that took it out. */
  readonly out?: { readonly reason: string; readonly cause: EventRef };
  /** An estimate. */
  readonly tokens: number;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly toolCalls: readonly ToolCall[];
  readonly answers: readonly string[];
  readonly outcome?: string;
  readonly coveredBy?: string;
  /** summary */
  readonly covers?: readonly string[];
  readonly state?: string;
  readonly strategy?: string;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  /** instructions */
  readonly name?: string;
  readonly version?: number;
  readonly effective?: boolean;
}

const tokensOf = ({ blocks, toolCalls }: Pick<Message, 'blocks' | 'toolCalls'>): number =>
  toolCalls.reduce(
    (sum, call) => sum + estimator.count(call.name) + estimator.count(call.arguments),
    estimator.count(plainText({ blocks })),
  );

type Base = Pick<HistoryRow, 'sequence' | 'place' | 'branchName' | 'at' | 'actor' | 'run' | 'turn'>;

const baseOf = (
  { sequence, place, at, actor, run, turn }: HistoryEntry | CompactionEntry,
  names: Target['names'],
): Base => ({
  sequence,
  place,
  branchName: names.get(place.branch) ?? place.branch,
  at,
  actor,
  ...(run === undefined ? {} : { run }),
  ...(turn === undefined ? {} : { turn }),
});

const textRow = (text: string) => ({
  tokens: estimator.count(text),
  text,
  blocks: text === '' ? [] : [{ type: 'text' as const, text }],
  toolCalls: [],
  answers: [],
});

const messageRow = (
  entry: MessageEntry,
  message: Message | undefined,
  out: HistoryRow['out'],
  base: Base,
): HistoryRow => {
  const { blocks = [], toolCalls = [] } = message ?? {};
  return {
    kind: entry.kind,
    ...base,
    id: entry.message.id,
    role: entry.message.role,
    status: entry.status,
    ...(out === undefined ? {} : { out }),
    tokens: tokensOf({ blocks, toolCalls }),
    text: plainText({ blocks }),
    blocks,
    toolCalls,
    answers: entry.calls.map(({ callId }) => callId),
    ...(entry.outcome === undefined ? {} : { outcome: entry.outcome }),
    ...(entry.coveredBy === undefined ? {} : { coveredBy: entry.coveredBy }),
  };
};

type TextIn = (slot: Slot | undefined) => string;

const instructionsRow = (entry: InstructionsEntry, textIn: TextIn, base: Base): HistoryRow => ({
  kind: 'instructions',
  ...base,
  id: entry.messageId,
  role: entry.role,
  status: entry.status,
  ...(entry.redacted === undefined ? {} : { out: { reason: 'redacted', cause: entry.redacted } }),
  ...textRow(entry.redacted === undefined ? textIn(entry.content) : ''),
  name: entry.name,
  version: entry.version,
  effective: entry.effective,
});

const summaryText = (json: string): string => {
  try {
    const blocks: unknown = JSON.parse(json);
    return Array.isArray(blocks) ? plainText({ blocks: blocks as readonly Block[] }) : '';
  } catch {
    return '';
  }
};

const summaryRow = (entry: CompactionEntry, textIn: TextIn, base: Base): HistoryRow => {
  const { compaction, replacement, covered, strategy, tokensBefore, tokensAfter } = entry.data;
  const isHidden = entry.fate.redacted !== undefined;
  return {
    kind: 'summary',
    ...base,
    id: compaction,
    role: 'summary',
    status: entry.fate.status,
    ...(entry.fate.redacted === undefined
      ? {}
      : { out: { reason: 'redacted', cause: entry.fate.redacted } }),
    ...textRow(isHidden ? '' : summaryText(textIn(replacement?.blocks))),
    covers: covered,
    state: entry.state,
    strategy,
    tokensBefore,
    tokensAfter,
  };
};

const slotsIn = (history: History): readonly Slot[] => [
  ...history.entries.flatMap((entry) =>
    entry.kind === 'instructions' && entry.redacted === undefined ? [entry.content] : [],
  ),
  ...history.compactions.flatMap(({ data, fate }) =>
    data.replacement === undefined || fate.redacted !== undefined ? [] : [data.replacement.blocks],
  ),
];

/** Everything that was said on a branch, in log order, with its content. */
export const rowsOf = async (target: Target): Promise<readonly HistoryRow[]> => {
  const { branch, point, names } = target;
  const [history, surface] = [await branch.history(point), await branch.surface(point)];
  const open = await branch.contents(slotsIn(history));
  const textIn: TextIn = (slot) => {
    const opened = slot === undefined ? undefined : open(slot);
    return opened?._tag === 'text' ? opened.text : '';
  };
  const items = new Map(surface.items.map((item) => [item.message.id, item]));
  return historyRows(history).map((entry) => {
    const base = baseOf(entry, names);
    if (entry.kind === 'instructions') return instructionsRow(entry, textIn, base);
    if (entry.kind === 'summary') return summaryRow(entry, textIn, base);
    const item = items.get(entry.message.id);
    return messageRow(entry, item?.message, item?.out, base);
  });
};
