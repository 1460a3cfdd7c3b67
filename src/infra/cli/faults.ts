import { randomBytes } from 'node:crypto';
import type { InvalidArgumentReason, StemmaFault } from '../../domain/errors.js';
import { ThrownFault } from '../../engine/throwing.js';
import { StemmaError } from '../../face/stemma-error.js';

/** Ends a command with this fault. */
export const refuse = (fault: StemmaFault): never => {
  throw new StemmaError(fault);
};

export const refuseArgument = (name: string, reason: InvalidArgumentReason): never =>
  refuse({ _tag: 'InvalidArgument', name, reason });

const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** The fault of a file that a user named and that cannot be read. */
export const readFault = (error: unknown, path: string): StemmaFault => {
  const code = systemCode(error);
  if (code === 'EACCES' || code === 'EPERM') return { _tag: 'AccessDenied', path };
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') {
    return { _tag: 'NotFound', kind: 'file', ref: path };
  }
  throw error;
};

/** The fault of a file that a user named and that cannot be written (B62). */
export const writeFault = (error: unknown, path: string): StemmaFault => {
  const code = systemCode(error);
  if (code === 'EISDIR') return { _tag: 'TargetUnwritable', path, reason: 'directory' };
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return { _tag: 'TargetUnwritable', path, reason: 'no_parent' };
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return { _tag: 'TargetUnwritable', path, reason: 'not_writable' };
  }
  if (code === 'ENOSPC') return { _tag: 'StorageFull', path };
  if (code === undefined) throw error;
  return { _tag: 'TargetUnwritable', path, reason: 'write_failed' };
};

const subjects = new WeakMap<object, string>();

/** Notes which of several files an error is about; the error itself goes on. */
export const aboutSubject = (error: unknown, subject: string): unknown => {
  if (typeof error === 'object' && error !== null) subjects.set(error, subject);
  return error;
};

export const subjectOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? subjects.get(error) : undefined;

/** What was thrown, as a fault. An unknown error keeps its details to the log, under `ref`. */
export const faultOf = (error: unknown): StemmaFault => {
  if (error instanceof StemmaError) return error.data;
  if (error instanceof ThrownFault) return error.fault;
  if (error instanceof Error && error.name === 'AbortError') return { _tag: 'Cancelled' };
  return { _tag: 'Unexpected', ref: randomBytes(6).toString('hex') };
};
