import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import type { ImportAnswer } from '../../../import-file.js';
import type { Stemma } from '../../../face/stemma-face.js';
import {
  detectFormat,
  importFormats,
  planImport,
  type ImportFormat,
} from '../../importers/detect.js';
import { aboutSubject, readFault, refuse, refuseArgument } from '../faults.js';
import { fileBytes } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, sideBySide } from '../show.js';
import { nameOf } from '../targets.js';
import { oneLine } from '../terminal-text.js';

const NOTES_SHOWN = 10;

/** What taking a foreign file in would make. */
interface Would {
  readonly conversations: number;
  readonly branches: number;
  readonly messages: number;
  readonly compactions: number;
}

interface Taken extends ImportAnswer {
  readonly file: string;
  /** How people call the conversations: their ids here, in the same order. */
  readonly ids: readonly string[];
  readonly would?: Would;
}

const endings: ReadonlySet<string> = new Set(['.json', '.jsonl', '.ndjson']);

/** The files to take in: the one that was named, or those below a folder, by name. */
const filesOf = ({ io }: Invocation, name: string): readonly string[] => {
  const place = path.resolve(io.cwd, name);
  try {
    if (!fs.statSync(place).isDirectory()) return [name];
    return fs
      .readdirSync(place, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && endings.has(path.extname(entry.name)))
      .map((entry) =>
        path.join(name, path.relative(place, path.join(entry.parentPath, entry.name))),
      )
      .sort();
  } catch (error) {
    return refuse(readFault(error, name));
  }
};

const optionsOf = (call: Invocation, dryRun: boolean) => {
  const { options } = call;
  const from = options.choice('from', ['auto', ...importFormats]) ?? 'auto';
  const id = options.text('id');
  return {
    ...(from === 'auto' ? {} : { format: from satisfies ImportFormat }),
    ...(id === undefined ? {} : { id }),
    ...(options.flag('salvage') ? { salvage: true } : {}),
    dryRun,
  };
};

type TakeOptions = ReturnType<typeof optionsOf>;

const wouldMake = (bytes: Uint8Array, options: TakeOptions): Would | undefined => {
  const { dryRun: _dryRun, ...rest } = options;
  const plan = planImport(bytes, rest);
  // Lines of our own are events already: nothing is planned.
  if (E.isLeft(plan)) return undefined;
  const branches = plan.right.conversations.flatMap((conversation) => conversation.branches);
  const items = branches.flatMap((branch) => branch.items);
  return {
    conversations: plan.right.conversations.length,
    branches: branches.length,
    messages: items.filter(({ kind }) => kind === 'message').length,
    compactions: items.filter(({ kind }) => kind === 'compaction').length,
  };
};

const idsOf = async (
  stemma: Stemma,
  { conversations }: ImportAnswer,
): Promise<readonly string[]> => {
  const names: string[] = [];
  for (const { conversation } of conversations) {
    names.push((await nameOf(stemma, conversation)).id);
  }
  return names;
};

/** Takes one file in, or says which one was refused. */
const takeFile = async (
  call: Invocation,
  stemma: Stemma,
  file: string,
  dryRun: boolean,
): Promise<Taken> => {
  let told = 0;
  try {
    const [bytes, options] = [fileBytes(call, file), optionsOf(call, dryRun)];
    const would = dryRun ? wouldMake(bytes, options) : undefined;
    const answer = await stemma.import(bytes, {
      ...options,
      onProgress: (done) => {
        if (done - told < 500) return;
        told = done;
        call.progress(call.look.words.text.importProgress(call.look.words.number(done)));
      },
    });
    const ids = await idsOf(stemma, answer);
    return { file, ...answer, ids, ...(would === undefined ? {} : { would }) };
  } catch (error) {
    throw aboutSubject(error, file);
  }
};

