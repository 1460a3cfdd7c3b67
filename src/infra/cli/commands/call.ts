import * as E from 'fp-ts/lib/Either.js';
import type { ContextPlan } from '../../../domain/context/plan.js';
import type { CallError, Usage } from '../../../domain/events/model-call-events.js';
import { FOREIGN_JSON } from '../../../domain/json-scan.js';
import type { DecodedResponse } from '../../../domain/profiles/profile.js';
import { profileOf } from '../../../domain/profiles/registry.js';
import type { Reply } from '../../../face/model-call-face.js';
import { contextData, type ShownContext } from '../context-view.js';
import { refuse, refuseArgument } from '../faults.js';
import { contentGiven, jsonFrom } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import { profileFor } from '../profiles.js';
import { requestInput } from '../request-input.js';
import type { Look, Result } from '../result.js';
import { idOf, sideBySide } from '../show.js';
import { branchFor, callIdIn, locateCall, writeTarget } from '../targets.js';
import { oneLine } from '../terminal-text.js';

const request = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const target = await writeTarget(call, await call.writer(), args[0] ?? '');
  const { branch, names } = target;
  const profile = await profileFor(call, branch);
  const [retryOf, commandId] = [options.text('retry-of'), options.text('command-id')];
  const made = await branch.request({
    profile,
    ...(await requestInput(call)),
    ...(retryOf === undefined ? {} : { retryOf: callIdIn(retryOf) }),
    ...(commandId === undefined ? {} : { commandId }),
  });
  const { modelCallId, plan, attempt } = made;
  const surface = await branch.surface();
  const shown: ShownContext = { plan, target: { branch, names }, surface };
  const { text, number } = look.words;
  return {
    name: 'call.request',
    data: { modelCallId, attempt, ...contextData(shown) },
    text: () =>
      [
        `${text.requested}  ${idOf(modelCallId)}  ${number(plan.tokens)} ${text.tokens}  ${plan.profile.name}`,
        text.requestNext(idOf(modelCallId)),
      ].join('\n'),
  };
};

const usageGiven = ({ options }: Invocation): Usage | undefined => {
  const input = options.whole('input-tokens', { least: 0 });
  const output = options.whole('output-tokens', { least: 0 });
  return input === undefined && output === undefined
    ? undefined
    : {
        ...(input === undefined ? {} : { input }),
        ...(output === undefined ? {} : { output }),
      };
};

const replyText = (reply: Reply, look: Look): string => {
  const { text } = look.words;
  const calls = reply.toolCalls.map(({ id, name, arguments: args }) =>
    text.callsTool(name, args, id),
  );
  return [
    sideBySide(text.completed, idOf(reply.modelCallId), idOf(reply.messageId ?? '')),
    ...[reply.text, ...calls].filter((line) => line !== '').map((line) => oneLine(line, 200)),
  ].join('\n');
};

const replyData = (reply: Reply): Readonly<Record<string, unknown>> => ({
  modelCallId: reply.modelCallId,
  messageId: reply.messageId ?? null,
  text: reply.text,
  finishReason: reply.finishReason,
  toolCalls: reply.toolCalls.map(({ id, name, arguments: args, ref }) => ({
    id,
    name,
    arguments: args,
    ref,
  })),
});

/** The provider's own answer from a file; one that cannot be read ends the command and not the call. */
const decodedAnswer = async (
  call: Invocation,
  { profile, toolNames }: ContextPlan,
  file: string,
): Promise<DecodedResponse> => {
  const response = await jsonFrom(call, file, FOREIGN_JSON);
  const reader = profileOf(profile);
  if (reader === undefined) return refuseArgument('profile', 'unknown_value');
  const decoded = reader.decode(response, { toolNames });
  return E.isLeft(decoded) ? refuse(decoded.left) : decoded.right;
};

const complete = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const response = options.text('response');
  const content = await contentGiven(call, args[1] ?? '');
  if (response !== undefined && content !== undefined) refuseArgument('text', 'excludes_another');
  if (response === undefined && content === undefined) refuseArgument('response', 'missing');
  const stemma = await call.writer();
  const located = await locateCall(call, stemma, args[0] ?? '');
  const branch = await branchFor(call, stemma, located);
  const made = await branch.recordedCall(located.id);
  const usage = usageGiven(call);
  const id = options.text('id');
  const answer =
    response === undefined
      ? { blocks: [{ type: 'text' as const, text: content ?? '' }] }
      : await decodedAnswer(call, made.plan, response);
  const reply = await made.complete({
    ...answer,
    ...(id === undefined ? {} : { id }),
    ...(usage === undefined ? {} : { usage }),
  });
  return { name: 'call.complete', data: replyData(reply), text: () => replyText(reply, look) };
};

const kinds = ['transport', 'provider', 'refused', 'interrupted', 'lost', 'other'] as const;

const fail = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const kind: CallError['kind'] = options.choice('kind', kinds) ?? 'transport';
  const stemma = await call.writer();
  const located = await locateCall(call, stemma, args[0] ?? '');
  const branch = await branchFor(call, stemma, located);
  const made = await branch.recordedCall(located.id);
  const [code, detail] = [options.text('code'), options.text('reason')];
  await made.fail({
    kind,
    ...(code === undefined ? {} : { code }),
    ...(detail === undefined ? {} : { detail }),
    ...(options.flag('final') ? { ends: 'failed', retryable: false } : {}),
  });
  return {
    name: 'call.fail',
    data: { modelCallId: located.id, kind, final: options.flag('final') },
    text: () => sideBySide(look.words.text.failed, idOf(located.id), kind),
  };
};

const writing = ['--as <actor>', '--run <run>'];

export const callCommand: Register = ({ program, add }) => {
  const parent = add(program, { use: 'call', key: 'call' });
  add(parent, {
    use: 'request <ref>',
    key: 'call.request',
    options: [
      '--profile <name>',
      '--model <model>',
      '--budget <tokens>',
      '--tools <file>',
      '--params <file>',
      '--branch <name>',
      '--retry-of <call>',
      '--command-id <id>',
      ...writing,
    ],
    run: request,
  });
  add(parent, {
    use: 'complete <call> [content]',
    key: 'call.complete',
    options: [
      '--response <file>',
      '--text <text>',
      '--file <file>',
      '--id <id>',
      '--input-tokens <n>',
      '--output-tokens <n>',
      '--in <ref>',
      ...writing,
    ],
    run: complete,
  });
  add(parent, {
    use: 'fail <call>',
    key: 'call.fail',
    options: [
      '--kind <kind>',
      '--code <code>',
      '--reason <text>',
      '--final',
      '--in <ref>',
      ...writing,
    ],
    run: fail,
  });
};
