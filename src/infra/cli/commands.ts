import { appendCommands } from './commands/append.js';
import { branchCommands } from './commands/branch.js';
import { callCommand } from './commands/call.js';
import { callsCommand } from './commands/calls.js';
import { compactCommand } from './commands/compact.js';
import { completionCommand } from './commands/completion.js';
import { contextCommand } from './commands/context.js';
import { conversationCommands } from './commands/conversations.js';
import { demoCommand } from './commands/demo.js';
import { diffCommand } from './commands/diff.js';
import { explainCommands } from './commands/explain.js';
import { exportCommand } from './commands/export.js';
import { historyCommand } from './commands/history.js';
import { importCommand } from './commands/import.js';
import { initCommand } from './commands/init.js';
import { projectionCommands } from './commands/projections.js';
import { replayCommand } from './commands/replay.js';
import { schemaCommand } from './commands/schema.js';
import { searchCommand } from './commands/search.js';
import { sessionCommands } from './commands/session.js';
import { storeCommands } from './commands/store.js';
import { toolCommands } from './commands/tool.js';
import { verifyCommand } from './commands/verify.js';
import type { Register, Registry } from './invocation.js';

/** In the order of the help page: begin, say, look, explain, change, keep. */
const registers: readonly Register[] = [
  initCommand,
  demoCommand,
  conversationCommands,
  appendCommands,
  historyCommand,
  searchCommand,
  contextCommand,
  callsCommand,
  callCommand,
  explainCommands,
  toolCommands,
  sessionCommands,
  branchCommands,
  compactCommand,
  diffCommand,
  replayCommand,
  verifyCommand,
  exportCommand,
  importCommand,
  projectionCommands,
  storeCommands,
  schemaCommand,
  completionCommand,
];

/** Puts every command on the program. */
export const setCommands = (registry: Registry): void => {
  for (const register of registers) register(registry);
};
