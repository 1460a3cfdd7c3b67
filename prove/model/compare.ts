import { sessionOf as engineSession } from '../../src/domain/session.js';
import { branchesOf } from '../../src/engine/conversation-commands.js';
import { loadBranch } from '../../src/engine/branch-loader.js';
import { readHistory, readSurface } from '../../src/engine/histories.js';
import { preview } from '../../src/engine/model-calls.js';
import { openaiChat } from '../../src/domain/profiles/openai-chat.js';
import type { History, MessageEntry } from '../../src/projections/history.js';
import { faultOf, value } from '../support/engine.js';
import { branchNumber, contextFor, nameOf, type EngineSide } from './engine-side.js';
import { isConversationClosed, nameOf as branchName, promotedBranch } from './naive-branches.js';
import { contextOf } from './naive-context.js';
import { liveCompactions } from './naive-live.js';
import { callLine, sessionOf } from './naive-session.js';
import { closedCallsOf, stateReason, surfaceOf } from './naive-surface.js';
import { messagesOf, seenBy, type World } from './naive.js';

const PROFILE = openaiChat({ model: 'gpt' });

/** What the two sides say of one thing, where they do not say the same. */
export interface Difference {
  readonly what: string;
  readonly naive: unknown;
  readonly engine: unknown;
}

const differ = (what: string, naive: unknown, engine: unknown): Difference | undefined =>
  JSON.stringify(naive) === JSON.stringify(engine) ? undefined : { what, naive, engine };

/** Takes note of ids that the engine made, by the place at which their message stands. */
const noteIds = (side: EngineSide, world: World, branch: number, history: History): void => {
  for (const { id, branch: at, at: revision } of messagesOf(world, branch)) {
    if (!id.startsWith('auto ') || side.names.made.has(id)) continue;
    for (const entry of history.entries) {
      const isThere =
        entry.kind !== 'instructions' &&
        entry.place.revision === revision &&
        branchNumber(side, entry.place.branch) === at;
      if (isThere) side.names.made.set(id, entry.message.id);
    }
  }
};

interface Line {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly withdrawn: boolean;
  readonly redacted: boolean;
  readonly late: boolean;
  readonly closed: readonly number[];
  readonly answers: string | undefined;
}

const entryLine = (side: EngineSide, entry: MessageEntry): Line => {
  const [call] = entry.calls;
  return {
    id: nameOf(side, entry.message.id),
    kind: entry.kind === 'message' ? 'message' : 'result',
    status: entry.status,
    withdrawn: entry.withdrawn !== undefined,
    redacted: entry.redacted !== undefined,
    late: entry.late === true,
    closed: entry.closedCalls,
    answers: call && `${call.index} ${nameOf(side, call.messageId)} ${call.callId}`,
  };
};

const naiveLines = (world: World, branch: number): readonly Line[] =>
  messagesOf(world, branch)
    .filter(({ kind }) => kind !== 'summary')
    .map((message) => {
      const { id, kind, status, withdrawn, redacted, late, answers } = message;
      return {
        id,
        kind,
        status,
        withdrawn,
        redacted,
        late,
        closed: closedCallsOf(world, branch, message),
        answers: answers && `${answers.index} ${answers.message} ${answers.callId}`,
      };
    });

const instructionLines = (history: History): readonly string[] =>
  history.entries.flatMap((entry) =>
    entry.kind === 'instructions' ? [`${entry.name} ${entry.version}`] : [],
  );

const naiveInstructions = (world: World, branch: number): readonly string[] => {
  const counts = new Map<string, number>();
  return seenBy(world, branch).flatMap(({ entry }) => {
    if (entry.is !== 'instructions') return [];
    const version = (counts.get(entry.name) ?? 0) + 1;
    counts.set(entry.name, version);
    return [`${entry.name} ${version}`];
  });
};

const compareSession = async (
  side: EngineSide,
  world: World,
  handle: 0 | 1,
  branch: number,
): Promise<Difference | undefined> => {
  const context = contextFor(side, handle, branch);
  const { state } = await value(loadBranch(context.runtime, context.states, context.key));
  const session = engineSession(state);
  const { next, ...naive } = sessionOf(world, branch);
  const engine = {
    head: session.head,
    run: session.turn?.run,
    modelCalls: session.modelCalls.map(({ modelCallId }) => side.names.calls.indexOf(modelCallId)),
    toolCalls: session.toolCalls
      .map(({ messageId, index, callId, state: is, inherited, attempt, effect, idempotencyKey }) =>
        callLine({
          message: nameOf(side, messageId),
          index,
          callId,
          state: is,
          inherited,
          attempt,
          effect,
          key: idempotencyKey,
        }),
      )
      .sort(),
    approvals: session.approvals
      .map(({ requestId, call }) => `${requestId} ${call.index} ${nameOf(side, call.messageId)}`)
      .sort(),
    drafts: session.drafts.map(({ id }) => nameOf(side, id)).sort(),
    unusedSummaries: session.unusedSummaries.map((id) => side.names.calls.indexOf(id)),
  };
  const different = differ(`session of branch ${branch}`, naive, engine);
  if (different !== undefined) return different;
  return next.includes(session.next)
    ? undefined
    : { what: `next of branch ${branch}`, naive: next, engine: session.next };
};

