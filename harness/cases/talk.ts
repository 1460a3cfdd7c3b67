import type { CompactionPlan } from '../../src/engine/compactions.js';
import type { MessageEntry } from '../../src/projections/history.js';
import type { Surface, SurfaceItem } from '../../src/domain/surface.js';
import type { Branch } from '../../src/index.js';
import { inputOf } from './canonical.js';
import type { CaseMessage } from './input-shape.js';
import type { Naming } from './policy.js';
import type { World } from './world.js';

/** A conversation of the engine under the names of a case. */
export interface Talk {
  readonly world: World;
  readonly conversation: string;
  /** The branch at hand. */
  branch: Branch;
  readonly main: Branch;
  /** Engine ids to the names of the case, where they differ. */
  readonly names: Map<string, string>;
  /** Messages that only make the case possible (rule 7). */
  readonly setup: Set<string>;
  /** Messages as the case gave them, by id. */
  readonly given: Map<string, CaseMessage>;
  /** Calls that are somewhere in the case, or were set up. */
  readonly knownCalls: Set<string>;
  /** A compaction that was begun and not finished. */
  started?: { readonly position: number; readonly plan: CompactionPlan };
}

export const openTalk = async (
  world: World,
  knownCalls: ReadonlySet<string>,
  id = 'case',
): Promise<Talk> => {
  const branch = await world.engine().start({ id });
  return {
    world,
    conversation: branch.conversation,
    branch,
    main: branch,
    names: new Map(),
    setup: new Set(),
    given: new Map(),
    knownCalls: new Set(knownCalls),
  };
};

/** The same conversation after the process was begun again. */
export const reopenTalk = async (talk: Talk): Promise<void> => {
  await talk.world.reopen();
  talk.branch = await handleOf(talk, talk.branch.branch);
};

export const handleOf = (talk: Talk, branch: string): Promise<Branch> =>
  talk.world.engine().open(`${talk.conversation}/${branch}`);

/** All branches of the conversation, in the order in which they were made. */
export const branchesOf = async (talk: Talk): Promise<readonly Branch[]> => {
  const entries = await talk.world.engine().branches(talk.conversation);
  const handles: Branch[] = [];
  for (const { branch } of entries) handles.push(await handleOf(talk, branch));
  return handles;
};

export const nameOf = ({ names }: Talk, id: string): string => names.get(id) ?? id;

/** A message of history: its place among the messages of its branch, and what was stored. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly entry: MessageEntry;
}

/** Messages of a branch in log order; what was set up for the case is not among them (rule 6, 7). */
export const rowsOf = async (
  talk: Talk,
  branch: Branch = talk.branch,
  revision?: number,
): Promise<readonly Row[]> => {
  const { entries } = await branch.history(revision === undefined ? {} : { revision });
  const messages = entries.filter(
    (entry) => entry.kind !== 'instructions' && !talk.setup.has(entry.message.id),
  ) as readonly MessageEntry[];
  return messages.map((entry, position) => {
    const { id } = entry.message;
    return { id, name: nameOf(talk, id), position, entry };
  });
};

/** Messages of a branch as contexts are made from them, without those that were set up. */
export const itemsOf = async (
  talk: Talk,
  branch: Branch = talk.branch,
): Promise<readonly SurfaceItem[]> => {
  const { items }: Surface = await branch.surface();
  return items.filter(({ message }) => !talk.setup.has(message.id));
};

const headOf = async (branch: Branch): Promise<number> => (await branch.session()).head;

/** The revision of the engine for a version of the case (rule 6). */
export const revisionOf = async (talk: Talk, version: number): Promise<number> => {
  const rows = await rowsOf(talk);
  const [last, head] = [rows.length - 1, await headOf(talk.branch)];
  if (version >= last) return head + (version - last);
  const row = rows[version];
  if (row?.entry.place.branch === talk.branch.branch) return row.entry.place.revision;
  return Math.max(-1, (rows[0]?.entry.place.revision ?? 1) - 1);
};

