import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { CaseInput } from '../read-case.js';
import { isFields, isList } from '../shape.js';
import { addedSince } from '../moment.js';
import type { Run } from '../run.js';
import { firstWrong, ofPlan, type Check } from './judged.js';

const textsOf = ({ evidence: { builds, plan } }: Run): readonly string[] => {
  if (builds !== undefined && builds.length > 0) return builds.map(({ text }) => text);
  return plan === undefined ? [] : [plan.text];
};

const bytesOf = ({ after }: Run): string =>
  JSON.stringify(
    after.events.map(({ stream, id, type, meta, data }) => [stream, id, type, meta, data]),
  );

export const deterministic: Check = async ({ run, again }) => {
  const other = await again();
  const [first, second] = [textsOf(run), textsOf(other)];
  if (JSON.stringify(first) !== JSON.stringify(second)) return 'a second run gives other bytes';
  return bytesOf(run) === bytesOf(other) ? undefined : 'a second run stores other bytes';
};

/** The text of a request up to its last message. */
const upToLastMessage = ({ text, body }: ContextPlan): string => {
  const messages = (body as { readonly messages?: unknown }).messages;
  const written = `"messages":${JSON.stringify(messages)}`;
  const at = text.indexOf(written);
  return at < 0 ? text : text.slice(0, at + written.length - 1);
};

export const byteEqualPrefix: Check = ({ run }) => {
  const { builds = [] } = run.evidence;
  if (builds.length < 2) return 'there are no two builds';
  return firstWrong(builds.slice(1).entries(), ([index, later]) => {
    const earlier = builds[index];
    if (earlier === undefined || later.text.startsWith(upToLastMessage(earlier))) return undefined;
    return `build ${String(index + 1)} does not begin as build ${String(index)} does`;
  });
};

const formsOf = (time: string): readonly string[] => {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return [time];
  const iso = at.toISOString();
  const ms = String(at.getTime());
  return [time, iso, iso.replace('.000Z', 'Z'), iso.slice(0, 19), ms, ms.slice(0, -3)];
};

const clocksOf = ({ params }: CaseInput, now: number): readonly string[] => {
  const given = [params.clock, ...(params.builds ?? []).map((one) => one.now)];
  const told = given.filter((time) => time !== undefined);
  return told.length > 0 ? told : [new Date(now).toISOString()];
};

export const noClockInOutput: Check = ofPlan((_plan, { run }) => {
  const times = clocksOf(run.input, run.world.clock.now).flatMap(formsOf);
  return firstWrong(textsOf(run), (text) => {
    const found = times.find((time) => text.includes(time));
    return found === undefined ? undefined : `${found} is in the output`;
  });
});

const backwards = (value: unknown): unknown => {
  if (isList(value)) return value.map(backwards);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, backwards(entry)] as const);
  return Object.fromEntries(entries.reverse());
};

/** The same input with the keys of its messages, and the tools, in another order. */
const turnedRound = (input: CaseInput): CaseInput => {
  const { tools, builds } = input.params;
  const turned = isList(tools) ? [...tools].reverse() : backwards(tools);
  return {
    ...input,
    messages: backwards(input.messages) as CaseInput['messages'],
    params: {
      ...input.params,
      ...(tools === undefined ? {} : { tools: turned as NonNullable<typeof tools> }),
      ...(builds === undefined
        ? {}
        : {
            builds: builds.map(({ tools_order: order, append, ...rest }) => ({
              ...rest,
              ...(append === undefined ? {} : { append: backwards(append) as typeof append }),
              ...(order === undefined ? {} : { tools_order: [...order].reverse() }),
            })),
          }),
    },
  };
};

export const canonicalKeyOrder: Check = ofPlan(async (_plan, { run, again }) => {
  const other = await again({ input: turnedRound });
  const [first, second] = [textsOf(run), textsOf(other)];
  return JSON.stringify(first) === JSON.stringify(second)
    ? undefined
    : 'keys or tools in another order give other bytes';
});

export const noModelCall: Check = ({ run }) => {
  const call = addedSince(run.before.events, run.after.events).find(({ type }) =>
    type.startsWith('ModelCall'),
  );
  return call === undefined ? undefined : `${call.type} was recorded`;
};
