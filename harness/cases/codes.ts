import type { FaultTag, StemmaFault } from '../../src/domain/errors.js';
import type { Violation } from '../../src/domain/profiles/profile.js';
import type { ErrorCode } from './words.js';

/** The tag of the engine that a case code stands for, with what tells codes of one tag apart. */
interface TagOf {
  readonly tags: readonly FaultTag[];
  readonly detail?: string;
}

const table: Readonly<Record<ErrorCode, TagOf>> = {
  MESSAGE_ID_CONFLICT: { tags: ['MessageIdConflict'] },
  VERSION_CONFLICT: { tags: ['RevisionConflict'] },
  UNANSWERED_TOOL_CALL: { tags: ['OpenToolCalls'] },
  TOOL_RESULT_NOT_ADJACENT: { tags: ['OrderViolation'], detail: 'tool_result_not_adjacent' },
  SYSTEM_PLACEMENT: { tags: ['OrderViolation'], detail: 'system_placement' },
  ROLE_NOT_SUPPORTED: { tags: ['RoleNotSupported'] },
  LAST_ROLE: { tags: ['OrderViolation'], detail: 'last_role' },
  REASONING_REQUIRED: { tags: ['ReasoningRequired'] },
  TOOL_ARGS_NOT_JSON: { tags: ['ToolArgumentsInvalid'] },
  COMPACTION_SPLITS_TOOL_PAIR: { tags: ['CompactionInvalid'], detail: 'splits_unit' },
  COMPACTION_STALE: { tags: ['CompactionStale'] },
  BUDGET_UNSATISFIABLE: { tags: ['BudgetImpossible'] },
  INVALID_TEXT: { tags: ['IllFormedUnicode'] },
  NON_JSON_VALUE: { tags: ['InvalidValue', 'UnsafeNumber'] },
  UNSUPPORTED_EVENT_VERSION: { tags: ['UnknownEvent'], detail: 'version' },
  UNKNOWN_EVENT_TYPE: { tags: ['UnknownEvent'], detail: 'type' },
  DANGLING_PARENT: { tags: ['DanglingParent'] },
  PARENT_NOT_FOUND: { tags: ['ParentNotFound'] },
  REPLAY_MISS: { tags: ['ReplayMiss'] },
  ACCESS_DENIED: { tags: ['Forbidden'] },
  INVALID_SESSION_ID: { tags: ['InvalidId'] },
  NOT_FOUND: { tags: ['NotFound'] },
};

const isCode = (tag: string, detail: string | undefined, code: ErrorCode): boolean => {
  const { tags, detail: wanted } = table[code];
  return (tags as readonly string[]).includes(tag) && (wanted === undefined || wanted === detail);
};

const detailOf = (fault: StemmaFault): string | undefined => {
  if (fault._tag === 'OrderViolation') return fault.rule;
  return fault._tag === 'CompactionInvalid' || fault._tag === 'UnknownEvent'
    ? fault.reason
    : undefined;
};

/** Whether a fault of the engine is the one that the table lists for the code. */
export const hasCode = (fault: StemmaFault, code: ErrorCode): boolean =>
  isCode(fault._tag, detailOf(fault), code);

/** The same for a rule that a profile found broken. */
export const violates = (
  { code: tag, reason }: Pick<Violation, 'code' | 'reason'>,
  code: ErrorCode,
): boolean => isCode(tag, reason, code);
