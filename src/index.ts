import { stemmaFace, type Stemma } from './face/stemma-face.js';
import { run } from './face/stemma-error.js';
import { openEngine, type OpenOptions } from './open.js';

/** Opens an engine on a store; a folder that is not there is made. */
export const openStemma = async (options: OpenOptions = {}): Promise<Stemma> => {
  const context = await run(openEngine(options));
  return stemmaFace(context, options.as ?? { kind: 'app' });
};

export { StemmaError, isStemmaError } from './face/stemma-error.js';
export { openaiChat } from './domain/profiles/openai-chat.js';
export { anthropic } from './domain/profiles/anthropic.js';
export type { OpenOptions } from './open.js';
export type { Stemma } from './face/stemma-face.js';
export type { Branch } from './face/branch-face.js';
export type { ModelCall, Reply, LiveAnswer } from './face/model-call-face.js';
export type { ToolCallHandle, ToolOutcome } from './face/tool-call-face.js';
export type { Tool, Toolbox, ToolRun } from './face/toolbox.js';
export type { MessageInput } from './domain/intake.js';
