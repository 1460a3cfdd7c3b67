/** What native/io-log.c writes down, by the numbers that it uses. */
export const KIND = {
  fileFound: 1,
  fileMade: 2,
  write: 3,
  truncate: 4,
  sync: 5,
  syncFolder: 6,
  link: 7,
  rename: 8,
  unlink: 9,
  makeFolder: 10,
  removeFolder: 11,
  mark: 12,
} as const;

export interface IoRecord {
  readonly kind: number;
  /** Number of the file, the same for all its names; 0 where the record is about a name. */
  readonly file: number;
  /** Offset of a write, length of a truncation. */
  readonly at: number;
  readonly first: Buffer;
  readonly second: Buffer;
}

const HEAD_BYTES = 24;

/** All records of a log. A last one that was cut off (the process was killed) is left out. */
export const ioRecords = (log: Buffer): readonly IoRecord[] => {
  const records: IoRecord[] = [];
  let at = 0;
  while (at + HEAD_BYTES <= log.length) {
    const [first, second] = [log.readUInt32LE(at + 16), log.readUInt32LE(at + 20)];
    const body = at + HEAD_BYTES;
    const end = body + first + second;
    if (end > log.length) break;
    records.push({
      kind: log.readUInt8(at),
      file: log.readUInt32LE(at + 4),
      at: Number(log.readBigUInt64LE(at + 8)),
      first: log.subarray(body, body + first),
      second: log.subarray(body + first, end),
    });
    at = end;
  }
  return records;
};
