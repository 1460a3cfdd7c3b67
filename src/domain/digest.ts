import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { isUid, type Uid } from './ids.js';

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Base64url without padding (RFC 4648 section 5). */
export const base64url = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    const bits = (a << 16) | (b << 8) | c;
    text += alphabet.charAt(bits >> 18) + alphabet.charAt((bits >> 12) & 63);
    if (at + 1 < bytes.length) text += alphabet.charAt((bits >> 6) & 63);
    if (at + 2 < bytes.length) text += alphabet.charAt(bits & 63);
  }
  return text;
};

/** Standard base64 with padding (RFC 4648 section 4), as exchange lines carry it. */
export const toBase64 = (bytes: Uint8Array): string => {
  let binary = '';
  // In slices: the arguments of one call are limited.
  for (let at = 0; at < bytes.length; at += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return btoa(binary);
};

/** Reads base64; what is none gives no bytes. */
export const fromBase64 = (text: string): Uint8Array => {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
};

/** A part of a hashed sequence: length (u32, big-endian) and bytes, so that no two sequences meet. */
export type Part = string | Uint8Array;

/** SHA-256 over the length-prefixed parts (format.md, Envelope). */
export const hashParts = (parts: readonly Part[]): Uint8Array => {
  const hash = sha256.create();
  const length = new Uint8Array(4);
  for (const part of parts) {
    const bytes = typeof part === 'string' ? utf8(part) : part;
    new DataView(length.buffer).setUint32(0, bytes.length);
    hash.update(length).update(bytes);
  }
  return hash.digest();
};

export const sha256Bytes = (input: Part): Uint8Array =>
  sha256(typeof input === 'string' ? utf8(input) : input);

/** Digest of a text, marked with its algorithm: `s1:` is SHA-256 in base64url. */
export const digestOf = (input: Part): string => `s1:${base64url(sha256Bytes(input))}`;

const uidOf = (bytes: Uint8Array): Uid => {
  const text = base64url(bytes.subarray(0, 16));
  if (!isUid(text)) throw new Error('a uid is 16 bytes');
  return text;
};

/** A uid that every node of a tenant derives alike from a foreign id (architecture.md, Streams). */
export const deriveUid = (secret: Uint8Array, kind: string, id: string): Uid =>
  uidOf(hmac(sha256, secret, utf8(`${kind}\u0000${id}`)));

/** A uid from parts that are no secret. */
export const publicUid = (...parts: readonly string[]): Uid => uidOf(hashParts(parts));

/** A uid from 16 random bytes given by the caller. */
export const uidFromBytes = uidOf;

export type KeyKind = 'message' | 'command' | 'call' | 'record';

/** Lookup key: 128 bits of SHA-256(conversation, kind, id), so that ids of people stay out of indexes. */
export const lookupKey = (conversation: string, kind: KeyKind, id: string): string =>
  base64url(hashParts([conversation, kind, id]).subarray(0, 16));

/** Name of a blob: an HMAC keyed by its conversation, so a name tells nothing across conversations. */
export const blobName = (conversation: string, bytes: Uint8Array): string =>
  base64url(hmac(sha256, hashParts(['blob', conversation]), bytes));
