import * as E from 'fp-ts/lib/Either.js';
import type { KeyIndex, KeyPlace, LineagePart } from '../../../domain/key-index.js';
import { headOf } from './append.js';
import type { Calls } from './calls.js';
import { keyValue } from './key-value.js';
import type { NameTable } from './names.js';
import { integerOf } from './rows.js';

const PLACES = 'SELECT stream, revision FROM keys WHERE conv = ? AND key = ?';

/**
 * The keys table: one probe for a key, whatever the depth of the fork, and the hits are filtered by
 * the lineage. It is written with the events, so it is valid up to the head of every stream.
 */
export const sqliteKeys = (
  { db, reading }: Calls,
  streams: NameTable,
  conversations: NameTable,
): KeyIndex => {
  const placesOf = (
    conv: number,
    key: string,
    upTo: ReadonlyMap<string, number>,
  ): readonly KeyPlace[] =>
    db
      .sql(PLACES)
      .all(conv, keyValue(key))
      .map((row) => ({
        key,
        stream: streams.nameOf(integerOf(row, 'stream')),
        revision: integerOf(row, 'revision'),
      }))
      .filter(({ stream, revision }) => revision <= (upTo.get(stream) ?? -1));
  const validTo = ({ stream, upTo }: LineagePart): readonly [string, number] => [
    stream,
    Math.min(upTo, headOf(db, streams.find(stream))),
  ];
  return {
    lookup: (conversation, lineage, keys) =>
      reading(() => {
        const conv = conversations.find(conversation);
        const upTo = new Map(lineage.map((part) => [part.stream, part.upTo]));
        const places =
          conv === undefined ? [] : [...new Set(keys)].flatMap((key) => placesOf(conv, key, upTo));
        return E.right({ places, validUpTo: new Map(lineage.map(validTo)) });
      }),
  };
};
