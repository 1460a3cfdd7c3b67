import * as E from 'fp-ts/lib/Either.js';
import { digestOf } from '../../../domain/digest.js';
import type { StemmaFault } from '../../../domain/errors.js';
import type { ImportPlan, ImportedConversation } from '../../../domain/import-plan.js';
import { importIdOf, shortDigest, startNotes, usableId, type ImportOptions } from '../foreign.js';
import { splitLines } from '../lines.js';
import { layOut } from './layout.js';
import { linkRecords, type Links } from './links.js';
import { SYSTEM } from './messages.js';
import { readRecords, type SourceFile } from './records.js';
import { describeSource } from './source.js';

const fallbackIdOf = (file: SourceFile, options: ImportOptions): string =>
  options.id === undefined
    ? `${SYSTEM}-${shortDigest(file.records[0]?.text ?? '')}`
    : usableId(options.id);

const countsOf = (
  conversations: readonly ImportedConversation[],
  links: Links,
): { readonly mapped: number; readonly kept: number; readonly duplicates: number } => {
  const items = conversations.flatMap(({ branches }) => branches.flatMap((branch) => branch.items));
  const mapped = new Set(
    items.flatMap((item) =>
      item.kind === 'record'
        ? []
        : [item.kind === 'message' && item.message.raw === undefined ? '' : item.record],
    ),
  );
  mapped.delete('');
  return {
    mapped: mapped.size,
    kept: items.filter(({ kind }) => kind === 'record').length,
    duplicates: links.entries.filter((entry) => entry.kind === 'again' && entry.isEqual).length,
  };
};

/**
 * Plan of a Claude Code session file. One canonical message for each record (several results in one
 * record: one each), trees as branches, sidechains as conversations, compact boundaries as
 * compactions; every line is kept word for word. Refuses torn and broken lines unless `salvage`.
 */
export const planClaudeCode = (
  bytes: Uint8Array,
  options: ImportOptions,
): E.Either<StemmaFault, ImportPlan> => {
  const notes = startNotes();
  const lines = splitLines(bytes);
  if (lines.bom) notes.add('byte_order_mark', { line: 1 });
  const file = readRecords(lines, options.salvage === true, notes);
  if (E.isLeft(file)) return file;
  const links = linkRecords(file.right, notes);
  const laidOut = layOut(links, notes, fallbackIdOf(file.right, options));
  if (E.isLeft(laidOut)) return laidOut;
  const { conversations, openBoundaries } = laidOut.right;
  const digest = digestOf(bytes);
  const identity = conversations.map(({ externalId }) => externalId);
  return E.right({
    format: SYSTEM,
    importId: importIdOf(SYSTEM, identity, digest),
    digest,
    conversations,
    report: {
      format: SYSTEM,
      records: file.right.records.length,
      ...countsOf(conversations, links),
      notes: notes.list,
      source: {
        ...describeSource(file.right, links),
        boundaries_without_summary: openBoundaries,
      },
    },
  });
};
