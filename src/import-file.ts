import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from './domain/errors.js';
import type { ImportReport } from './domain/import-plan.js';
import { argumentFault, optionalNameFault, optionsFault } from './engine/arguments.js';
import { importExchange } from './engine/exchange.js';
import type { EngineContext } from './engine/engine-context.js';
import { runImport, type ImportedConversationResult } from './engine/import-run.js';
import type { Task } from './engine/runtime.js';
import {
  detectFormat,
  importFormats,
  planImport,
  type ImportFormat,
} from './infra/importers/detect.js';
import { readExchange } from './infra/importers/stemma-jsonl.js';

export interface ImportFileOptions {
  /** Taken as this format; absent: told by the content. */
  readonly format?: ImportFormat;
  /** Identity of the conversation, where the format has none. */
  readonly id?: string;
  /** Take what can be read instead of refusing the file. */
  readonly salvage?: boolean;
  /** Read and decide, but write nothing. */
  readonly dryRun?: boolean;
  readonly onProgress?: (done: number) => void;
}

/** What an import took over, and what it wrote. */
export interface ImportAnswer {
  readonly report: ImportReport;
  readonly conversations: readonly ImportedConversationResult[];
  /** Events written; 0 when everything was known, or for a dry run. */
  readonly appended: number;
}

const takeExchange =
  (context: EngineContext, bytes: Uint8Array, options: ImportFileOptions): Task<ImportAnswer> =>
  async () => {
    const file = readExchange(bytes, { salvage: options.salvage === true });
    if (E.isLeft(file)) return file;
    const { header, events, notes } = file.right;
    const report: ImportReport = {
      format: 'stemma-jsonl',
      records: events.length,
      mapped: events.length,
      kept: 0,
      duplicates: 0,
      notes,
      source: { producer: header.producer, conversations: header.conversations.length },
    };
    if (options.dryRun === true) return E.right({ report, conversations: [], appended: 0 });
    const taken = await importExchange(context, file.right)();
    if (E.isLeft(taken)) return taken;
    const conversations = taken.right.conversations.map((conversation) => ({
      externalId: conversation,
      conversation,
      branches: [],
    }));
    return E.right({ report, conversations, appended: taken.right.appended });
  };

const kinds = {
  format: 'text',
  id: 'text',
  salvage: 'flag',
  dryRun: 'flag',
  onProgress: 'any',
} as const;

const inputFault = (bytes: unknown, options: ImportFileOptions): StemmaFault | undefined => {
  if (!(bytes instanceof Uint8Array)) return argumentFault('bytes', 'wrong_type');
  const { format, id } = options;
  // Nothing, or nothing but white space, is no cut-off document.
  if (!bytes.some((byte) => byte > 0x20)) {
    return { _tag: 'InvalidShape', path: '', expected: importFormats.join(' or ') };
  }
  return (
    optionsFault(options, kinds) ??
    (format === undefined || importFormats.includes(format)
      ? optionalNameFault('/id', id)
      : argumentFault('format', 'unknown_value'))
  );
};

/** Takes a file in: stemma's own exchange lines, or a foreign format, told by its content. */
export const importFile =
  (
    context: EngineContext,
    bytes: Uint8Array,
    options: ImportFileOptions = {},
  ): Task<ImportAnswer> =>
  async () => {
    const fault = inputFault(bytes, options);
    if (fault !== undefined) return E.left(fault);
    const { format, id, salvage, dryRun, onProgress } = options;
    if ((format ?? detectFormat(bytes)) === 'stemma-jsonl') {
      return takeExchange(context, bytes, options)();
    }
    const plan = planImport(bytes, {
      ...(format === undefined ? {} : { format }),
      ...(id === undefined ? {} : { id }),
      ...(salvage === undefined ? {} : { salvage }),
    });
    if (E.isLeft(plan)) return plan;
    const { report } = plan.right;
    if (dryRun === true) return E.right({ report, conversations: [], appended: 0 });
    const result = await runImport(context, plan.right, onProgress)();
    return E.isLeft(result) ? result : E.right({ report, ...result.right });
  };
