import type { AppendedMessage } from '../../../src/domain/decide/append-messages.js';
import { cutUtf16 } from '../../../src/domain/text.js';
import { build, builtDone, takeIn, unasked, viewOf } from '../building.js';
import { callIdsIn } from '../call-ids.js';
import { messageBack, plainText } from '../canonical.js';
import { historyBack } from '../facts.js';
import {
  appendTo,
  itemsOf,
  openTalk,
  reopenTalk,
  revisionOf,
  rowsOf,
  setUpCall,
  type Talk,
} from '../talk.js';
import { attempt, caseFault, type CaseFault } from '../fault.js';
import { messagesOf, type CaseCommand, type CaseMessage } from '../input-shape.js';
import type { CommandTrace, Done, Facts, Moment, Operate, ResultFact, Started } from '../run.js';
import { found, textsOf } from '../reads.js';
import { refuse } from '../shape.js';
import type { ResultStatus, StoreName } from '../words.js';
import { openWorld } from '../world.js';

/** A command that was run: what it gave, and what the store held right after it. */
interface Ran {
  readonly result: ResultFact;
  readonly trace: CommandTrace;
}

/** Messages of a command; a recovery gives those of an earlier one again. */
const givenBy = (command: CaseCommand, at: string): readonly CaseMessage[] => {
  if (command.append !== undefined) return messagesOf(command.append);
  return command.recover_run?.items ?? refuse(at, 'the command appends nothing');
};

/** The engine's options for a command of the case. */
export const optionsOf = async (talk: Talk, command: CaseCommand) => {
  const { command_id: commandId, expected_version: version } = command;
  return {
    ...(commandId === undefined ? {} : { commandId }),
    ...(typeof version === 'number' ? { expectedRevision: await revisionOf(talk, version) } : {}),
  };
};

const statusOf = (appended: readonly AppendedMessage[]): ResultStatus =>
  appended.every(({ status }) => status === 'replayed') ? 'replayed' : 'appended';

/** Places of messages on the branch at hand. */
export const positionsOf = async (
  talk: Talk,
  ids: readonly string[],
): Promise<readonly number[]> => {
  const places = new Map((await rowsOf(talk)).map(({ id, position }) => [id, position]));
  return ids.flatMap((id) => places.get(id) ?? []);
};

const storedOf = async (talk: Talk, ids: readonly string[]): Promise<readonly string[]> => {
  const stored = new Set((await rowsOf(talk)).map(({ id }) => id));
  return ids.filter((id) => stored.has(id));
};

interface Read {
  readonly text: string | null;
  readonly readBack: NonNullable<ResultFact['readBack']>;
}

/** Reads messages of a command back. */
const readAgain = async (talk: Talk, ids: readonly string[]): Promise<Read> => {
  const items = new Map((await itemsOf(talk)).map((item) => [item.message.id, item]));
  const found = ids.flatMap((id) => items.get(id) ?? []);
  return {
    text: found.length === 0 ? null : found.map(({ message }) => plainText(message)).join('\n'),
    readBack: found.map(({ message }) => messageBack(message, talk.given.get(message.id))),
  };
};

type Sent = { readonly value: readonly AppendedMessage[] } | { readonly fault: CaseFault['fault'] };

const told = (
  talk: Talk,
  given: readonly CaseMessage[],
  sent: Sent,
): Promise<CaseFault> | undefined => {
  if ('value' in sent) return undefined;
  const [only] = given;
  const view = viewOf(talk);
  return caseFault(
    sent.fault,
    given.length === 1 && only !== undefined ? { ...view, given: only } : view,
  );
};

