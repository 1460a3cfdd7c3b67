import type { EventRef, Ruling } from '../events/references.js';
import type { InstructionVersion, SelectionRun } from '../events/model-call-events.js';
import type { Provenance, Trust } from '../message.js';
import type { AddedTurn, Facts, LayoutEntry } from '../profiles/profile.js';
import type { ContextWarning, Repair } from '../profiles/repair.js';

/**
 * Why a message is in a context or out of it. A registry: names are recorded, an unknown one is
 * shown as it is.
 */
export type Disposition =
  | 'system'
  | 'instructions'
  | 'must_keep'
  | 'pinned'
  | 'window'
  | 'summary'
  | 'open_exchange'
  | 'shortened'
  | 'injected'
  | 'budget'
  | 'covered_by_compaction'
  | 'superseded'
  | 'draft'
  | 'blocked'
  | 'interrupted'
  | 'redacted'
  | 'erased'
  | 'withdrawn'
  | 'orphan_result'
  | 'unanswered_call'
  | 'role_not_in_profile'
  | 'foreign_reasoning'
  | 'not_on_branch'
  | 'policy';

/** What became of one candidate of a context (CX3). */
export interface MessageDisposition {
  readonly messageId: string;
  readonly place: EventRef;
  readonly in: boolean;
  readonly disposition: Disposition;
  readonly tokens: number;
  /** Names the unit: messages that are in or out together share it. */
  readonly unit: string;
  /** The event that took it out or put it in, where one did. */
  readonly cause?: EventRef;
  readonly note?: string;
}

/** Something sent that is not in history, with its text at hand. */
export interface InputLiteral {
  /** Stands before the message of this index of the sent list; -1: at the end. */
  readonly place: number;
  readonly text: string;
  readonly provenance: Provenance;
  readonly trust: Trust;
  readonly reason: string;
}

/** A tool result that exists on the wire only, so that its call does not stand alone. */
export interface SyntheticResult {
  readonly messageId: string;
  readonly index: number;
  readonly toolCallId: string;
  readonly text: string;
  readonly reason: 'unanswered' | 'closed' | 'result_out' | 'answered_together';
}

/** A tool result on the wire, in order. */
export interface WireResult {
  readonly toolCallId: string;
  readonly wireId: string;
  readonly synthetic: boolean;
  readonly isError: boolean;
  readonly content: string;
  readonly messageId?: string;
}

/** How a context continues the one of the call before it. */
export interface PrefixReport {
  readonly same: boolean;
  /** First piece that differs, by its place in the prompt. */
  readonly path?: readonly (string | number)[];
  readonly previousId?: string;
  readonly currentId?: string;
  readonly cause?: EventRef;
  /** Tokens from the first difference to the end, which a prefix cache cannot reuse. */
  readonly tokensBehind: number;
}

/** One context for one call: the exact text, and why each message is in it or not. */
export interface ContextPlan<Body extends object = object> {
  readonly body: Body;
  /** The exact JSON text of `body`. */
  readonly text: string;
  readonly requestDigest: string;
  /** Ids of the messages sent, in the order in which the model reads them. */
  readonly sent: readonly string[];
  readonly dispositions: readonly MessageDisposition[];
  /** Tokens of the whole request, tools included. */
  readonly tokens: number;
  readonly toolTokens: number;
  readonly budget?: number;
  readonly counter: { readonly name: string; readonly exact: boolean };
  readonly repairs: readonly Repair[];
  readonly warnings: readonly ContextWarning[];
  readonly selection: readonly SelectionRun[];
  readonly literals: readonly InputLiteral[];
  readonly instructions: readonly InstructionVersion[];
  /** Names of the tools on offer, in the order sent. */
  readonly tools: readonly string[];
  /** Wire names of tools that differ from the caller's, with the caller's. */
  readonly toolNames: ReadonlyMap<string, string>;
  readonly profile: Ruling;
  readonly policy: Ruling;
  readonly synthetic: readonly SyntheticResult[];
  readonly added: readonly AddedTurn[];
  readonly results: readonly WireResult[];
  readonly layout: readonly LayoutEntry[];
  readonly facts: Facts;
  readonly prefix?: PrefixReport;
}
