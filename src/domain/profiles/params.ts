import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../errors.js';
import { repairJson } from './wire-text.js';

/**
 * The caller's model parameters as fields of the body, by name. Refuses the fields that the engine
 * fills itself.
 */
export const bodyParams = (
  params: Readonly<Record<string, unknown>>,
  own: readonly string[],
): E.Either<FaultOf<'InvalidArgument'>, Readonly<Record<string, unknown>>> => {
  const taken = own.find((name) => Object.hasOwn(params, name));
  if (taken !== undefined) {
    return E.left({ _tag: 'InvalidArgument', name: `params.${taken}`, reason: 'excludes_another' });
  }
  const entries = Object.entries(params)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return E.right(Object.fromEntries(entries.map(([name, value]) => [name, repairJson(value)])));
};
