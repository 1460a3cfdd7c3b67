import type { Located } from '../../../engine/locate.js';
import type { Branch } from '../../../face/branch-face.js';
import type { Stemma } from '../../../face/stemma-face.js';
import type { ToolCallHandle } from '../../../face/tool-call-face.js';
import type { CallRef } from '../../../domain/message.js';
import { refuse, refuseArgument } from '../faults.js';
import { neededContent } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { idOf, sideBySide } from '../show.js';
import { branchFor, callIdIn, locateAll, locateOne } from '../targets.js';

interface FoundCall {
  readonly branch: Branch;
  readonly ref: CallRef;
  readonly callId: string;
}

const BY_MESSAGE = /^(.+)#(\d{1,4})$/;

/** An id of a provider may repeat: then it names the only call of this id that is open (B29, B31). */
const oneToolCall = async (call: Invocation, stemma: Stemma, id: string): Promise<Located> => {
  const found = await locateAll(call, stemma, 'tool_call', id);
  if (found.length < 2) {
    return found[0] ?? refuse({ _tag: 'NotFound', kind: 'tool_call', ref: id });
  }
  const open: Located[] = [];
  for (const one of found) {
    const { toolCalls } = await (await branchFor(call, stemma, one)).session();
    const isOpen = toolCalls.some(
      ({ messageId, index }) => messageId === one.call?.messageId && index === one.call.index,
    );
    if (isOpen) open.push(one);
  }
  const [first] = open;
  return first === undefined || open.length > 1 ? refuseArgument('tool_call', 'ambiguous') : first;
};

/** A tool call by the provider's id, or as `MESSAGE#INDEX` where that id repeats. */
const toolCallFor = async (call: Invocation, text: string): Promise<FoundCall> => {
  const stemma = await call.writer();
  const parts = BY_MESSAGE.exec(text);
  // An id of a provider may look like a place: it comes first.
  const isId = parts === null || (await stemma.locate('tool_call', text)).length > 0;
  if (!isId) {
    const [, messageId = '', index = '0'] = parts;
    const located = await locateOne(call, stemma, 'message', messageId);
    const branch = await branchFor(call, stemma, located);
    return { branch, ref: { messageId: located.id, index: Number(index) }, callId: text };
  }
  const located = await oneToolCall(call, stemma, callIdIn(text));
  const branch = await branchFor(call, stemma, located);
  const ref = located.call ?? refuse({ _tag: 'NotFound', kind: 'tool_call', ref: text });
  return { branch, ref, callId: located.id };
};

const handleOf = async ({ branch, ref }: FoundCall): Promise<ToolCallHandle> => {
  const open = await branch.openCalls();
  const handle = open.find(
    (one) => one.ref.messageId === ref.messageId && one.ref.index === ref.index,
  );
  const name = `${ref.messageId}#${String(ref.index)}`;
  return handle ?? refuse({ _tag: 'NotFound', kind: 'open tool call', ref: name });
};

const dataOf = ({ branch, ref, callId }: FoundCall) => ({
  conversation: branch.conversation,
  branchName: branch.name,
  call: ref,
  callId,
});

const effects = ['read_only', 'idempotent', 'non_idempotent'] as const;

const start = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const effect = options.choice('effect', effects);
  const found = await toolCallFor(call, args[0] ?? '');
  const handle = await handleOf(found);
  const executor = options.text('executor');
  const started = await handle.start({
    ...(effect === undefined ? {} : { effect }),
    ...(executor === undefined ? {} : { executor }),
  });
  return {
    name: 'tool.start',
    data: { ...dataOf(found), name: handle.name, arguments: handle.arguments, ...started },
    text: () =>
      sideBySide(
        look.words.text.started,
        idOf(found.callId),
        idOf(handle.name),
        idOf(started.idempotencyKey),
      ),
  };
};

const outcomes = ['ok', 'error', 'denied', 'unknown', 'not_started'] as const;

const result = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const outcome = options.choice('outcome', outcomes);
  const content = await neededContent(call, args[1] ?? '');
  const found = await toolCallFor(call, args[0] ?? '');
  const id = options.text('id');
  const [done] = await found.branch.append(
    {
      role: 'tool',
      call: found.ref,
      content,
      ...(id === undefined ? {} : { id }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(options.flag('late') ? { late: true } : {}),
    },
    { as: options.actor('as') ?? { kind: 'tool' } },
  );
  const { text } = look.words;
  return {
    name: 'tool.result',
    data: { ...dataOf(found), message: done ?? null },
    text: () =>
      done?.status === 'replayed'
        ? `${text.unchanged}  ${text.alreadyAt(idOf(done.id), String(done.place.revision))}`
        : sideBySide(
            text.appended,
            idOf(done?.id ?? ''),
            text.resultOf(idOf(found.callId), outcome ?? 'ok'),
          ),
  };
};

const abandon = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const found = await toolCallFor(call, args[0] ?? '');
  await (await handleOf(found)).abandon(options.text('reason'));
  return {
    name: 'tool.abandon',
    data: dataOf(found),
    text: () => sideBySide(look.words.text.abandoned, idOf(found.callId)),
  };
};

const ask = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const found = await toolCallFor(call, args[0] ?? '');
  const [id, expiresAt] = [options.text('id'), options.text('expires')];
  const { requestId } = await (
    await handleOf(found)
  ).askApproval({
    ...(id === undefined ? {} : { requestId: id }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  return {
    name: 'tool.ask',
    data: { ...dataOf(found), requestId },
    text: () => sideBySide(look.words.text.asked, idOf(requestId), idOf(found.callId)),
  };
};

const approve = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  options.needed('outcome');
  const outcome = options.choice('outcome', ['approved', 'denied'] as const) ?? 'denied';
  const stemma = await call.writer();
  const located = await locateOne(call, stemma, 'approval', args[0] ?? '');
  const branch = await branchFor(call, stemma, located);
  const [approver, reason] = [options.text('approver'), options.text('reason')];
  await branch.resolveApproval(located.id, outcome, {
    ...(approver === undefined ? {} : { approver }),
    ...(reason === undefined ? {} : { reason }),
  });
  return {
    name: 'approve',
    data: { requestId: located.id, outcome, call: located.call ?? null },
    text: () =>
      sideBySide(
        outcome === 'approved' ? look.words.text.approved : look.words.text.denied,
        idOf(located.id),
      ),
  };
};

const writing = ['--in <ref>', '--as <actor>', '--run <run>'];

export const toolCommands: Register = ({ program, add }) => {
  const tool = add(program, { use: 'tool', key: 'tool' });
  add(tool, {
    use: 'start <call>',
    key: 'tool.start',
    options: ['--effect <effect>', '--executor <name>', ...writing],
    run: start,
  });
  add(tool, {
    use: 'result <call> [content]',
    key: 'tool.result',
    options: [
      '--text <text>',
      '--file <file>',
      '--outcome <outcome>',
      '--id <id>',
      '--late',
      ...writing,
    ],
    run: result,
  });
  add(tool, {
    use: 'abandon <call>',
    key: 'tool.abandon',
    options: ['--reason <text>', ...writing],
    run: abandon,
  });
  add(tool, {
    use: 'ask <call>',
    key: 'tool.ask',
    options: ['--id <id>', '--expires <time>', ...writing],
    run: ask,
  });
  add(program, {
    use: 'approve <request>',
    key: 'approve',
    options: ['--outcome <outcome>', '--approver <name>', '--reason <text>', ...writing],
    run: approve,
  });
};
