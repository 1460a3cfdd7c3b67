import type { CompactionPlan } from '../../src/engine/compactions.js';
import { appendTo, namingOf, nameSummaries, openTalk, rowsOf, type Talk } from './talk.js';
import {
  feedStream,
  finishStreams,
  idList,
  noLiveCalls,
  streamTypes,
  type LiveCalls,
} from './live.js';
import type { CaseEvent, CaseMessage } from './input-shape.js';
import { isForeign, messagesIn } from './old-shapes.js';
import { effectOf } from './policy.js';
import { tailOf, writeForeign, writeMoved } from './raw-events.js';
import type { CaseInput } from './read-case.js';
import { anything, flag, number, object, optional, refuse, text } from './shape.js';
import { openWorld } from './world.js';

const startedTool = object(
  { tool_call_id: text, effect: optional(text) },
  'field of ToolExecutionStarted',
);
const attached = object(
  {
    message_id: optional(text),
    tool_call_id: text,
    content: optional(anything),
    is_error: optional(flag),
  },
  'field of ToolResultAttached',
);
const compacted = object({ covers_ids: idList, summary: text }, 'field of ContextCompacted');
const compactionStarted = object(
  { at_position: optional(number), covers_ids: idList },
  'field of CompactionStarted',
);
const redacted = object({ ids: idList }, 'field of ContentRedacted');

interface Loading {
  readonly talk: Talk;
  readonly input: CaseInput;
  readonly calls: LiveCalls;
}

const startTool = async ({ talk, input }: Loading, event: CaseEvent, at: string): Promise<void> => {
  const { tool_call_id: id } = startedTool(event.data, at);
  const handle = (await talk.branch.openCalls()).find((call) => call.id === id);
  if (handle === undefined) return refuse(at, `no call ${id} is open`);
  const effect = effectOf(input.params, handle.name);
  await handle.start(effect === undefined ? {} : { effect });
};

const attach = async ({ talk }: Loading, event: CaseEvent, at: string): Promise<void> => {
  const {
    message_id: id,
    tool_call_id: call,
    content = '',
    is_error: isError,
  } = attached(event.data, at);
  const result: CaseMessage = {
    ...(id === undefined ? {} : { id }),
    role: 'tool',
    tool_call_id: call,
    content,
    ...(isError === undefined ? {} : { is_error: isError }),
  };
  await appendTo(talk, [result]);
};

/** The first message behind the covered ones: from there on messages stay as they are. */
export const keptFrom = async (talk: Talk, covers: readonly string[]): Promise<string | null> => {
  const rows = await rowsOf(talk);
  const last = rows.findLastIndex(({ name }) => covers.includes(name));
  return rows[last + 1]?.id ?? null;
};

const compact = async ({ talk }: Loading, event: CaseEvent, at: string): Promise<void> => {
  const { covers_ids: covers, summary } = compacted(event.data, at);
  const keepFrom = await keptFrom(talk, covers);
  await talk.branch.compact({ strategy: 'summary', summary, keepFrom, onSplit: 'reject' });
  await nameSummaries(talk);
};

/** Plans a compaction of these messages on what is there now. */
export const planCover = async (
  talk: Talk,
  covers: readonly string[],
  summary: string,
): Promise<CompactionPlan> => {
  const keepFrom = await keptFrom(talk, covers);
  return talk.branch.planCompaction({ strategy: 'summary', summary, keepFrom, onSplit: 'reject' });
};

/** A compaction that is finished later. */
export const beginCompaction = async (
  talk: Talk,
  covers: readonly string[],
  summary: string,
): Promise<NonNullable<Talk['started']>> => {
  const plan = await planCover(talk, covers, summary);
  return { position: (await rowsOf(talk)).length - 1, plan };
};

const finishText = ({ params }: CaseInput): string =>
  params.finish?.summary ?? params.summary ?? '';

const redact = async ({ talk }: Loading, event: CaseEvent, at: string): Promise<void> => {
  const { idOf } = await namingOf(talk);
  for (const id of redacted(event.data, at).ids) await talk.branch.redact(idOf(id));
};

