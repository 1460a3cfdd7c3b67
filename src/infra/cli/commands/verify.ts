import fs from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../../domain/error-rows/row.js';
import type { Verification } from '../../../engine/verification.js';
import { refuseArgument } from '../faults.js';
import { fileBytes } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, sideBySide } from '../show.js';
import { verifyFile } from '../verify-file.js';

const countLine = (found: Verification, look: Look): string => {
  const { text, number } = look.words;
  const unknown = found.unknown.reduce((sum, { events }) => sum + events, 0);
  return text.verified({
    streams: number(found.streams),
    events: number(found.events),
    bodies: number(found.blobs),
    regressions: number(found.clockRegressions),
    unknown: number(unknown),
  });
};

const verifyText = (subject: string, found: Verification, look: Look): string => {
  const { text, number } = look.words;
  const columns = [
    { header: text.checkName },
    { header: text.stream },
    { header: text.rev, align: 'right' as const },
    { header: text.event },
  ];
  const cells = found.faults.map(({ check, stream, revision, eventId = '-' }) => [
    check,
    stream,
    revision < 0 ? '-' : String(revision),
    eventId,
  ]);
  return [
    sideBySide(idOf(subject), countLine(found, look)),
    ...(found.ok
      ? [look.paint.good(text.intact)]
      : [look.paint.bad(text.broken(number(found.faults.length))), listing(look, columns, cells)]),
    text.proves,
  ].join('\n');
};

/** An argument that names a file of exchange lines, not a conversation. */
const isFile = ({ io }: Invocation, name: string): boolean =>
  /\.(jsonl|ndjson)$/i.test(name) &&
  fs.statSync(path.resolve(io.cwd, name), { throwIfNoEntry: false })?.isFile() === true;

const verify = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const name = args[0] ?? '';
  if (options.flag('all') && name !== '') refuseArgument('all', 'excludes_another');
  // Without a name everything is verified: nobody may think that all is well who checked nothing.
  const isAll = name === '';
  const found = isFile(call, name)
    ? verifyFile(fileBytes(call, name))
    : await (await call.reader()).verify(isAll ? undefined : name);
  const subject = isAll ? look.words.text.wholeStore : name;
  return {
    name: 'verify',
    data: { subject: isAll ? null : name, ...found },
    text: () => verifyText(subject, found, look),
    ...(found.ok ? {} : { exit: EXIT.integrity }),
  };
};

export const verifyCommand: Register = ({ program, add }) => {
  add(program, { use: 'verify [ref]', key: 'verify', options: ['--all'], run: verify });
};
