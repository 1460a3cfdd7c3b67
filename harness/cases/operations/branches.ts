import type { Branch } from '../../../src/index.js';
import { build, builtDone, takeIn, viewOf } from '../building.js';
import { contextIds, droppedIds } from '../context-facts.js';
import { eventFacts, historyFacts, parentOf, pathOf, readRoot, sendablePath } from '../facts.js';
import { attempt, caseFault } from '../fault.js';
import type { StemmaFault } from '../../../src/domain/errors.js';
import type { Done, Facts, Moment, Operate, Started } from '../run.js';
import { refuse } from '../shape.js';
import { appendTo, branchesOf, rowsOf, type Talk } from '../talk.js';

const failed = async (started: Started, fault: StemmaFault, before: Moment): Promise<Done> => {
  const { talk, profile } = started;
  return {
    fault: await caseFault(fault, viewOf(talk)),
    facts: { ...historyFacts(talk), ...eventFacts(talk, () => before.events) },
    roots: readRoot(talk),
    evidence: { profile },
  };
};

/** The branch that shows a message; the one at hand first. */
const showing = async (talk: Talk, id: string): Promise<Branch | undefined> => {
  for (const branch of [talk.branch, ...(await branchesOf(talk))]) {
    if ((await rowsOf(talk, branch)).some((row) => row.id === id)) return branch;
  }
  return undefined;
};

/** The branch that the person looks at: main, or the one that ends with this message. */
const viewed = async (talk: Talk, name: string | undefined): Promise<Branch | undefined> => {
  if (name === undefined) return undefined;
  if (name === 'main') return talk.main;
  const branches = await branchesOf(talk);
  for (const branch of branches) {
    if ((await rowsOf(talk, branch)).at(-1)?.name === name) return branch;
  }
  return branches.find((branch) => branch.name === name);
};

interface Forked {
  readonly old: Branch;
  readonly oldPath: readonly string[];
}

/** The context at the fork, then the new message on it. */
const goOn = async (started: Started, { old, oldPath }: Forked, before: Moment): Promise<Done> => {
  const { talk, input } = started;
  const { new_message: message, viewed_branch: looksAt } = input.params;
  const first = input.operation === 'regenerate' ? await build(started, input.params) : undefined;
  const dropped = first?.plan === undefined ? undefined : await droppedIds(talk, first.plan);
  if (message !== undefined) {
    const { parent: _parent, ...rest } = message;
    const appended = await attempt(() => appendTo(talk, [rest], {}, true));
    if ('fault' in appended) return failed(started, appended.fault, before);
  }
  const built = first ?? (await build(started, input.params));
  const seen = await viewed(talk, looksAt);
  const { plan } = built;
  const facts: Facts = {
    new_parent: () => parentOf(talk, message?.id ?? ''),
    old_path_still_readable: () => pathOf(talk, old),
    active_path_ids: () => sendablePath(talk, seen ?? talk.branch),
    active_path_after: () => sendablePath(talk, seen ?? talk.branch),
    ...(plan === undefined ? {} : { context_ids: () => Promise.resolve(contextIds(talk, plan)) }),
    ...(dropped === undefined ? {} : { dropped_ids: () => Promise.resolve(dropped) }),
  };
  return builtDone(started, built, input.params, before.events, {
    facts,
    evidence: { forkedFrom: old.branch, oldPath },
  });
};

/** The context for a new answer in place of another, on a branch of its own. */
export const regenerate: Operate = async (started) => {
  const { talk, input } = started;
  const { target } = input.params;
  if (typeof target !== 'string') return refuse('/input/params', 'regenerate needs a target');
  await takeIn(started);
  const before = await started.mark();
  const retried = await attempt(async () => {
    const old = (await showing(talk, target)) ?? talk.branch;
    const oldPath = await pathOf(talk, old);
    talk.branch = await old.retry({ before: target });
    return { old, oldPath };
  });
  return 'fault' in retried
    ? failed(started, retried.fault, before)
    : goOn(started, retried.value, before);
};

/** Forks before a message, says something else there, and builds that context. */
export const branch: Operate = async (started) => {
  const { talk, input } = started;
  const { edit, viewed_branch: looksAt } = input.params;
  if (edit === undefined) return refuse('/input/params', 'branch needs edit');
  await takeIn(started);
  const before = await started.mark();
  const forked = await attempt(async () => {
    const seen = await viewed(talk, looksAt);
    const isOnIt = seen !== undefined && (await pathOf(talk, seen)).includes(edit);
    const old = (isOnIt ? seen : await showing(talk, edit)) ?? talk.branch;
    const oldPath = await pathOf(talk, old);
    talk.branch = await old.fork({ before: edit }, { reason: 'edit' });
    return { old, oldPath };
  });
  return 'fault' in forked
    ? failed(started, forked.fault, before)
    : goOn(started, forked.value, before);
};
