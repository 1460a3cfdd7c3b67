import {
  callsOf,
  callTools,
  FUTURE,
  PAST,
  PROFILE,
  RUN,
  startMain,
  toolbox,
  dieNow,
  type Stage,
} from './world.js';
import type { Branch } from '../../src/face/branch-face.js';

type Script = (stage: Stage) => Promise<void>;

const aroundModelCall: Script = async (stage) => {
  const main = await startMain(stage);
  stage.fuse.light();
  await main.request({ profile: PROFILE });
};

const beforeTools: Script = async (stage) => {
  const main = await startMain(stage);
  const call = await main.request({ profile: PROFILE });
  stage.fuse.light();
  await call.complete({ id: 'a1', blocks: [], toolCalls: callsOf('c1', 'c2') });
};

/** Dies between the two events of a tool: before its function, or when that has done its work. */
const duringTool: Script = async (stage) => {
  const { orders, fuse } = stage;
  const main = await startMain(stage);
  await callTools(main, 'c1');
  const [call] = await main.openCalls();
  if (orders.variant % 2 === 0) {
    fuse.light();
    await call?.run(toolbox(orders.folder, orders.effect));
  } else await call?.run(toolbox(orders.folder, orders.effect, dieNow));
};

const summarizing: Script = async (stage) => {
  const { orders, fuse } = stage;
  const main = await startMain(stage);
  for (const id of ['u2', 'u3', 'u4']) {
    await main.append({ id, role: 'user', content: `more ${id}` });
  }
  if (orders.variant % 2 === 0) fuse.light();
  const call = await main.request({ profile: PROFILE, purpose: 'compaction' });
  if (orders.variant % 2 === 1) fuse.light();
  await call.complete({ blocks: [{ type: 'text', text: 'a refund was asked for' }] });
};

const approving: Script = async (stage) => {
  const { ack } = stage;
  const main = await startMain(stage);
  ack('u1');
  await callTools(main, 'c1');
  ack('a1');
  const [call] = await main.openCalls();
  await call?.askApproval({ requestId: 'ask', expiresAt: FUTURE });
  ack('ask');
  // People take their time.
  for (let at = 0; ; at += 1) {
    await main.append({ id: `w${at}`, role: 'user', content: 'any news?' });
    ack(`w${at}`);
  }
};

const forking: Script = async (stage) => {
  const { orders, fuse, stemma } = stage;
  const main = await startMain(stage);
  await callTools(main, 'c1', 'c2');
  const [first, second] = await main.openCalls();
  await first?.start({ effect: 'non_idempotent' });
  await second?.askApproval({ requestId: 'ask', expiresAt: FUTURE });
  if (orders.variant % 2 === 1) await main.resolveApproval('ask', 'approved');
  fuse.light();
  const fork = await main.fork({ after: 'a1' }, { name: 'fork', commandId: 'the fork' });
  await stemma.open(`c/${fork.name}`);
};

/** Something of everything that recover closes. */
export const leaveOpen = async (main: Branch): Promise<void> => {
  const call = await main.request({ profile: PROFILE });
  await main.request({ profile: PROFILE, purpose: 'judge' });
  await main.request({ profile: PROFILE, purpose: 'title' });
  await call.complete({ id: 'a1', blocks: [], toolCalls: callsOf('c1', 'c2', 'c3') });
  const [first, second] = await main.openCalls();
  await first?.start({ effect: 'non_idempotent' });
  await second?.askApproval({ requestId: 'ask', expiresAt: PAST });
};

export const CHOICES = {
  tools: [
    { call: { messageId: 'a1', index: 0 }, do: 'unknown' },
    { call: { messageId: 'a1', index: 1 }, do: 'abandon', reason: 'nobody approved' },
    { call: { messageId: 'a1', index: 2 }, do: 'result', content: 'paid by hand' },
  ],
  endTurn: 'lost',
} as const;

const recovering: Script = async (stage) => {
  const main = await startMain(stage);
  await leaveOpen(main);
  stage.fuse.light();
  stage.ack('ready');
  await main.recover(CHOICES);
};

/** A whole turn in which everything carries an id, so that all of it can be sent again. */
export const repeatable = async (
  { stemma, ack }: Pick<Stage, 'stemma' | 'ack'>,
  run = RUN,
): Promise<Branch> => {
  const main = await stemma.start({ id: 'c', run, commandId: 'start' });
  const calls = callsOf('c1', 'c2');
  await main.append({ id: 'u1', role: 'user', content: 'refund order 8812' });
  ack('u1');
  await main.instructions('You answer refund questions.', { commandId: 'rules' });
  const asked = await main.request({ profile: PROFILE, commandId: 'ask 1' });
  ack('request');
  await asked.complete({ id: 'a1', blocks: [], toolCalls: calls }, { commandId: 'answer 1' });
  ack('a1');
  await main.append([
    { id: 't1', role: 'tool', toolCallId: 'c1', content: 'paid' },
    { id: 't2', role: 'tool', toolCallId: 'c2', content: 'sent' },
  ]);
  const again = await main.request({ profile: PROFILE, commandId: 'ask 2' });
  await again.complete(
    { id: 'a2', blocks: [{ type: 'text', text: 'Done.' }] },
    { commandId: 'answer 2' },
  );
  ack('a2');
  const fork = await main.fork({ after: 'u1' }, { name: 'other', commandId: 'fork' });
  await fork.append({ id: 'f1', role: 'user', content: 'and order 8813' }, { commandId: 'f1' });
  await main.append({ role: 'user', content: 'thanks' }, { commandId: 'thanks' });
  ack('done');
  return main;
};

/** What a child does, by the row of the recovery table. */
export const scripts: Readonly<Record<string, Script>> = {
  'model call': aroundModelCall,
  'before tools': beforeTools,
  tool: duringTool,
  compaction: summarizing,
  approval: approving,
  fork: forking,
  recover: recovering,
  'reply lost': async (stage) => {
    stage.fuse.light();
    await repeatable(stage);
  },
};
