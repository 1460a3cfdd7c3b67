import * as E from 'fp-ts/lib/Either.js';
import { takeMessage } from '../../../src/domain/intake.js';
import { contentDigest } from '../../../src/domain/message.js';
import { inputOf, messageBack, plainText } from '../canonical.js';
import { attempt } from '../fault.js';
import { everyItem } from '../facts.js';
import type { CaseMessage } from '../input-shape.js';
import { isContinued, rewritten } from '../moment.js';
import type { Run } from '../run.js';
import { isList, type Fields } from '../shape.js';
import { handleOf, itemsOf, reopenTalk, rowsOf } from '../talk.js';
import { isEqual, shown } from '../values.js';
import { firstWrong, type Check } from './judged.js';

export const historyUnchanged: Check = ({ run: { before, after } }) => {
  const lost = rewritten(before.events, after.events);
  if (lost !== undefined) return lost;
  return firstWrong(before.histories, ([branch, history]) =>
    isContinued(history, after.histories.get(branch))
      ? undefined
      : `the history of ${branch} is not what it was`,
  );
};

export const noStoredEventRewritten: Check = ({ run: { before, after } }) =>
  rewritten(before.events, after.events);

export const otherBranchUnchanged: Check = ({ run }) => {
  const { before, after, talk } = run;
  const others = [...before.histories].filter(([branch]) => branch !== talk.branch.branch);
  if (others.length === 0) return 'there is no other branch';
  const lost = rewritten(before.events, after.events);
  return (
    lost ??
    firstWrong(others, ([branch, history]) => {
      if (after.histories.get(branch) !== history) return `the history of ${branch} changed`;
      return after.contexts.get(branch) === before.contexts.get(branch)
        ? undefined
        : `the context of ${branch} changed`;
    })
  );
};

/** What comes to the parent behind the fork changes nothing on the branch. */
export const branchSeesOnlyEventsUpToFork: Check = async ({ again }) => {
  const run = await again();
  const { talk, evidence } = run;
  const { contextInput, forkedFrom, oldPath = [] } = evidence;
  if (contextInput === undefined || forkedFrom === undefined) return 'nothing was forked';
  const context = async (): Promise<string> => {
    const built = await attempt(() => talk.branch.preview(contextInput));
    return JSON.stringify('value' in built ? built.value.text : built.fault);
  };
  const before = await context();
  const parent = await handleOf(talk, forkedFrom);
  await parent.append({ id: 'behind the fork', role: 'user', content: 'said later' });
  if ((await context()) !== before) return 'what was said later on the parent is in the context';
  const own = (await rowsOf(talk)).map(({ name }) => name);
  const shared = own.findIndex((name, index) => oldPath[index] !== name);
  const later = own.slice(shared < 0 ? own.length : shared).find((name) => oldPath.includes(name));
  return later === undefined ? undefined : `${later} came behind the fork`;
};

const acceptedIds = ({ evidence: { commands }, talk }: Run): readonly string[] =>
  commands === undefined
    ? [...talk.given.keys()]
    : commands
        .filter(({ status }) => status === 'appended' || status === 'replayed')
        .flatMap(({ ids }) => ids);

const countsById = async (run: Run): Promise<ReadonlyMap<string, number>> => {
  const places = new Map<string, Set<string>>();
  for (const { name, item } of await everyItem(run.talk)) {
    const { branch, revision } = item.place;
    const known = places.get(name) ?? new Set();
    places.set(name, known.add(`${branch}@${String(revision)}`));
  }
  return new Map([...places].map(([name, set]) => [name, set.size]));
};

export const nothingLost: Check = async ({ run }) => {
  const counts = await countsById(run);
  const ids = acceptedIds(run);
  if (ids.length === 0) return 'nothing was accepted';
  return firstWrong(ids, (id) => {
    const count = counts.get(run.talk.names.get(id) ?? id) ?? 0;
    return count === 1 ? undefined : `${id} is in history ${String(count)} times`;
  });
};

export const noDuplicate: Check = async ({ run }) => {
  const counts = await countsById(run);
  // Parts of one provider message share a name.
  const single = [...counts].filter(([name]) => ![...run.talk.names.values()].includes(name));
  const twice = single.find(([, count]) => count > 1);
  return twice === undefined ? undefined : `${twice[0]} is in history ${String(twice[1])} times`;
};

