import * as E from 'fp-ts/lib/Either.js';
import { record, text, type Codec } from '../codec.js';
import type { FaultOf } from '../errors.js';
import { branchCodecs } from './branch-events.js';
import { directoryCodecs } from './directory-events.js';
import { messageCodecs } from './message-events.js';
import { modelCallCodecs } from './model-call-events.js';

/** First event of a tenant's governance stream: which secret derived its uids. */
export interface TenantEstablished {
  readonly fingerprint: string;
}

export const codecs = {
  ...directoryCodecs,
  ...branchCodecs,
  ...messageCodecs,
  ...modelCallCodecs,
  TenantEstablished: record<TenantEstablished>('TenantEstablished', { fingerprint: text }),
};

export type EventType = keyof typeof codecs;

type DataOf<T> = T extends Codec<infer A> ? A : never;

export type EventData = { readonly [K in EventType]: DataOf<(typeof codecs)[K]> };

/** An event of the domain: its stored type name and its decoded data. */
export type DomainEvent = {
  readonly [K in EventType]: { readonly type: K; readonly data: EventData[K] };
}[EventType];

export type EventOf<K extends EventType> = Extract<DomainEvent, { readonly type: K }>;

export const isEventType = (type: string): type is EventType => Object.hasOwn(codecs, type);

/** Schema version written for each type; raised together with an upcast from the version before. */
export const SCHEMA_VERSION = 1;

/** Turns the data of an old version into the next one. `Type@version` is the version it reads. */
export type Upcast = (data: unknown) => unknown;
export type Upcasts = Readonly<Record<string, Upcast>>;

const upcasted = (
  type: string,
  version: number,
  data: unknown,
  upcasts: Upcasts,
): { readonly version: number; readonly data: unknown } => {
  let at = { version, data };
  // A step leads to the current version at once, so a chain cannot turn in circles.
  const step = upcasts[`${type}@${String(version)}`];
  if (step !== undefined) at = { version: SCHEMA_VERSION, data: step(data) };
  return at;
};

export type Decoded =
  | { readonly _tag: 'known'; readonly event: DomainEvent }
  | {
      readonly _tag: 'unknown';
      readonly type: string;
      readonly version: number;
      readonly reason: 'type' | 'version';
    };

/**
 * Reads the data of a stored event. A type or version that nobody here knows is a value, not a
 * fault: what it means depends on `compat` (format.md). Data of a known type that does not fit is
 * `InvalidShape`.
 */
export const decodeEvent = (
  type: string,
  version: number,
  data: unknown,
  upcasts: Upcasts = {},
): E.Either<FaultOf<'InvalidShape'>, Decoded> => {
  if (!isEventType(type)) return E.right({ _tag: 'unknown', type, version, reason: 'type' });
  const current = upcasted(type, version, data, upcasts);
  if (current.version !== SCHEMA_VERSION) {
    return E.right({ _tag: 'unknown', type, version, reason: 'version' });
  }
  const result = (codecs[type] as Codec<unknown>).decode(current.data);
  if (E.isLeft(result)) {
    const last = result.left[0]?.context;
    return E.left({
      _tag: 'InvalidShape',
      path: (last ?? []).map((entry) => (entry.key === '' ? '' : `/${entry.key}`)).join(''),
      expected: last?.[last.length - 1]?.type.name ?? type,
    });
  }
  return E.right({ _tag: 'known', event: { type, data: result.right } as DomainEvent });
};

export const encodeEvent = (event: DomainEvent): string =>
  JSON.stringify((codecs[event.type] as Codec<unknown>).encode(event.data));
