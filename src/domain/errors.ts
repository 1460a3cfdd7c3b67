/**
 * Every way in which the engine refuses or fails, as one closed union of plain data.
 *
 * The tag is the code everywhere: library, command line, HTTP `code`, reference pages. Words, HTTP
 * status and exit code are derived from it in `error-table.ts`. No field ever holds message content,
 * only ids, digests, counts, revisions, rule ids and JSON pointers.
 */

/** A revision that was expected or found; `none` when the stream does not exist. */
export type RevisionOrNone = number | 'none';

/** Where a stored item sits. */
export interface FaultPlace {
  readonly branch: string;
  readonly revision: number;
}

/** Order rules that the engine or a profile can find broken. */
export type OrderRule =
  | 'tool_result_not_adjacent'
  | 'result_before_call'
  | 'system_placement'
  | 'last_role'
  | 'first_role'
  | 'alternation';

/** Why tool arguments cannot be sent. */
export type ToolArgumentsRule = 'not_json' | 'not_an_object';

/** What a profile demands to be sent again. */
export type ReasoningRule = 'reasoning_missing' | 'signature_missing';

/** Why a range cannot be compacted. */
export type CompactionReason =
  'splits_unit' | 'empty' | 'pending_approval' | 'partial_overlap' | 'bad_range' | 'future';

/** Kinds of JavaScript values that JSON cannot carry. */
export type InvalidValueKind =
  | 'undefined'
  | 'function'
  | 'symbol'
  | 'bigint'
  | 'cycle'
  | 'date'
  | 'collection'
  | 'class_instance'
  | 'sparse_array'
  | 'array_property'
  | 'accessor'
  | 'symbol_key'
  | 'hidden_property';

/** Why an id is refused. */
export type InvalidIdReason = 'blank' | 'too_long' | 'control_character' | 'ill_formed';

/** Why an option or number is refused. */
export type InvalidArgumentReason =
  | 'out_of_range'
  | 'not_an_integer'
  | 'wrong_type'
  | 'missing'
  | 'unknown_option'
  | 'unknown_value'
  | 'excludes_another'
  | 'awaiting_approval'
  | 'denied'
  | 'already_started'
  | 'ambiguous'
  | 'already_resolved'
  | 'has_tool_calls'
  | 'inherited';

/** Why an archive entry is refused. */
export type UnsafeArchiveReason =
  'escapes_target' | 'link' | 'duplicate_name' | 'too_many' | 'too_big';

/** Why an export target cannot be written. */
export type TargetUnwritableReason = 'directory' | 'not_writable' | 'no_parent' | 'write_failed';

/** Which part of a stored event is of no known kind. */
export type UnknownEventReason = 'type' | 'version';

/** Which check stored bytes failed. */
export type DamageCheck = 'payload' | 'hash' | 'chain' | 'order' | 'tail' | 'seal' | 'blob';

/** What was found where a store was expected. */
export type NotAStoreFound = 'directory' | 'link' | 'empty' | 'random' | 'other_schema';

/** Why a store does not answer. */
export type UnavailableReason =
  'unreachable' | 'timeout' | 'not_leader' | 'exhausted' | 'descriptors' | 'path' | 'closed';

/** Some faults say all by their tag. */
type NoData = object;

/** The data of each fault, by tag. A new tag needs a row in the error table and the reference page. */
export interface FaultData {
  // Conflicts
  RevisionConflict: { readonly expected: RevisionOrNone; readonly actual: RevisionOrNone };
  CommandConflict: {
    readonly commandId: string;
    readonly digest: string;
    readonly storedDigest: string;
  };
  MessageIdConflict: {
    readonly id: string;
    readonly place: FaultPlace;
    readonly digest: string;
    readonly storedDigest: string;
  };
  RecordIdConflict: {
    readonly system: string;
    readonly recordId: string;
    readonly digest: string;
    readonly storedDigest: string;
  };
  AlreadyAppendedErased: { readonly id: string; readonly place: FaultPlace };
  BatchPartlyKnown: { readonly index: number; readonly ids: readonly string[] };
  TurnOpen: { readonly turn: string; readonly run: string };
  RunSuperseded: { readonly run: string; readonly currentRun: string };
  TooManyOpen: { readonly open: number; readonly limit: number };
  ConversationIsClosed: { readonly conversation: string; readonly branch?: string };
  LegalHold: { readonly hold: string; readonly scope: string };
  TargetExists: { readonly path: string };

  // Order and roles
  OpenToolCalls: { readonly ids: readonly string[]; readonly index?: number };
  OrphanToolResult: { readonly callId: string };
  DuplicateToolResult: { readonly callId: string; readonly place: FaultPlace };
  MissingToolCallId: { readonly index?: number; readonly path: string };
  OrderViolation: {
    readonly rule: OrderRule;
    /** Id of the provider rule that asks for it, when a profile refused. */
    readonly profileRule?: string;
    readonly index?: number;
    readonly ids: readonly string[];
  };
  UnknownRole: { readonly index?: number; readonly path: string };
  RoleNotAllowed: { readonly role: string; readonly origin: string };
  RoleNotSupported: { readonly role: string; readonly index?: number; readonly profile: string };
  ToolArgumentsInvalid: {
    readonly ids: readonly string[];
    readonly rule: ToolArgumentsRule;
    readonly profileRule?: string;
  };
  ReasoningRequired: {
    readonly id: string;
    readonly rule: ReasoningRule;
    readonly profileRule?: string;
  };
  ProfileMismatch: {
    readonly profile: string;
    readonly suggestion?: string;
    readonly index?: number;
  };
  ParentNotFound: { readonly id: string };

