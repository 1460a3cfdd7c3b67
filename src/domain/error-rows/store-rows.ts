import { EXIT, ofPath, shown, shownIds, shownRevision, type FaultRows } from './row.js';

/** Rows of what is not there or not allowed. */
export const accessRows: FaultRows<
  | 'NotFound'
  | 'RevisionInFuture'
  | 'Unauthenticated'
  | 'Forbidden'
  | 'ForeignHost'
  | 'ForeignOrigin'
  | 'BindRefused'
  | 'RateLimited'
  | 'SlowConsumer'
> = {
  NotFound: {
    message: ({ kind, ref }) => `There is no ${kind} ${shown(ref)} here.`,
    hint: 'Check the reference, and that your access covers it.',
    http: 404,
    exit: EXIT.notFound,
    retryable: false,
  },
  RevisionInFuture: {
    message: ({ revision, head }) =>
      `Revision ${revision} is beyond the head (${shownRevision(head)}).`,
    hint: 'Read the head first.',
    http: 409,
    exit: EXIT.conflict,
    retryable: false,
  },
  Unauthenticated: {
    message: () => 'No valid token was given.',
    hint: 'Send a token; it may be expired or revoked.',
    http: 401,
    exit: EXIT.unexpected,
    retryable: false,
  },
  Forbidden: {
    message: ({ action }) => `This access does not cover ${shown(action)}.`,
    hint: 'Ask for a token with the scope.',
    http: 403,
    exit: EXIT.unexpected,
    retryable: false,
  },
  ForeignHost: {
    message: () => 'The Host header is not one of this server.',
    hint: 'Use the address that the server printed, or allow the host in its configuration.',
    http: 403,
    exit: EXIT.unexpected,
    retryable: false,
  },
  ForeignOrigin: {
    message: () => 'A page of another origin may not call this server.',
    hint: 'Open the inspector from the address that the server printed.',
    http: 403,
    exit: EXIT.unexpected,
    retryable: false,
  },
  BindRefused: {
    message: ({ host }) => `Not listening on ${shown(host)} without a token.`,
    hint: 'Set a token of at least 128 bits, or listen on 127.0.0.1.',
    http: null,
    exit: EXIT.usage,
    retryable: false,
  },
  RateLimited: {
    message: ({ retryAfter }) => `Too many requests. Try again in ${retryAfter} seconds.`,
    hint: 'Wait, then send the same request.',
    http: 429,
    exit: EXIT.unavailable,
    retryable: true,
  },
  SlowConsumer: {
    message: ({ position }) =>
      `The reader fell behind and the stream ends after ${shown(position)}.`,
    hint: 'Connect again from the last position that was handled.',
    http: null,
    exit: EXIT.unavailable,
    retryable: false,
  },
};

/** Rows of what is found in a store. */
export const storedRows: FaultRows<
  | 'UnknownEvent'
  | 'UnknownFormat'
  | 'Damaged'
  | 'StreamDeleted'
  | 'StoreChanged'
  | 'WalMissing'
  | 'NotAStore'
  | 'StoreTooNew'