const resultFor = async (
  talk: Talk,
  given: readonly CaseMessage[],
  sent: Sent,
): Promise<ResultFact> => {
  const base = { ids: given.flatMap(({ id }) => id ?? []), given };
  const fault = await told(talk, given, sent);
  if (fault !== undefined) {
    const status = fault.fault._tag === 'OutcomeUnknown' ? 'unknown' : 'error';
    return { ...base, status, ...(status === 'error' ? { fault } : {}) };
  }
  const appended = 'value' in sent ? sent.value : [];
  const ids = appended.map(({ id }) => id);
  const positions = await positionsOf(talk, ids);
  const version = positions.at(-1);
  const { text, readBack } = await readAgain(talk, ids);
  return {
    ...base,
    ids,
    status: statusOf(appended),
    positions,
    ...(version === undefined ? {} : { version }),
    ...(text === null ? {} : { text }),
    readBack,
  };
};

/** Sends the messages of a command and tells what became of it. */
export const send = async (
  talk: Talk,
  given: readonly CaseMessage[],
  options: Awaited<ReturnType<typeof optionsOf>>,
  alone: boolean,
): Promise<Ran> => {
  const storedBefore = await storedOf(
    talk,
    given.flatMap(({ id }) => id ?? []),
  );
  const sent = await attempt(() => appendTo(talk, given, options, alone));
  const result = await resultFor(talk, given, sent);
  const { commandId } = options;
  return {
    result,
    trace: {
      messages: given,
      ids: result.ids,
      ...(commandId === undefined ? {} : { commandId }),
      ...(result.status === undefined ? {} : { status: result.status }),
      storedBefore,
      storedAfter: await storedOf(talk, result.ids),
    },
  };
};

/** A command that only looks. */
const look = async ({ talk, world }: Started, command: CaseCommand): Promise<Ran | undefined> => {
  const { op, text = '' } = command;
  const trace = { messages: [], ids: [], storedBefore: [], storedAfter: [] };
  if (op === 'read') {
    return { trace, result: { ids: [], historyTexts: await textsOf(talk.branch) } };
  }
  if (op !== 'search') return undefined;
  const texts = await found(world.engine(), text, talk.conversation);
  return { trace, result: { ids: [], hits: texts.length } };
};

const runCommand = async (started: Started, command: CaseCommand, at: string): Promise<Ran> => {
  const { talk, world } = started;
  const { as, session, op } = command;
  if (as !== undefined || session !== undefined || op === 'delete') {
    return refuse(at, 'as, session and delete are for multi_tenant');
  }
  const looked = await look(started, command);
  if (looked !== undefined) return looked;
  const given = givenBy(command, at);
  // A recovery is the work of another process.
  if (command.recover_run !== undefined) await reopenTalk(talk);
  for (const message of given) await setUpCall(talk, message);
  const options = await optionsOf(talk, command);
  const alone = command.append !== undefined && !Array.isArray(command.append);
  if (command.fault === 'commit_then_drop_ack') world.answers.on = true;
  try {
    return await send(talk, given, options, alone);
  } finally {
    world.answers.on = false;
  }
};

const runAll = async (started: Started): Promise<readonly Ran[]> => {
  const { world, input } = started;
  const { commands = [], clock_steps_ms: steps = [] } = input.params;
  const ran: Ran[] = [];
  for (const [index, command] of commands.entries()) {
    world.clock.now += steps[index] ?? 0;
    ran.push(await runCommand(started, command, `/input/params/commands/${String(index)}`));
  }
  return ran;
};

const textsRead = async (talk: Talk, ran: readonly Ran[]): Promise<readonly (string | null)[]> => {
  const texts: (string | null)[] = [];
  for (const { result, trace } of ran) {
    if (result.fault !== undefined) texts.push(null);
    else texts.push(...(await textsBack(talk, trace.ids)));
  }
  return texts;
};

const textsBack = async (
  talk: Talk,
  ids: readonly string[],
): Promise<readonly (string | null)[]> => {
  const items = new Map((await itemsOf(talk)).map((item) => [item.message.id, item]));
  return ids.map((id) => {
    const item = items.get(id);
    return item === undefined ? null : plainText(item.message);
  });
};