  // Context and compaction
  BudgetImpossible: {
    readonly needed: number;
    readonly available: number;
    readonly parts: readonly string[];
  };
  CompactionInvalid: { readonly reason: CompactionReason; readonly ids: readonly string[] };
  CompactionStale: { readonly ids: readonly string[] };
  CompactionNoProgress: { readonly tokensBefore: number; readonly tokensAfter: number };
  ReplayMiss: { readonly name: string; readonly occurrence: number };

  // Input
  InvalidJson: { readonly offset: number };
  InvalidShape: { readonly path: string; readonly index?: number; readonly expected: string };
  InvalidValue: { readonly path: string; readonly kind: InvalidValueKind };
  UnsafeNumber: { readonly path: string };
  InvalidTimestamp: { readonly path: string };
  InvalidId: { readonly path: string; readonly reason: InvalidIdReason };
  IllFormedUnicode: { readonly path: string; readonly id?: string };
  InvalidUtf8: { readonly line: number; readonly byte: number };
  DuplicateKey: { readonly path: string };
  ForbiddenKey: { readonly path: string };
  TooDeep: { readonly depth: number; readonly limit: number };
  TooManyKeys: { readonly limit: number };
  TooLarge: { readonly bytes?: number; readonly limit: number };
  AppendTooLarge: { readonly bytes: number; readonly events: number; readonly limit: number };
  SecretRefused: { readonly index?: number; readonly pattern: string };
  InvalidArgument: { readonly name: string; readonly reason: InvalidArgumentReason };
  UnknownFilter: { readonly name: string };
  BadCursor: NoData;

  // Import and export
  TruncatedInput: { readonly line: number; readonly offset: number };
  DanglingParent: { readonly ids: readonly string[]; readonly missing: readonly string[] };
  UnsafeArchive: { readonly entry: string; readonly reason: UnsafeArchiveReason };
  TargetUnwritable: { readonly path: string; readonly reason: TargetUnwritableReason };

  // Not there, not allowed
  NotFound: { readonly kind: string; readonly ref: string };
  RevisionInFuture: { readonly revision: number; readonly head: RevisionOrNone };
  Unauthenticated: NoData;
  Forbidden: { readonly action: string };
  ForeignHost: NoData;
  ForeignOrigin: NoData;
  BindRefused: { readonly host: string };
  /** `retryAfter` is in seconds. */
  RateLimited: { readonly retryAfter: number };
  SlowConsumer: { readonly position: string };

  // Stored data and versions
  UnknownEvent: {
    readonly type: string;
    readonly version: number;
    readonly revision: number;
    readonly reason: UnknownEventReason;
  };
  UnknownFormat: { readonly fmt: string };
  Damaged: { readonly stream?: string; readonly revision?: number; readonly check: DamageCheck };
  StreamDeleted: { readonly stream: string };
  StoreChanged: { readonly storeId: string; readonly position?: string };
  WalMissing: { readonly path: string };
  NotAStore: { readonly path: string; readonly found: NotAStoreFound };
  StoreTooNew: { readonly schema: number; readonly supported: number };

  // Store
  WrongRevision: { readonly expected: RevisionOrNone; readonly actual: RevisionOrNone };
  OutcomeUnknown: {
    readonly stream: string;
    readonly expected: RevisionOrNone;
    readonly ids: readonly string[];
  };
  Unavailable: { readonly reason: UnavailableReason; readonly path?: string };
  StorageFull: { readonly path?: string };
  ReadOnly: { readonly path?: string };
  AccessDenied: { readonly path?: string };
  StoreLocked: { readonly path?: string };
  UnsafeFilesystem: { readonly path: string; readonly filesystem: string };
  UnsafeDriver: { readonly version: string };
  KeysMissing: { readonly fingerprint: string };
  KeysMismatch: { readonly fingerprint: string; readonly found: string };
  Cancelled: NoData;
  /** `ref` names the log entry; nothing else about it leaves the process. */
  Unexpected: { readonly ref: string };
}

/** Names of all faults; the same word is the code on every surface. */
export type FaultTag = keyof FaultData;

/** The fault of one tag, flattened so that editors show its fields. */
export type FaultOf<T extends FaultTag> = {
  [Tag in T]: { readonly _tag: Tag } & FaultData[Tag];
}[T];

/** Any fault. Switch over `_tag`. */
export type StemmaFault = FaultOf<FaultTag>;

/** What any call to a store can answer besides its result. */
export type StoreFault = FaultOf<
  | 'Unavailable'
  | 'StorageFull'
  | 'ReadOnly'
  | 'AccessDenied'
  | 'Damaged'
  | 'StreamDeleted'
  | 'StoreChanged'
  | 'Cancelled'
>;

/** What an append to a store can answer. */
export type AppendFault =
  StoreFault | FaultOf<'WrongRevision' | 'AppendTooLarge' | 'OutcomeUnknown' | 'StoreLocked'>;

/** What opening a store can answer. */
export type OpenFault =
  | StoreFault
  | FaultOf<
      | 'NotAStore'
      | 'StoreTooNew'
      | 'WalMissing'
      | 'StoreLocked'
      | 'UnsafeFilesystem'
      | 'UnsafeDriver'
      | 'KeysMissing'
      | 'KeysMismatch'
      | 'UnknownFormat'
      | 'InvalidArgument'
    >;
