import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../../domain/errors.js';
import { isExchangeHeader } from '../../domain/exchange-lines.js';
import type { ImportPlan } from '../../domain/import-plan.js';
import { scanJson } from '../../domain/json-scan.js';
import type { Json } from '../../domain/json-value.js';
import { decodeUtf8 } from '../../domain/text.js';
import { planClaudeCode } from './claude-code/importer.js';
import { FILE_JSON, isObject, member, textMember, type ImportOptions } from './foreign.js';
import { documentFault, splitLines, type SourceLines } from './lines.js';
import { planOpenAiChat } from './openai-chat/importer.js';
import { isChatDocument, suggestionFor } from './openai-chat/shape.js';

export type { ImportOptions } from './foreign.js';

/** Formats that are recognised by what a file holds, never by its name. */
export type ImportFormat = 'stemma-jsonl' | 'claude-code' | 'openai-chat';

/** All of them, in the order in which a file is looked at. */
export const importFormats: readonly ImportFormat[] = [
  'stemma-jsonl',
  'claude-code',
  'openai-chat',
];

/** Lines that are looked at to tell a format: a file may begin with many of little meaning. */
const LOOKED_AT = 200;

const parsed = (text: string): Json | undefined =>
  E.isRight(scanJson(text, FILE_JSON)) ? (JSON.parse(text) as Json) : undefined;

/** Records that only Claude Code's session files have. */
const isSessionRecord = (value: Json): boolean => {
  const type = textMember(value, 'type');
  const message = member(value, 'message');
  if (type === 'user' || type === 'assistant') {
    const hasContent = isObject(message) && Object.hasOwn(message, 'content');
    const isNamed = ['uuid', 'sessionId', 'parentUuid', 'timestamp', 'cwd'].some(
      (key) => member(value, key) !== undefined,
    );
    return hasContent && isNamed;
  }
  if (type === 'summary') return textMember(value, 'leafUuid') !== undefined;
  if (type === 'file-history-snapshot') return isObject(member(value, 'snapshot'));
  return textMember(value, 'uuid') !== undefined && textMember(value, 'sessionId') !== undefined;
};

const isSession = ({ lines }: SourceLines): boolean =>
  lines.slice(0, LOOKED_AT).some(({ text }) => {
    const value = parsed(text);
    return value !== undefined && isSessionRecord(value);
  });

const wholeDocument = ({ lines }: SourceLines): Json | undefined =>
  parsed(lines.map(({ text }) => text).join('\n'));

const detectIn = (source: SourceLines): ImportFormat | undefined => {
  const first = source.lines[0]?.text ?? '';
  if (isExchangeHeader(first.trimStart())) return 'stemma-jsonl';
  if (isSession(source)) return 'claude-code';
  const document = wholeDocument(source);
  return document !== undefined && isChatDocument(document) ? 'openai-chat' : undefined;
};

/** The format of a file by its content; undefined for any other, which is never guessed at. */
export const detectFormat = (bytes: Uint8Array): ImportFormat | undefined =>
  detectIn(splitLines(bytes));

/** Why a file is no document at all. */
const brokenFault = (bytes: Uint8Array): StemmaFault | undefined => {
  const decoded = decodeUtf8(bytes);
  if (E.isLeft(decoded)) return decoded.left;
  const { text, bom } = decoded.right;
  const scanned = scanJson(text, FILE_JSON);
  return E.isLeft(scanned) ? documentFault(scanned.left, text, bom) : undefined;
};

/** Lines that are JSON each by itself: a file of another kind, and no broken document. */
const isOfLines = ({ lines }: SourceLines): boolean =>
  lines.length > 1 && parsed(lines[0]?.text ?? '') !== undefined;

const unknownFault = (
  bytes: Uint8Array,
  source: SourceLines,
  format: ImportFormat | undefined,
): StemmaFault => {
  const document = wholeDocument(source);
  const broken = document === undefined && !isOfLines(source) ? brokenFault(bytes) : undefined;
  if (broken !== undefined) return broken;
  const suggestion = document === undefined ? undefined : suggestionFor(document);
  return format === undefined || suggestion === undefined
    ? { _tag: 'InvalidShape', path: '', expected: importFormats.join(' or ') }
    : { _tag: 'ProfileMismatch', profile: format, suggestion };
};

/** What a caller may say about a file whose format is told or given. */
export interface PlanOptions extends ImportOptions {
  /** Taken as this format; absent: told by the content. */
  readonly format?: ImportFormat;
}

const plannersOf: Readonly<
  Record<
    Exclude<ImportFormat, 'stemma-jsonl'>,
    (bytes: Uint8Array, options: ImportOptions) => E.Either<StemmaFault, ImportPlan>
  >
> = { 'claude-code': planClaudeCode, 'openai-chat': planOpenAiChat };

/**
 * Reads a foreign file whole and decides what to take over, before anything is appended (B58). A file
 * of another format than the one given is refused with a suggestion (B60). Exchange lines are no
 * foreign file: they go to `readExchange`.
 */
export const planImport = (
  bytes: Uint8Array,
  options: PlanOptions = {},
): E.Either<StemmaFault, ImportPlan> => {
  const { format, ...rest } = options;
  const source = splitLines(bytes);
  const detected = detectIn(source);
  const wanted = format ?? detected;
  if (wanted === undefined) return E.left(unknownFault(bytes, source, format));
  if (format !== undefined && detected !== undefined && detected !== format) {
    return E.left({ _tag: 'ProfileMismatch', profile: format, suggestion: detected });
  }
  if (wanted === 'stemma-jsonl') {
    return E.left({ _tag: 'InvalidArgument', name: 'format', reason: 'unknown_value' });
  }
  return plannersOf[wanted](bytes, rest);
};
