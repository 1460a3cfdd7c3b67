import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  describeFault,
  errorTable,
  faultTags,
  isRetryable,
  slugOf,
} from '../../src/domain/error-table.js';
import type { FaultData, FaultTag, StemmaFault } from '../../src/domain/errors.js';

const place = { branch: 'b-1', revision: 7 };
const digests = { digest: 's1:new', storedDigest: 's1:old' };

/** One fault of every tag with all of its fields; a missing tag or field does not compile. */
const samples: { readonly [T in FaultTag]: Required<FaultData[T]> } = {
  RevisionConflict: { expected: 3, actual: 'none' },
  CommandConflict: { commandId: 'c-1', ...digests },
  MessageIdConflict: { id: 'm-1', place, ...digests },
  RecordIdConflict: { system: 'smolagents', recordId: 'r-1', ...digests },
  AlreadyAppendedErased: { id: 'm-1', place },
  BatchPartlyKnown: { index: 2, ids: ['m-1'] },
  TurnOpen: { turn: 't-1', run: 'r-1' },
  RunSuperseded: { run: 'r-1', currentRun: 'r-2' },
  TooManyOpen: { open: 1_001, limit: 1_000 },
  ConversationIsClosed: { conversation: 'c-1', branch: 'b-1' },
  LegalHold: { hold: 'h-1', scope: 'c-1' },
  TargetExists: { path: 'out.jsonl' },
  OpenToolCalls: { ids: ['c1', 'c2'], index: 4 },
  OrphanToolResult: { callId: 'c1' },
  DuplicateToolResult: { callId: 'c1', place },
  MissingToolCallId: { index: 1, path: '/messages/1' },
  OrderViolation: { rule: 'last_role', profileRule: 'oai-7', index: 1, ids: ['m-1'] },
  UnknownRole: { index: 1, path: '/role' },
  RoleNotAllowed: { role: 'system', origin: 'end_user' },
  RoleNotSupported: { role: 'developer', index: 1, profile: 'p-1' },
  ToolArgumentsInvalid: { ids: ['c1'], rule: 'not_json', profileRule: 'oai-9' },
  ReasoningRequired: { id: 'm-1', rule: 'signature_missing', profileRule: 'ant-2' },
  ProfileMismatch: { profile: 'p-1', suggestion: 'p-2', index: 1 },
  ParentNotFound: { id: 'm-0' },
  BudgetImpossible: { needed: 900, available: 800, parts: ['m-1'] },
  CompactionInvalid: { reason: 'splits_unit', ids: ['m-1'] },
  CompactionStale: { ids: ['m-1'] },
  CompactionNoProgress: { tokensBefore: 10, tokensAfter: 12 },
  ReplayMiss: { name: 'refund', occurrence: 2 },
  InvalidJson: { offset: 5 },
  InvalidShape: { path: '/content', index: 37, expected: 'text' },
  InvalidValue: { path: '/a', kind: 'cycle' },
  UnsafeNumber: { path: '' },
  InvalidTimestamp: { path: '/at' },
  InvalidId: { path: '/id', reason: 'blank' },
  IllFormedUnicode: { path: '/id', id: 'm-1' },
  InvalidUtf8: { line: 2, byte: 9 },
  DuplicateKey: { path: '/role' },
  ForbiddenKey: { path: '/__proto__' },
  TooDeep: { depth: 65, limit: 64 },
  TooManyKeys: { limit: 100_000 },
  TooLarge: { bytes: 2, limit: 1 },
  AppendTooLarge: { bytes: 2, events: 1, limit: 1 },
  SecretRefused: { index: 1, pattern: 'aws-key' },
  InvalidArgument: { name: 'limit', reason: 'out_of_range' },
  UnknownFilter: { name: 'x' },
  BadCursor: {},
  TruncatedInput: { line: 3, offset: 99 },
  DanglingParent: { ids: ['m-2'], missing: ['m-1'] },
  UnsafeArchive: { entry: '../x', reason: 'escapes_target' },
  TargetUnwritable: { path: 'out', reason: 'directory' },
  NotFound: { kind: 'branch', ref: 'x' },
  RevisionInFuture: { revision: 9, head: 8 },
  Unauthenticated: {},
  Forbidden: { action: 'erase' },
  ForeignHost: {},
  ForeignOrigin: {},
  BindRefused: { host: '0.0.0.0' },
  RateLimited: { retryAfter: 2 },
  SlowConsumer: { position: '17' },
  UnknownEvent: { type: 'X', version: 2, revision: 5, reason: 'type' },
  UnknownFormat: { fmt: 'stemma/9' },
  Damaged: { stream: 's-1', revision: 5, check: 'hash' },
  StreamDeleted: { stream: 's-1' },
  StoreChanged: { storeId: 'st-1', position: '17' },
  WalMissing: { path: 'a.db' },
  NotAStore: { path: 'a.db', found: 'empty' },
  StoreTooNew: { schema: 2, supported: 1 },
  WrongRevision: { expected: 'none', actual: 3 },
  OutcomeUnknown: { stream: 's-1', expected: 3, ids: ['e-1'] },
  Unavailable: { reason: 'timeout', path: 'a.db' },
  StorageFull: { path: 'a.db' },
  ReadOnly: { path: 'a.db' },
  AccessDenied: { path: 'a.db' },
  StoreLocked: { path: 'a.db' },
  UnsafeFilesystem: { path: 'a.db', filesystem: 'nfs' },
  UnsafeDriver: { version: '3.40.0' },
  KeysMissing: { fingerprint: 'f-1' },
  KeysMismatch: { fingerprint: 'f-1', found: 'f-2' },
  Cancelled: {},
  Unexpected: { ref: 'log-1' },
};