const loadMessage = async ({ talk }: Loading, event: CaseEvent, at: string): Promise<void> => {
  for (const message of messagesIn(event.data, at)) await appendTo(talk, [message]);
};

const loaders: Readonly<
  Record<string, (loading: Loading, event: CaseEvent, at: string) => Promise<void>>
> = {
  MessageAppended: loadMessage,
  ToolExecutionStarted: startTool,
  ToolResultAttached: attach,
  ContextCompacted: compact,
  CompactionStarted: async ({ talk, input }, event, at) => {
    const { covers_ids: covers } = compactionStarted(event.data, at);
    talk.started = await beginCompaction(talk, covers, finishText(input));
  },
  ContentRedacted: redact,
};

const beginsHere = async ({ talk, input }: Loading): Promise<boolean> => {
  const at = input.params.finish?.based_on_position;
  return at !== undefined && talk.started === undefined && (await rowsOf(talk)).length - 1 === at;
};

const loadOne = async (loading: Loading, event: CaseEvent, at: string): Promise<void> => {
  const { talk, input, calls } = loading;
  if (streamTypes.has(event.type)) {
    await feedStream(talk, input, calls, event, at);
    return;
  }
  await finishStreams(talk, calls);
  const load = loaders[event.type];
  if (load === undefined) refuse(at, `${event.type} cannot be loaded`);
  else await load(loading, event, at);
  const { finish } = input.params;
  if (finish !== undefined && (await beginsHere(loading))) {
    talk.started = await beginCompaction(talk, finish.covers_ids, finish.summary);
  }
};

const headOf = async (talk: Talk): Promise<number> => (await talk.branch.session()).head;

/** Where each event of a case went: revisions of the branch, by the index of the event. */
export type Placement = readonly (readonly number[])[];

const through = async (loading: Loading, events: readonly CaseEvent[]): Promise<Placement> => {
  const places: number[][] = [];
  for (const [index, event] of events.entries()) {
    const before = await headOf(loading.talk);
    await loadOne(loading, event, `/input/events/${String(index)}`);
    const after = await headOf(loading.talk);
    places.push(Array.from({ length: after - before }, (_one, at) => before + 1 + at));
  }
  await finishStreams(loading.talk, loading.calls);
  return places;
};

/** Known events between foreign ones are made by an engine of their own, and moved to their place. */
const between = async (
  talk: Talk,
  input: CaseInput,
  events: readonly CaseEvent[],
): Promise<Placement> => {
  const scratch = await openWorld('memory');
  try {
    const other = await openTalk(scratch, talk.knownCalls);
    const known = events.filter((event) => !isForeign(event));
    const made = await through({ talk: other, input, calls: noLiveCalls() }, known);
    const tail = await tailOf(scratch, other.branch.branch);
    const stored = (await scratch.snapshot()).filter(({ stream }) => stream === tail.stream);
    for (const [id, message] of other.given) talk.given.set(id, message);
    for (const id of other.setup) talk.setup.add(id);
    const target = await tailOf(talk.world, talk.branch.branch);
    const places: number[][] = [];
    let next = 0;
    for (const event of events) {
      if (isForeign(event)) {
        places.push([await writeForeign(target, event)]);
        continue;
      }
      const own: number[] = [];
      for (const revision of made[next] ?? []) {
        const moved = stored.find((one) => one.revision === revision);
        if (moved !== undefined) own.push(await writeMoved(target, moved));
      }
      places.push(own);
      next += 1;
    }
    return places;
  } finally {
    await scratch.dispose();
  }
};

/** Loads stored events: what is known through the engine, what is not as it stands (rule 5). */
export const loadEvents = (
  talk: Talk,
  input: CaseInput,
  events: readonly CaseEvent[],
): Promise<Placement> =>
  events.some(isForeign)
    ? between(talk, input, events)
    : through({ talk, input, calls: noLiveCalls() }, events);

/** Takes the messages of a case in, one by one as they are given. */
export const appendMessages = async (
  talk: Talk,
  messages: readonly CaseMessage[],
): Promise<void> => {
  for (const message of messages) await appendTo(talk, [message], {}, true);
};
