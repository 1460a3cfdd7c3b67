import * as E from 'fp-ts/lib/Either.js';
import { expectedPrev } from '../domain/chain.js';
import { decodeWith, type Codec } from '../domain/codec.js';
import type { Planned } from '../domain/decide/decision.js';
import { lookupKey } from '../domain/digest.js';
import { compatOf, encodeMeta, FORMAT, hashEvent, idFromHash, Meta } from '../domain/envelope.js';
import type { FaultOf } from '../domain/errors.js';
import type { NewEvent } from '../domain/event-store.js';
import { codecs, encodeEvent, SCHEMA_VERSION, type DomainEvent } from '../domain/events/catalog.js';
import type { EventRef } from '../domain/events/references.js';
import type { Uid } from '../domain/ids.js';
import type { Recorded } from '../domain/recorded.js';

/** What a batch shares: who writes it, for which command, and behind which event. */
export interface BatchContext {
  readonly stream: string;
  readonly conversation: string;
  readonly branch: string;
  readonly head: number;
  readonly hash: string;
  readonly at: string;
  readonly now: string;
  readonly actor: string;
  readonly via: string;
  readonly run?: string;
  readonly commandId?: string;
  readonly commandDigest?: string;
}

export interface WrittenEvent {
  readonly stored: NewEvent;
  readonly recorded: Recorded;
}

const metaOf = (
  context: BatchContext,
  part: { readonly event: DomainEvent; readonly prev: string; readonly place: string },
  keys: readonly string[],
): Meta => {
  const { now, at: before, run, commandId, commandDigest } = context;
  const at = now > before ? now : before;
  return {
    fmt: FORMAT,
    sv: String(SCHEMA_VERSION),
    compat: compatOf(part.event.type),
    conv: context.conversation,
    branch: context.branch,
    prev: part.prev,
    ...(commandId === undefined ? {} : { cmd: commandId }),
    ...(commandDigest === undefined ? {} : { cmdDigest: commandDigest }),
    part: part.place,
    at,
    ...(at === now ? {} : { wall: now }),
    actor: context.actor,
    via: context.via,
    ...(run === undefined ? {} : { run }),
    ...(keys.length === 0 ? {} : { keys: keys.join(' ') }),
  };
};

const keysFor = (context: BatchContext, planned: Planned, first: boolean): readonly string[] => {
  const { conversation, commandId } = context;
  const own = planned.keys.map(({ kind, id }) => lookupKey(conversation, kind, id));
  return first && commandId !== undefined
    ? [...own, lookupKey(conversation, 'command', commandId)]
    : own;
};

/**
 * Why an event could not be read back once it is stored. Types do not bind a caller in plain
 * JavaScript, and a stream that holds one such event is damaged for good.
 */
const unreadable = (event: DomainEvent, meta: Meta): FaultOf<'InvalidShape'> | undefined => {
  const data = decodeWith(codecs[event.type] as Codec<unknown>, event.data);
  const envelope = decodeWith(Meta, meta);
  const misfit = E.isLeft(data) ? data.left : E.isLeft(envelope) ? envelope.left : undefined;
  return misfit && { _tag: 'InvalidShape', path: misfit.path, expected: misfit.expected };
};

/** Makes the exact texts of a batch, each event chained to the one before it. */
export const writeBatch = (
  context: BatchContext,
  planned: readonly Planned[],
): E.Either<FaultOf<'InvalidShape'>, readonly WrittenEvent[]> => {
  const written: WrittenEvent[] = [];
  const places: EventRef[] = [];
  let before = context.head < 0 ? undefined : { revision: context.head, hash: context.hash };
  const { conversation: conv, branch, stream } = context;
  for (const [index, plan] of planned.entries()) {
    const event = typeof plan.event === 'function' ? plan.event(places) : plan.event;
    const revision = (before?.revision ?? -1) + 1;
    const prev = expectedPrev(before, {
      event,
      meta: { conv, branch } as Meta,
    });
    const place = `${String(index + 1)}/${String(planned.length)}`;
    const meta = metaOf(context, { event, prev, place }, keysFor(context, plan, index === 0));
    const fault = unreadable(event, meta);
    if (fault !== undefined) return E.left(fault);
    const [metaText, data] = [encodeMeta(meta), encodeEvent(event)];
    const hash = hashEvent({ ...meta, revision }, event.type, metaText, data);
    const id = idFromHash(hash);
    written.push({
      stored: { id, hash, type: event.type, meta: metaText, data },
      recorded: { stream, revision, position: '', id, hash, meta, event },
    });
    places.push({ branch: branch as Uid, revision, hash });
    before = { revision, hash };
  }
  return E.right(written);
};
