import {
  atIndex,
  atPath,
  byRule,
  EXIT,
  shown,
  shownIds,
  shownRevision,
  type FaultRows,
} from './row.js';

/** Rows of refusals that depend on what is stored already. */
export const conflictRows: FaultRows<
  | 'RevisionConflict'
  | 'CommandConflict'
  | 'MessageIdConflict'
  | 'RecordIdConflict'
  | 'AlreadyAppendedErased'
  | 'BatchPartlyKnown'
  | 'TurnOpen'
  | 'RunSuperseded'
  | 'TooManyOpen'
  | 'ConversationIsClosed'
  | 'LegalHold'
  | 'TargetExists'
> = {
  RevisionConflict: {
    message: ({ expected, actual }) =>
      `Expected ${shownRevision(expected)}, found ${shownRevision(actual)}. Nothing was written.`,
    hint: 'Read what was added since, then decide again at the current revision.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  CommandConflict: {
    message: ({ commandId, digest, storedDigest }) =>
      `Command ${shown(commandId)} was run before with other input: ${shown(digest)} now, ${shown(storedDigest)} then.`,
    hint: 'Use a new command id for new input; repeat the same input to get the first answer.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  MessageIdConflict: {
    message: ({ id, place, digest, storedDigest }) =>
      `Message ${shown(id)} exists at revision ${place.revision} of branch ${shown(place.branch)} with other content: ${shown(digest)} now, ${shown(storedDigest)} stored.`,
    hint: 'Give the new message its own id. To change an old one, retry from before it on a new branch.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  RecordIdConflict: {
    message: ({ system, recordId, digest, storedDigest }) =>
      `Record ${shown(recordId)} of ${shown(system)} is known with other content: ${shown(digest)} now, ${shown(storedDigest)} stored.`,
    hint: 'The source changed a record after it was imported. Import it into a new conversation.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  AlreadyAppendedErased: {
    message: ({ id, place }) =>
      `Message ${shown(id)} was appended at revision ${place.revision} of branch ${shown(place.branch)} and its content was erased since.`,
    hint: 'Erased content is not appended again under its old id. Use a new id if it may be kept.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  BatchPartlyKnown: {
    message: ({ index, ids }) =>
      `Known items of the batch are not its beginning${atIndex(index)}. Known: ${shownIds(ids)}.`,
    hint: 'Send the batch as it was sent at first, or only the items that are new.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  TurnOpen: {
    message: ({ turn, run }) => `Turn ${shown(turn)} of run ${shown(run)} is open.`,
    hint: 'Wait until that run ends its turn, or take it over on purpose.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  RunSuperseded: {
    message: ({ run, currentRun }) =>
      `Run ${shown(run)} was superseded by run ${shown(currentRun)} and may not write any more.`,
    hint: 'Stop this run, or start a new one from the current head.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  TooManyOpen: {
    message: ({ open, limit }) => `${open} calls and approvals are open; the limit is ${limit}.`,
    hint: 'Record results or cancellations for open calls first.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  ConversationIsClosed: {
    message: ({ conversation, branch }) =>
      branch === undefined
        ? `Conversation ${shown(conversation)} is closed.`
        : `Branch ${shown(branch)} of conversation ${shown(conversation)} takes no more events.`,
    hint: 'Reopen the conversation, or go on in a new branch.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  LegalHold: {
    message: ({ hold, scope }) => `Hold ${shown(hold)} on ${shown(scope)} forbids this.`,
    hint: 'Ask the owner of the hold to release it first.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  TargetExists: {
    message: ({ path }) => `${shown(path)} is there already and was left as it is.`,
    hint: 'Choose another path, or ask for overwriting with the flag.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
};

/** Rows of refusals about roles and the order of messages. */
export const orderRows: FaultRows<
  | 'OpenToolCalls'
  | 'OrphanToolResult'
  | 'DuplicateToolResult'
  | 'MissingToolCallId'
  | 'OrderViolation'
  | 'UnknownRole'
  | 'RoleNotAllowed'
  | 'RoleNotSupported'
  | 'ToolArgumentsInvalid'
  | 'ReasoningRequired'
  | 'ProfileMismatch'
  | 'ParentNotFound'
> = {
  OpenToolCalls: {
    message: ({ ids, index }) =>
      `Tool calls have no result yet${atIndex(index)}: ${shownIds(ids)}.`,
    hint: 'Append a result for each call, or record that it was cancelled.',
    http: 409,
    exit: EXIT.invalid,
    retryable: false,
  },
  OrphanToolResult: {
    message: ({ callId }) => `No call ${shown(callId)} was made on this line of history.`,
    hint: 'Append the assistant message with the call first, or correct the call id.',
    http: 409,
    exit: EXIT.invalid,
    retryable: false,
  },
  DuplicateToolResult: {
    message: ({ callId, place }) =>
      `Call ${shown(callId)} was answered at revision ${place.revision} of branch ${shown(place.branch)} with another result.`,
    hint: 'Mark the result as late to record it for audit only.',
    http: 409,
    exit: EXIT.invalid,
    retryable: false,
  },
  MissingToolCallId: {
    message: ({ index, path }) => `A tool message names no call, ${atPath(path)}${atIndex(index)}.`,
    hint: 'Set the id of the call that the result answers.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  OrderViolation: {
    message: ({ rule, profileRule, index, ids }) =>
      `Order rule ${rule} is broken${atIndex(index)}${byRule(profileRule)}. Messages: ${shownIds(ids)}.`,
    hint: 'See the rules of the profile; the history itself is kept as it is.',
    http: 409,
    exit: EXIT.invalid,
    retryable: false,
  },
  UnknownRole: {
    message: ({ index, path }) => `Unknown role ${atPath(path)}${atIndex(index)}.`,
    hint: 'Roles are system, developer, user, assistant and tool, in lower case and without spaces.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  RoleNotAllowed: {
    message: ({ role, origin }) => `Origin ${shown(origin)} may not write role ${shown(role)}.`,
    hint: 'Instructions come from the application; end users and tools write their own roles only.',
    http: 403,
    exit: EXIT.invalid,
    retryable: false,
  },
  RoleNotSupported: {
    message: ({ role, index, profile }) =>
      `Profile ${shown(profile)} has no role ${shown(role)} and may not map it${atIndex(index)}.`,
    hint: 'Allow the mapping in the context policy, or choose another profile.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  ToolArgumentsInvalid: {
    message: ({ ids, rule, profileRule }) =>
      `Arguments are refused (${rule}${byRule(profileRule)}) in calls ${shownIds(ids)}.`,
    hint: 'Let the policy send them as text or repaired, or leave the turn out.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  ReasoningRequired: {
    message: ({ id, rule, profileRule }) =>
      `The profile demands what message ${shown(id)} does not hold (${rule}${byRule(profileRule)}).`,
    hint: 'Choose a profile that does not need it, or start the tool exchange again.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  ProfileMismatch: {
    message: ({ profile, suggestion, index }) =>
      `Input does not have the shape of profile ${shown(profile)}${atIndex(index)}${
        suggestion === undefined ? '' : `; it looks like ${shown(suggestion)}`
      }.`,
    hint: 'Name the profile that wrote the input.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  ParentNotFound: {
    message: ({ id }) => `The parent ${shown(id)} does not exist.`,
    hint: 'Append parents before their children.',
    http: 404,
    exit: EXIT.notFound,
    retryable: false,
  },
};

/** Rows of refusals while a context is built or compacted. */
export const contextRows: FaultRows<
  | 'BudgetImpossible'
  | 'CompactionInvalid'
  | 'CompactionStale'
  | 'CompactionNoProgress'
  | 'ReplayMiss'
> = {
  BudgetImpossible: {
    message: ({ needed, available, parts }) =>
      `What must be sent needs ${needed} tokens and ${available} are available. Parts: ${shownIds(parts)}.`,
    hint: 'Raise the budget, unpin messages, or compact the open turn.',
    http: 422,
    exit: EXIT.overBudget,
    retryable: false,
  },
  CompactionInvalid: {
    message: ({ reason, ids }) => `The range cannot be compacted (${reason}): ${shownIds(ids)}.`,
    hint: 'Choose a range of whole exchanges that is behind the head and not compacted in part.',
    http: 409,
    exit: EXIT.invalid,
    retryable: false,
  },
  CompactionStale: {
    message: ({ ids }) => `Covered items changed since the plan was made: ${shownIds(ids)}.`,
    hint: 'Plan the compaction again.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  CompactionNoProgress: {
    message: ({ tokensBefore, tokensAfter }) =>
      `The compaction would leave ${tokensAfter} of ${tokensBefore} tokens.`,
    hint: 'Write a shorter summary, or cover a longer range.',
    http: 422,
    exit: EXIT.overBudget,
    retryable: false,
  },
  ReplayMiss: {
    message: ({ name, occurrence }) =>
      `No result is recorded for call ${occurrence} of ${shown(name)}.`,
    hint: 'The replayed program makes other calls than the recorded one. Compare their calls.',
    http: 404,
    exit: EXIT.notFound,
    retryable: false,
  },
};
