import { StemmaError, type Branch, type Stemma } from '../../../src/index.js';
import { viewOf } from '../building.js';
import { callIdsIn } from '../call-ids.js';
import { eventFacts } from '../facts.js';
import { attempt, caseFault } from '../fault.js';
import { messagesOf, type CaseCommand } from '../input-shape.js';
import type { Facts, Operate, ResultFact, Started } from '../run.js';
import { found, textsOf } from '../reads.js';
import { refuse } from '../shape.js';
import { openTalk, type Talk } from '../talk.js';
import type { World } from '../world.js';
import { optionsOf, send } from './append.js';

/** The tenant that a scope of a case stands for; no scope is no tenant at all. */
export const tenantOf = (scope: unknown): string => {
  if (scope === undefined || scope === null) return '';
  return typeof scope === 'string' ? scope : JSON.stringify(scope);
};

const engineOf = (world: World, scope: unknown): Promise<Stemma> => world.tenant(tenantOf(scope));

/** The world as one tenant sees it. */
const seenBy = (world: World, engine: Stemma): World => ({ ...world, engine: () => engine });

/** The conversation with exactly this id. An id that only begins so is none of it. */
const find = async (engine: Stemma, session: string): Promise<Branch> => {
  const rows = await engine.conversations();
  const exact = rows.find(({ id }) => id === session);
  if (exact !== undefined) return engine.open(exact.conversation);
  if (rows.some(({ id }) => id?.startsWith(session) === true)) {
    throw new StemmaError({ _tag: 'NotFound', kind: 'conversation', ref: session });
  }
  return engine.open(session);
};

const sessionOf = ({ session }: CaseCommand, at: string): string =>
  session ?? refuse(at, 'the command names no session');

const read = async (engine: Stemma, session: string): Promise<ResultFact> => ({
  ids: [],
  historyTexts: await textsOf(await find(engine, session)),
});

const search = async (
  engine: Stemma,
  { text = '', session }: CaseCommand,
): Promise<ResultFact & { readonly found: readonly string[] }> => {
  const only = session === undefined ? undefined : (await find(engine, session)).conversation;
  const texts = await found(engine, text, only);
  return { ids: [], hits: texts.length, found: texts };
};

/** Nothing leaves the log: what was said is hidden, and the conversation takes nothing more. */
const remove = async (engine: Stemma, session: string): Promise<ResultFact> => {
  const branch = await find(engine, session);
  const { items } = await branch.surface();
  const ids = items.filter(({ out }) => out === undefined).map(({ message }) => message.id);
  for (const id of ids) await branch.redact(id, { reason: 'deleted' });
  await branch.close();
  return { status: 'deleted', ids: [] };
};

const appendIn = async (
  started: Started,
  engine: Stemma,
  command: CaseCommand,
  session: string,
): Promise<ResultFact> => {
  const { append: batch } = command;
  if (batch === undefined) return refuse('/input/params/commands', 'the command does nothing');
  const talk: Talk = await openTalk(
    seenBy(started.world, engine),
    callIdsIn(started.input),
    session,
  );
  const options = await optionsOf(talk, command);
  const ran = await send(talk, messagesOf(batch), options, !Array.isArray(batch));
  return ran.result;
};

interface Answered {
  readonly result: ResultFact;
  readonly found?: readonly string[];
}

/** Runs one command in its scope. */
export const inScope = async (
  started: Started,
  command: CaseCommand,
  at: string,
): Promise<Answered> => {
  const done = await attempt(async (): Promise<Answered> => {
    const engine = await engineOf(started.world, command.as);
    if (command.op === 'search') {
      const { found: texts, ...result } = await search(engine, command);
      return { result, found: texts };
    }
    const session = sessionOf(command, at);
    if (command.op === 'read') return { result: await read(engine, session) };
    if (command.op === 'delete') return { result: await remove(engine, session) };
    return { result: await appendIn(started, engine, command, session) };
  });
  if ('value' in done) return done.value;
  const fault = await caseFault(done.fault, viewOf(started.talk));
  return { result: { status: 'error', ids: [], fault } };
};

const checked = (command: CaseCommand, at: string): void => {
  if (command.fault !== undefined || command.recover_run !== undefined) {
    refuse(at, 'fault and recover_run are for append');
  }
};

/** Runs each command in its scope, on its session. */
export const multiTenant: Operate = async (started) => {
  const { input, talk, profile } = started;
  const { commands = [] } = input.params;
  const before = await started.mark();
  const answers: Answered[] = [];
  for (const [index, command] of commands.entries()) {
    const at = `/input/params/commands/${String(index)}`;
    checked(command, at);
    answers.push(await inScope(started, command, at));
  }
  const results = answers.map(({ result }) => result);
  const searched = answers.flatMap((answer) => answer.found ?? []);
  const facts: Facts = {
    ...eventFacts(talk, () => before.events),
    results: () => Promise.resolve(results),
    results_text: () => Promise.resolve(results.map(({ text }) => text ?? null)),
  };
  const histories = results.flatMap(({ historyTexts }) =>
    historyTexts === undefined ? [] : [historyTexts],
  );
  return {
    failures: results.flatMap(({ fault }) => fault ?? []),
    facts,
    roots: {
      read: () => Promise.resolve({ search: searched, history: histories.at(-1) ?? [] }),
      reads: () => Promise.resolve(histories),
    },
    report: [],
    evidence: { profile, results },
  };
};
