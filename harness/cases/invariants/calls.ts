import { FOREIGN_JSON, parseJson, scanJson } from '../../../src/domain/json-scan.js';
import * as E from 'fp-ts/lib/Either.js';
import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { ToolCall } from '../../../src/domain/message.js';
import type { Profile } from '../../../src/domain/profiles/profile.js';
import { wireOf } from '../context-facts.js';
import type { Run } from '../run.js';
import { isFields, isList, type Fields } from '../shape.js';
import { isEqual, shown } from '../values.js';
import { firstWrong, ofPlan, type Check } from './judged.js';
import { wireCalls, type WirePair } from './wire.js';

interface SentCall {
  readonly source: ToolCall;
  readonly wire: WirePair;
  /** How many calls before had the same id. */
  readonly occurrence: number;
}

/** Calls as they are recorded beside the calls on the wire, in order. */
const sentCalls = async (run: Run, plan: ContextPlan): Promise<readonly SentCall[] | string> => {
  const { items } = await run.talk.branch.surface();
  const byId = new Map(items.map(({ message }) => [message.id, message]));
  const sources = plan.sent.flatMap((id) => byId.get(id)?.toolCalls ?? []);
  const wire = wireCalls(wireOf(plan));
  if (sources.length !== wire.length) {
    return `${String(sources.length)} calls are recorded, ${String(wire.length)} are sent`;
  }
  const used = new Map<string, number>();
  return sources.map((source, index) => {
    const occurrence = used.get(source.id) ?? 0;
    used.set(source.id, occurrence + 1);
    return { source, wire: wire[index] ?? { kind: 'call', id: '' }, occurrence };
  });
};

const ofCalls = (
  check: (calls: readonly SentCall[], profile: Profile) => string | undefined,
): Check =>
  ofPlan(async (plan, { run }) => {
    const calls = await sentCalls(run, plan);
    if (typeof calls === 'string') return calls;
    return calls.length === 0 ? 'there are no calls' : check(calls, run.evidence.profile);
  });

export const firstOccurrenceKeepsId: Check = ofCalls((calls) => {
  const repeated = new Set(
    calls.filter((one) => one.occurrence > 0).map(({ source }) => source.id),
  );
  if (repeated.size === 0) return 'no id is used twice';
  return firstWrong(calls, ({ source, wire, occurrence }) =>
    occurrence === 0 && repeated.has(source.id) && wire.id !== source.id
      ? `the first ${source.id} is sent as ${wire.id}`
      : undefined,
  );
});

const isAccepted = ({ limits }: Profile, id: string): boolean =>
  id !== '' &&
  id.length <= limits.callIdLength &&
  (limits.callIdForbidden === undefined || id.search(limits.callIdForbidden) < 0);

const MANY = 10_000;

const shapes: readonly ((n: string) => string)[] = [
  (n) => `toolcall-0123456789012345678901234567890-${n}`,
  (n) => `call:${n}`,
  (n) => `call.${n}`,
  (n) => `call/${n}`,
  (n) => `call_${n}`,
  (n) => `${'x'.repeat(100)}${n}`,
  (n) => `${n}${'y'.repeat(100)}`,
  (n) => `Ünïcode ${n}`,
];

const generated: readonly string[] = Array.from({ length: MANY }, (_one, at) =>
  (shapes[at % shapes.length] ?? String)(String(Math.floor(at / shapes.length))),
);

export const collisionFree: Check = ofCalls((calls, profile) => {
  const names = new Map<string, string>();
  const collision = firstWrong(calls, ({ source, wire }) => {
    const other = names.get(wire.id);
    names.set(wire.id, source.id);
    return other === undefined || other === source.id
      ? undefined
      : `${other} and ${source.id} are both sent as ${wire.id}`;
  });
  if (collision !== undefined || profile.id === 'neutral') return collision;
  const mapped = generated.flatMap((id) => [profile.mapCallId(id, 0), profile.mapCallId(id, 1)]);
  const distinct = new Set(mapped).size;
  const long = mapped.find((id) => !isAccepted(profile, id));
  if (long !== undefined) return `${long} is no id that the profile accepts`;
  return distinct === mapped.length ? undefined : `${String(mapped.length - distinct)} ids meet`;
});

