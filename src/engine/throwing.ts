import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Task } from './runtime.js';

/** Carries a fault out of a generator, where no Either can be returned; the faces turn it back. */
export class ThrownFault extends Error {
  readonly fault: StemmaFault;

  constructor(fault: StemmaFault) {
    super(fault._tag);
    this.fault = fault;
  }
}

export const run = async <A>(task: Task<A>): Promise<A> => {
  const result = await task();
  if (E.isLeft(result)) throw new ThrownFault(result.left);
  return result.right;
};
