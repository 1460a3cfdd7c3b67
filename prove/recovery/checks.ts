import { complete } from '../../src/engine/model-answers.js';
import {
  branchOn,
  contextOn,
  countOf,
  eventsOf,
  holds,
  same,
  thrown,
  type Reopened,
} from './reopened.js';
import { CHOICES } from './scripts.js';
import { PROFILE, toolbox, toolRuns, type Orders } from './world.js';

/** What the parent finds and does, by the row of the recovery table. */
export type Check = (reopened: Reopened, orders: Orders, acks: readonly string[]) => Promise<void>;

const ids = async (reopened: Reopened, reference = 'c'): Promise<readonly string[]> => {
  const { items } = await (await branchOn(reopened, 'look', reference)).surface();
  return items.map(({ message }) => message.id);
};

/** Requested only: lost, or completed with the response that was fetched by id. */
export const aroundModelCall: Check = async (reopened, { variant }) => {
  const main = await branchOn(reopened, 'parent');
  const before = await main.session();
  same(reopened, 'next', before.next, 'recover');
  same(reopened, 'open calls', before.modelCalls.length, 1);
  const id = before.modelCalls[0]?.modelCallId ?? '';
  same(reopened, 'before a claim', await thrown(() => main.recover()), 'TurnOpen');
  await main.claim();
  const context = await contextOn(reopened, 'parent');
  const answer = { id: 'a1', blocks: [{ type: 'text', text: 'fetched' } as const] };
  if (variant % 3 === 0) {
    await complete(context, id, answer)();
    same(reopened, 'fetched', await ids(reopened), ['u1', 'a1']);
    same(reopened, 'lost', (await main.recover()).lost, []);
    return;
  }
  same(reopened, 'lost', (await main.recover()).lost, [id]);
  same(reopened, 'lost again', (await main.recover()).lost, []);
  const again = await main.request({ profile: PROFILE, retryOf: id });
  same(reopened, 'attempt', again.attempt, 2);
  await complete(context, id, { ...answer, id: 'late' })();
  same(reopened, 'a late answer is for audit only', await ids(reopened), ['u1']);
  const { calls } = await main.calls();
  const lost = calls.find(({ modelCallId }) => modelCallId === id);
  same(reopened, 'state', lost?.state, 'lost');
  same(reopened, 'late answers', lost?.late.length, 1);
  same(reopened, 'billing', lost?.failure?.error.lost, true);
  await again.complete({ id: 'a2', blocks: [{ type: 'text', text: 'second' }] });
  same(reopened, 'next at last', (await main.session()).next, 'user');
};

/** Message and completion are there: nothing to recover, the tools have not begun. */
export const beforeTools: Check = async (reopened, { folder }) => {
  const main = await branchOn(reopened, 'parent');
  const before = await main.session();
  same(reopened, 'next', before.next, 'tools');
  same(
    reopened,
    'states',
    before.toolCalls.map(({ state }) => state),
    ['not_started', 'not_started'],
  );
  await main.claim();
  const events = (await eventsOf(reopened)).length;
  const { lost, closed, undecided } = await main.recover();
  same(reopened, 'recover does nothing', [lost, closed, undecided], [[], [], []]);
  same(reopened, 'recover writes nothing', (await eventsOf(reopened)).length, events);
  for (const call of await main.openCalls()) await call.run(toolbox(folder, 'idempotent'));
  same(reopened, 'runs', toolRuns(folder).length, 2);
  same(reopened, 'next at last', (await main.session()).next, 'model');
};

const rerun = async (reopened: Reopened, { folder, effect }: Orders): Promise<void> => {
  const main = await branchOn(reopened, 'parent');
  const { toolCalls, next } = await main.session();
  same(reopened, 'next', next, 'tools');
  const key = toolCalls[0]?.idempotencyKey ?? 'none';
  const before = toolRuns(folder).length;
  const [call] = await main.openCalls();
  await call?.run(toolbox(folder, effect));
  const runs = toolRuns(folder);
  same(reopened, 'ran again', runs.length, before + 1);
  same(reopened, 'key and attempt', runs.at(-1), `${key} 2`);
  same(reopened, 'next at last', (await main.session()).next, 'model');
};