/** The version of the case for a revision of the engine. */
export const versionOf = async (talk: Talk, revision: number): Promise<number> => {
  const rows = await rowsOf(talk);
  const head = await headOf(talk.branch);
  if (revision > head) return rows.length - 1 + (revision - head);
  const before = rows.filter(
    ({ entry: { place } }) => place.branch !== talk.branch.branch || place.revision <= revision,
  );
  return before.length - 1;
};

/** Puts the call before a result whose call is nowhere in the case (rule 7). */
export const setUpCall = async (talk: Talk, message: CaseMessage): Promise<void> => {
  const { role, tool_call_id: call } = message;
  if (role !== 'tool' || call === undefined || talk.knownCalls.has(call)) return;
  talk.knownCalls.add(call);
  const id = `setup ${call}`;
  talk.setup.add(id);
  await talk.branch.append({
    id,
    role: 'assistant',
    toolCalls: [{ id: call, name: 'setup', arguments: '{}' }],
  });
};

const lastOf = async (talk: Talk, branch: Branch): Promise<string | undefined> =>
  (await rowsOf(talk, branch)).at(-1)?.id;

/** Goes to the place behind the parent that a message names: a branch that ends there, or a fork. */
const goBehind = async (talk: Talk, parent: string | null): Promise<void> => {
  const rows = await rowsOf(talk);
  if (parent === null) {
    const [first] = rows;
    if (first !== undefined) talk.branch = await talk.main.fork({ before: first.id });
    return;
  }
  if (rows.at(-1)?.id === parent) return;
  for (const branch of await branchesOf(talk)) {
    if ((await lastOf(talk, branch)) !== parent) continue;
    talk.branch = branch;
    return;
  }
  for (const branch of await branchesOf(talk)) {
    if (!(await rowsOf(talk, branch)).some(({ id }) => id === parent)) continue;
    talk.branch = await branch.fork({ after: parent });
    return;
  }
  // No branch knows it: the engine itself has to say so.
  talk.branch = await talk.branch.fork({ after: parent });
};

/** Sent again: it stays where it is. */
const isKnown = async (talk: Talk, id: string | undefined): Promise<boolean> =>
  id !== undefined && (await rowsOf(talk)).some((row) => row.id === id);

type AppendOptions = NonNullable<Parameters<Branch['append']>[1]>;

const note = (talk: Talk, message: CaseMessage): void => {
  if (message.id !== undefined && !talk.given.has(message.id)) talk.given.set(message.id, message);
};

/** Appends a message, or a batch as one, where its parent says. */
export const appendTo = async (
  talk: Talk,
  messages: readonly CaseMessage[],
  options: AppendOptions = {},
  alone = false,
): ReturnType<Branch['append']> => {
  for (const message of messages) await setUpCall(talk, message);
  const [first] = messages;
  if (first?.parent !== undefined && !(await isKnown(talk, first.id))) {
    await goBehind(talk, first.parent);
  }
  for (const message of messages) note(talk, message);
  const inputs = messages.map(inputOf);
  const [only] = inputs;
  return talk.branch.append(alone && only !== undefined ? only : inputs, options);
};

/** The names that options of a context are told in. */
export const namingOf = async (talk: Talk): Promise<Naming> => {
  const { compactions } = await talk.branch.history();
  const ids = new Map([...talk.names].map(([id, name]) => [name, id]));
  return {
    idOf: (name) => ids.get(name) ?? name,
    setup: talk.setup,
    summaries: compactions.flatMap(({ data }) => data.replacement?.id ?? []),
  };
};

/** Gives the summaries that the engine made their labels, in the order in which it made them. */
export const nameSummaries = async (talk: Talk): Promise<void> => {
  const { compactions } = await talk.branch.history();
  const made = compactions.flatMap(({ data }) => data.replacement?.id ?? []);
  made.forEach((id, index) => {
    talk.names.set(id, index === 0 ? '$summary' : `$summary${String(index + 1)}`);
  });
};
