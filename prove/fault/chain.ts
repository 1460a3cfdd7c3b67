import * as E from 'fp-ts/lib/Either.js';
import { publicUid } from '../../src/domain/digest.js';
import {
  chainStart,
  encodeMeta,
  FORMAT,
  hashEvent,
  idFromHash,
} from '../../src/domain/envelope.js';
import type { EventStore, NewEvent } from '../../src/domain/event-store.js';
import { NO_UID, type Uid } from '../../src/domain/ids.js';
import { readStored } from '../../src/domain/recorded.js';
import { branchStream, directoryStream } from '../../src/domain/stream-name.js';
import { tenantUid } from '../../src/engine/tenant.js';
import { value } from '../support/engine.js';

/** A stream of small events that the product's own check accepts, written without the engine. */
export interface Chain {
  readonly stream: string;
  readonly conversation: Uid;
  readonly branch: string;
  /** -1 before the first event. */
  readonly revision: number;
  readonly hash: string;
}

export type Batch = readonly [NewEvent, ...NewEvent[]];

/** `kind` is the category of the stream: for feeds that want one of them alone. */
export const newChain = (name: string, kind: 'branch' | 'conversation' = 'branch'): Chain => {
  const tenant = tenantUid('default');
  const conversation = publicUid('conversation', name);
  const uid = publicUid('branch', name);
  const [stream, branch] =
    kind === 'branch'
      ? [branchStream(tenant, conversation, uid), uid]
      : [directoryStream(tenant, conversation), NO_UID];
  return { stream, conversation, branch, revision: -1, hash: chainStart(conversation, branch) };
};

export const expectedOf = ({ revision }: Chain): number | 'none' =>
  revision < 0 ? 'none' : revision;

const TYPE = 'RigNoted';
const AT = '2026-01-01T00:00:00.000Z';

const eventBehind = (chain: Chain, part: string, data: string): NewEvent => {
  const { conversation: conv, branch, hash: prev } = chain;
  const place = { fmt: FORMAT, conv, branch, revision: chain.revision + 1 };
  const meta = encodeMeta({
    fmt: FORMAT,
    sv: '1',
    compat: 'skip',
    conv,
    branch,
    prev,
    part,
    at: AT,
    actor: 'rig',
    via: 'prove',
  });
  const hash = hashEvent(place, TYPE, meta, data);
  return { id: idFromHash(hash), hash, type: TYPE, meta, data };
};

/** The next events of a chain, and the chain as it is with them. */
export const nextBatch = (
  chain: Chain,
  count: number,
  text = '',
): { readonly batch: Batch; readonly chain: Chain } => {
  let grown = chain;
  const events = Array.from({ length: count }, (_item, index) => {
    const data = JSON.stringify({ revision: grown.revision + 1, text });
    const event = eventBehind(grown, `${index + 1}/${count}`, data);
    grown = { ...grown, revision: grown.revision + 1, hash: event.hash };
    return event;
  });
  const [first, ...rest] = events;
  if (first === undefined) throw new Error('a batch has at least one event');
  return { batch: [first, ...rest], chain: grown };
};

/** The chain as a store has it. */
export const storedChain = async (events: EventStore, chain: Chain): Promise<Chain> => {
  const { stream } = chain;
  const page = await value(
    events.read({ stream, from: 'end', direction: 'backwards', limit: 1, maxBytes: 1 }),
  );
  const [last] = page.events;
  if (last === undefined) return chain;
  const recorded = readStored(last);
  if (E.isLeft(recorded)) throw new Error(`damaged: ${stream} ${last.revision}`);
  return { ...chain, revision: last.revision, hash: recorded.right.hash };
};
