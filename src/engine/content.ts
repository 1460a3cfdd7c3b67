import * as E from 'fp-ts/lib/Either.js';
import { base64url, blobName, utf8 } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import { SPILL_BYTES, type Opened, type Slot } from '../domain/slot.js';
import type { ConversationKey, Runtime, Task } from './runtime.js';

/** Makes slots for a command's content; what is too large waits in `blobs` to be stored first. */
export interface SlotMaker {
  readonly make: (text: string, kind: string) => Slot;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

export const slotMaker = (runtime: Runtime, conversation: string): SlotMaker => {
  const blobs = new Map<string, Uint8Array>();
  const make = (text: string, kind: string): Slot => {
    const slot = base64url(runtime.random(16));
    // A text of n UTF-16 units has at least n bytes only if it is ASCII; encode just what may spill.
    if (text.length * 3 <= SPILL_BYTES) return { slot, inline: text };
    const bytes = utf8(text);
    if (bytes.length <= SPILL_BYTES) return { slot, inline: text };
    const spilled = spillable(text);
    const blob = blobName(conversation, spilled);
    blobs.set(blob, spilled);
    return { slot, blob, bytes: spilled.length, kind };
  };
  return { make, blobs };
};

/**
 * A blob is the JSON text of its string, so that a lone surrogate (which UTF-8 cannot carry) comes
 * back as it went in.
 */
const spillable = (text: string): Uint8Array => utf8(JSON.stringify(text));

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const fromBlob = (bytes: Uint8Array): string | undefined => {
  try {
    const text: unknown = JSON.parse(decoder.decode(bytes));
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
};

/** Stores blobs before the event that names them. */
export const storeBlobs =
  (runtime: Runtime, tenant: string, blobs: ReadonlyMap<string, Uint8Array>): Task<void> =>
  async () => {
    for (const [name, bytes] of blobs) {
      const put = await runtime.blobs.put(tenant, name, bytes)();
      if (E.isLeft(put)) return put;
    }
    return E.right(undefined);
  };

const openBlob = async (
  runtime: Runtime,
  key: ConversationKey,
  name: string,
): Promise<E.Either<StemmaFault, Opened>> => {
  const bytes = await runtime.blobs.get(key.tenant, name)();
  if (E.isLeft(bytes)) return bytes;
  const damaged: StemmaFault = { _tag: 'Damaged', check: 'blob' };
  if (bytes.right === undefined) return E.left(damaged);
  if (blobName(key.conversation, bytes.right) !== name) return E.left(damaged);
  const text = fromBlob(bytes.right);
  return text === undefined ? E.left(damaged) : E.right({ _tag: 'text', text });
};

/** Reads slots; a sealed one that this build holds no key for reads as erased. */
export const openSlots =
  (runtime: Runtime, key: ConversationKey, slots: readonly Slot[]): Task<(slot: Slot) => Opened> =>
  async () => {
    const opened = new Map<string, Opened>();
    for (const slot of slots) {
      if (!('blob' in slot) || opened.has(slot.blob)) continue;
      const text = await openBlob(runtime, key, slot.blob);
      if (E.isLeft(text)) return text;
      opened.set(slot.blob, text.right);
    }
    const open = (slot: Slot): Opened => {
      if ('inline' in slot) return { _tag: 'text', text: slot.inline };
      return ('blob' in slot ? opened.get(slot.blob) : undefined) ?? { _tag: 'erased' };
    };
    return E.right(open);
  };