const sampleOf = (tag: FaultTag): StemmaFault =>
  ({ _tag: tag, ...samples[tag] }) as unknown as StemmaFault;

const tags = Object.keys(samples) as readonly FaultTag[];

/** Fields that may be absent, as the reference page marks them. */
const plain = (field: string): string => field.replace('?', '');

interface DocumentedError {
  readonly tag: string;
  readonly isRetryable: boolean;
  readonly when: string;
  readonly data: readonly string[];
  readonly http: number | null;
  readonly exit: number;
}

const documented = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| [A-Z]\w+( ↻)? \| (?!When)/.test(line))
  .map((line): DocumentedError => {
    const [name = '', when = '', data = '', http = '', exit = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return {
      tag: name.replace(' ↻', ''),
      isRetryable: name.endsWith(' ↻'),
      when,
      data: data === '–' ? [] : data.split(', '),
      http: http === '–' ? null : Number(http),
      exit: Number(exit),
    };
  });

describe('MS2 every error is documented and has words', () => {
  it('MS2 the table has a row for every tag, and no other', () => {
    expect([...faultTags].sort()).toEqual([...tags].sort());
    expect(faultTags.every((tag) => codeOf(tag) === tag)).toBe(true);
  });

  it('MS2 the reference page lists every tag once, and no other', () => {
    expect(documented.map(({ tag }) => tag).sort()).toEqual([...tags].sort());
  });

  it.each(documented)('MS2 the reference page agrees with the code about $tag', (row) => {
    const fault = sampleOf(row.tag as FaultTag);
    const { code, http, exit } = describeFault(fault);
    expect({ code, http, exit, isRetryable: isRetryable(fault) }).toEqual({
      code: row.tag,
      http: row.http,
      exit: row.exit,
      isRetryable: row.isRetryable,
    });
    const { _tag, ...data } = fault;
    expect(Object.keys(data).sort()).toEqual(row.data.map(plain).sort());
    expect(row.when.length).toBeGreaterThan(20);
  });

  it.each(tags)('MS2 %s has a sentence and a hint, with and without optional fields', (tag) => {
    const { message, hint } = describeFault(sampleOf(tag));
    const optional = documented.find((row) => row.tag === tag)?.data.filter((f) => f.endsWith('?'));
    const required = Object.entries(sampleOf(tag)).filter(
      ([field]) => optional?.includes(`${field}?`) !== true,
    );
    const short = describeFault(Object.fromEntries(required) as unknown as StemmaFault);
    for (const sentence of [message, hint, short.message]) {
      expect(sentence).toMatch(/^["A-Z0-9].*\.$/);
      expect(sentence).not.toMatch(/undefined|\[object|NaN|null|\n/);
    }
  });

  it('MS2 statuses and exit codes are the ones that surfaces know', () => {
    for (const { http, exit } of Object.values(errorTable)) {
      expect([null, 400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 507]).toContain(http);
      expect([1, 2, 3, 4, 5, 6, 7, 8, 130]).toContain(exit);
    }
  });

  it('MS2 slugs are kebab case and differ', () => {
    expect(slugOf('RevisionConflict')).toBe('revision-conflict');
    expect(slugOf('InvalidUtf8')).toBe('invalid-utf8');
    expect(slugOf('NotAStore')).toBe('not-a-store');
    expect(new Set(faultTags.map(slugOf)).size).toBe(faultTags.length);
  });
});

describe('MS3 S05 messages hold no more than they must', () => {
  const hostile = `x\u001b[2J\nfake log line\u202e${'y'.repeat(10_000)}`;
  const closed = ['rule', 'reason', 'kind', 'check', 'found'];
  const fill = (field: string, value: unknown): unknown => {
    if (Array.isArray(value)) return Array.from({ length: 1_000 }, () => hostile);
    if (field === 'place') return { branch: hostile, revision: 1 };
    return typeof value === 'string' && value !== 'none' && !closed.includes(field)
      ? hostile
      : value;
  };
  const texts = tags.map((tag) => {
    const filled = Object.fromEntries(
      Object.entries(samples[tag]).map(([field, value]) => [field, fill(field, value)]),
    );
    return [tag, describeFault({ _tag: tag, ...filled } as unknown as StemmaFault)] as const;
  });

  it.each(texts)('S05 %s escapes and cuts ids, paths and names', (_tag, { message, hint }) => {
    expect(/[\p{Cc}\p{Cf}]/u.test(message + hint)).toBe(false);
    expect(message.length).toBeLessThan(1_600);
  });

  it('MS3 an unexpected fault tells nothing but the log entry', () => {
    const fault = { _tag: 'Unexpected', ref: 'log-1', cause: 'secret' } as const;
    expect(JSON.stringify(describeFault(fault))).not.toContain('secret');
  });
});
