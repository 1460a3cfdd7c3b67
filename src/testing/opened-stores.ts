import type { EngineStores } from '../engine/runtime.js';

/** A fresh store of an adapter, with what this adapter can do besides. */
export interface OpenedStores {
  readonly stores: EngineStores;
  /** Closes everything and opens the same data again. Left out by a store that keeps nothing. */
  readonly reopen?: () => Promise<EngineStores>;
  /** A second handle on the same data, as another process would have it. */
  readonly another?: () => Promise<EngineStores>;
  /** Keeps the key index from learning of new events; the result lets it go on. */
  readonly holdKeys?: () => () => void;
  /** Closes what is still open and removes what was made. */
  readonly dispose: () => Promise<void>;
}

/** What an adapter may be unable to do: its cases are then skipped, and named as skipped. */
export type Ability = 'reopen' | 'another' | 'holdKeys';

/** One promise of the store ports, checked against a fresh store. */
export interface StoreCase {
  /** Begins with the id under which docs/reference/store-contract.md lists it. */
  readonly title: string;
  readonly needs?: Ability;
  readonly run: (opened: OpenedStores) => Promise<void>;
}

/** The ability that a case has asked for. Throws when the adapter does not have it. */
export const abilityOf = <K extends Ability>(
  opened: OpenedStores,
  ability: K,
): NonNullable<OpenedStores[K]> => {
  const value = opened[ability];
  if (value === undefined) throw new Error(`this adapter has no ${ability}`);
  return value;
};
