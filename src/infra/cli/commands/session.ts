import type { Session } from '../../../domain/session.js';
import type { CallRef } from '../../../domain/message.js';
import type { ToolChoice } from '../../../engine/recover.js';
import type { Branch } from '../../../face/branch-face.js';
import { refuseArgument } from '../faults.js';
import { fileText } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, sideBySide } from '../show.js';
import { idAmong, readTarget, writeTarget } from '../targets.js';
import { oneLine } from '../terminal-text.js';

const refName = ({ messageId, index }: CallRef): string => `${messageId}#${String(index)}`;

/** What is open and what comes next, as lines. */
const sessionText = (session: Session, look: Look): string => {
  const { text, number } = look.words;
  const { turn, modelCalls, toolCalls, approvals, drafts, unusedSummaries } = session;
  const toolColumns = [
    { header: text.toolCall, max: 32 },
    { header: text.tool },
    { header: text.state },
    { header: text.attempt, align: 'right' as const },
    { header: text.effect },
    { header: text.place, max: 40 },
  ];
  const toolCells = toolCalls.map((call) => [
    call.callId,
    call.name,
    text.toolState(call.state),
    number(call.attempt),
    call.effect ?? '',
    refName(call),
  ]);
  return [
    sideBySide(
      `${text.head} ${String(session.head)}`,
      `${text.nextStep} ${look.paint.strong(text.nextIs(session.next))}`,
      turn === undefined ? text.noTurn : text.turnOf(oneLine(turn.turn, 40), oneLine(turn.run, 40)),
    ),
    ...modelCalls.map((call) =>
      sideBySide(text.openModelCall, idOf(call.modelCallId), call.purpose, idOf(call.run ?? '')),
    ),
    ...(toolCalls.length === 0 ? [] : [listing(look, toolColumns, toolCells)]),
    ...approvals.map(({ requestId, kind, call, expiresAt = '' }) =>
      sideBySide(text.openApproval, idOf(requestId), idOf(kind), idOf(refName(call)), expiresAt),
    ),
    ...drafts.map(({ id }) => sideBySide(text.draft, idOf(id))),
    ...unusedSummaries.map((id) => sideBySide(text.unusedSummary, idOf(id))),
  ].join('\n');
};

const sessionData = (branch: Branch, session: Session): Readonly<Record<string, unknown>> => ({
  conversation: branch.conversation,
  branch: branch.branch,
  branchName: branch.name,
  ...session,
});

const status = async (call: Invocation): Promise<Result> => {
  const { look, args } = call;
  const { branch } = await readTarget(call, await call.reader(), args[0] ?? '');
  const session = await branch.session();
  return {
    name: 'status',
    data: sessionData(branch, session),
    text: () => sessionText(session, look),
  };
};

/** `CALL=unknown`, `CALL=abandon` or `CALL=result:FILE`, for one of the open calls. */
const choiceOf = (call: Invocation, { toolCalls }: Session, given: string): ToolChoice => {
  const equals = given.lastIndexOf('=');
  if (equals < 1) return refuseArgument('tool', 'wrong_type');
  const [wanted, answer] = [given.slice(0, equals), given.slice(equals + 1)];
  const byRef = toolCalls.find((open) => refName(open) === wanted);
  const ids = toolCalls.map(({ callId }) => callId);
  const id = byRef === undefined ? idAmong('tool_call', ids, wanted) : byRef.callId;
  const found = byRef === undefined ? toolCalls.filter(({ callId }) => callId === id) : [byRef];
  const [open] = found;
  if (open === undefined || found.length > 1) return refuseArgument('tool', 'ambiguous');
  const ref = { messageId: open.messageId, index: open.index };
  if (answer === 'unknown') return { call: ref, do: 'unknown' };
  if (answer === 'abandon') return { call: ref, do: 'abandon' };
  return answer.startsWith('result:')
    ? { call: ref, do: 'result', content: fileText(call, answer.slice('result:'.length)) }
    : refuseArgument('tool', 'unknown_value');
};

const outcomes = ['completed', 'interrupted', 'failed', 'lost'] as const;

const recover = async (call: Invocation): Promise<Result> => {
  const { look, args, options } = call;
  const endTurn = options.choice('end-turn', outcomes);
  const { branch } = await writeTarget(call, await call.writer(), args[0] ?? '');
  const before = await branch.session();
  const tools = options.list('tool').map((given) => choiceOf(call, before, given));
  if (options.flag('claim')) await branch.claim();
  const done = await branch.recover({ tools, ...(endTurn === undefined ? {} : { endTurn }) });
  const { text, number } = look.words;
  const { lost, closed, expired, undecided, session } = done;
  return {
    name: 'recover',
    data: {
      claimed: options.flag('claim'),
      lost,
      closed,
      expired,
      undecided,
      session: sessionData(branch, session),
    },
    text: () =>
      [
        text.recovered(number(lost.length), number(closed.length), number(expired.length)),
        ...undecided.map((ref) => sideBySide(text.undecided, idOf(refName(ref)))),
        sessionText(session, look),
      ].join('\n'),
  };
};

export const sessionCommands: Register = ({ program, add }) => {
  add(program, { use: 'status <ref>', key: 'status', options: ['--branch <name>'], run: status });
  add(program, {
    use: 'recover <ref>',
    key: 'recover',
    options: ['--claim', '--end-turn <outcome>', '--branch <name>', '--as <actor>', '--run <run>'],
    lists: ['--tool <call=choice>'],
    run: recover,
  });
};
