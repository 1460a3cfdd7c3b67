import type {
  CompactionAnswer,
  CompactionOptions,
  CompactionPlan,
} from '../../../engine/compactions.js';
import { refuseArgument } from '../faults.js';
import { namedText } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import { profileFor } from '../profiles.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, sideBySide } from '../show.js';
import { idAmong, messageIdIn, writeTarget, readTarget, type Target } from '../targets.js';

const strategies = ['keep-last', 'elide-tool-results', 'summary'] as const;

const optionsGiven = async (call: Invocation, target: Target): Promise<CompactionOptions> => {
  const { options } = call;
  const file = options.text('summary-file');
  const strategy =
    options.choice('strategy', strategies) ?? (file === undefined ? 'keep-last' : 'summary');
  if (strategy === 'summary' && file === undefined) refuseArgument('summary-file', 'missing');
  if (strategy !== 'summary' && file !== undefined) {
    refuseArgument('summary-file', 'excludes_another');
  }
  const keepLast = options.whole('keep-last', { least: 0 });
  const from = options.text('keep-from');
  const commandId = options.text('command-id');
  const ids = (await target.branch.history()).entries.flatMap((entry) =>
    entry.kind === 'instructions' ? [] : [entry.message.id],
  );
  return {
    strategy,
    profile: await profileFor(call, target.branch),
    ...(file === undefined ? {} : { summary: await namedText(call, file) }),
    ...(keepLast === undefined ? {} : { keepLast }),
    ...(from === undefined ? {} : { keepFrom: idAmong('message', ids, messageIdIn(from)) }),
    ...(options.flag('strict') ? { onSplit: 'reject' as const } : {}),
    ...(options.flag('progress') ? { requireProgress: true } : {}),
    ...(commandId === undefined ? {} : { commandId }),
  };
};

/** A plan, or what is known of it once it was carried out. */
type Shown = CompactionAnswer['plan'] & Partial<CompactionPlan>;

const planText = (plan: Shown, look: Look): readonly string[] => {
  const { text, number } = look.words;
  const { covered, tokensBefore, tokensAfter, moved, breaksPrefixAt, strategy = '' } = plan;
  return [
    sideBySide(
      strategy,
      text.covers(number(covered.length)),
      text.saved(number(tokensBefore), number(tokensAfter)),
    ),
    listing(
      look,
      [{ header: text.id, max: 60 }],
      covered.map((id) => [id]),
    ),
    ...(moved === undefined ? [] : [text.cutMoved(idOf(moved.from), idOf(moved.to))]),
    ...(breaksPrefixAt === undefined ? [] : [text.breaksPrefix(idOf(breaksPrefixAt))]),
  ];
};

const undo = async (call: Invocation, target: Target, wanted: string): Promise<Result> => {
  const { branch } = target;
  const { compactions } = await branch.history();
  const ids = compactions.map(({ data }) => data.compaction);
  const compaction = idAmong('compaction', ids, wanted);
  await branch.undoCompaction(compaction, call.options.text('reason'));
  const { text } = call.look.words;
  return {
    name: 'compact',
    data: { conversation: branch.conversation, branchName: branch.name, undone: compaction },
    text: () => sideBySide(text.undone, idOf(compaction)),
  };
};

const compact = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const [isDry, wanted] = [options.flag('dry-run'), options.text('undo')];
  if (isDry && wanted !== undefined) refuseArgument('dry-run', 'excludes_another');
  const ref = args[0] ?? '';
  const target = isDry
    ? await readTarget(call, await call.reader(), ref)
    : await writeTarget(call, await call.writer(), ref);
  if (wanted !== undefined) return undo(call, target, wanted);
  const { branch } = target;
  const given = await optionsGiven(call, target);
  const { text } = look.words;
  const base = { conversation: branch.conversation, branchName: branch.name };
  if (isDry) {
    const plan = await branch.planCompaction(given);
    const { states: _states, ...shown } = plan;
    return {
      name: 'compact',
      data: { ...base, dryRun: true, plan: shown },
      text: () => [text.dryRun, ...planText(plan, look)].join('\n'),
    };
  }
  const { compaction, summaryId, plan } = await branch.compact(given);
  const shown = { strategy: given.strategy, ...plan };
  return {
    name: 'compact',
    data: { ...base, compaction, summaryId: summaryId ?? null, plan: shown },
    text: () => [sideBySide(text.compacted, idOf(compaction)), ...planText(shown, look)].join('\n'),
  };
};

export const compactCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'compact <ref>',
    key: 'compact',
    options: [
      '--strategy <name>',
      '--summary-file <file>',
      '--keep-last <n>',
      '--keep-from <message>',
      '--strict',
      '--progress',
      '--dry-run',
      '--undo <compaction>',
      '--reason <text>',
      '--profile <name>',
      '--model <model>',
      '--branch <name>',
      '--command-id <id>',
      '--as <actor>',
      '--run <run>',
    ],
    run: compact,
  });
};
