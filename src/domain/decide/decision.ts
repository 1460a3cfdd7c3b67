import * as E from 'fp-ts/lib/Either.js';
import type { KeyKind } from '../digest.js';
import type { StemmaFault } from '../errors.js';
import type { DomainEvent } from '../events/catalog.js';
import type { EventRef } from '../events/references.js';
import type { Recorded } from '../recorded.js';

/** What a command must know about: an id of a message, command, call or foreign record. */
export interface KeyRef {
  readonly kind: KeyKind;
  readonly id: string;
}

/** An event to append. One that names an earlier event of the same batch is made from the places given. */
export interface Planned {
  readonly event: DomainEvent | ((earlier: readonly EventRef[]) => DomainEvent);
  readonly keys: readonly KeyRef[];
}

/** What the lookup of `keysOf` found on this lineage, in revision order per key. */
export interface Facts {
  readonly of: (kind: KeyKind, id: string) => readonly Recorded[];
}

/** Events that were stored before and are the answer again, and events to append behind them. */
export interface Decision {
  readonly known: readonly Recorded[];
  readonly events: readonly Planned[];
}

export type Decided = E.Either<StemmaFault, Decision>;

/**
 * A command: the keys it must look up, and its decision, which is data in, events out. `answer` is
 * made from the stored events alone, so that a replay answers like the first time.
 */
export interface Command<State, Answer> {
  readonly name: CommandName;
  readonly keysOf: readonly KeyRef[];
  readonly decide: (state: State, facts: Facts) => Decided;
  readonly answer: (
    known: readonly Recorded[],
    written: readonly Recorded[],
    state: State,
  ) => Answer;
  /** The first answer again, for a known command id, where its events alone do not tell all of it. */
  readonly answerAgain?: (facts: Facts) => Answer;
  /** Where the table lets it depend on the input: whether this one may be decided again at a later head. */
  readonly mayRebase?: boolean;
}

export type CommandName = keyof typeof commandTable;

interface CommandRow {
  /** Kinds of keys that the command looks up. */
  readonly keys: readonly KeyKind[];
  /** When a lost race is decided again at the new head instead of being refused. */
  readonly commutes: 'always' | 'never' | 'user messages without expected revision, tool results';
  readonly stream: 'branch' | 'directory';
}

/** For each command: its keys, whether it commutes and with what (architecture.md, Consistency). */
export const commandTable = {
  start: { stream: 'directory', keys: ['command'], commutes: 'always' },
  registerBranch: { stream: 'directory', keys: ['command'], commutes: 'always' },
  label: { stream: 'directory', keys: ['command'], commutes: 'always' },
  promote: { stream: 'directory', keys: ['command'], commutes: 'always' },
  redact: { stream: 'directory', keys: ['command'], commutes: 'always' },
  annotate: { stream: 'directory', keys: ['command'], commutes: 'always' },
  close: { stream: 'directory', keys: ['command'], commutes: 'always' },
  reopen: { stream: 'directory', keys: ['command'], commutes: 'always' },
  startImport: { stream: 'directory', keys: ['command'], commutes: 'always' },
  completeImport: { stream: 'directory', keys: ['command'], commutes: 'always' },
  openBranch: { stream: 'branch', keys: [], commutes: 'always' },
  seal: { stream: 'branch', keys: [], commutes: 'always' },
  append: {
    stream: 'branch',
    keys: ['command', 'message', 'call'],
    commutes: 'user messages without expected revision, tool results',
  },
  import: { stream: 'branch', keys: ['command', 'record'], commutes: 'never' },
  reviseInstructions: { stream: 'branch', keys: ['command', 'message'], commutes: 'never' },
  changeStatus: { stream: 'branch', keys: ['command', 'message'], commutes: 'never' },
  withdraw: { stream: 'branch', keys: ['command', 'message'], commutes: 'never' },
  request: { stream: 'branch', keys: ['command', 'call'], commutes: 'never' },
  complete: { stream: 'branch', keys: ['command', 'call', 'message'], commutes: 'never' },
  fail: { stream: 'branch', keys: ['command', 'call', 'message'], commutes: 'never' },
  claim: { stream: 'branch', keys: ['command'], commutes: 'never' },
  endTurn: { stream: 'branch', keys: ['command'], commutes: 'never' },
  startTool: { stream: 'branch', keys: ['command', 'call'], commutes: 'never' },
  abandonCall: { stream: 'branch', keys: ['command', 'call'], commutes: 'never' },
  requestApproval: { stream: 'branch', keys: ['command', 'record', 'call'], commutes: 'never' },
  resolveApproval: { stream: 'branch', keys: ['command', 'record'], commutes: 'never' },
  compact: { stream: 'branch', keys: ['command', 'message'], commutes: 'never' },
  revertCompaction: { stream: 'branch', keys: ['command'], commutes: 'never' },
  merge: { stream: 'branch', keys: ['command'], commutes: 'never' },
} as const satisfies Readonly<Record<string, CommandRow>>;

export const append = (events: readonly Planned[], known: readonly Recorded[] = []): Decided =>
  E.right({ known, events });

/** A replay: nothing is written. */
export const known = (events: readonly Recorded[]): Decided =>
  E.right({ known: events, events: [] });

export const refuse = (fault: StemmaFault): Decided => E.left(fault);

/** An event without keys. */
export const plain = (event: DomainEvent): Planned => ({ event, keys: [] });

/** Whether a lost race is decided again at the new head. */
export const mayRebase = ({
  name,
  mayRebase: thisOne = false,
}: Pick<Command<never, unknown>, 'name' | 'mayRebase'>): boolean => {
  const { commutes } = commandTable[name];
  return commutes === 'always' || (commutes !== 'never' && thisOne);
};
