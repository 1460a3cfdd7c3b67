import type { ContextPlan } from '../../src/domain/context/plan.js';
import type { FoundViolation } from '../../src/domain/context/check.js';
import type { ImportPlan } from '../../src/domain/import-plan.js';
import type { Profile } from '../../src/domain/profiles/profile.js';
import type { SurfaceItem } from '../../src/domain/surface.js';
import type { ContextInput } from '../../src/face/branch-face.js';
import type { ReportEntry } from './context-facts.js';
import type { CaseFault } from './fault.js';
import type { AfterSteps, CaseEvent, CaseMessage } from './input-shape.js';
import type { CaseInput } from './read-case.js';
import type { Fields } from './shape.js';
import type { Talk } from './talk.js';
import type { ResultStatus } from './words.js';
import type { Snapshot, World } from './world.js';

/** What a variant adds to the steps of its case. */
export interface Steps {
  readonly after?: AfterSteps;
  readonly beforeFinish: readonly CaseEvent[];
}

/** A message of history with what the case gave for it. */
export interface HistoryItem {
  readonly name: string;
  /** The message before it on its branch. */
  readonly parent: string | null;
  readonly item: SurfaceItem;
  readonly given?: CaseMessage;
}

/** What a command or a request gave. */
export interface ResultFact {
  /** Absent for what was only read. */
  readonly status?: ResultStatus;
  readonly ids: readonly string[];
  readonly positions?: readonly number[];
  readonly version?: number;
  readonly writer?: string;
  readonly retry?: boolean;
  readonly fault?: CaseFault;
  readonly historyTexts?: readonly string[];
  readonly hits?: number;
  readonly text?: string;
  /** The messages as they were read back. */
  readonly readBack?: readonly Fields[];
  readonly given?: readonly CaseMessage[];
}

/** Call ids by what a new process may do about them. */
export interface ResumePlan {
  readonly answered: readonly string[];
  readonly outcome_unknown: readonly string[];
  readonly not_started: readonly string[];
  readonly rerun_allowed: readonly string[];
  readonly needs_decision: readonly string[];
}

export interface BuildFact {
  readonly ok: boolean;
  readonly fault?: CaseFault;
}

/** What was found, by the key that it is compared with. */
export interface FactValues {
  readonly context_ids: readonly string[];
  readonly dropped_ids: readonly string[];
  readonly history_ids: readonly string[];
  readonly history: readonly HistoryItem[];
  readonly history_raw: readonly HistoryItem[];
  readonly storage_read_ids: readonly string[];
  readonly output: unknown;
  readonly output_equals_input: { readonly wire: unknown; readonly input: unknown };
  readonly context_results: readonly Fields[];
  readonly tokens: number;
  readonly results: readonly ResultFact[];
  readonly validate_raw: readonly FoundViolation[];
  readonly covers_ids: readonly string[];
  readonly events_appended: readonly string[];
  readonly stream_length: number;
  readonly positions: readonly number[];
  readonly count: number;
  readonly stored_bytes_changed: boolean;
  readonly plan: ResumePlan;
  readonly build_context: BuildFact;
  readonly executable_tool_calls: readonly string[];
  readonly active_path_ids: readonly string[];
  readonly active_path_after: readonly string[];
  readonly branches: readonly (readonly string[])[];
  readonly main_branch_ids: readonly string[];
  readonly new_parent: string | null;
  readonly siblings_of: ReadonlyMap<string, readonly string[]>;
  readonly old_path_still_readable: readonly string[];
  readonly roots: number;
  readonly roles: ReadonlyMap<string, string>;
  readonly timestamps: ReadonlyMap<string, string | null>;
  readonly ignored_ids: readonly string[];
  readonly reimport: readonly string[];
  readonly results_text: readonly (string | null)[];
  readonly read_text: readonly (string | null)[];
  readonly truncate_results: readonly string[];
}

export type FactKey = keyof FactValues;

/** Facts are found when they are asked for; one that is not there cannot be compared. */
export type Facts = { readonly [K in FactKey]?: () => Promise<FactValues[K]> };

export type Roots = Readonly<Record<string, () => Promise<unknown>>>;

/** A command that was run, for the checks that hold for every command. */
export interface CommandTrace {
  readonly messages: readonly CaseMessage[];
  readonly ids: readonly string[];
  readonly commandId?: string;
  readonly status?: ResultStatus;
  /** Ids of the command that were in the store before it, and right after it. */
  readonly storedBefore: readonly string[];
  readonly storedAfter: readonly string[];
}

/** The store and all branches at one moment. */
export interface Moment {
  readonly events: Snapshot;
  /** JSON text of each branch's history, by its uid. */
  readonly histories: ReadonlyMap<string, string>;
  /** The context of each branch as bytes, by its uid. */
  readonly contexts: ReadonlyMap<string, string>;
}

/** What the checks look at besides the facts. */
export interface Evidence {
  readonly profile: Profile;
  readonly contextInput?: ContextInput<object>;
  readonly plan?: ContextPlan;
  readonly builds?: readonly ContextPlan[];
  readonly buildFaults?: readonly CaseFault[];
  readonly commands?: readonly CommandTrace[];
  /** Results of requests or of commands in scopes. */
  readonly results?: readonly ResultFact[];
  readonly compaction?: { readonly covered: readonly string[]; readonly summaryId?: string };
  readonly imported?: {
    readonly plan: ImportPlan;
    readonly sourceIds: readonly string[];
    readonly kept: readonly string[];
  };
  /** The branch that was forked, and what it showed then. */
  readonly forkedFrom?: string;
  readonly oldPath?: readonly string[];
}

/** What an operation gave. */
export interface Done {
  readonly fault?: CaseFault;
  readonly failures?: readonly CaseFault[];
  readonly facts: Facts;
  readonly roots: Roots;
  readonly report?: readonly ReportEntry[];
  readonly evidence: Evidence;
}

/** A case that is being run on a fresh store. */
export interface Started {
  readonly input: CaseInput;
  readonly steps: Steps;
  readonly world: World;
  readonly talk: Talk;
  readonly profile: Profile;
  /** Called when everything is in that was there before the operation: how it is then. */
  readonly mark: () => Promise<Moment>;
}

export type Operate = (started: Started) => Promise<Done>;

/** A case that was run, with what it is judged by. */
export interface Run extends Done {
  readonly started: Started;
  readonly input: CaseInput;
  readonly world: World;
  readonly talk: Talk;
  readonly before: Moment;
  readonly after: Moment;
}
