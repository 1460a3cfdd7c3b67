/** Codes of what a context changed on its way to the wire. History is never changed by any of it. */
export type RepairCode =
  | 'MOVED_FOR_ADJACENCY'
  | 'SYSTEM_RELOCATED'
  | 'ROLE_MAPPED'
  | 'MERGED_SAME_ROLE'
  | 'EMPTY_MESSAGE_OMITTED'
  | 'FOREIGN_REASONING_DROPPED'
  | 'THINKING_INVALIDATED_BY_PREFIX'
  | 'SIGNATURE_PLACEHOLDER_USED'
  | 'TOOL_NAME_SANITIZED'
  | 'TOOL_RESULT_SHORTENED'
  | 'TEXT_REPAIRED'
  | 'SUMMARY_COVERS_REDACTED'
  | 'TOOL_ARGS_NOT_JSON'
  | 'TOOL_ARGS_SHORTENED'
  | 'CALL_ID_MAPPED'
  | 'RESULT_SYNTHESIZED'
  | 'CALL_DROPPED'
  | 'MEDIA_CARRIED_BY_USER'
  | 'CONTENT_OMITTED'
  | 'FOREIGN_BLOCK_DROPPED'
  | 'TRAILING_SPACE_REMOVED'
  | 'TURN_ADDED'
  | 'CACHE_MARKER_DROPPED';

/** One entry of the report of a context: what was changed, on which message, and how. */
export interface Repair {
  readonly code: RepairCode;
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly from?: string;
  readonly to?: string;
  /** Index among the messages as they were selected. */
  readonly fromIndex?: number;
  /** Index among the messages as they are sent. */
  readonly toIndex?: number;
  readonly toolCallId?: string;
  readonly action?: string;
  /** The whole content can be read in history. */
  readonly retrievable?: boolean;
  readonly originalChars?: number;
}

/** Something that is sent as it is and that the caller may want to know about. */
export interface ContextWarning {
  readonly code: string;
  readonly id?: string;
  readonly toolCallId?: string;
}
