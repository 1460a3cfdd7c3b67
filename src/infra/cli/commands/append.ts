import { ENVELOPE_JSON } from '../../../domain/json-scan.js';
import type { MessageInput } from '../../../domain/intake.js';
import type { AppendedMessage } from '../../../domain/decide/append-messages.js';
import { refuseArgument } from '../faults.js';
import { contentGiven, jsonFrom, neededContent } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf } from '../show.js';
import { branchFor, locateOne, messageIdIn, writeTarget } from '../targets.js';

const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const outcomes = ['ok', 'error', 'denied', 'unknown', 'not_started'] as const;
const statuses = ['confirmed', 'draft', 'blocked'] as const;

/** The one message of the flags. */
const messageGiven = (call: Invocation, content: string): MessageInput => {
  const { options } = call;
  const [id, toolCallId, name] = [
    options.text('id'),
    options.text('tool-call-id'),
    options.text('name'),
  ];
  const outcome = options.choice('outcome', outcomes);
  const status = options.choice('status', statuses);
  // `--tool-call-id` alone says what the message is.
  const role = options.choice('role', roles) ?? (toolCallId === undefined ? 'user' : 'tool');
  return {
    role,
    content,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(status === undefined ? {} : { status }),
    ...(options.flag('late') ? { late: true } : {}),
    ...(options.flag('pin') ? { pinned: true } : {}),
  };
};

const messagesGiven = async (call: Invocation): Promise<MessageInput | readonly MessageInput[]> => {
  const { options, args } = call;
  const operand = args[1] ?? '';
  const batch = options.text('batch');
  if (batch === undefined) return messageGiven(call, await neededContent(call, operand));
  if ((await contentGiven(call, operand)) !== undefined)
    refuseArgument('batch', 'excludes_another');
  // Shape, roles and ids are checked where messages are taken in; a bad item names its index (B39).
  return (await jsonFrom(call, batch, ENVELOPE_JSON)) as unknown as readonly MessageInput[];
};

const lineOf = ({ id, place, status }: AppendedMessage, look: Look): string => {
  const { text } = look.words;
  const at = String(place.revision);
  return status === 'replayed'
    ? `${text.unchanged}  ${text.alreadyAt(idOf(id), at)}`
    : `${look.paint.good(text.appended)}  ${idOf(id)}  ${text.atRevision(at)}`;
};

const append = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const expectedRevision = options.whole('expect', { least: 0 });
  const messages = await messagesGiven(call);
  const commandId = options.text('command-id');
  const { branch } = await writeTarget(call, await call.writer(), args[0] ?? '');
  const appended = await branch.append(messages, {
    ...(expectedRevision === undefined ? {} : { expectedRevision }),
    ...(commandId === undefined ? {} : { commandId }),
  });
  return {
    name: 'append',
    data: {
      conversation: branch.conversation,
      branch: branch.branch,
      branchName: branch.name,
      messages: appended,
    },
    rows: 'messages',
    text: () => appended.map((one) => lineOf(one, look)).join('\n'),
  };
};

const setInstructions = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const content = await neededContent(call, args[1] ?? '');
  const role = options.choice('role', ['system', 'developer'] as const);
  const [name, commandId] = [options.text('slot'), options.text('command-id')];
  const { branch } = await writeTarget(call, await call.writer(), args[0] ?? '');
  const { version } = await branch.instructions(content, {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(commandId === undefined ? {} : { commandId }),
  });
  const { text } = look.words;
  return {
    name: 'instructions',
    data: {
      conversation: branch.conversation,
      branchName: branch.name,
      slot: name ?? 'main',
      version,
    },
    text: () => `${text.instructionsSet}  ${idOf(name ?? 'main')}  v${String(version)}`,
  };
};

const redact = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const stemma = await call.writer();
  const located = await locateOne(call, stemma, 'message', messageIdIn(args[0] ?? ''));
  const branch = await branchFor(call, stemma, located);
  const reason = options.text('reason');
  await branch.redact(located.id, reason === undefined ? {} : { reason });
  const { text } = look.words;
  return {
    name: 'redact',
    data: { messageId: located.id, conversation: branch.conversation },
    text: () => `${text.redacted}  ${idOf(located.id)}\n${text.redactedNote}`,
  };
};

export const appendCommands: Register = ({ program, add }) => {
  add(program, {
    use: 'append <ref> [content]',
    key: 'append',
    options: [
      '--role <role>',
      '--text <text>',
      '--file <file>',
      '--batch <file>',
      '--id <id>',
      '--name <name>',
      '--tool-call-id <id>',
      '--outcome <outcome>',
      '--status <status>',
      '--late',
      '--pin',
      '--expect <revision>',
      '--branch <name>',
      '--as <actor>',
      '--run <run>',
      '--command-id <id>',
    ],
    run: append,
  });
  const instructions = add(program, { use: 'instructions', key: 'instructions' });
  add(instructions, {
    use: 'set <ref> [content]',
    key: 'instructions.set',
    options: [
      '--text <text>',
      '--file <file>',
      '--slot <slot>',
      '--role <role>',
      '--branch <name>',
      '--as <actor>',
      '--run <run>',
      '--command-id <id>',
    ],
    run: setInstructions,
  });
  add(program, {
    use: 'redact <message>',
    key: 'redact',
    options: ['--reason <text>', '--in <ref>', '--as <actor>'],
    run: redact,
  });
};
