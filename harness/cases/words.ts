/** Profiles that a case may name, and whether the engine has them yet. */
export const profileNames = [
  'openai-chat',
  'openai-responses',
  'openai-compatible-strict',
  'anthropic',
  'gemini',
  'deepseek',
  'mistral',
  'bedrock-converse',
  'neutral',
] as const;
export type ProfileName = (typeof profileNames)[number];

export const presentProfiles: ReadonlySet<string> = new Set<ProfileName>([
  'openai-chat',
  'anthropic',
  'neutral',
]);

export const formats = ['canonical', 'provider', 'chatgpt-export'] as const;
export type Format = (typeof formats)[number];

export const operations = [
  'append',
  'append_concurrent',
  'build_context',
  'convert',
  'compact',
  'roundtrip',
  'load',
  'import',
  'resume',
  'assemble_stream',
  'regenerate',
  'branch',
  'redact',
  'replay',
  'estimate_tokens',
  'perf',
  'multi_tenant',
] as const;
export type Operation = (typeof operations)[number];

export const eventTypes = [
  'MessageAppended',
  'ToolExecutionStarted',
  'ToolResultAttached',
  'ContextCompacted',
  'CompactionStarted',
  'ContentRedacted',
  'StreamStarted',
  'StreamDelta',
  'StreamAborted',
  'NobodyKnowsThis',
] as const;

export const storeNames = ['memory', 'sqlite', 'kurrent-like'] as const;
export type StoreName = (typeof storeNames)[number];

export const errorCodes = [
  'MESSAGE_ID_CONFLICT',
  'VERSION_CONFLICT',
  'UNANSWERED_TOOL_CALL',
  'TOOL_RESULT_NOT_ADJACENT',
  'SYSTEM_PLACEMENT',
  'ROLE_NOT_SUPPORTED',
  'LAST_ROLE',
  'REASONING_REQUIRED',
  'TOOL_ARGS_NOT_JSON',
  'COMPACTION_SPLITS_TOOL_PAIR',
  'COMPACTION_STALE',
  'BUDGET_UNSATISFIABLE',
  'INVALID_TEXT',
  'NON_JSON_VALUE',
  'UNSUPPORTED_EVENT_VERSION',
  'UNKNOWN_EVENT_TYPE',
  'DANGLING_PARENT',
  'PARENT_NOT_FOUND',
  'REPLAY_MISS',
  'ACCESS_DENIED',
  'INVALID_SESSION_ID',
  'NOT_FOUND',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

export const reportCodes = [
  'MOVED_FOR_ADJACENCY',
  'SYSTEM_RELOCATED',
  'ROLE_MAPPED',
  'MERGED_SAME_ROLE',
  'EMPTY_MESSAGE_OMITTED',
  'FOREIGN_REASONING_DROPPED',
  'THINKING_INVALIDATED_BY_PREFIX',
  'SIGNATURE_PLACEHOLDER_USED',
  'TOOL_NAME_SANITIZED',
  'TOOL_RESULT_SHORTENED',
  'TEXT_REPAIRED',
  'PARENT_REPAIRED',
  'SUMMARY_COVERS_REDACTED',
  'TOOL_ARGS_NOT_JSON',
] as const;

export const statuses = ['appended', 'replayed', 'error', 'unknown', 'deleted'] as const;
export type ResultStatus = (typeof statuses)[number];

export const invariantNames = [
  'valid_for_profile',
  'pairs_intact',
  'within_budget',
  'history_unchanged',
  'history_unchanged_for_other_branch',
  'other_branch_unchanged',
  'branch_sees_only_events_up_to_fork',
  'deterministic',
  'synthetic_marked',
  'summary_marked_as_generated',
  'summary_before_kept_tail',
  'covers_exactly_named_ids',
  'pinned_verbatim',
  'nothing_lost',
  'no_duplicate',
  'no_false_success',
  'append_never_half_done',
  'no_interleaving_inside_a_batch',
  'redelivery_is_replay_not_conflict',
  'same_result_in_every_store',
  'storage_limit_is_exact_and_newest',
  'order_by_stream_position_only',
  'order_from_parent_links_not_time',
  'order_of_calls_not_of_results',
  'first_occurrence_keeps_id',
  'collision_free',
  'short_ids_unchanged',
  'valid_ids_unchanged',
  'no_guessing_repair',
  'arguments_text_verbatim',
  'hash_before_equals_hash_after_reload',
  'no_invented_turns',
  'assistant_text_never_dropped_silently',
  'block_order_kept',
  'parts_not_split_or_merged',
  'byte_equal_signed_blocks',
  'key_order_of_input_kept',
  'signature_stays_on_same_part',
  'second_parallel_call_has_no_signature',
  'real_signatures_never_replaced',
  'answered_calls_never_rerun',
  'started_non_idempotent_never_auto_rerun',
  'all_calls_answered',
  'same_error_on_retry',
  'no_model_call',
  'stored_result_complete',
  'no_node_lost',
  'provenance_recorded',
  'no_partial_history_returned',
  'nothing_written',
  'nothing_written_on_error',
  'serialized_is_valid_utf8_json',
  'never_cut_inside_a_pair',
  'stored_bytes_linear_in_count',
  'every_version_readable',
  'no_stored_event_rewritten',
  'ids_positions_and_pairs_kept',
  'plain_text_not_recoverable_from_store_and_backup',
  'byte_equal_prefix',
  'no_clock_in_output',
  'canonical_key_order',
  'message_ids_unique_per_tenant_and_session_only',
  'missing_scope_fails_closed',
  'stream_name_injective',
] as const;
export type InvariantName = (typeof invariantNames)[number];
