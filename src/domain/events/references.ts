import { optional, record, text, whole, type Codec } from '../codec.js';
import { Uid, type Revision } from '../ids.js';

/** A stored event, named so that it can be found and checked: place and hash (format.md, References). */
export interface EventRef {
  readonly branch: Uid;
  readonly revision: Revision;
  readonly hash: string;
}
export const EventRef = record<EventRef>('EventRef', { branch: Uid, revision: whole, hash: text });

/** A stored message: the id that people use beside the reference. */
export interface MessageRef extends EventRef {
  readonly id: string;
}
export const MessageRef = record<MessageRef>('MessageRef', {
  id: text,
  branch: Uid,
  revision: whole,
  hash: text,
});

/** Events `from`..`to` (both included) of one branch of the lineage. */
export interface Run {
  readonly branch: Uid;
  readonly from: Revision;
  readonly to: Revision;
}
export const Run: Codec<Run> = record<Run>('Run', { branch: Uid, from: whole, to: whole });

export interface Label {
  readonly name: string;
  readonly value: string;
}
export const Label = record<Label>('Label', { name: text, value: text });

/** A named rule set with its version and parameters (JSON text). */
export interface Ruling {
  readonly name: string;
  readonly version: number;
  readonly params?: string;
}
export const Ruling = record<Ruling>('Ruling', {
  name: text,
  version: whole,
  params: optional(text),
});
