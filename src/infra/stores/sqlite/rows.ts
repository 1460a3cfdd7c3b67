import type { Row } from './driver.js';

const MISSHAPED = 'STEMMA_ROW';

/** A row that is not what this schema writes: the file was changed from outside. */
export const misshaped = (column: string): Error =>
  Object.assign(new Error(`stored row: ${column}`), { code: MISSHAPED });

export const isRowShape = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === MISSHAPED;

/** A whole number of a row. Throws for anything else, as damage. */
export const integerOf = (row: Row | undefined, column: string): number => {
  const value = row?.[column];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw misshaped(column);
};

/** A whole number, or undefined where the column is NULL or there is no row. */
export const maybeIntegerOf = (row: Row | undefined, column: string): number | undefined =>
  row === undefined || row[column] === null ? undefined : integerOf(row, column);

/** A text of a row. Throws for anything else, as damage. */
export const textOf = (row: Row | undefined, column: string): string => {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw misshaped(column);
};

/** Bytes of a row. Throws for anything else, as damage. */
export const bytesOf = (row: Row | undefined, column: string): Uint8Array => {
  const value = row?.[column];
  if (value instanceof Uint8Array) return value;
  throw misshaped(column);
};

/** The 32 bytes of a stored hash. Throws for anything else, as damage. */
export const hashOf = (row: Row | undefined): Uint8Array => {
  const bytes = bytesOf(row, 'hash');
  if (bytes.length === 32) return bytes;
  throw misshaped('hash');
};

/** Stored bytes as the text they were. Bytes that are no UTF-8 any more fail the hash check later. */
export const decodedText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
