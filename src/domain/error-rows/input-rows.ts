import { atIndex, atPath, EXIT, shown, shownIds, type FaultRows } from './row.js';

/** Rows of input that is refused for its form. */
export const inputRows: FaultRows<
  | 'InvalidJson'
  | 'InvalidShape'
  | 'InvalidValue'
  | 'UnsafeNumber'
  | 'InvalidTimestamp'
  | 'InvalidId'
  | 'IllFormedUnicode'
  | 'InvalidUtf8'
  | 'DuplicateKey'
  | 'ForbiddenKey'
  | 'TooDeep'
  | 'TooManyKeys'
  | 'TooLarge'
  | 'AppendTooLarge'
  | 'SecretRefused'
  | 'InvalidArgument'
  | 'UnknownFilter'
  | 'BadCursor'
> = {
  InvalidJson: {
    message: ({ offset }) => `The text is no JSON; reading stopped at offset ${offset}.`,
    hint: 'Send one complete JSON value.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  InvalidShape: {
    message: ({ path, index, expected }) =>
      `Another shape ${atPath(path)}${atIndex(index)}; expected ${shown(expected)}.`,
    hint: 'Compare the input with the schema of the command. Nothing was stored.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  InvalidValue: {
    message: ({ path, kind }) => `JSON cannot carry a value of kind ${kind} ${atPath(path)}.`,
    hint: 'Convert it to text, a number, a list or a plain object, or leave it out.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  UnsafeNumber: {
    message: ({ path }) => `The number ${atPath(path)} cannot be kept exactly.`,
    hint: 'Send integers up to 2^53-1 in size; send larger ones as text.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  InvalidTimestamp: {
    message: ({ path }) => `The timestamp ${atPath(path)} is not RFC 3339.`,
    hint: 'Write it as 2026-01-31T09:30:00Z, with a real date and a zone.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  InvalidId: {
    message: ({ path, reason }) => `The id ${atPath(path)} is refused (${reason}).`,
    hint: 'An id has 1 to 256 bytes of UTF-8, is not blank and holds no control character.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  IllFormedUnicode: {
    message: ({ path, id }) =>
      `Half a surrogate pair ${atPath(path)}${id === undefined ? '' : ` of ${shown(id)}`}.`,
    hint: 'Text was cut inside a character. Cut it elsewhere, or let the policy repair it.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  InvalidUtf8: {
    message: ({ line, byte }) => `The bytes are no UTF-8 from byte ${byte}, line ${line}.`,
    hint: 'Convert the file to UTF-8 first; nothing is replaced in silence.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  DuplicateKey: {
    message: ({ path }) => `A key is there twice ${atPath(path)}.`,
    hint: 'Readers disagree about which of them counts. Send the key once.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  ForbiddenKey: {
    message: ({ path }) => `The key ${atPath(path)} is not allowed here.`,
    hint: 'Rename it. Such keys are kept only inside content that is text.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  TooDeep: {
    message: ({ depth, limit }) => `Nesting of ${depth} is over the limit of ${limit}.`,
    hint: 'Flatten the value, or carry it as text.',
    http: 400,
    exit: EXIT.invalid,
    retryable: false,
  },
  TooManyKeys: {
    message: ({ limit }) => `More than ${limit} keys.`,
    hint: 'Split the value, or carry it as text.',
    http: 413,
    exit: EXIT.invalid,
    retryable: false,
  },
  TooLarge: {
    message: ({ bytes, limit }) =>
      `${bytes === undefined ? 'The input' : `Input of ${bytes} bytes`} is over the limit of ${limit} bytes.`,
    hint: 'Send less at once, or raise the limit in the configuration.',
    http: 413,
    exit: EXIT.invalid,
    retryable: false,
  },
  AppendTooLarge: {
    message: ({ bytes, events, limit }) =>
      `A batch of ${events} events and ${bytes} bytes is over the limit of ${limit}.`,
    hint: 'Split the batch. Its parts are then no longer appended as one.',
    http: 413,
    exit: EXIT.invalid,
    retryable: false,
  },
  SecretRefused: {
    message: ({ index, pattern }) =>
      `Content matches the secret pattern ${shown(pattern)}${atIndex(index)}.`,
    hint: 'Remove the secret, or choose a policy that redacts before storing.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  InvalidArgument: {
    message: ({ name, reason }) => `Argument ${shown(name)} is refused (${reason}).`,
    hint: 'See the reference of the call for names and ranges.',
    http: 400,
    exit: EXIT.usage,
    retryable: false,
  },
  UnknownFilter: {
    message: ({ name }) => `Unknown filter ${shown(name)}.`,
    hint: 'An unknown filter is never ignored. See the list of filters.',
    http: 400,
    exit: EXIT.usage,
    retryable: false,
  },
  BadCursor: {
    message: () => 'The cursor is not one of this list.',
    hint: 'Start again without a cursor.',
    http: 400,
    exit: EXIT.usage,
    retryable: false,
  },
};

/** Rows of imports and exports. */
export const transferRows: FaultRows<
  'TruncatedInput' | 'DanglingParent' | 'UnsafeArchive' | 'TargetUnwritable'
> = {
  TruncatedInput: {
    message: ({ line, offset }) =>
      `The input ends in the middle of line ${line}, at offset ${offset}. Nothing was appended.`,
    hint: 'Get the whole file, or ask to salvage what is complete.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  DanglingParent: {
    message: ({ ids, missing }) =>
      `Records ${shownIds(ids)} name parents that are not in the source: ${shownIds(missing)}.`,
    hint: 'Export the source again with all of its records.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  UnsafeArchive: {
    message: ({ entry, reason }) =>
      `Archive entry ${shown(entry)} is refused (${reason}). Nothing was unpacked.`,
    hint: 'Do not trust this archive. Ask its sender for a plain export.',
    http: 422,
    exit: EXIT.invalid,
    retryable: false,
  },
  TargetUnwritable: {
    message: ({ path, reason }) => `${shown(path)} cannot be written (${reason}).`,
    hint: 'Choose a file in a folder that you may write to.',
    http: 500,
    exit: EXIT.unexpected,
    retryable: false,
  },
};
