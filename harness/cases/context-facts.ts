import type { ContextPlan } from '../../src/domain/context/plan.js';
import type { Repair } from '../../src/domain/profiles/repair.js';
import type { Fields } from './shape.js';
import { nameOf, rowsOf, type Talk } from './talk.js';

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

const isMessage = (path: readonly (string | number)[], index: number): boolean =>
  path[0] === 'messages' && path[1] === index;

/** Names of the messages sent, in order, with the turn that lets the model go on. */
export const contextIds = (talk: Talk, plan: ContextPlan): readonly string[] => {
  const continues = plan.added.filter(({ kind }) => kind === 'continue');
  const names = plan.layout.flatMap(({ ids, path }): readonly string[] => {
    if (ids.length > 0) {
      return ids.filter((id) => !talk.setup.has(id)).map((id) => nameOf(talk, id));
    }
    return continues.some(({ index }) => isMessage(path, index)) ? ['$continue'] : [];
  });
  return unique(names);
};

/** Names of the messages of history that are not sent. */
export const droppedIds = async (talk: Talk, plan: ContextPlan): Promise<readonly string[]> => {
  const sent = new Set(contextIds(talk, plan));
  return unique((await rowsOf(talk)).map(({ name }) => name)).filter((name) => !sent.has(name));
};

/** Tool results on the wire, in order; those of calls that were set up are left out. */
export const contextResults = (talk: Talk, plan: ContextPlan): readonly Fields[] =>
  plan.results
    .filter(({ messageId }) => messageId === undefined || !talk.setup.has(messageId))
    .map(({ toolCallId, synthetic, isError, content }) => ({
      tool_call_id: toolCallId,
      synthetic,
      is_error: isError,
      content,
    }));

/** The encoded request, as whoever gets it parses it. */
export const wireOf = (plan: ContextPlan): unknown => JSON.parse(plan.text) as unknown;

/** Tokens by name of message; parts of one message together. */
export const tokensById = (talk: Talk, plan: ContextPlan): Readonly<Record<string, number>> => {
  const tokens = new Map<string, number>();
  for (const { messageId, tokens: own } of plan.dispositions) {
    if (talk.setup.has(messageId)) continue;
    const name = nameOf(talk, messageId);
    tokens.set(name, (tokens.get(name) ?? 0) + own);
  }
  return Object.fromEntries(tokens);
};

/** An entry of the report under the names of the case. */
export interface ReportEntry {
  readonly code: string;
  readonly ids: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly from_index?: number;
  readonly to_index?: number;
  readonly tool_call_id?: string;
  readonly action?: string;
  readonly retrievable?: boolean;
  readonly original_chars?: number;
}

export const reportEntry = (talk: Talk, repair: Repair): ReportEntry => {
  const { code, id, ids = id === undefined ? [] : [id], from, to, fromIndex, toIndex } = repair;
  const { toolCallId, action, retrievable, originalChars } = repair;
  return {
    code,
    ids: ids.map((one) => nameOf(talk, one)),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(fromIndex === undefined ? {} : { from_index: fromIndex }),
    ...(toIndex === undefined ? {} : { to_index: toIndex }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(action === undefined ? {} : { action }),
    ...(retrievable === undefined ? {} : { retrievable }),
    ...(originalChars === undefined ? {} : { original_chars: originalChars }),
  };
};

/** What a context changed on its way to the wire. */
export const reportOf = (talk: Talk, plan: ContextPlan): readonly ReportEntry[] =>
  plan.repairs.map((repair) => reportEntry(talk, repair));