> = {
  UnknownEvent: {
    message: ({ type, version, revision, reason }) =>
      `The event at revision ${revision} has an unknown ${reason}: ${shown(type)}, version ${version}.`,
    hint: 'A newer version wrote it. Upgrade this one; verify and export still work.',
    http: 409,
    exit: EXIT.integrity,
    retryable: false,
  },
  UnknownFormat: {
    message: ({ fmt }) => `Unknown stored format ${shown(fmt)}.`,
    hint: 'Use the version that wrote it to export, then import here.',
    http: 409,
    exit: EXIT.integrity,
    retryable: false,
  },
  Damaged: {
    message: ({ stream, revision, check }) =>
      `The ${check} check fails${stream === undefined ? '' : ` in ${shown(stream)}`}${revision === undefined ? '' : ` at revision ${revision}`}.`,
    hint: 'Run verify for the whole extent, then restore from a backup. The rest stays readable.',
    http: 500,
    exit: EXIT.integrity,
    retryable: false,
  },
  StreamDeleted: {
    message: ({ stream }) => `Stream ${shown(stream)} was deleted or truncated in the store.`,
    hint: 'Restore it from a backup. This engine never deletes streams.',
    http: 500,
    exit: EXIT.integrity,
    retryable: false,
  },
  StoreChanged: {
    message: ({ storeId, position }) =>
      `Store ${shown(storeId)} was restored or exchanged${position === undefined ? '' : ` before position ${shown(position)}`}.`,
    hint: 'Rebuild caches and read models from the store.',
    http: 503,
    exit: EXIT.integrity,
    retryable: false,
  },
  WalMissing: {
    message: ({ path }) => `Store ${shown(path)} was not closed and its write-ahead file is gone.`,
    hint: 'Copy both files, or open the store for salvage only.',
    http: 503,
    exit: EXIT.integrity,
    retryable: false,
  },
  NotAStore: {
    message: ({ path, found }) => `${shown(path)} is no store (${found}). It was not changed.`,
    hint: 'Check the path; a new store needs a path where nothing is.',
    http: 503,
    exit: EXIT.integrity,
    retryable: false,
  },
  StoreTooNew: {
    message: ({ schema, supported }) =>
      `The store has schema ${schema}; this version knows ${supported}.`,
    hint: 'Upgrade this version.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
};

/** Rows of a store that fails, and of our own faults. */
export const storeRows: FaultRows<
  | 'WrongRevision'
  | 'OutcomeUnknown'
  | 'Unavailable'
  | 'StorageFull'
  | 'ReadOnly'
  | 'AccessDenied'
  | 'StoreLocked'
  | 'UnsafeFilesystem'
  | 'UnsafeDriver'
  | 'KeysMissing'
  | 'KeysMismatch'
  | 'Cancelled'
  | 'Unexpected'
> = {
  WrongRevision: {
    message: ({ expected, actual }) =>
      `Stream expected at ${shownRevision(expected)}, found ${shownRevision(actual)}.`,
    hint: 'Only a store answers this; commands answer RevisionConflict.',
    http: null,
    exit: EXIT.conflict,
    retryable: false,
  },
  OutcomeUnknown: {
    message: ({ stream, expected, ids }) =>
      `The answer to an append to ${shown(stream)} at ${shownRevision(expected)} was lost. Events: ${shownIds(ids)}.`,
    hint: 'Send the same command with the same ids again; it is stored once.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: true,
  },
  Unavailable: {
    message: ({ reason, path }) => `The store${ofPath(path)} does not answer (${reason}).`,
    hint: 'Check that it runs and is reachable, then try again.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: true,
  },
  StorageFull: {
    message: ({ path }) => `There is no space left for the store${ofPath(path)}. Reading goes on.`,
    hint: 'Free some space; no restart is needed.',
    http: 507,
    exit: EXIT.unavailable,
    retryable: true,
  },
  ReadOnly: {
    message: ({ path }) => `The store${ofPath(path)} is open for reading only.`,
    hint: 'Check the mount and the mode in which it was opened.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
  AccessDenied: {
    message: ({ path }) => `The store${ofPath(path)} refuses access.`,
    hint: 'Check the credentials, or owner and mode of the file.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
  StoreLocked: {
    message: ({ path }) => `Another process holds the store${ofPath(path)}.`,
    hint: 'Wait for it to finish, or find out why it does not.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: true,
  },
  UnsafeFilesystem: {
    message: ({ path, filesystem }) =>
      `${shown(path)} is on ${shown(filesystem)}, where locks are not reliable.`,
    hint: 'Move the store to a local disk, or accept the risk with the flag.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
  UnsafeDriver: {
    message: ({ version }) => `SQLite ${shown(version)} is not safe with several processes.`,
    hint: 'Use the bundled driver, or open the store from one process only.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
  KeysMissing: {
    message: ({ fingerprint }) =>
      `The keys of this store are not here; it was made with ${shown(fingerprint)}.`,
    hint: 'Bring the key folder that belongs to the store.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
  KeysMismatch: {
    message: ({ fingerprint, found }) =>
      `These keys are of another store: ${shown(found)} here, ${shown(fingerprint)} expected.`,
    hint: 'Bring the key folder that belongs to the store.',
    http: 503,
    exit: EXIT.unavailable,
    retryable: false,
  },
  Cancelled: {
    message: () => 'The caller gave up.',
    hint: 'An append may have been stored; send it again with the same ids to know.',
    http: null,
    exit: EXIT.interrupted,
    retryable: false,
  },
  Unexpected: {
    message: ({ ref }) => `A fault of ours. Log entry ${shown(ref)}.`,
    hint: 'Report it with the log entry.',
    http: 500,
    exit: EXIT.unexpected,
    retryable: false,
  },
};
