import type { BranchEntry, DirectoryState } from '../domain/directory-state.js';
import type { ImportPlan } from '../domain/import-plan.js';
import type { Uid } from '../domain/ids.js';
import type { ParentConversation } from '../domain/events/directory-events.js';
import { actorFault, optionalNameFault, optionsFault } from '../engine/arguments.js';
import { branchesOf, start } from '../engine/conversation-commands.js';
import type { ConversationFilter } from '../engine/conversation-filter.js';
import { diff, type Difference, type DiffOptions } from '../engine/differences.js';
import {
  newId,
  type Actor,
  type BranchContext,
  type EngineContext,
} from '../engine/engine-context.js';
import { exportConversation } from '../engine/exchange.js';
import { exposuresIn, type ExposedBy, type MessagePlace } from '../engine/exposures.js';
import { runImport, type ImportResult } from '../engine/import-run.js';
import { importFile, type ImportAnswer, type ImportFileOptions } from '../import-file.js';
import { locate, type Located, type LocatedKind } from '../engine/locate.js';
import { instructionsFault, setInstructions } from '../engine/message-commands.js';
import { overview, type Overview } from '../engine/overview.js';
import {
  conversations,
  findConversation,
  projectConversation,
  resolve,
  type ConversationSummary,
  type Reference,
} from '../engine/queries.js';
import { search, type SearchAnswer } from '../engine/searches.js';
import { verifyConversation, type Verification } from '../engine/verification.js';
import { audit, type Audit } from '../projections/audit.js';
import { lineage, type Lineage } from '../projections/lineage.js';
import { branchFace, type Branch } from './branch-face.js';
import { check, run } from './stemma-error.js';

export interface StartInput {
  /** The caller's id; starting it again finds the conversation, from every node. */
  readonly id?: string;
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly instructions?: string;
  readonly parent?: ParentConversation;
  readonly as?: Actor;
  readonly run?: string;
  readonly commandId?: string;
}

export interface HandleOptions {
  readonly as?: Actor;
  /** Name of the run that works on the branch; absent: a new one. */
  readonly run?: string;
}

/** An open store with the conversations of one tenant. */
export interface Stemma {
  /** Begins a conversation, or finds the one begun with this id, and gives its main branch. */
  readonly start: (input?: StartInput) => Promise<Branch>;
  /** `<conversation>[/branch]`; ids by unique beginning. */
  readonly open: (reference: string, options?: HandleOptions) => Promise<Branch>;
  /** What a reference names, read point included. */
  readonly resolve: (reference: string) => Promise<Reference>;
  /** Those that a filter lets pass, the one with the latest activity first. */
  readonly conversations: (filter?: ConversationFilter) => Promise<readonly ConversationSummary[]>;
  readonly branches: (conversation: string) => Promise<readonly BranchEntry[]>;
  readonly directory: (conversation: string) => Promise<DirectoryState>;
  readonly lineage: (conversation: string) => Promise<Lineage>;
  readonly audit: (conversation: string) => Promise<Audit>;
  /** One conversation with its counts; reads all of its events. */
  readonly overview: (conversation: string) => Promise<Overview>;
  /** What has this id, or else an id that begins so, in any conversation. Looks at every event. */
  readonly locate: (kind: LocatedKind, id: string) => Promise<readonly Located[]>;
  /** The model calls of a conversation that sent this message, or something made from it. */
  readonly exposure: (
    conversation: string,
    messageId: string,
    place?: MessagePlace,
  ) => Promise<readonly ExposedBy[]>;
  readonly diff: (a: string, b: string, options?: DiffOptions) => Promise<Difference>;
  readonly search: (text: string, options?: { readonly limit?: number }) => Promise<SearchAnswer>;
  readonly verify: (conversation?: string) => Promise<Verification>;
  /** Takes a file in, its format told by its content; importing it again adds nothing. */
  readonly import: (bytes: Uint8Array, options?: ImportFileOptions) => Promise<ImportAnswer>;
  /** Takes in what an importer of the caller's own decided. */
  readonly importPlan: (plan: ImportPlan) => Promise<ImportResult>;
  /** The conversation as stemma JSONL, line by line (format.md, Exchange lines). */
  readonly export: (conversation: string) => AsyncIterable<string>;
  readonly close: () => Promise<void>;
}

const branchContext = (
  context: EngineContext,
  place: { readonly conversation: Uid; readonly branch: Uid },
  as: Actor,
  runId: string | undefined,
): BranchContext => ({
  ...context,
  key: { tenant: context.tenant, conversation: place.conversation, branch: place.branch },
  run: runId ?? newId(context, 'r'),
  as,
});

const startKinds = {
  id: 'any',
  title: 'text',
  labels: 'object',
  instructions: 'any',
  parent: 'object',
  as: 'any',
  run: 'any',
  commandId: 'any',
} as const;

const begin = async (
  context: EngineContext,
  defaults: Actor,
  input: StartInput = {},
): Promise<Branch> => {
  check(
    optionsFault(input, startKinds) ??
      actorFault(input.as) ??
      optionalNameFault('/run', input.run) ??
      instructionsFault(input.instructions),
  );
  const { instructions, run: runId, as = defaults, ...options } = input;
  const { conversation, main } = await run(start(context, { ...options, as }));
  const own = branchContext(context, { conversation, branch: main }, as, runId);
  if (instructions !== undefined) await run(setInstructions(own, instructions));
  return branchFace(own, 'main');
};

/** The promise face of an engine. */
export const stemmaFace = (context: EngineContext, as: Actor): Stemma => {
  const uid = (name: string): Promise<Uid> => run(findConversation(context, name));
  return {
    start: (input) => begin(context, as, input),
    open: async (reference, options = {}) => {
      check(
        optionsFault(options, { as: 'any', run: 'any' }) ??
          actorFault(options.as) ??
          optionalNameFault('/run', options.run),
      );
      const { conversation, entry } = await run(resolve(context, reference));
      const place = { conversation, branch: entry.branch };
      const own = branchContext(context, place, options.as ?? as, options.run);
      return branchFace(own, entry.name);
    },
    resolve: (reference) => run(resolve(context, reference)),
    conversations: (filter) => run(conversations(context, filter)),
    branches: async (name) => {
      const directory = await run(branchesOf(context, await uid(name)));
      return [...directory.branches.values()];
    },
    directory: async (name) => run(branchesOf(context, await uid(name))),
    lineage: async (name) => run(projectConversation(context, await uid(name), lineage)),
    audit: async (name) => run(projectConversation(context, await uid(name), audit)),
    overview: async (name) => run(overview(context, await uid(name))),
    locate: (kind, id) => run(locate(context, kind, id)),
    exposure: async (name, messageId, place) =>
      run(exposuresIn(context, await uid(name), messageId, place)),
    diff: (a, b, options) => run(diff(context, a, b, options)),
    search: (text, options) => run(search(context, text, options)),
    verify: async (name) =>
      run(verifyConversation(context, name === undefined ? undefined : await uid(name))),
    import: (bytes, options) => run(importFile(context, bytes, options)),
    importPlan: (plan) => run(runImport(context, plan)),
    export: (name) => exportConversation(context, () => uid(name)),
    close: () => run(context.runtime.events.close()),
  };
};
