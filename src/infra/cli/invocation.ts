import type { Command } from 'commander';
import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { StemmaFault } from '../../domain/errors.js';
import type { Stemma } from '../../face/stemma-face.js';
import type { OpenOptions } from '../../open.js';
import type { Io } from './io.js';
import type { Options } from './options.js';
import type { Look, Result } from './result.js';
import type { Settings } from './settings.js';

/** What is known of a store without an engine. */
export interface StoreFacts {
  readonly file: string;
  readonly storeId?: string;
  readonly warnings: readonly StemmaFault[];
  readonly fault?: StemmaFault;
}

/** What only the composition root can give: it alone knows which store stands behind a path. */
export interface Root {
  readonly version: string;
  readonly open: (options: OpenOptions) => Promise<Stemma>;
  readonly backup: (store: string, target: string) => TE.TaskEither<StemmaFault, void>;
  readonly lookAt: (store: string) => Promise<StoreFacts>;
}

/** One call of a command. */
export interface Invocation {
  readonly io: Io;
  readonly root: Root;
  readonly settings: Settings;
  readonly look: Look;
  readonly options: Options;
  /** Positional arguments; an absent one is an empty text, a list stands at the end. */
  readonly args: readonly string[];
  /** Opens the store so that nothing of it changes; closed when the command is done. */
  readonly reader: () => Promise<Stemma>;
  readonly writer: () => Promise<Stemma>;
  /** Says how it goes, on standard error. */
  readonly progress: (line: string) => void;
  readonly nowMs: number;
}

export type Handler = (call: Invocation) => Promise<Result>;

/** What a command file needs to put its commands on the program. */
export interface Registry {
  readonly program: Command;
  /** Adds a command with its words, options and what it does. */
  readonly add: (parent: Command, spec: CommandSpec) => Command;
}

export interface CommandSpec {
  /** Name and arguments, as commander writes them. */
  readonly use: string;
  /** Where the words of the command stand: `calls ls` is `calls.ls`. */
  readonly key: string;
  /** Flags as commander writes them; their words are found by name. */
  readonly options?: readonly string[];
  /** Flags that may be given more than once. */
  readonly lists?: readonly string[];
  readonly aliases?: readonly string[];
  readonly run?: Handler;
}

export type Register = (registry: Registry) => void;