const commandFacts = (started: Started, ran: readonly Ran[]): Facts => {
  const { talk, input } = started;
  const { truncate } = input.params;
  return {
    results: () => Promise.resolve(ran.map(({ result }) => result)),
    results_text: () => textsRead(talk, ran),
    read_text: async () => {
      await reopenTalk(talk);
      return textsRead(talk, ran);
    },
    ...(truncate === undefined
      ? {}
      : {
          truncate_results: () =>
            Promise.resolve(truncate.map(({ text, max_utf16: max }) => cutUtf16(text, max))),
        }),
  };
};

/** The failures of commands; an unknown outcome is none. */
const failuresOf = (ran: readonly Ran[]): readonly CaseFault[] =>
  ran.flatMap(({ result }) => result.fault ?? []);

/** What commands gave; that no context can be built is a failure only where one was asked for. */
const commandsDone = async (
  started: Started,
  ran: readonly Ran[],
  before: Moment,
): Promise<Done> => {
  const { params } = started.input;
  const built = await build(started, params);
  const asked = params.then === 'convert' ? built : unasked(built);
  const done = await builtDone(started, asked, params, before.events, {
    facts: commandFacts(started, ran),
    evidence: { commands: ran.map(({ trace }) => trace) },
  });
  return { ...done, report: done.report ?? [], failures: failuresOf(ran) };
};

/** The history that the same commands make on a store of each kind. */
const readsOf = async (started: Started, names: readonly StoreName[]): Promise<unknown> => {
  const reads = new Map<StoreName, unknown>();
  for (const name of names) {
    const world = await openWorld(name);
    try {
      const talk = await openTalk(world, callIdsIn(started.input));
      const there = { ...started, world, talk };
      await takeIn(there);
      await runAll(there);
      reads.set(name, await historyBack(talk));
    } finally {
      await world.dispose();
    }
  }
  return Object.fromEntries(reads);
};

/** Runs commands in order against one conversation. */
export const append: Operate = async (started) => {
  const { talk } = started;
  await takeIn(started);
  const before = await started.mark();
  const ran = await runAll(started);
  const { reload_from_store: reload, stores } = started.input.params;
  if (reload === true) await reopenTalk(talk);
  const done = await commandsDone(started, ran, before);
  return stores === undefined
    ? done
    : { ...done, roots: { ...done.roots, reads: () => readsOf(started, stores) } };
};

type Writer = NonNullable<Started['input']['params']['writers']>[number];

const writerRan = async (
  talk: Talk,
  { append: batch, name }: Writer,
  version: number | undefined,
  retry: boolean,
): Promise<Ran> => {
  const options =
    version === undefined ? {} : { expectedRevision: await revisionOf(talk, version) };
  const ran = await send(talk, messagesOf(batch), options, !Array.isArray(batch));
  return { ...ran, result: { ...ran.result, writer: name, ...(retry ? { retry } : {}) } };
};

const versionFor = (
  { expected_version: expected }: Writer,
  read: number | undefined,
): number | undefined => {
  if (expected === 'any' || expected === null) return undefined;
  return expected ?? read;
};

/** Writers that decide from one version; their appends arrive in the order of the case. */
export const appendConcurrent: Operate = async (started) => {
  const { talk, input } = started;
  const {
    writers = [],
    order = writers.map(({ name }) => name),
    read_version: read,
  } = input.params;
  await takeIn(started);
  for (const { append: batch } of writers) {
    for (const message of messagesOf(batch)) await setUpCall(talk, message);
  }
  const before = await started.mark();
  const ran: Ran[] = [];
  const refused: Writer[] = [];
  // What a writer read is a version of before; the engine's revisions for it are found now.
  for (const name of order) {
    const writer = writers.find((one) => one.name === name);
    if (writer === undefined) return refuse('/input/params/order', `there is no writer ${name}`);
    const one = await writerRan(talk, writer, versionFor(writer, read), false);
    ran.push(one);
    if (one.result.fault !== undefined) refused.push(writer);
  }
  for (const writer of input.params.retry_loser_at_head === true ? refused : []) {
    const head = (await rowsOf(talk)).length - 1;
    ran.push(await writerRan(talk, writer, head, true));
  }
  return commandsDone(started, ran, before);
};
