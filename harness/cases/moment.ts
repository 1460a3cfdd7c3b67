import type { StoredEvent } from '../../src/domain/event-store.js';
import type { Branch } from '../../src/index.js';
import type { ContextInput } from '../../src/face/branch-face.js';
import { attempt } from './fault.js';
import type { Moment } from './run.js';
import { branchesOf, rowsOf, type Talk } from './talk.js';
import type { Snapshot } from './world.js';

const textOf = (outcome: { readonly value: unknown } | { readonly fault: unknown }): string =>
  JSON.stringify('value' in outcome ? outcome.value : outcome.fault);

const historyText = async (talk: Talk, branch: Branch): Promise<string> =>
  textOf(
    await attempt(async () =>
      (await rowsOf(talk, branch)).map(({ id, entry }) => [
        id,
        entry.place,
        entry.message.contentDigest,
        entry.at,
      ]),
    ),
  );

const contextText = async (branch: Branch, input: ContextInput<object>): Promise<string> =>
  textOf(await attempt(async () => (await branch.preview(input)).text));

/** The store and all branches as they are now. */
export const momentOf = async (talk: Talk, input: ContextInput<object>): Promise<Moment> => {
  const histories = new Map<string, string>();
  const contexts = new Map<string, string>();
  const branches = await attempt(() => branchesOf(talk));
  for (const branch of 'value' in branches ? branches.value : []) {
    histories.set(branch.branch, await historyText(talk, branch));
    contexts.set(branch.branch, await contextText(branch, input));
  }
  return { events: await talk.world.snapshot(), histories, contexts };
};

const keyOf = ({ stream, revision }: StoredEvent): string => `${stream}@${String(revision)}`;

/** The first event that was stored before and is not there byte for byte now. */
export const rewritten = (before: Snapshot, after: Snapshot): string | undefined => {
  const now = new Map(after.map((event) => [keyOf(event), event]));
  const lost = before.find((event) => {
    const same = now.get(keyOf(event));
    return (
      same?.id !== event.id ||
      same.type !== event.type ||
      same.meta !== event.meta ||
      same.data !== event.data ||
      same.position !== event.position
    );
  });
  return lost === undefined ? undefined : `${lost.type} at ${keyOf(lost)} is not what it was`;
};

/** Events that are new since. */
export const addedSince = (before: Snapshot, after: Snapshot): Snapshot => {
  const known = new Set(before.map(keyOf));
  return after.filter((event) => !known.has(keyOf(event)));
};

/** Whether a history only went on: what was there is the beginning of what is there now. */
export const isContinued = (before: string, after: string | undefined): boolean =>
  after !== undefined &&
  (after === before || (before.endsWith(']') && after.startsWith(before.slice(0, -1))));
