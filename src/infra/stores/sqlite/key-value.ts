/**
 * How a lookup key is stored: the 16 bytes that a key made by the engine stands for, any other text
 * as its UTF-8 behind one zero byte more than fits, so that the two can never be taken for another.
 */
export const keyValue = (key: string): Uint8Array => {
  const bytes = Buffer.from(key, 'base64url');
  if (bytes.length === 16 && bytes.toString('base64url') === key) return bytes;
  return Buffer.concat([Buffer.alloc(17), Buffer.from(key)]);
};
