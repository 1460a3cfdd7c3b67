import * as E from 'fp-ts/lib/Either.js';
import { describeFault } from '../domain/error-table.js';
import type { FaultOf, FaultTag, StemmaFault } from '../domain/errors.js';
import type { Task } from '../engine/runtime.js';

/** A fault as an exception: the tag is the code, `data` holds ids, digests and numbers only. */
export class StemmaError extends Error {
  override readonly name = 'StemmaError';
  readonly _tag: FaultTag;
  readonly code: FaultTag;
  readonly hint: string;
  readonly data: StemmaFault;
  readonly exitCode: number;
  readonly httpStatus: number | null;

  constructor(fault: StemmaFault) {
    const { message, hint, exit, http } = describeFault(fault);
    super(message);
    this._tag = fault._tag;
    this.code = fault._tag;
    this.hint = hint;
    this.data = fault;
    this.exitCode = exit;
    this.httpStatus = http;
  }
}

/** Whether something thrown is a fault of stemma, and of this kind when a tag is given. */
export const isStemmaError = <T extends FaultTag = FaultTag>(
  error: unknown,
  tag?: T,
): error is StemmaError & { readonly _tag: T; readonly data: FaultOf<T> } =>
  error instanceof StemmaError && (tag === undefined || error._tag === tag);

/** Throws a fault, where there is one. */
export const check = (fault: StemmaFault | undefined): void => {
  if (fault !== undefined) throw new StemmaError(fault);
};

/** Runs a task: its value, or its fault thrown. */
export const run = async <A>(task: Task<A>): Promise<A> => {
  const result = await task();
  if (E.isLeft(result)) throw new StemmaError(result.left);
  return result.right;
};
