import type { ForkPlace } from '../../../engine/retries.js';
import { attemptsOf, type BranchNode, type Lineage } from '../../../projections/lineage.js';
import { wholeNumber } from '../arguments.js';
import { refuseArgument } from '../faults.js';
import { namedText } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, sideBySide, when } from '../show.js';
import {
  branchFor,
  callIdIn,
  idAmong,
  locateCall,
  messageIdIn,
  readTarget,
  type Target,
  writeTarget,
} from '../targets.js';

/** Ids of the messages on a branch. */
const messageIds = async ({ branch }: Target): Promise<readonly string[]> => {
  const { entries, compactions } = await branch.history();
  return [
    ...entries.map((entry) => (entry.kind === 'instructions' ? entry.messageId : entry.message.id)),
    ...compactions.flatMap(({ data }) => data.replacement?.id ?? []),
  ];
};

const callIds = async ({ branch }: Target): Promise<readonly string[]> =>
  (await branch.calls()).calls.map(({ modelCallId }) => modelCallId);

const REVISION = /^(?:.*@)?([+-]?[\d.]+)$/;

/** `m:ID` (behind the message), `c:ID` (before the call), `REV` or `CONV@REV`. */
const forkPlace = async (target: Target, at: string): Promise<ForkPlace> => {
  if (at.startsWith('m:')) {
    return { after: idAmong('message', await messageIds(target), messageIdIn(at)) };
  }
  if (at.startsWith('c:')) {
    return { beforeCall: idAmong('call', await callIds(target), callIdIn(at)) };
  }
  const revision = REVISION.exec(at)?.[1];
  return revision === undefined
    ? refuseArgument('at', 'unknown_value')
    : { revision: wholeNumber('at', revision, { least: 0 }) };
};

const create = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const at = options.needed('at');
  const target = await writeTarget(call, await call.writer(), args[0] ?? '');
  const { branch } = target;
  const [name, commandId] = [options.text('name'), options.text('command-id')];
  const made = await branch.fork(await forkPlace(target, at), {
    ...(name === undefined ? {} : { name }),
    ...(commandId === undefined ? {} : { commandId }),
  });
  const { text } = look.words;
  return {
    name: 'branch',
    data: {
      conversation: made.conversation,
      branch: made.branch,
      branchName: made.name,
      from: branch.branch,
      fromName: branch.name,
    },
    text: () => `${text.branched(idOf(made.name), idOf(branch.name))}\n${text.parentUntouched}`,
  };
};

const nodeData = ({ annotations: _annotations, ...node }: BranchNode, head: number) => ({
  ...node,
  head,
});

const nodeCells = (
  node: BranchNode,
  head: number,
  { branches }: Lineage,
  look: Look,
): readonly string[] => {
  const { text } = look.words;
  const { parent } = node;
  const from =
    parent === undefined
      ? ''
      : `${branches.get(parent.branch)?.name ?? parent.branch}@${String(parent.revision)}`;
  const marks = [node.promoted ? text.delivered : '', node.hidden ? text.importing : ''];
  return [
    node.depth === 0 ? node.name : `${'│'.repeat(Math.min(8, node.depth - 1))}└ ${node.name}`,
    String(head),
    from,
    text.branchReason(node.reason),
    when(node.at),
    node.actor,
    node.branch,
    marks.filter((mark) => mark !== '').join(' '),
  ];
};

const nodeColumns = ({ words: { text } }: Look) => [
  { header: text.branch, max: 40 },
  { header: text.head, align: 'right' as const },
  { header: text.from },
  { header: text.why },
  { header: text.whenUtc },
  { header: text.actor, max: 24 },
  { header: text.uid },
  { header: '' },
];

/** Own head of each branch. */
const headsOf = async (
  target: Target,
  nodes: readonly BranchNode[],
): Promise<ReadonlyMap<string, number>> => {
  const heads = new Map<string, number>();
  for (const { branch } of nodes) {
    const open = await target.stemma.open(`${target.branch.conversation}/${branch}`);
    heads.set(branch, (await open.session()).head);
  }
  return heads;
};

const nodesResult = async (
  name: string,
  target: Target,
  nodes: readonly BranchNode[],
  tree: Lineage,
  look: Look,
): Promise<Result> => {
  const heads = await headsOf(target, nodes);
  const head = (node: BranchNode): number => heads.get(node.branch) ?? -1;
  return {
    name,
    data: {
      conversation: target.branch.conversation,
      main: tree.main ?? null,
      promoted: tree.promoted ?? null,
      branches: nodes.map((node) => nodeData(node, head(node))),
    },
    rows: 'branches',
    text: () =>
      listing(
        look,
        nodeColumns(look),
        nodes.map((node) => nodeCells(node, head(node), tree, look)),
      ),
  };
};