export const validIdsUnchanged: Check = ofCalls((calls, profile) => {
  const changed = firstWrong(calls, ({ source, wire, occurrence }) =>
    occurrence === 0 && isAccepted(profile, source.id) && wire.id !== source.id
      ? `${source.id} is sent as ${wire.id}`
      : undefined,
  );
  if (changed !== undefined) return changed;
  const odd = generated.find((id) => isAccepted(profile, id) && profile.mapCallId(id, 0) !== id);
  return odd === undefined ? undefined : `${odd} would be sent as ${profile.mapCallId(odd, 0)}`;
});

const parsed = (text: string): unknown => {
  const value = parseJson(text, FOREIGN_JSON);
  return E.isRight(value) ? value.right : undefined;
};

const isEmptyObject = (value: unknown): boolean =>
  isFields(value) ? Object.keys(value).length === 0 : value === '{}';

const sentAs = (value: unknown, texts: readonly string[]): boolean =>
  typeof value === 'string'
    ? texts.includes(value)
    : texts.some((text) => isEqual(parsed(text), value));

/** Argument texts as the case gives them. */
const givenArguments = ({ input }: Run): readonly string[] => {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (isList(value)) for (const item of value) walk(item);
    if (!isFields(value)) return;
    const calls = value['tool_calls'];
    for (const call of isList(calls) ? calls.filter(isFields) : [])
      texts.push(...argumentsOf(call));
    if (value['type'] === 'tool_use') texts.push(JSON.stringify(value['input']));
    for (const entry of Object.values(value)) walk(entry);
  };
  walk([input.messages, input.wire, input.events, input.params]);
  return texts;
};

const argumentsOf = (call: Fields): readonly string[] => {
  const { function: made } = call as { readonly function?: unknown };
  const value = isFields(made) ? made['arguments'] : call['arguments'];
  return typeof value === 'string' ? [value] : [];
};

const storedArguments = async ({ talk }: Run): Promise<readonly string[]> =>
  (await talk.branch.surface()).items.flatMap(({ message }) =>
    message.toolCalls.map((call) => call.arguments),
  );

const notStored = async (run: Run): Promise<string | undefined> => {
  const stored = new Set(await storedArguments(run));
  const lost = givenArguments(run).find((text) => !stored.has(text));
  return lost === undefined ? undefined : `history has not the arguments ${shown(lost)}`;
};

export const noGuessingRepair: Check = ofPlan(async (plan, { run }) => {
  const lost = await notStored(run);
  if (lost !== undefined) return lost;
  const given = givenArguments(run);
  const calls = wireCalls(wireOf(plan));
  const guessed = calls.find(
    ({ arguments: value }) => !isEmptyObject(value) && !sentAs(value, given),
  );
  return guessed === undefined ? undefined : `${shown(guessed.arguments)} was never given`;
});

/** JSON text without the space between its parts, digits and escapes as they are. */
const minified = (text: string): string => text.replace(/("(?:[^"\\]|\\.)*")|\s+/gu, '$1');

/** As an object: by the same text, or by the same value where no digit can have been lost. */
const isSentAsObject = (body: string, text: string, sent: readonly unknown[]): boolean => {
  if (body.includes(minified(text))) return true;
  const scanned = scanJson(text, FOREIGN_JSON);
  const isSafe = E.isRight(scanned) && !scanned.right.unsafeNumbers;
  return isSafe && sent.some((value) => sentAs(value, [text]));
};

export const argumentsTextVerbatim: Check = async ({ run }) => {
  const lost = await notStored(run);
  if (lost !== undefined) return lost;
  const given = givenArguments(run);
  if (given.length === 0) return 'there are no calls';
  const { plan } = run.evidence;
  // Where no context was asked for, what is read is all there is.
  if (plan === undefined) return run.fault === undefined ? undefined : 'there is no context';
  const isObject = run.evidence.profile.argumentsAs === 'object';
  const sent = wireCalls(wireOf(plan)).map((call) => call.arguments);
  return firstWrong(given, (text) => {
    const isSent = isObject ? isSentAsObject(plan.text, text, sent) : sent.includes(text);
    return isSent ? undefined : `the arguments ${shown(text)} are not sent as they are`;
  });
};
