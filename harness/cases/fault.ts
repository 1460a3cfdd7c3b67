import type { StemmaFault } from '../../src/domain/errors.js';
import { isStemmaError } from '../../src/index.js';
import { hasCode } from './codes.js';
import { pathBack } from './canonical.js';
import type { ExpectedError } from './expected-shape.js';
import type { CaseMessage } from './input-shape.js';
import { isList } from './shape.js';
import { isEqual, shown } from './values.js';

/** A fault of the engine as a case sees it: its data under the names of the cases. */
export interface CaseFault {
  readonly fault: StemmaFault;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** How positions and names of the engine are told in the case. */
export interface FaultView {
  readonly nameOf: (id: string) => string;
  readonly position?: (revision: number) => number | undefined;
  readonly version?: (revision: number | 'none') => Promise<number | 'none'>;
  /** The message that the fault is about, where it is one alone. */
  readonly given?: CaseMessage;
}

const plainView: FaultView = { nameOf: (id) => id };

const idsIn = (fault: StemmaFault): readonly string[] | undefined => {
  if (fault._tag === 'BudgetImpossible') return fault.parts;
  return 'ids' in fault ? fault.ids : undefined;
};

const idIn = (fault: StemmaFault, ids: readonly string[] | undefined): string | undefined => {
  if (fault._tag === 'NotFound') return fault.ref;
  if ('id' in fault) return fault.id;
  return ids?.length === 1 ? ids[0] : undefined;
};

const present = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Reads a fault under the names of the case. */
export const caseFault = async (
  fault: StemmaFault,
  view: FaultView = plainView,
): Promise<CaseFault> => {
  const ids = idsIn(fault)?.map(view.nameOf);
  const id = idIn(fault, ids);
  const budget = fault._tag === 'BudgetImpossible' ? fault : undefined;
  const unknown = fault._tag === 'UnknownEvent' ? fault : undefined;
  const conflict = fault._tag === 'RevisionConflict' ? fault : undefined;
  const version = view.version ?? ((revision) => Promise.resolve(revision));
  return {
    fault,
    facts: present({
      id: id === undefined ? undefined : view.nameOf(id),
      ids,
      index: 'index' in fault ? fault.index : undefined,
      position: unknown && (view.position?.(unknown.revision) ?? unknown.revision),
      type: unknown?.type,
      version: unknown?.version,
      required: budget?.needed,
      limit: budget?.available,
      missing: fault._tag === 'DanglingParent' ? fault.missing : undefined,
      path: 'path' in fault ? pathBack(fault.path, view.given) : undefined,
      occurrence: fault._tag === 'ReplayMiss' ? fault.occurrence : undefined,
      expected: conflict && (await version(conflict.expected)),
      actual: conflict && (await version(conflict.actual)),
    }),
  };
};

const same = (key: string, wanted: unknown, found: unknown): boolean => {
  if (key === 'missing' && typeof wanted === 'string' && isList(found)) {
    return found.length === 1 && found[0] === wanted;
  }
  return isEqual(wanted, found);
};

/** What about a fault is not as expected; undefined when it contains all of it. */
export const faultDifference = (
  expected: ExpectedError,
  { fault, facts }: CaseFault,
): string | undefined => {
  const { code, ...rest } = expected;
  if (!hasCode(fault, code)) return `expected ${code}, found ${shown(fault)}`;
  for (const [key, wanted] of Object.entries(rest)) {
    if (!same(key, wanted, facts[key])) {
      return `error ${code} ${key}: expected ${shown(wanted)}, found ${shown(facts[key])}`;
    }
  }
  return undefined;
};

/** The fault behind something thrown; what is no fault of the engine is thrown on. */
export const faultOf = (error: unknown): StemmaFault => {
  if (isStemmaError(error)) return error.data;
  throw error;
};

/** The value of a step, or the fault that it ended with. */
export const attempt = async <A>(
  step: () => Promise<A>,
): Promise<{ readonly value: A } | { readonly fault: StemmaFault }> => {
  try {
    return { value: await step() };
  } catch (error) {
    return { fault: faultOf(error) };
  }
};
