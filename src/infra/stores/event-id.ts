const VARIANTS = '89ab';

/** The id of an event: a UUIDv8 cut from the first 16 bytes of its hash (format.md, Envelope). */
export const idOfHash = (hash: Uint8Array): string => {
  const hex = Buffer.from(hash.buffer, hash.byteOffset, 16).toString('hex');
  const variant = VARIANTS.charAt(((hash[8] ?? 0) >> 4) & 3);
  const [first, second, third] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)];
  return `${first}-${second}-8${third}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
};

/** The 32 bytes of a base64url hash; undefined for any other text. */
export const hashBytes = (hash: string): Uint8Array | undefined => {
  const bytes = Buffer.from(hash, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === hash ? bytes : undefined;
};
