import { record, text, whole, type Codec } from './codec.js';
import * as t from 'io-ts';
import * as E from 'fp-ts/lib/Either.js';

/** Text above this many UTF-8 bytes is kept as a blob, on every store. */
export const SPILL_BYTES = 65_536;

export interface InlineSlot {
  readonly slot: string;
  readonly inline: string;
}
export interface BlobSlot {
  readonly slot: string;
  readonly blob: string;
  readonly bytes: number;
  readonly kind: string;
}
export interface SealedSlot {
  readonly slot: string;
  readonly sealed: string;
  readonly kid: string;
  readonly alg: string;
}

/** The only home of anything personal or large: readable text, a reference, or a ciphertext. */
export type Slot = InlineSlot | BlobSlot | SealedSlot;

const inlineSlot = record<InlineSlot>('InlineSlot', { slot: text, inline: text });
const blobSlot = record<BlobSlot>('BlobSlot', { slot: text, blob: text, bytes: whole, kind: text });
const sealedSlot = record<SealedSlot>('SealedSlot', {
  slot: text,
  sealed: text,
  kid: text,
  alg: text,
});

const formOf = (input: unknown): Codec<InlineSlot> | Codec<BlobSlot> | Codec<SealedSlot> | null => {
  if (typeof input !== 'object' || input === null) return null;
  if ('inline' in input) return inlineSlot;
  if ('blob' in input) return blobSlot;
  return 'sealed' in input ? sealedSlot : null;
};

export const Slot: Codec<Slot> = new t.Type<Slot, unknown, unknown>(
  'Slot',
  (input): input is Slot => formOf(input)?.is(input) ?? false,
  (input, context) => {
    const form = formOf(input);
    if (form === null) return t.failure(input, context);
    const result: t.Validation<Slot> = form.validate(input, context);
    return E.isLeft(result) ? result : t.success(result.right);
  },
  (slot) =>
    'inline' in slot
      ? inlineSlot.encode(slot)
      : 'blob' in slot
        ? blobSlot.encode(slot)
        : sealedSlot.encode(slot),
);

/** What reading a slot gave: its text, or the reason there is none. */
export type Opened = { readonly _tag: 'text'; readonly text: string } | { readonly _tag: 'erased' };
