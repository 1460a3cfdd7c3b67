/** The id of an event: a UUIDv8 cut from the first 16 bytes of its hash (format.md, Envelope). */
export const idOfHash = (hash: Uint8Array): string => {
  const bytes = Buffer.from(hash.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  const cuts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${cuts.join('-')}-${hex.slice(20)}`;
};

/** The 32 bytes of a base64url hash; undefined for any other text. */
export const hashBytes = (hash: string): Uint8Array | undefined => {
  const bytes = Buffer.from(hash, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === hash ? bytes : undefined;
};