const contentFields = [
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'is_error',
  'reasoning',
  'name',
] as const;

const notStored = (given: CaseMessage, read: Fields | undefined): string | undefined => {
  if (read === undefined) return `${String(given.id)} is not there`;
  const wanted = given as Fields;
  const field = contentFields.find(
    (key) => wanted[key] !== undefined && !isEqual(wanted[key], read[key] ?? defaultOf(key)),
  );
  return field === undefined
    ? undefined
    : `${String(given.id)} has ${field} ${shown(read[field])} and not ${shown(wanted[field])}`;
};

const defaultOf = (key: string): unknown => {
  if (key === 'tool_calls') return [];
  return key === 'is_error' ? false : undefined;
};

export const noFalseSuccess: Check = async ({ run }) => {
  const { commands } = run.evidence;
  if (commands === undefined) return 'there are no commands';
  const items = new Map((await itemsOf(run.talk)).map((item) => [item.message.id, item]));
  const good = commands.filter(({ status }) => status === 'appended' || status === 'replayed');
  return firstWrong(good, ({ messages, ids }) =>
    firstWrong(messages.entries(), ([index, given]) => {
      const item = items.get(given.id ?? ids[index] ?? '');
      return notStored(given, item && messageBack(item.message, given));
    }),
  );
};

export const hashBeforeEqualsHashAfterReload: Check = async ({ run }) => {
  const { talk } = run;
  await reopenTalk(talk);
  const items = new Map((await itemsOf(talk)).map((item) => [item.message.id, item.message]));
  const make = (text: string) => ({ slot: 'digest', inline: text });
  const context = { provenance: { kind: 'app' as const }, make, newId: () => 'none' };
  return firstWrong(await rowsOf(talk), ({ id, entry }) => {
    const message = items.get(id);
    const given = talk.given.get(id);
    if (message === undefined) return `${id} is not there`;
    if (contentDigest(message) !== entry.message.contentDigest) return `${id} reads otherwise`;
    if (given === undefined) return undefined;
    const taken = takeMessage(inputOf(given), context);
    if (E.isLeft(taken)) return `${id} would not be taken`;
    const before = contentDigest({ ...taken.right.message, answers: message.answers });
    return before === entry.message.contentDigest ? undefined : `the digest of ${id} changed`;
  });
};

const textGiven = ({ content }: CaseMessage): string | undefined =>
  typeof content === 'string'
    ? content
    : isList(content)
      ? content
          .flatMap((part) => {
            const { text } = part as { readonly text?: unknown };
            return typeof text === 'string' ? [text] : [];
          })
          .join('\n')
      : undefined;

export const storedResultComplete: Check = async ({ run }) => {
  const results = (await everyItem(run.talk)).filter(({ item }) => item.message.role === 'tool');
  if (results.length === 0) return 'there are no results';
  return firstWrong(results, ({ name, item, given }) => {
    const wanted = given === undefined ? undefined : textGiven(given);
    return wanted === undefined || plainText(item.message) === wanted
      ? undefined
      : `the result ${name} is not stored in full`;
  });
};

export const noPartialHistoryReturned: Check = async ({ run }) => {
  if (run.fault === undefined) return 'the read did not fail';
  const reads = [
    await attempt(() => run.talk.branch.history()),
    await attempt(() => run.talk.branch.surface()),
  ];
  return reads.every((read) => 'fault' in read) ? undefined : 'messages were returned all the same';
};

const sameStore = ({ before, after }: Run): string | undefined =>
  after.events.length === before.events.length
    ? rewritten(before.events, after.events)
    : `${String(after.events.length - before.events.length)} events were written`;

export const nothingWritten: Check = ({ run }) => sameStore(run);

export const nothingWrittenOnError: Check = ({ run }) => {
  const { commands = [] } = run.evidence;
  const wrote = commands.find(
    ({ status, storedBefore, storedAfter }) =>
      status === 'error' && !isEqual(storedBefore, storedAfter),
  );
  if (wrote !== undefined) return `a refused command wrote ${shown(wrote.storedAfter)}`;
  return run.fault === undefined ? undefined : sameStore(run);
};

export const idsPositionsAndPairsKept: Check = ({ run: { before, after } }) =>
  firstWrong(before.histories, ([branch, history]) =>
    isContinued(history, after.histories.get(branch))
      ? undefined
      : `ids or places on ${branch} are not what they were`,
  );
