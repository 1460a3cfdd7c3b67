import fs from 'node:fs';

/** Which write or sync fails, and how. */
export interface IoFault {
  /** Counted from 1, from the moment of arming on. */
  readonly nth: number;
  readonly error: 'ENOSPC' | 'EIO' | 'EROFS';
  /** Each later one fails too. */
  readonly isSticky: boolean;
}

/** What the shim has seen since it was armed. */
export interface IoCounts {
  readonly calls: number;
  readonly failedWrites: number;
  /** Failed syncs of the database file and of its log. */
  readonly failedSyncs: number;
  readonly failedSyncsElsewhere: number;
}

const ERRNO = { EIO: 5, ENOSPC: 28, EROFS: 30 } as const;

/** The numbers of `struct control` in native/io-fail.c. */
const FIELDS = 9;
const FIELD_BYTES = 4;

export interface IoControl {
  readonly arm: (fault: IoFault) => void;
  readonly disarm: () => void;
  readonly counts: () => IoCounts;
}

export const makeControlFile = (file: string): void => {
  fs.writeFileSync(file, Buffer.alloc(FIELDS * FIELD_BYTES));
};

/** The control of the shim that this process was loaded with. */
export const ioControl = (file: string): IoControl => {
  const descriptor = fs.openSync(file, 'r+');
  const write = (...values: readonly number[]): void => {
    const bytes = Buffer.alloc(values.length * FIELD_BYTES);
    for (const [at, value] of values.entries()) bytes.writeUInt32LE(value, at * FIELD_BYTES);
    fs.writeSync(descriptor, bytes, 0, bytes.length, 0);
  };
  return {
    arm: ({ nth, error, isSticky }) => {
      // Disarmed first, since the shim may look at any moment.
      write(0, nth, ERRNO[error], isSticky ? 1 : 0, 0, 0, 0, 0, 0);
      write(1);
    },
    disarm: () => {
      write(0);
    },
    counts: () => {
      const bytes = Buffer.alloc(FIELDS * FIELD_BYTES);
      fs.readSync(descriptor, bytes, 0, bytes.length, 0);
      const field = (at: number): number => bytes.readUInt32LE(at * FIELD_BYTES);
      return {
        calls: field(4),
        failedWrites: field(5),
        failedSyncs: field(7) + field(8),
        failedSyncsElsewhere: field(6),
      };
    },
  };
};
