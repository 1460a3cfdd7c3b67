import * as E from 'fp-ts/lib/Either.js';
import type { KeyIndex, KeyLookup } from '../domain/key-index.js';
import type { Revision } from '../domain/ids.js';

export interface HeldKeys {
  readonly keys: KeyIndex;
  /** From now on nothing above this revision of a stream is known; `undefined` lets it go. */
  readonly hold: (stream: string, upTo: Revision | undefined) => void;
}

/**
 * An index made to lag behind, as that of a server does. For tests of what must work with a stale
 * one: it is as honest about what it does not know as the real one.
 */
export const heldBackKeys = (index: KeyIndex): HeldKeys => {
  const limits = new Map<string, Revision>();
  const limitOf = (stream: string): Revision => limits.get(stream) ?? Number.MAX_SAFE_INTEGER;
  const cut = ({ places, validUpTo }: KeyLookup): KeyLookup => ({
    places: places.filter(({ stream, revision }) => revision <= limitOf(stream)),
    validUpTo: new Map(
      [...validUpTo].map(([stream, upTo]) => [stream, Math.min(upTo, limitOf(stream))]),
    ),
  });
  return {
    keys: {
      lookup: (conversation, lineage, keys) => async () =>
        E.map(cut)(await index.lookup(conversation, lineage, keys)()),
    },
    hold: (stream, upTo) => {
      if (upTo === undefined) limits.delete(stream);
      else limits.set(stream, upTo);
    },
  };
};