/** Session and history of a branch, as one handle has them. */
export const compareBranch = async (
  side: EngineSide,
  world: World,
  handle: 0 | 1,
  branch: number,
): Promise<Difference | undefined> => {
  const { runtime, histories, key } = contextFor(side, handle, branch);
  const history = await value(readHistory(runtime, histories, key));
  noteIds(side, world, branch, history);
  const lines = history.entries.flatMap((entry) =>
    entry.kind === 'instructions' ? [] : [entryLine(side, entry)],
  );
  return (
    (await compareSession(side, world, handle, branch)) ??
    differ(`history of branch ${branch}`, naiveLines(world, branch), lines) ??
    differ(
      `instructions of branch ${branch}`,
      naiveInstructions(world, branch),
      instructionLines(history),
    )
  );
};

const compareSurface = async (
  side: EngineSide,
  world: World,
  branch: number,
): Promise<Difference | undefined> => {
  const { runtime, histories, key } = contextFor(side, 1, branch);
  const surface = await value(readSurface(runtime, histories, key));
  const naive = surfaceOf(world, branch).map((message) => [
    message.id,
    stateReason(message) ?? 'in',
  ]);
  const engine = surface.items.map((item) => [
    nameOf(side, item.message.id),
    item.out?.reason ?? 'in',
  ]);
  const live = liveCompactions(world, branch).map(({ compaction, covered, changed }) => ({
    compaction,
    covered: [...covered].sort(),
    changed: [...changed].sort(),
  }));
  const liveThere = surface.compactions.map(({ compaction, covered, changed }) => ({
    compaction: side.names.compactions.indexOf(compaction),
    covered: covered.map((id) => nameOf(side, id)).sort(),
    changed: changed.map((id) => nameOf(side, id)).sort(),
  }));
  return (
    differ(`surface of branch ${branch}`, naive, engine) ??
    differ(`compactions of branch ${branch}`, live, liveThere)
  );
};

const compareContext = async (
  side: EngineSide,
  world: World,
  branch: number,
): Promise<Difference | undefined> => {
  const { reasons, open } = contextOf(world, branch);
  const context = contextFor(side, 0, branch);
  const what = `context of branch ${branch}`;
  const fault = await faultOf(preview(context, { profile: PROFILE }));
  if (open.length > 0 || fault !== undefined) {
    return differ(what, open.length > 0 ? 'OpenToolCalls' : 'a context', fault?._tag ?? 'none');
  }
  const { dispositions } = await value(preview(context, { profile: PROFILE }));
  const engine = dispositions
    .filter(({ disposition }) => disposition !== 'instructions')
    .map(({ messageId, disposition, in: isIn }): [string, string] => [
      nameOf(side, messageId),
      isIn ? 'in' : disposition,
    ]);
  const summaries = liveCompactions(world, branch).map(({ id }) => id);
  return differ(
    what,
    reasons,
    engine.filter(([id]) => !summaries.includes(id)),
  );
};

const compareDirectory = async (
  side: EngineSide,
  world: World,
): Promise<Difference | undefined> => {
  const { engine } = side.handles[1];
  const state = await value(branchesOf(engine, side.conversation));
  const promoted = promotedBranch(world);
  return differ(
    'directory',
    {
      names: [...world.branches.keys()].map((branch) => branchName(world, branch)),
      promoted: promoted ?? -1,
      closed: isConversationClosed(world),
      events: world.directory.length,
    },
    {
      names: [...state.branches.values()].map(({ name }) => name),
      promoted: state.promoted === undefined ? -1 : branchNumber(side, state.promoted),
      closed: state.closed,
      events: state.head + 1,
    },
  );
};

/** Everything that the two sides can be asked about. */
export const compareAll = async (
  side: EngineSide,
  world: World,
): Promise<Difference | undefined> => {
  const directory = await compareDirectory(side, world);
  if (directory !== undefined) return directory;
  for (const branch of world.branches.keys()) {
    const different =
      (await compareBranch(side, world, 0, branch)) ??
      (await compareBranch(side, world, 1, branch)) ??
      (await compareSurface(side, world, branch)) ??
      (await compareContext(side, world, branch));
    if (different !== undefined) return different;
  }
  return undefined;
};
