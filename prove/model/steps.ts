/** A tool call: the message that made it and its index there. */
export interface CallName {
  readonly message: string;
  readonly index: number;
}

export type Status = 'confirmed' | 'draft' | 'blocked' | 'interrupted' | 'superseded';
export type Effect = 'read_only' | 'idempotent' | 'non_idempotent';
export type TurnEnd = 'completed' | 'interrupted' | 'failed' | 'lost';
export type Purpose = 'turn' | 'compaction' | 'judge';

export interface Item {
  readonly id: string;
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** Provider ids of the calls that an assistant message makes. */
  readonly calls?: readonly string[];
  readonly answers?: { readonly callId: string } | { readonly ref: CallName };
  readonly outcome?: 'ok' | 'error';
  readonly late?: true;
  readonly status?: Status;
}

export interface AnswerItem {
  readonly id: string;
  readonly text: string;
  readonly calls: readonly string[];
  readonly status: 'confirmed' | 'draft' | 'blocked';
}

export interface RecoverChoice {
  readonly call: CallName;
  readonly do: 'unknown' | 'abandon' | 'result';
}

export type ForkAt =
  | { readonly before: string }
  | { readonly after: string }
  | { readonly revision: number }
  | { readonly beforeCall: number };

/** Model calls, compactions and branches are named by number, in the order in which they came to be. */
export type Action =
  | {
      readonly do: 'append';
      readonly items: readonly Item[];
      readonly expected?: number;
      readonly as?: 'end_user' | 'tool';
    }
  | {
      readonly do: 'instructions';
      readonly name: string;
      readonly text: string;
      readonly as?: 'end_user';
    }
  | { readonly do: 'status'; readonly id: string; readonly to: Status }
  | { readonly do: 'withdraw'; readonly ids: readonly string[] }
  | { readonly do: 'redact'; readonly id: string }
  | { readonly do: 'request'; readonly purpose: Purpose; readonly retryOf?: number }
  | { readonly do: 'complete'; readonly call: number; readonly answer: AnswerItem }
  | {
      readonly do: 'fail';
      readonly call: number;
      readonly kind: 'transport' | 'provider' | 'interrupted';
      readonly partial?: { readonly id: string; readonly text: string };
      readonly ends?: TurnEnd;
    }
  | { readonly do: 'claim' }
  | { readonly do: 'endTurn'; readonly outcome: TurnEnd }
  | {
      readonly do: 'startTool';
      readonly call: CallName;
      readonly effect: Effect;
      readonly key: string;
    }
  | { readonly do: 'abandon'; readonly call: CallName }
  | {
      readonly do: 'ask';
      readonly call: CallName;
      readonly request: string;
      readonly expires?: 'past' | 'future';
    }
  | {
      readonly do: 'resolve';
      readonly request: string;
      readonly outcome: 'approved' | 'denied';
    }
  | { readonly do: 'recover'; readonly tools: readonly RecoverChoice[]; readonly ends?: TurnEnd }
  | {
      readonly do: 'compact';
      /** The first message that stays; null: none does. */
      readonly keepFrom: string | null;
      readonly text: string;
      readonly id: string;
      /** The model call that made the summary. */
      readonly madeBy?: number;
    }
  | { readonly do: 'undo'; readonly compaction: number }
  | { readonly do: 'fork'; readonly at: ForkAt; readonly name: string }
  | {
      readonly do: 'retry';
      readonly before?: string;
      readonly ofCall?: number;
      readonly replace?: { readonly id: string; readonly text: string };
    }
  | { readonly do: 'merge'; readonly from: number; readonly ids: readonly string[] }
  | { readonly do: 'label'; readonly name: string }
  | { readonly do: 'promote' }
  | { readonly do: 'annotate'; readonly feedback: boolean; readonly value: string }
  | { readonly do: 'close' }
  | { readonly do: 'reopen' }
  | { readonly do: 'start' };

/** One command: which of the two handles gives it, and on which branch. */
export type Step = Action & {
  readonly handle: 0 | 1;
  readonly branch: number;
  readonly commandId?: string;
};

/** What is compared of the answer to a step; a fault by its tag alone. */
export type Outcome =
  | { readonly kind: 'done'; readonly replayed?: boolean; readonly answer: unknown }
  | { readonly kind: 'fault'; readonly tag: string };

/** What must come: exactly this answer, or one of these faults. */
export type Expected =
  | { readonly kind: 'done'; readonly replayed?: boolean; readonly answer: unknown }
  | { readonly kind: 'fault'; readonly tags: readonly string[] };
