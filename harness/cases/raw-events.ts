import * as E from 'fp-ts/lib/Either.js';
import {
  chainStart,
  encodeMeta,
  FORMAT,
  hashEvent,
  idFromHash,
  type Meta,
} from '../../src/domain/envelope.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import { parseStream } from '../../src/domain/stream-name.js';
import { StemmaError } from '../../src/index.js';
import type { CaseEvent } from './input-shape.js';
import type { World } from './world.js';

/** The end of a stream that events are written behind, byte for byte. */
export interface Tail {
  readonly world: World;
  readonly stream: string;
  readonly at: string;
  head: number;
  hash: string;
}

const hashOfEvent = (event: StoredEvent): string => {
  const meta = JSON.parse(event.meta) as Meta;
  return hashEvent({ ...meta, revision: event.revision }, event.type, event.meta, event.data);
};

/** The end of the stream of a branch. */
export const tailOf = async (world: World, branch: string): Promise<Tail> => {
  const events = await world.snapshot();
  const own = events.filter(({ stream }) => {
    const name = parseStream(stream);
    return name?.kind === 'branch' && name.branch === branch;
  });
  const last = own.at(-1);
  if (last === undefined) throw new Error('the branch has no event');
  const { at } = JSON.parse(last.meta) as Meta;
  return { world, stream: last.stream, at, head: last.revision, hash: hashOfEvent(last) };
};

const placeOf = (stream: string): Pick<Meta, 'conv' | 'branch'> => {
  const name = parseStream(stream);
  if (name?.kind !== 'branch') throw new Error('no stream of a branch');
  return { conv: name.conversation, branch: name.branch };
};

const write = async (tail: Tail, type: string, meta: Meta, data: string): Promise<number> => {
  const revision = tail.head + 1;
  const text = encodeMeta(meta);
  const hash = hashEvent({ ...meta, revision }, type, text, data);
  const event = { id: idFromHash(hash), hash, type, meta: text, data };
  const done = await tail.world.stores().events.append(tail.stream, tail.head, [event])();
  if (E.isLeft(done)) throw new StemmaError(done.left);
  tail.head = revision;
  tail.hash = hash;
  return revision;
};

/** Writes an event of a case as it is, in a proper envelope. */
export const writeForeign = (tail: Tail, event: CaseEvent): Promise<number> => {
  const { type, version = 1, compat = 'must', data } = event;
  const place = placeOf(tail.stream);
  const meta: Meta = {
    fmt: FORMAT,
    sv: String(version),
    compat,
    ...place,
    prev: tail.head < 0 ? chainStart(place.conv, place.branch) : tail.hash,
    part: '1/1',
    at: tail.at,
    actor: 'app',
    via: 'another/9.9.9',
  };
  return write(tail, type, meta, JSON.stringify(data));
};

/** Writes a stored event of another store behind this tail: only its place changes. */
export const writeMoved = (tail: Tail, event: StoredEvent): Promise<number> => {
  const meta = JSON.parse(event.meta) as Meta;
  const moved = { ...meta, ...placeOf(tail.stream), prev: tail.hash };
  return write(tail, event.type, moved, event.data);
};