/** Every file is read and decided before the first one is written (B58). */
const takeAll = async (
  call: Invocation,
  files: readonly string[],
  isDry: boolean,
): Promise<readonly Taken[]> => {
  const stemma = isDry ? await call.root.open({ store: 'memory:' }) : await call.writer();
  const taken: Taken[] = [];
  try {
    if (isDry || files.length > 1) {
      for (const file of files) taken.push(await takeFile(call, stemma, file, true));
    }
    if (isDry) return taken;
    const written: Taken[] = [];
    for (const [index, file] of files.entries()) {
      if (call.io.signal.aborted) return refuse({ _tag: 'Cancelled' });
      if (files.length > 1) {
        call.progress(`${String(index + 1)}/${String(files.length)}  ${file}`);
      }
      written.push(await takeFile(call, stemma, file, false));
    }
    return written;
  } finally {
    if (isDry) await stemma.close();
  }
};

const noteText = ({ code, line, id, detail }: ImportAnswer['report']['notes'][number]): string =>
  sideBySide(
    `  ${code}`,
    line === undefined ? '' : `:${String(line)}`,
    idOf(id ?? ''),
    oneLine(detail ?? '', 80),
  );

const wouldText = (would: Would | undefined, { words: { text, number } }: Look): string =>
  would === undefined
    ? text.nothingWritten
    : text.wouldMake({
        conversations: number(would.conversations),
        branches: number(would.branches),
        messages: number(would.messages),
        compactions: number(would.compactions),
      });

const takenText = (taken: Taken, look: Look, isDry: boolean): string => {
  const { file, report, conversations, appended, would, ids } = taken;
  const { text, number } = look.words;
  const { notes } = report;
  const columns = [
    { header: text.conversation, max: 64 },
    { header: text.branch, max: 40 },
    { header: text.uid },
  ];
  const cells = conversations.flatMap(({ conversation, branches }, index) => {
    const id = ids[index] ?? conversation;
    return branches.length === 0
      ? [[id, '', conversation]]
      : branches.map(({ name, branch }) => [id, name, branch]);
  });
  return [
    sideBySide(oneLine(file, 120), report.format),
    text.importCounts({
      records: number(report.records),
      mapped: number(report.mapped),
      kept: number(report.kept),
      duplicates: number(report.duplicates),
    }),
    ...notes.slice(0, NOTES_SHOWN).map(noteText),
    ...(notes.length > NOTES_SHOWN
      ? [`  ${text.moreNotes(number(notes.length - NOTES_SHOWN))}`]
      : []),
    isDry ? wouldText(would, look) : text.importWrote(number(appended)),
    ...(cells.length === 0 ? [] : [listing(look, columns, cells)]),
  ].join('\n');
};

const importFiles = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const name = args[0] ?? '';
  const all = filesOf(call, name);
  const isFolder = all.length !== 1 || all[0] !== name;
  if (isFolder && options.text('id') !== undefined) refuseArgument('id', 'excludes_another');
  // In a folder a file of no known format is passed by and named; one that was named is refused.
  const files = isFolder
    ? all.filter((file) => detectFormat(fileBytes(call, file)) !== undefined)
    : all;
  const skipped = all.filter((file) => !files.includes(file));
  if (files.length === 0) refuse({ _tag: 'NotFound', kind: 'transcript', ref: name });
  const isDry = options.flag('dry-run');
  const taken = await takeAll(call, files, isDry);
  const { text } = look.words;
  const first = taken[0]?.ids[0];
  return {
    name: 'import',
    data: { dryRun: isDry, files: taken, skipped },
    rows: 'files',
    text: () =>
      [
        ...taken.map((one) => takenText(one, look, isDry)),
        ...skipped.map((file) => sideBySide(text.skipped, oneLine(file, 200))),
        ...(first === undefined ? [] : [`${text.next}  stemma history ${idOf(first)}`]),
      ].join('\n'),
  };
};

export const importCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'import <path>',
    key: 'import',
    options: ['--from <format>', '--id <id>', '--dry-run'],
    run: importFiles,
  });
};
