import path from 'node:path';
import { rowsOf } from '../history-rows.js';
import { refuseArgument } from '../faults.js';
import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { nameOf, readTarget, type Target } from '../targets.js';
import { htmlPage, markdown, type TranscriptOf } from '../transcript.js';
import { writeFile } from '../write-file.js';

const formats = ['jsonl', 'md', 'html'] as const;

type Format = (typeof formats)[number];

const formatOf = ({ options }: Invocation, file: string | undefined): Format => {
  const named = options.choice('format', formats);
  if (named !== undefined) return named;
  if (file === undefined) return 'jsonl';
  const ending = path.extname(file).slice(1).toLowerCase();
  const found = formats.find((format) => format === ending);
  return found ?? refuseArgument('output', 'unknown_value');
};

const transcriptOf = async (target: Target): Promise<TranscriptOf> => {
  const { branch, stemma } = target;
  const head = (await branch.timeline(target.point)).items.at(-1)?.place;
  return {
    ...(await nameOf(stemma, branch.conversation)),
    branchName: branch.name,
    revision: head?.revision ?? -1,
  };
};

async function* eventLines(target: Target): AsyncGenerator<string, void> {
  for await (const line of target.stemma.export(target.branch.conversation)) yield `${line}\n`;
}

const partsOf = async (
  call: Invocation,
  target: Target,
  format: Format,
): Promise<AsyncIterable<string> | Iterable<string>> => {
  if (format === 'jsonl') {
    const { point } = target;
    // The events of a conversation are exported whole: a part of them proves nothing.
    if (point.revision !== undefined || point.time !== undefined) {
      refuseArgument('revision', 'excludes_another');
    }
    return eventLines(target);
  }
  const [of, rows] = [await transcriptOf(target), await rowsOf(target)];
  return format === 'md' ? markdown(of, rows, call.look) : htmlPage(of, rows, call.look);
};

/** To a pipe part by part, so that its size does not matter; to a terminal with every sign visible. */
const toOutput = async (
  { io, look }: Invocation,
  format: Format,
  parts: AsyncIterable<string> | Iterable<string>,
): Promise<Result> => {
  const isExact = look.format === 'text' && !io.stdout.isTTY;
  const kept: string[] = [];
  for await (const part of parts) {
    if (isExact) io.stdout.write(part);
    else kept.push(part);
  }
  const content = kept.join('');
  return { name: 'export', data: { format, content }, text: () => content };
};

const exportTo = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const file = options.text('output');
  const format = formatOf(call, file);
  const target = await readTarget(call, await call.reader(), args[0] ?? '');
  const parts = await partsOf(call, target, format);
  if (file === undefined) return toOutput(call, format, parts);
  const written = await writeFile(call, file, parts, options.flag('force'));
  const { text, number } = look.words;
  return {
    name: 'export',
    data: { format, ...written },
    text: () => text.wrote(file, number(written.bytes)),
  };
};

export const exportCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'export <ref>',
    key: 'export',
    options: ['-o, --output <file>', '--format <format>', '--force', '--branch <name>'],
    run: exportTo,
  });
};
