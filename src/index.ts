import { run } from './face/stemma-error.js';
import { stemmaFace, type Stemma } from './face/stemma-face.js';
import { openEngine, type OpenOptions } from './open.js';

/** Opens an engine on a store; a folder that is not there is made. */
export const openStemma = async (options: OpenOptions = {}): Promise<Stemma> => {
  const context = await run(openEngine(options));
  return stemmaFace(context, options.as ?? { kind: 'app' });
};

export { StemmaError, isStemmaError } from './face/stemma-error.js';
export { openaiChat, type OpenAIChatOptions } from './domain/profiles/openai-chat.js';
export { anthropic, type AnthropicOptions } from './domain/profiles/anthropic.js';
export { estimator, type TokenCounter } from './domain/tokens.js';

export type { OpenOptions } from './open.js';
export type { HandleOptions, StartInput, Stemma } from './face/stemma-face.js';
export type { Branch, ContextInput, RequestInput } from './face/branch-face.js';
export type { LiveAnswer, ModelCall, Reply } from './face/model-call-face.js';
export type { ArgumentFlag, ToolCallHandle, ToolOutcome } from './face/tool-call-face.js';
export type { Tool, Toolbox, ToolRun } from './face/toolbox.js';

export type { MessageInput, ToolCallInput } from './domain/intake.js';
export type {
  Block,
  CallRef,
  Message,
  MessageStatus,
  Outcome,
  Role,
  Trust,
} from './domain/message.js';
export type { FaultOf, FaultTag, StemmaFault } from './domain/errors.js';
export type { Session } from './domain/session.js';
export type { Surface, SurfaceItem } from './domain/surface.js';
export type { ContextPolicy } from './domain/context/policy.js';
export type { ContextPlan, InputLiteral, MessageDisposition } from './domain/context/plan.js';
export type { Profile } from './domain/profiles/profile.js';
export type { ImportPlan, ImportReport } from './domain/import-plan.js';
export type { AppendedMessage } from './domain/decide/append-messages.js';
export type { Actor, CommandOptions } from './engine/engine-context.js';
export type { AppendOptions, InstructionsOptions } from './engine/message-commands.js';
export type { CompactionAnswer, CompactionOptions, CompactionPlan } from './engine/compactions.js';
export type { Difference, DiffOptions } from './engine/differences.js';
export type { Answer, Failure } from './engine/model-answers.js';
export type { RecordedContext, Reason } from './engine/recorded-context.js';
export type { RecoverChoices, Recovered, ToolChoice } from './engine/recover.js';
export type { ForkPlace, RetryOptions } from './engine/retries.js';
export type { ReadPoint } from './engine/histories.js';
export type { ConversationSummary, Reference } from './engine/queries.js';
export type { ConversationFilter } from './engine/conversation-filter.js';
export type { EventsPage, HistoryPage, StoredRow } from './engine/history-pages.js';
export type { PageOptions } from './engine/paging.js';
export type { Verification } from './engine/verification.js';
export type { EngineStores } from './engine/runtime.js';
export type { ImportAnswer, ImportFileOptions } from './import-file.js';
