import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runNode } from '../support/processes.js';

/** An event of a store file, and its body as it stands there. */
export interface StoredRow {
  readonly id: string;
  readonly stream: string;
  readonly data: string;
}

const rowsFile = fileURLToPath(new URL('./rows.js', import.meta.url));

const rowsOf = async (file: string): Promise<readonly StoredRow[]> => {
  const { stdout } = await runNode(rowsFile, [file]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredRow);
};

const PIECE_BYTES = 40;

/** Where a piece of the body stands in the file, when it stands there once. */
const placeOf = (bytes: Buffer, { data }: StoredRow): number | undefined => {
  const body = Buffer.from(data, 'hex');
  const piece = body.subarray(Math.max(0, body.length - PIECE_BYTES));
  const first = bytes.indexOf(piece);
  return first >= 0 && bytes.indexOf(piece, first + 1) < 0 ? first : undefined;
};

/** Flips one bit of one stored event in the file; undefined when none could be told apart. */
export const flipOneBit = async (file: string): Promise<StoredRow | undefined> => {
  const bytes = fs.readFileSync(file);
  for (const row of await rowsOf(file)) {
    const place = placeOf(bytes, row);
    if (place === undefined) continue;
    const at = place + PIECE_BYTES / 2;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    fs.writeFileSync(file, bytes);
    return row;
  }
  return undefined;
};
