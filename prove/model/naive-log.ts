import type { CallName, Effect, Expected, Item, Purpose, Status, TurnEnd } from './steps.js';

export interface Answered extends CallName {
  readonly callId: string;
}

export interface Origin {
  readonly id: string;
  readonly branch: number;
  readonly at: number;
}

/** One event of a branch. */
export type Entry =
  | { readonly is: 'begun' }
  | { readonly is: 'sealed' }
  | { readonly is: 'unsealed' }
  | {
      readonly is: 'message';
      readonly id: string;
      readonly role: Item['role'];
      readonly text: string;
      readonly calls: readonly string[];
      readonly status: Status;
      /** A copy: where its original stands. */
      readonly origin?: Origin;
    }
  | { readonly is: 'merged' }
  | {
      readonly is: 'result';
      readonly id: string;
      readonly text: string;
      readonly outcome: string;
      readonly answers: Answered;
      readonly late: boolean;
      readonly status: Status;
    }
  | { readonly is: 'instructions'; readonly name: string; readonly text: string }
  | { readonly is: 'status'; readonly id: string; readonly to: Status }
  | { readonly is: 'withdrawn'; readonly ids: readonly string[] }
  | { readonly is: 'turn'; readonly run: string }
  | { readonly is: 'claimed'; readonly run: string }
  | { readonly is: 'ended'; readonly outcome: TurnEnd }
  | {
      readonly is: 'requested';
      readonly call: number;
      readonly purpose: Purpose;
      readonly attempt: number;
    }
  | {
      readonly is: 'completed';
      readonly call: number;
      readonly late: boolean;
      readonly content: string;
      readonly message?: string;
    }
  | {
      readonly is: 'failed';
      readonly call: number;
      readonly lost: boolean;
      readonly partial?: string;
    }
  | {
      readonly is: 'started';
      readonly call: CallName;
      readonly attempt: number;
      readonly effect: Effect;
      readonly key: string;
    }
  | { readonly is: 'abandoned'; readonly call: CallName; readonly callId: string }
  | {
      readonly is: 'asked';
      readonly request: string;
      readonly call: CallName;
      readonly expires?: 'past' | 'future';
    }
  | {
      readonly is: 'resolved';
      readonly request: string;
      readonly outcome: 'approved' | 'denied' | 'expired';
    }
  | {
      readonly is: 'compacted';
      readonly compaction: number;
      readonly id: string;
      readonly text: string;
      readonly covered: readonly string[];
      readonly runs: readonly Run[];
      readonly madeBy?: number;
    }
  | { readonly is: 'reverted'; readonly compaction: number };

/** Events `from` to `to` of a branch. */
export interface Run {
  readonly branch: number;
  readonly from: number;
  readonly to: number;
}

export type DirectoryEntry =
  | { readonly is: 'started' }
  | { readonly is: 'registered'; readonly branch: number; readonly name: string }
  | { readonly is: 'labelled'; readonly branch: number; readonly name: string }
  | { readonly is: 'promoted'; readonly branch: number }
  | { readonly is: 'redacted'; readonly branch: number; readonly at: number }
  | { readonly is: 'annotated' }
  | { readonly is: 'closed' }
  | { readonly is: 'reopened' };

/** Something written: with what it was written together, and for which command. */
export interface Written<E> {
  readonly entry: E;
  readonly batch: number;
  readonly command?: { readonly id: string; readonly input: string; readonly answer: Expected };
}

export interface NaiveBranch {
  readonly parent?: { readonly branch: number; readonly upTo: number };
  readonly log: Written<Entry>[];
}

export interface World {
  readonly branches: NaiveBranch[];
  readonly directory: Written<DirectoryEntry>[];
  batches: number;
  calls: number;
  compactions: number;
}
