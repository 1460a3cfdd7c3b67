import * as E from 'fp-ts/lib/Either.js';
import type { Facts, KeyRef } from '../domain/decide/decision.js';
import { lookupKey } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import type { KeyPlace, LineagePart } from '../domain/key-index.js';
import { keysOfMeta } from '../domain/envelope.js';
import type { Recorded } from '../domain/recorded.js';
import { readBatch } from './event-reader.js';
import type { Runtime, Task } from './runtime.js';

/** Scans what the index does not know yet, up to the head at which the command will append. */
const scanTail = async (
  runtime: Runtime,
  part: LineagePart,
  validUpTo: number,
  wanted: ReadonlySet<string>,
): Promise<E.Either<StemmaFault, readonly KeyPlace[]>> => {
  const places: KeyPlace[] = [];
  let from: number | undefined = validUpTo + 1;
  while (from !== undefined && from <= part.upTo) {
    const page = await runtime.events.read({
      stream: part.stream,
      from,
      direction: 'forwards',
      limit: 500,
      maxBytes: 4_000_000,
    })();
    if (E.isLeft(page)) return page;
    for (const event of page.right.events) {
      if (event.revision > part.upTo) return E.right(places);
      for (const key of keysOfMeta(event.meta)) {
        if (wanted.has(key)) places.push({ key, stream: part.stream, revision: event.revision });
      }
    }
    from = page.right.next;
  }
  return E.right(places);
};

const placesOf = async (
  runtime: Runtime,
  conversation: string,
  lineage: readonly LineagePart[],
  keys: readonly string[],
): Promise<E.Either<StemmaFault, readonly KeyPlace[]>> => {
  const found = await runtime.keys.lookup(conversation, lineage, keys)();
  if (E.isLeft(found)) return found;
  const places = [...found.right.places];
  const wanted = new Set(keys);
  for (const part of lineage) {
    const validUpTo = found.right.validUpTo.get(part.stream) ?? -1;
    if (validUpTo >= part.upTo) continue;
    const tail = await scanTail(runtime, part, validUpTo, wanted);
    if (E.isLeft(tail)) return tail;
    places.push(...tail.right);
  }
  return E.right(inLineageOrder(lineage, places));
};

/** Ancestors first, then by revision; each place once per key. */
const inLineageOrder = (
  lineage: readonly LineagePart[],
  places: readonly KeyPlace[],
): readonly KeyPlace[] => {
  const depth = new Map(lineage.map((part, index) => [part.stream, lineage.length - index]));
  const known = new Set<string>();
  return [...places]
    .sort(
      (a, b) => (depth.get(a.stream) ?? 0) - (depth.get(b.stream) ?? 0) || a.revision - b.revision,
    )
    .filter(({ key, stream, revision }) => {
      const name = `${key} ${stream} ${String(revision)}`;
      const isNew = !known.has(name);
      known.add(name);
      return isNew;
    });
};

const batchLength = (recorded: Recorded): number => Number(recorded.meta.part.split('/')[1] ?? 1);

/**
 * Looks ids up on a lineage and reads the events that carry them. A command id gives its whole
 * batch, so that its answer can be made again.
 */
export const lookUp =
  (
    runtime: Runtime,
    conversation: string,
    lineage: readonly LineagePart[],
    refs: readonly KeyRef[],
  ): Task<Facts> =>
  async () => {
    const hits = new Map<string, Recorded[]>();
    const facts: Facts = {
      of: (kind, id) => hits.get(lookupKey(conversation, kind, id)) ?? [],
    };
    if (refs.length === 0) return E.right(facts);
    const commands = new Set<string>();
    const keys = refs.map(({ kind, id }) => {
      const key = lookupKey(conversation, kind, id);
      if (kind === 'command') commands.add(key);
      return key;
    });
    const places = await placesOf(runtime, conversation, lineage, [...new Set(keys)]);
    if (E.isLeft(places)) return places;
    for (const { key, stream, revision } of places.right) {
      const first = await readBatch(runtime, stream, revision, 1)();
      if (E.isLeft(first)) return first;
      const [recorded] = first.right;
      if (recorded === undefined) continue;
      const count = commands.has(key) ? batchLength(recorded) : 1;
      const batch = count === 1 ? first : await readBatch(runtime, stream, revision, count)();
      if (E.isLeft(batch)) return batch;
      hits.set(key, [...(hits.get(key) ?? []), ...batch.right]);
    }
    return E.right(facts);
  };
