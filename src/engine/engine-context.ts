import * as E from 'fp-ts/lib/Either.js';
import { base64url, digestOf, publicUid, uidFromBytes } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Uid } from '../domain/ids.js';
import type { Provenance } from '../domain/message.js';
import { foreignId } from '../domain/text.js';
import { stateCache, type StateCache } from './branch-loader.js';
import type { Given } from './execute.js';
import { historyCache, type HistoryCache } from './histories.js';
import type { BranchKey, Runtime } from './runtime.js';
import type { Tenant } from './tenant.js';

/** Who gives commands; drives who may write which role. */
export interface Actor {
  readonly kind: Provenance['kind'];
  readonly id?: string;
}

/** An open engine: one tenant on one set of stores, with what it keeps in memory. */
export interface EngineContext extends Tenant {
  readonly runtime: Runtime;
  readonly states: StateCache;
  readonly histories: HistoryCache;
}

export const engineContext = (runtime: Runtime, tenant: Tenant): EngineContext => ({
  runtime,
  ...tenant,
  states: stateCache(),
  histories: historyCache(),
});

/** A branch as one handle works on it: its run owns the turns that the handle opens. */
export interface BranchContext extends EngineContext {
  readonly key: BranchKey;
  readonly run: string;
  readonly as: Actor;
}

export const newUid = ({ runtime }: Pick<EngineContext, 'runtime'>): Uid =>
  uidFromBytes(runtime.random(16));

/** A short random id for things that people may have to name: turns, runs, calls. */
export const newId = ({ runtime }: Pick<EngineContext, 'runtime'>, prefix: string): string =>
  `${prefix}-${base64url(runtime.random(12))}`;

export const actorText = (as: Actor): string =>
  as.id === undefined ? as.kind : `${as.kind}:${as.id}`;

/** Options that any command takes. */
export interface CommandOptions {
  /** Same id and input: a replay with the first answer; other input: `CommandConflict` (CM1). */
  readonly commandId?: string;
}

const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Digest of a command's input; key order does not count. */
export const inputDigest = (name: string, input: unknown): string =>
  digestOf(JSON.stringify([name, input], sorted));

export const given = (
  context: BranchContext,
  options: CommandOptions,
  name: string,
  input: unknown,
): Given => ({
  actor: actorText(context.as),
  run: context.run,
  ...(options.commandId === undefined
    ? {}
    : { command: { id: options.commandId, digest: inputDigest(name, input) } }),
});

/** Id of a command that is part of another one; it stays within the length that an id may have. */
export const partCommandId = (...parts: readonly string[]): string => {
  const id = parts.join('.');
  return E.isRight(foreignId('', id)) ? id : `part.${publicUid(...parts)}`;
};

/** Ids that a command needs and its caller did not give: repeatable when the command has an id. */
export const commandScopedId = (
  context: BranchContext,
  options: CommandOptions,
  prefix: string,
  index: number,
): string =>
  options.commandId === undefined
    ? newId(context, prefix)
    : `${prefix}-${publicUid(context.key.conversation, context.key.branch, options.commandId, prefix, String(index))}`;

export const provenanceOf = (as: Actor): Provenance => ({
  kind: as.kind,
  ...(as.id === undefined ? {} : { id: as.id }),
});

export const scopeOf = (context: BranchContext) => ({
  conversation: context.key.conversation,
  branch: context.key.branch,
  run: context.run,
});

export const left = (fault: StemmaFault): E.Either<StemmaFault, never> => E.left(fault);
