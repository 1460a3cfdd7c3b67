import type { Actor } from '../../engine/engine-context.js';
import type { Located, LocatedKind } from '../../engine/locate.js';
import type { ReadPoint } from '../../engine/histories.js';
import type { Overview } from '../../engine/overview.js';
import type { Branch } from '../../face/branch-face.js';
import type { Stemma } from '../../face/stemma-face.js';
import { isStemmaError, StemmaError } from '../../face/stemma-error.js';
import { refuse, refuseArgument } from './faults.js';
import type { Invocation } from './invocation.js';

/** The branch that a reference names, and how far it is read. */
export interface Target {
  readonly stemma: Stemma;
  readonly branch: Branch;
  readonly point: ReadPoint;
  /** Names of the conversation's branches by uid. */
  readonly names: ReadonlyMap<string, string>;
}

/** Writers of one command line after the other are one run: a turn goes on across them. */
const RUN = 'cli';

const handleOptions = ({
  options,
  io,
}: Invocation): { readonly run: string; readonly as?: Actor } => {
  const as = options.actor('as');
  return {
    run: options.text('run') ?? io.env['STEMMA_RUN'] ?? RUN,
    ...(as === undefined ? {} : { as }),
  };
};

// How far to read stands at the end; an id may hold an @ of its own.
const PLACE = /(~\d+)?(@(\d+|\d{4}-\d{2}-\d{2}T[^@/]+))?$/;

const withBranch = ({ options }: Invocation, ref: string): string => {
  const name = options.text('branch');
  if (name === undefined) return ref;
  const place = PLACE.exec(ref)?.[0] ?? '';
  return `${ref.slice(0, ref.length - place.length)}/${name}${place}`;
};

const openAt = async (
  call: Invocation,
  stemma: Stemma,
  conversation: string,
  branch: string,
): Promise<Branch> => stemma.open(`${conversation}/${branch}`, handleOptions(call));

const namesOf = async (
  stemma: Stemma,
  conversation: string,
): Promise<ReadonlyMap<string, string>> =>
  new Map((await stemma.branches(conversation)).map(({ branch, name }) => [branch, name]));

/** `<conversation>[/branch][~N][@REV|@TIME]`, to be read. */
export const readTarget = async (
  call: Invocation,
  stemma: Stemma,
  ref: string,
): Promise<Target> => {
  const { conversation, entry, point } = await stemma.resolve(withBranch(call, ref));
  const branch = await openAt(call, stemma, conversation, entry.branch);
  return { stemma, branch, point, names: await namesOf(stemma, conversation) };
};

/** `<conversation>[/branch]`, to be written: a place in the past is not. */
export const writeTarget = async (
  call: Invocation,
  stemma: Stemma,
  ref: string,
): Promise<Target> => {
  const target = await readTarget(call, stemma, ref);
  const isPast = target.point.revision !== undefined || target.point.time !== undefined;
  return isPast ? refuseArgument('revision', 'excludes_another') : target;
};

const bare = (ref: string, prefix: string): string =>
  ref.startsWith(prefix) ? ref.slice(prefix.length) : ref;

/** An id without the `m:` or `c:` that tells a reader what it is of. */
export const messageIdIn = (ref: string): string => bare(ref, 'm:');
export const callIdIn = (ref: string): string => bare(ref, 'c:');

const onLineage = async (
  call: Invocation,
  stemma: Stemma,
  found: readonly Located[],
): Promise<readonly Located[]> => {
  const within = call.options.text('in');
  if (within === undefined) return found;
  const { conversation, entry } = await stemma.resolve(within);
  // A branch sees an ancestor up to the fork point, and nothing that came later there.
  const upTo = new Map<string, number>([
    ...entry.ancestors.map(({ branch, revision }): [string, number] => [branch, revision]),
    [entry.branch, Number.MAX_SAFE_INTEGER],
  ]);
  return found.filter(
    (one) => one.conversation === conversation && one.revision <= (upTo.get(one.branch) ?? -1),
  );
};

/** Everything of a kind with this id, or else with an id that begins so, where `--in` looks. */
export const locateAll = async (
  call: Invocation,
  stemma: Stemma,
  kind: LocatedKind,
  id: string,
): Promise<readonly Located[]> => onLineage(call, stemma, await stemma.locate(kind, id));

/** The one thing of a kind with this id, or with the only id that begins so. */
export const locateOne = async (
  call: Invocation,
  stemma: Stemma,
  kind: LocatedKind,
  id: string,
): Promise<Located> => {
  const found = await locateAll(call, stemma, kind, id);
  if (found.length > 1) return refuseArgument(kind, 'ambiguous');
  return found[0] ?? refuse({ _tag: 'NotFound', kind, ref: id });
};

/** The newest call on a branch that a reference names. */
const newestCall = async (call: Invocation, stemma: Stemma, ref: string): Promise<Located> => {
  const { branch } = await readTarget(call, stemma, ref);
  const last = (await branch.calls()).calls.at(-1);
  if (last === undefined) return refuse({ _tag: 'NotFound', kind: 'model_call', ref });
  const { place, modelCallId: id } = last;
  const { conversation } = branch;
  return { kind: 'model_call', id, conversation, branch: place.branch, revision: place.revision };
};

/** A model call by its id, or the newest one of the branch that a reference names. */
export const locateCall = async (
  call: Invocation,
  stemma: Stemma,
  text: string,
): Promise<Located> => {
  const id = callIdIn(text);
  try {
    return await locateOne(call, stemma, 'model_call', id);
  } catch (error) {
    if (!isStemmaError(error, 'NotFound')) throw error;
    try {
      return await newestCall(call, stemma, id);
    } catch (other) {
      // Whoever gave an id wants to hear about the id.
      throw isStemmaError(other, 'NotFound') ? error : other;
    }
  }
};

/** The branch on which something is worked on: where it stands, or the one that `--in` names. */
export const branchFor = async (
  call: Invocation,
  stemma: Stemma,
  located: Located,
): Promise<Branch> => {
  const within = call.options.text('in');
  if (within === undefined) return openAt(call, stemma, located.conversation, located.branch);
  const { conversation, entry } = await stemma.resolve(within);
  return openAt(call, stemma, conversation, entry.branch);
};

/** The one id of a list that is this text, or else the only one that begins with it. */
export const idAmong = (kind: string, ids: readonly string[], text: string): string => {
  if (ids.includes(text)) return text;
  const found = [...new Set(ids.filter((id) => text !== '' && id.startsWith(text)))];
  if (found.length > 1) return refuseArgument(kind, 'ambiguous');
  return found[0] ?? refuse({ _tag: 'NotFound', kind, ref: text });
};

/** How people call a conversation: its own id and title, where they can be read. */
export const nameOf = async (
  stemma: Stemma,
  conversation: string,
): Promise<{ readonly id: string; readonly title: string }> => {
  try {
    const { id = conversation, title = '' } = await stemma.overview(conversation);
    return { id, title };
  } catch (error) {
    // One damaged branch must not hide the others.
    if (error instanceof StemmaError) return { id: conversation, title: '' };
    throw error;
  }
};

/** The conversation with exactly this id; a unique beginning of another id is not it. */
export const conversationWithId = async (
  stemma: Stemma,
  id: string,
): Promise<Overview | undefined> => {
  try {
    const found = await stemma.overview(id);
    return found.id === id || found.conversation === id ? found : undefined;
  } catch (error) {
    if (isStemmaError(error, 'NotFound') || isStemmaError(error, 'InvalidArgument')) {
      return undefined;
    }
    throw error;
  }
};