/** A tool that may have acted: never again by itself, only by the caller's word. */
const decide = async (reopened: Reopened, { folder, effect, variant }: Orders): Promise<void> => {
  const main = await branchOn(reopened, 'parent');
  same(reopened, 'next', (await main.session()).next, 'recover');
  const before = toolRuns(folder).length;
  const [call] = await main.openCalls();
  const refused = await thrown(async () => call?.run(toolbox(folder, effect)));
  same(reopened, 'run again', refused, 'InvalidArgument');
  same(reopened, 'runs', toolRuns(folder).length, before);
  const ref = { messageId: 'a1', index: 0 };
  same(reopened, 'undecided', (await main.recover()).undecided, [ref]);
  same(reopened, 'still open', (await main.session()).next, 'recover');
  const choice =
    variant % 3 === 0
      ? ({ call: ref, do: 'result', content: 'paid by hand' } as const)
      : ({ call: ref, do: 'unknown' } as const);
  same(reopened, 'closed', (await main.recover({ tools: [choice] })).closed, [ref]);
  const asked = await main.request({ profile: PROFILE });
  const late = { id: 'late', role: 'tool', toolCallId: 'c1', content: 'it was paid' } as const;
  same(reopened, 'unasked truth', await thrown(() => main.append(late)), 'DuplicateToolResult');
  await main.append({ ...late, late: true });
  const recorded = await main.context(asked.modelCallId);
  holds(reopened, 'a recorded call keeps what it saw', recorded.same);
  holds(reopened, 'late truth is not sent', !recorded.plan.sent.includes('late'));
  const { exchanges } = await main.toolExchanges();
  same(
    reopened,
    'answers',
    exchanges[0]?.answers.map((answer) => answer.late),
    [false, true],
  );
};

export const duringTool: Check = async (reopened, orders) => {
  const { folder, effect, variant } = orders;
  const main = await branchOn(reopened, 'parent');
  const { toolCalls } = await main.session();
  same(
    reopened,
    'state',
    toolCalls.map(({ state, attempt }) => [state, attempt]),
    [['started', 1]],
  );
  same(reopened, 'runs before', toolRuns(folder).length, variant % 2);
  await main.claim();
  await (effect === 'non_idempotent' ? decide : rerun)(reopened, orders);
};

/** Only the summarizer's call is there: history is as it was, the summary can be used. */
export const summarizing: Check = async (reopened, { variant }) => {
  const all = ['u1', 'u2', 'u3', 'u4'];
  const main = await branchOn(reopened, 'parent');
  const { items, compactions } = await main.surface();
  same(
    reopened,
    'history',
    items.map(({ message }) => message.id),
    all,
  );
  same(reopened, 'compactions', compactions.length, 0);
  const { unusedSummaries, next, modelCalls } = await main.session();
  if (variant % 2 === 0) {
    same(reopened, 'next', next, 'recover');
    same(reopened, 'lost', (await main.recover()).lost.length, modelCalls.length);
    same(reopened, 'history at last', await ids(reopened), all);
    return;
  }
  same(reopened, 'unused summaries', unusedSummaries.length, 1);
  await main.recover();
  const [madeBy = ''] = (await main.session()).unusedSummaries;
  const summary = 'a refund was asked for';
  const options = { strategy: 'summary', summary, keepFrom: 'u4', madeBy } as const;
  const plan = await main.planCompaction(options);
  if (variant % 4 === 3) {
    await main.redact('u2');
    const stale = await thrown(() => main.compact({ ...options, plan }));
    same(reopened, 'stale', stale, 'CompactionStale');
    return;
  }
  await main.compact({ ...options, plan });
  same(reopened, 'used', (await main.session()).unusedSummaries, []);
  const { sent } = await main.preview({ profile: PROFILE });
  same(reopened, 'sent', sent.length, 2);
};

