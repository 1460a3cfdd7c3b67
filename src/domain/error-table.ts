import { conflictRows, contextRows, orderRows } from './error-rows/command-rows.js';
import { inputRows, transferRows } from './error-rows/input-rows.js';
import type { FaultRow, FaultRows } from './error-rows/row.js';
import { accessRows, storedRows, storeRows } from './error-rows/store-rows.js';
import type { FaultTag, StemmaFault } from './errors.js';

/** One row for every tag: a tag without words, status and exit code does not compile. */
export const errorTable: FaultRows<FaultTag> = {
  ...conflictRows,
  ...orderRows,
  ...contextRows,
  ...inputRows,
  ...transferRows,
  ...accessRows,
  ...storedRows,
  ...storeRows,
};

/** All tags, in the order of the reference page. */
export const faultTags = Object.keys(errorTable) as readonly FaultTag[];

/** A fault in words and numbers, ready for any surface. */
export interface FaultDescription {
  readonly code: FaultTag;
  readonly message: string;
  readonly hint: string;
  readonly http: number | null;
  readonly exit: number;
}

/** The code of a tag. It is the tag itself and never changes once released. */
export const codeOf = (tag: FaultTag): FaultTag => tag;

/** The tag in kebab case: the last part of an HTTP problem type. */
export const slugOf = (tag: FaultTag): string =>
  tag.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

// The tag of `fault` picks the row of the same tag, which the type of a lookup cannot express.
const rowOf = (fault: StemmaFault): FaultRow<FaultTag> =>
  errorTable[fault._tag] as unknown as FaultRow<FaultTag>;

/** Words, HTTP status and exit code of a fault. Holds no content of messages. */
export const describeFault = (fault: StemmaFault): FaultDescription => {
  const { message, hint, http, exit } = rowOf(fault);
  return { code: codeOf(fault._tag), message: message(fault), hint, http, exit };
};

/** Whether the same request, unchanged, may succeed later. */
export const isRetryable = (fault: StemmaFault): boolean => rowOf(fault).retryable;