const ls = async (call: Invocation): Promise<Result> => {
  const target = await readTarget(call, await call.reader(), call.args[0] ?? '');
  const tree = await target.stemma.lineage(target.branch.conversation);
  return nodesResult('branches', target, [...tree.branches.values()], tree, call.look);
};

const attempts = async (call: Invocation): Promise<Result> => {
  const stemma = await call.reader();
  const located = await locateCall(call, stemma, call.args[0] ?? '');
  const branch = await branchFor(call, stemma, located);
  const tree = await stemma.lineage(located.conversation);
  const target: Target = { stemma, branch, point: {}, names: new Map() };
  return nodesResult('attempts', target, attemptsOf(tree, located.id), tree, call.look);
};

const label = async (call: Invocation): Promise<Result> => {
  const { look, args } = call;
  const { branch } = await writeTarget(call, await call.writer(), args[0] ?? '');
  const name = args[1] ?? '';
  await branch.label(name);
  return {
    name: 'branch.label',
    data: { conversation: branch.conversation, branch: branch.branch, branchName: name },
    text: () => sideBySide(look.words.text.labelled, idOf(branch.name), '→', idOf(name)),
  };
};

const promote = async (call: Invocation): Promise<Result> => {
  const { look, args, options } = call;
  const { branch } = await writeTarget(call, await call.writer(), args[0] ?? '');
  await branch.promote(options.text('reason'));
  return {
    name: 'branch.promote',
    data: { conversation: branch.conversation, branch: branch.branch, branchName: branch.name },
    text: () => sideBySide(look.words.text.promoted, idOf(branch.name)),
  };
};

interface Edit {
  readonly id: string;
  readonly content: string;
}

/** `m:ID=FILE`: the message that is said anew, and what is said. */
const editGiven = async (call: Invocation, target: Target): Promise<Edit | undefined> => {
  const given = call.options.text('edit');
  if (given === undefined) return undefined;
  const equals = given.indexOf('=');
  if (equals < 1) return refuseArgument('edit', 'wrong_type');
  const id = idAmong('message', await messageIds(target), messageIdIn(given.slice(0, equals)));
  return { id, content: await namedText(call, given.slice(equals + 1)) };
};

const retry = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const target = await writeTarget(call, await call.writer(), args[0] ?? '');
  const { branch } = target;
  const edit = await editGiven(call, target);
  const at = options.text('at') ?? (edit === undefined ? options.needed('at') : `m:${edit.id}`);
  const isCall = at.startsWith('c:');
  // An edit is of the very message from which the attempt begins.
  if (edit !== undefined && isCall) refuseArgument('edit', 'excludes_another');
  const before = isCall ? undefined : idAmong('message', await messageIds(target), messageIdIn(at));
  if (edit !== undefined && before !== edit.id) refuseArgument('edit', 'excludes_another');
  const [name, newId, commandId] = [
    options.text('name'),
    options.text('id'),
    options.text('command-id'),
  ];
  const made = await branch.retry({
    ...(before === undefined
      ? { ofCall: idAmong('call', await callIds(target), callIdIn(at)) }
      : { before }),
    ...(edit === undefined
      ? {}
      : { replace: { content: edit.content, ...(newId === undefined ? {} : { id: newId }) } }),
    ...(name === undefined ? {} : { name }),
    ...(commandId === undefined ? {} : { commandId }),
  });
  const { text } = look.words;
  return {
    name: 'retry',
    data: {
      conversation: made.conversation,
      branch: made.branch,
      branchName: made.name,
      from: branch.branch,
      fromName: branch.name,
      at,
      edited: edit?.id ?? null,
    },
    text: () =>
      [
        text.branched(idOf(made.name), idOf(branch.name)),
        ...(edit === undefined ? [] : [text.edited(idOf(edit.id))]),
        text.parentUntouched,
      ].join('\n'),
  };
};

const writing = ['--as <actor>', '--run <run>'];

export const branchCommands: Register = ({ program, add }) => {
  const parent = add(program, {
    use: 'branch <ref>',
    key: 'branch',
    options: ['--at <place>', '--name <name>', '--branch <name>', '--command-id <id>', ...writing],
    run: create,
  });
  add(parent, { use: 'ls <ref>', key: 'branch.ls', run: ls });
  add(parent, { use: 'label <ref> <name>', key: 'branch.label', options: writing, run: label });
  add(parent, {
    use: 'promote <ref>',
    key: 'branch.promote',
    options: ['--reason <text>', ...writing],
    run: promote,
  });
  add(parent, {
    use: 'attempts <call>',
    key: 'branch.attempts',
    options: ['--in <ref>'],
    run: attempts,
  });
  add(program, {
    use: 'retry <ref>',
    key: 'retry',
    options: [
      '--at <place>',
      '--edit <message=file>',
      '--id <id>',
      '--name <name>',
      '--branch <name>',
      '--command-id <id>',
      ...writing,
    ],
    run: retry,
  });
};