/** Waits for a human, whatever happens to the process that asked. */
export const approving: Check = async (reopened, { folder }, acks) => {
  const main = await branchOn(reopened, 'parent');
  const { approvals, toolCalls, turn } = await main.session();
  const wasAsked = approvals.length > 0;
  holds(reopened, 'an acknowledged approval is gone', wasAsked || !acks.includes('ask'));
  if (turn !== undefined) await main.claim();
  await main.recover();
  const after = await main.session();
  same(reopened, 'approvals after recover', after.approvals, approvals);
  if (!wasAsked) return;
  const [approval] = approvals;
  same(reopened, 'binds', approval?.argumentsDigest, toolCalls[0]?.argumentsDigest);
  same(reopened, 'next', after.next, 'approval');
  const [call] = await main.openCalls();
  const early = await thrown(async () => call?.run(toolbox(folder, 'non_idempotent')));
  same(reopened, 'run before the word', early, 'InvalidArgument');
  same(reopened, 'runs before the word', toolRuns(folder).length, 0);
  const fork = await main.fork({ after: 'a1' });
  same(reopened, 'approvals on a fork', (await fork.session()).approvals, []);
  await main.resolveApproval('ask', 'approved');
  await call?.run(toolbox(folder, 'non_idempotent'));
  same(reopened, 'runs', toolRuns(folder).length, 1);
};

/** Starts and approvals stay on the parent: one approval must not pay twice. */
export const forking: Check = async (reopened, { folder, variant }) => {
  const parent = await branchOn(reopened, 'parent');
  const states = (await parent.session()).toolCalls.map(({ state }) => state);
  const waits = variant % 2 === 1 ? 'not_started' : 'awaiting_approval';
  same(reopened, 'on the parent', states, ['started', waits]);
  same(reopened, 'fork was registered', await countOf(reopened, 'BranchRegistered'), 2);
  const fork = await branchOn(reopened, 'parent', 'c/fork');
  same(reopened, 'first event', await countOf(reopened, 'BranchForked'), 1);
  const { toolCalls, approvals, turn, next } = await fork.session();
  same(
    reopened,
    'on the fork',
    toolCalls.map(({ state, inherited, attempt }) => [state, inherited, attempt]),
    [
      ['not_started', true, 0],
      ['not_started', true, 0],
    ],
  );
  same(reopened, 'approvals', approvals, []);
  same(reopened, 'turn', turn ?? null, null);
  same(reopened, 'next', next, 'tools');
  const calls = await fork.openCalls();
  for (const call of calls) {
    const refused = await thrown(() => call.run(toolbox(folder, 'non_idempotent')));
    same(reopened, 'run without a word', refused, 'InvalidArgument');
  }
  same(reopened, 'runs', toolRuns(folder).length, 0);
  const [first, second] = calls;
  await first?.result('paid on the parent');
  const asked = await second?.askApproval();
  await fork.resolveApproval(asked?.requestId ?? '', 'approved');
  await second?.run(toolbox(folder, 'non_idempotent'));
  same(reopened, 'runs at last', toolRuns(folder).length, 1);
  same(reopened, 'next at last', (await fork.session()).next, 'model');
  const again = (await parent.session()).toolCalls.map(({ state }) => state);
  same(reopened, 'the parent is as it was', again, states);
};

/** Cut off in recover: repeated, and each thing is closed once. */
export const recovering: Check = async (reopened, { variant }) => {
  const run = variant % 2 === 0 ? 'child' : 'parent';
  const main = await branchOn(reopened, run);
  if (run === 'parent') await main.claim();
  await main.recover(CHOICES);
  await main.recover(CHOICES);
  const { modelCalls, toolCalls, approvals, turn, next } = await main.session();
  same(reopened, 'open', [modelCalls, toolCalls, approvals, turn ?? null], [[], [], [], null]);
  same(reopened, 'next', next, 'model');
  same(reopened, 'lost', await countOf(reopened, 'ModelCallFailed'), 2);
  same(reopened, 'expired', await countOf(reopened, 'ApprovalResolved'), 1);
  same(reopened, 'given up', await countOf(reopened, 'ToolCallAbandoned'), 1);
  same(reopened, 'results', await countOf(reopened, 'ToolResultAttached'), 2);
  same(reopened, 'turns ended', await countOf(reopened, 'TurnEnded'), 1);
};
