import type { Profile, WireTool } from '../profiles/profile.js';
import type { Repair } from '../profiles/repair.js';
import { mapNames } from '../profiles/wire-ids.js';
import { repairJson } from '../profiles/wire-text.js';
import { repairText } from '../text.js';
import type { ToolDefinition } from '../tool.js';
import type { Entry } from './arrange.js';
import type { Candidate } from './candidates.js';
import { callKey, type CallState } from './exchanges.js';

/** Calls of the context with the ids and tool names that they have on the wire. */
export interface WireNames {
  /** By `callKey`. */
  readonly callIds: ReadonlyMap<string, string>;
  /** By the caller's name. */
  readonly tools: ReadonlyMap<string, string>;
  readonly repairs: readonly Repair[];
}

/** The calls that are sent, in order, each with the message that made it. */
export const sentCalls = (
  entries: readonly Entry[],
  list: readonly Candidate[],
  calls: ReadonlyMap<string, CallState>,
): readonly CallState[] =>
  entries.flatMap((entry) => {
    const message = entry.type === 'message' ? list[entry.index]?.message : undefined;
    if (message?.role !== 'assistant') return [];
    return message.toolCalls.flatMap((_call, index) => {
      const state = calls.get(callKey({ messageId: message.id, index }));
      return state === undefined || state.dropped ? [] : [state];
    });
  });

// Ids that stay as they are come first, so that no mapped id can take one of them.
const mapCallIds = (
  states: readonly CallState[],
  profile: Profile,
): ReadonlyMap<string, string> => {
  const used = new Set<string>();
  const uses = new Map<string, number>();
  const mapped = new Map<string, string>();
  for (const { call } of states) {
    if (profile.mapCallId(call.id, 0) === call.id) used.add(call.id);
  }
  for (const { call, ref } of states) {
    const occurrence = uses.get(call.id) ?? 0;
    uses.set(call.id, occurrence + 1);
    let wire = profile.mapCallId(call.id, occurrence);
    for (let attempt = 1; wire !== call.id && used.has(wire); attempt += 1) {
      wire = profile.mapCallId(call.id, occurrence + attempt * (states.length + 1));
    }
    used.add(wire);
    mapped.set(callKey(ref), wire);
  }
  return mapped;
};

const nameRepairs = (
  states: readonly CallState[],
  tools: ReadonlyMap<string, string>,
): readonly Repair[] => {
  const repairs: Repair[] = [];
  for (const [from, to] of tools) {
    if (from === to) continue;
    const id = states.find(({ call }) => call.name === from)?.ref.messageId;
    repairs.push({ code: 'TOOL_NAME_SANITIZED', ...(id !== undefined && { id }), from, to });
  }
  return repairs;
};

const idRepairs = (
  states: readonly CallState[],
  callIds: ReadonlyMap<string, string>,
): readonly Repair[] =>
  states.flatMap(({ call, ref }): readonly Repair[] => {
    const to = callIds.get(callKey(ref));
    if (to === undefined || to === call.id) return [];
    const { id: toolCallId } = call;
    return [{ code: 'CALL_ID_MAPPED', id: ref.messageId, toolCallId, from: call.id, to }];
  });

/**
 * Wire ids and tool names of all calls and tools: valid ones unchanged, the first use of a repeated
 * id too; equal input gives equal names on every build.
 */
export const wireNames = (
  states: readonly CallState[],
  tools: readonly ToolDefinition[],
  profile: Profile,
  strict: boolean,
): WireNames => {
  const names = [...tools.map(({ name }) => name), ...states.map(({ call }) => call.name)];
  if (strict) {
    return {
      callIds: new Map(states.map(({ ref, call }) => [callKey(ref), call.id])),
      tools: new Map(names.map((name) => [name, name])),
      repairs: [],
    };
  }
  const { toolNameLength, toolNameForbidden } = profile.limits;
  const toolNames = mapNames(names, { maxLength: toolNameLength, forbidden: toolNameForbidden });
  const callIds = mapCallIds(states, profile);
  const repairs = [...nameRepairs(states, toolNames), ...idRepairs(states, callIds)];
  return { callIds, tools: toolNames, repairs };
};

const canonical = (value: unknown, keepsOrder: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => canonical(item, false));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (!keepsOrder) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(
    entries.map(([key, item]) => [key, canonical(item, !keepsOrder && key === 'properties')]),
  );
};

/**
 * Tools as they are sent: by name, with the keys of their schemas in one order and every text fit
 * for UTF-8. The order of `properties` stays, since models write arguments in it.
 */
export const wireTools = (
  tools: readonly ToolDefinition[],
  names: ReadonlyMap<string, string>,
): readonly WireTool[] =>
  tools
    .map(({ name, description, parameters }) => ({
      name: names.get(name) ?? name,
      ...(description !== undefined && { description: repairText(description).text }),
      ...(parameters !== undefined && {
        parameters: repairJson(canonical(parameters, false)) as Readonly<Record<string, unknown>>,
      }),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
