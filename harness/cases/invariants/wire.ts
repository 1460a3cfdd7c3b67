import type { ContextPlan } from '../../../src/domain/context/plan.js';
import { isFields, isList, type Fields } from '../shape.js';

/** A call or a result on the wire, in the order in which they stand there. */
export interface WirePair {
  readonly kind: 'call' | 'result';
  readonly id: string;
  /** Arguments of a call as they are sent: text, or an object. */
  readonly arguments?: unknown;
}

export const wireMessages = (wire: unknown): readonly Fields[] => {
  const messages = isFields(wire) ? wire['messages'] : undefined;
  return isList(messages) ? messages.filter(isFields) : [];
};

const listAt = (object: Fields, key: string): readonly Fields[] => {
  const value = object[key];
  return isList(value) ? value.filter(isFields) : [];
};

const argumentsIn = (call: Fields): unknown => {
  const { function: made } = call as { readonly function?: unknown };
  return isFields(made) ? made['arguments'] : call['arguments'];
};

const blockPairs = (block: Fields): readonly WirePair[] => {
  if (block['type'] === 'tool_use') {
    return [{ kind: 'call', id: String(block['id']), arguments: block['input'] }];
  }
  return block['type'] === 'tool_result'
    ? [{ kind: 'result', id: String(block['tool_use_id']) }]
    : [];
};

const pairsIn = (message: Fields): readonly WirePair[] => {
  const answered = message['tool_call_id'];
  return [
    ...(typeof answered === 'string' ? [{ kind: 'result' as const, id: answered }] : []),
    ...listAt(message, 'content').flatMap(blockPairs),
    ...listAt(message, 'tool_calls').map((call) => ({
      kind: 'call' as const,
      id: String(call['id']),
      arguments: argumentsIn(call),
    })),
  ];
};

/** Calls and results of a request, in order. */
export const pairsOn = (wire: unknown): readonly WirePair[] => wireMessages(wire).flatMap(pairsIn);

export const wireCalls = (wire: unknown): readonly WirePair[] =>
  pairsOn(wire).filter(({ kind }) => kind === 'call');

/** Results without a call before them, and calls without a result. */
export const unpaired = (wire: unknown): string | undefined => {
  const open = new Map<string, number>();
  for (const { kind, id } of pairsOn(wire)) {
    const count = open.get(id) ?? 0;
    if (kind === 'call') open.set(id, count + 1);
    else if (count === 0) return `the result for ${id} has no call before it`;
    else open.set(id, count - 1);
  }
  const left = [...open].find(([, count]) => count > 0);
  return left === undefined ? undefined : `the call ${left[0]} has no result`;
};

/** The part of a request that a layout entry speaks of. */
export const partAt = (body: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null
        ? (node as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    body,
  );

/** Texts of the parts in which a message went out, joined. */
export const sentText = (plan: ContextPlan, id: string): string =>
  plan.layout
    .filter(({ ids }) => ids.includes(id))
    .map(({ path }) => JSON.stringify(partAt(plan.body, path)))
    .join('\n');

/** How a text stands inside JSON text. */
export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
